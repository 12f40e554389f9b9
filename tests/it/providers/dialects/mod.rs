//! Differences between servers that share a format: the fields of each request, and the reading of
//! each reply.

mod ollama;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, FailureClass, StopReason};
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::cost::tokens::Usage;
use conclave::domain::model::dialect::{Dialect, JsonMode, Quirks, Structure, TokensField};
use conclave::domain::model::vendors;
use serde_json::{Value, json};

use super::{KEY, ask_of, body, body_of, decode_of, header, remote, remote_that};

/// The providers that use the Chat Completions format.
const COMPATIBLE: [&str; 7] = [
    "openai",
    "xai",
    "mistral",
    "openrouter",
    "llamacpp",
    "lmstudio",
    "vllm",
];

fn schema() -> Value {
    AnswerKind::Independent.schema(AnswerForm::Plain)
}

/// The fields that every one of these servers gets, with the schema.
fn common() -> Value {
    json!({
        "model": "m",
        "stream": true,
        "messages": [
            {"role": "system", "content": "You are P.\n\nRules."},
            {"role": "user", "content": "Question?\n\nAnswer."},
        ],
        "max_tokens": 16384,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "independent", "strict": true, "schema": schema()},
        },
    })
}

#[test]
fn each_server_gets_exactly_these_fields() {
    let usage = json!({"stream_options": {"include_usage": true}});
    let cases = [
        ("xai", usage.clone()),
        ("mistral", json!({})),
        (
            "openrouter",
            json!({"provider": {"require_parameters": true}}),
        ),
        ("llamacpp", usage.clone()),
        ("lmstudio", usage.clone()),
        ("vllm", usage),
    ];
    for (provider, own) in cases {
        let mut expected = common();
        let fields = expected.as_object_mut().unwrap();
        fields.extend(own.as_object().unwrap().clone());
        assert_eq!(body_of(provider, "m"), expected, "{provider}");
    }
}

#[test]
fn only_openrouter_gets_the_tool_name() {
    for provider in COMPATIBLE {
        let (request, _) = remote(provider, "http://h/v1/").codec(&ask_of(provider, "m"));
        assert_eq!(request.url, "http://h/v1/chat/completions");
        let bearer = format!("Bearer {KEY}");
        assert_eq!(header(&request, "authorization"), Some(&*bearer));
        assert_eq!(
            header(&request, "x-openrouter-title"),
            (provider == "openrouter").then_some("conclave"),
            "{provider}"
        );
    }
}

#[test]
fn only_openai_models_get_openais_token_field() {
    let field = |base_url: &str, model: &str| {
        let body = body(&remote("openai", base_url), &ask_of("openai", model));
        let names = ["max_completion_tokens", "max_tokens"];
        names.map(|name| body.get(name).is_some())
    };
    for base_url in [
        "https://api.openai.com/v1",
        "https://API.openai.com:443/v1/",
    ] {
        assert_eq!(
            field(base_url, "gpt-unheard-of"),
            [true, false],
            "{base_url}"
        );
    }
    for base_url in [
        "http://127.0.0.1:8000/v1",
        "https://gateway.example/api.openai.com/v1",
        "https://api.openai.com.example/v1",
    ] {
        assert_eq!(field(base_url, "gpt-6.1-sol"), [true, false], "{base_url}");
        assert_eq!(field(base_url, "qwen3"), [false, true], "{base_url}");
    }
}

#[test]
fn a_custom_server_is_asked_as_its_settings_say() {
    let quirks = Quirks {
        tokens_field: TokensField::MaxCompletionTokens,
        best_structure: Structure::JsonObject,
        ..Quirks::COMPATIBLE
    };
    let remote = remote_that(Dialect::OpenAi(quirks), "http://h/v1");
    let body = body(&remote, &ask_of("mine", "m"));
    assert_eq!(&body["max_completion_tokens"], &json!(16_384));
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
}

#[test]
fn no_sampling_parameter_is_sent_by_default() {
    for vendor in vendors::VENDORS {
        let body = body_of(vendor.id, "m").to_string();
        let parameters = "temperature top_p topP top_k topK seed stop penalty effort \"thinking";
        for name in parameters.split(' ') {
            assert!(!body.contains(name), "{} {name}", vendor.id);
        }
    }
}

#[test]
fn json_mode_without_a_schema_mentions_json_in_the_prompt() {
    let json_mode = Quirks {
        best_structure: Structure::JsonObject,
        ..Quirks::COMPATIBLE
    };
    let remote = remote_that(Dialect::OpenAi(json_mode), "http://h/v1");
    let system = |ask: &Ask| body(&remote, ask)["messages"][0]["content"].clone();
    let mut ask = ask_of("mine", "m");
    let added = "You are P.\n\nRules.\n\nAnswer with one JSON object.";
    assert_eq!(system(&ask), added);
    ask.prompt.task = "Reply as json.".into();
    assert_eq!(system(&ask), "You are P.\n\nRules.");
}

#[test]
fn some_servers_have_no_json_mode() {
    for vendor in vendors::VENDORS {
        let expected = if matches!(vendor.id, "lmstudio" | "anthropic" | "chatgpt") {
            JsonMode::Unsupported
        } else {
            JsonMode::Supported
        };
        assert_eq!(vendor.dialect.json_mode(), expected, "{}", vendor.id);
    }
}

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn usage(counts: &str) -> String {
    format!(r#"{{"choices":[],"usage":{{{counts}}}}}"#)
}

#[test]
fn reasoning_tokens_are_counted_once_for_every_server() {
    let counted = r#""prompt_tokens":100,"completion_tokens":"#;
    let within = r#""completion_tokens_details":{"reasoning_tokens":15}"#;
    let cases = [
        // xAI counts it on top, with and without a total that says so.
        (
            "xai",
            format!(r#"{counted}20,"total_tokens":135,{within}"#),
            35,
        ),
        ("xai", format!("{counted}20,{within}"), 35),
        // Should it ever count it within, the total tells.
        (
            "xai",
            format!(r#"{counted}20,"total_tokens":120,{within}"#),
            20,
        ),
        (
            "openai",
            format!(r#"{counted}20,"total_tokens":120,{within}"#),
            20,
        ),
        (
            "openai",
            format!(r#"{counted}20,"total_tokens":135,{within}"#),
            35,
        ),
        ("openai", format!("{counted}20,{within}"), 20),
        (
            "vllm",
            format!(r#"{counted}20,"total_tokens":135,{within}"#),
            35,
        ),
        ("vllm", format!("{counted}5,{within}"), 20),
        ("mistral", format!(r#"{counted}20,"total_tokens":120"#), 20),
    ];
    for (provider, counts, output) in cases {
        let reply = decode_of(provider, &[TEXT, STOP, &usage(&counts), "[DONE]"]).unwrap();
        assert_eq!(reply.usage.input, 100, "{provider} {counts}");
        assert_eq!(reply.usage.output, output, "{provider} {counts}");
    }
}

#[test]
fn a_reported_cost_is_read_from_each_servers_field() {
    let counts =
        r#""prompt_tokens":1,"completion_tokens":1,"cost":0.0013125,"cost_in_usd_ticks":13125000"#;
    let cost = |provider: &str, counts: &str| {
        let reply = decode_of(provider, &[TEXT, STOP, &usage(counts)]).unwrap();
        reply.reported_cost
    };
    // Rounded half up.
    assert_eq!(cost("openrouter", counts), Some(MicroUsd(1_313)));
    assert_eq!(cost("xai", counts), Some(MicroUsd(1_313)));
    for provider in ["openai", "mistral", "llamacpp", "lmstudio", "vllm"] {
        assert_eq!(cost(provider, counts), None, "{provider}");
    }
    let free = r#""prompt_tokens":1,"completion_tokens":1,"cost":0"#;
    assert_eq!(cost("openrouter", free), Some(MicroUsd::ZERO));
}

#[test]
fn an_empty_finish_reason_is_ignored() {
    let empty =
        r#"{"choices":[{"delta":{"content":"x","reasoning_content":"hm"},"finish_reason":""}]}"#;
    let reply = decode_of("xai", &[empty, STOP]).unwrap();
    assert_eq!(reply.stop, StopReason::End);
    let failure = decode_of("xai", &[empty]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Interrupted);
}

#[test]
fn mistral_content_lists_give_text_and_thinking() {
    let chunks = [
        r#"{"model":"magistral","choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"b"}]}}]}"#,
        r#"{"choices":[{"delta":{"content":null}}]}"#,
        r#"{"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16}}"#,
        "[DONE]",
    ];
    let reply = decode_of("mistral", &chunks).unwrap();
    let usage = Usage {
        input: 7,
        output: 9,
        ..Usage::default()
    };
    assert_eq!(reply.text, "abc");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("magistral"));
}

#[test]
fn every_servers_finish_reasons_are_distinguished() {
    let finished = |reason: &str| {
        let last = format!(
            r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{reason}","native_finish_reason":"whatever"}}]}}"#
        );
        decode_of("openrouter", &[&last])
    };
    for (reason, stop) in [
        ("stop", StopReason::End),
        ("length", StopReason::Length),
        ("model_length", StopReason::Length),
        (
            "content_filter",
            StopReason::Refused("content_filter".into()),
        ),
        // Not a clean end.
        ("tool_calls", StopReason::Other("tool_calls".into())),
        ("function_call", StopReason::Other("function_call".into())),
        ("something_new", StopReason::Other("something_new".into())),
    ] {
        assert_eq!(finished(reason).unwrap().stop, stop);
    }
    let failure = finished("error").unwrap_err();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.partial, "x");
    let words = "the provider ended the answer with an error";
    assert_eq!(failure.message, words);
    // Without any text a retry may succeed.
    let error = r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#;
    let before = decode_of("mistral", &[error]).unwrap_err();
    assert_eq!(before.class, FailureClass::Overload);
    assert_eq!(before.usage, None);
}

#[test]
fn a_refusal_beside_a_clean_stop_is_a_refusal() {
    let refusal = r#"{"choices":[{"delta":{"content":null,"refusal":"I will not."}}]}"#;
    let reply = decode_of("openai", &[TEXT, refusal, STOP]).unwrap();
    assert_eq!(reply.stop, StopReason::Refused("I will not.".into()));
    assert_eq!(reply.text, "");
}

#[test]
fn uncounted_thinking_counts_as_output() {
    for field in ["reasoning_content", "reasoning"] {
        let thinking = format!(
            r#"{{"choices":[{{"delta":{{"{field}":"{}"}}}}]}}"#,
            "hm. ".repeat(100)
        );
        let usage = decode_of("vllm", &[&thinking, TEXT, STOP]).unwrap().usage;
        assert_eq!(usage.output, 101, "{field}");
        assert_eq!(usage.reasoning, 100, "{field}");
    }
}

#[test]
fn an_answer_of_only_thinking_ends_by_length() {
    let events = [
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"length"}]}"#,
        &usage(r#""prompt_tokens":9,"completion_tokens":16384"#),
    ];
    let reply = decode_of("openai", &events).unwrap();
    assert_eq!(reply.stop, StopReason::Length);
    assert_eq!(reply.text, "");
    assert_eq!(reply.usage.output, 16_384);
    // A cold start of a router's provider.
    let few = usage(r#""prompt_tokens":9,"completion_tokens":3"#);
    let failure = decode_of("openrouter", &[STOP, &few]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Empty);
    assert_eq!(failure.usage.unwrap().output, 3);
}

#[test]
fn a_message_sent_in_one_piece_is_read() {
    let whole =
        r#"{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}"#;
    assert_eq!(decode_of("llamacpp", &[whole]).unwrap().text, "x");
}

#[test]
fn openrouter_errors_in_a_success_are_read() {
    let error = r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"provider_name":"Together","raw":"out of memory"}},"choices":[]}"#;
    let in_choice = r#"{"choices":[{"delta":{"content":""},"error":{"code":429,"message":"busy"},"finish_reason":"error"}]}"#;
    let words = "Provider returned error (Together: out of memory)";
    for (events, class, words) in [
        (&[error][..], FailureClass::Overload, words),
        (&[TEXT, error], FailureClass::Interrupted, words),
        (&[in_choice], FailureClass::RateLimit, "busy"),
    ] {
        let failure = decode_of("openrouter", events).unwrap_err();
        assert_eq!(failure.class, class);
        assert_eq!(failure.message, words);
    }
}

#[test]
fn cached_tokens_are_read_under_deepseeks_name_too() {
    let cached = |counts: &str| {
        let chunk = usage(&format!(
            r#""prompt_tokens":100,"completion_tokens":1,{counts}"#
        ));
        let usage = decode_of("vllm", &[TEXT, STOP, &chunk]).unwrap().usage;
        (usage.input, usage.cache_read)
    };
    let hits = r#""prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36"#;
    assert_eq!(cached(hits), (36, 64));
    let both = format!(r#"{hits},"prompt_tokens_details":{{"cached_tokens":64}}"#);
    assert_eq!(cached(&both), (36, 64));
    assert_eq!(cached(r#""prompt_tokens_details":{}"#), (100, 0));
}
