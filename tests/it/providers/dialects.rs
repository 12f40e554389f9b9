//! Differences between servers that share a format: the fields of each request, and the reading of
//! each reply.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{FailureClass, Prompt, StopReason};
use conclave::domain::dialect::{Dialect, JsonMode, Quirks, Structure, TokensField};
use conclave::domain::money::MicroUsd;
use conclave::domain::tokens::Usage;
use conclave::domain::vendors;
use conclave::engine::ports::Delta;
use serde_json::{Value, json};

use super::{KEY, ask_of, body_of, call, decode_of, header, remote, remote_that};
use crate::support::provider_server::{Answer, On, ProviderServer};

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
        expected
            .as_object_mut()
            .unwrap()
            .extend(own.as_object().unwrap().clone());
        assert_eq!(body_of(provider, "m"), expected, "{provider}");
    }
}

#[test]
fn only_openrouter_gets_the_tool_name() {
    for provider in COMPATIBLE {
        let (request, _) = remote(provider, "http://h/v1/").codec(&ask_of(provider, "m"));
        assert_eq!(request.url, "http://h/v1/chat/completions");
        assert_eq!(
            header(&request, "authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
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
        let body = remote("openai", base_url)
            .codec(&ask_of("openai", model))
            .0
            .body;
        (
            body.get("max_completion_tokens").is_some(),
            body.get("max_tokens").is_some(),
        )
    };
    for base_url in [
        "https://api.openai.com/v1",
        "https://API.openai.com:443/v1/",
    ] {
        assert_eq!(
            field(base_url, "gpt-unheard-of"),
            (true, false),
            "{base_url}"
        );
    }
    for base_url in [
        "http://127.0.0.1:8000/v1",
        "https://gateway.example/api.openai.com/v1",
        "https://api.openai.com.example/v1",
    ] {
        assert_eq!(field(base_url, "gpt-6.1-sol"), (true, false), "{base_url}");
        assert_eq!(field(base_url, "qwen3"), (false, true), "{base_url}");
    }
}

#[test]
fn a_custom_server_is_asked_as_its_settings_say() {
    let quirks = Quirks {
        tokens_field: TokensField::MaxCompletionTokens,
        best_structure: Structure::JsonObject,
        ..Quirks::COMPATIBLE
    };
    let body = remote_that(Dialect::OpenAi(quirks), "http://h/v1")
        .codec(&ask_of("mine", "m"))
        .0
        .body;
    assert_eq!(&body["max_completion_tokens"], &json!(16_384));
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
}

#[test]
fn no_sampling_parameter_is_sent_by_default() {
    for vendor in vendors::VENDORS {
        let body = body_of(vendor.id, "m").to_string();
        for name in [
            "temperature",
            "top_p",
            "topP",
            "top_k",
            "topK",
            "seed",
            "stop",
            "penalty",
            "effort",
            "\"thinking",
        ] {
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
    let system = |prompt: Prompt| {
        let ask = conclave::consultation::protocol::call::Ask {
            prompt,
            ..ask_of("mine", "m")
        };
        remote_that(Dialect::OpenAi(json_mode), "http://h/v1")
            .codec(&ask)
            .0
            .body["messages"][0]["content"]
            .clone()
    };
    assert_eq!(
        system(ask_of("mine", "m").prompt),
        "You are P.\n\nRules.\n\nAnswer with one JSON object."
    );
    let speaks = Prompt {
        task: "Reply as json.".into(),
        ..ask_of("mine", "m").prompt
    };
    assert_eq!(system(speaks), "You are P.\n\nRules.");
    assert_eq!(
        body_of("mistral", "m")["messages"][0]["content"],
        "You are P.\n\nRules.",
        "a schema says it by itself"
    );
}

#[test]
fn lm_studio_and_anthropic_have_no_json_mode() {
    let of = |provider: &str| vendors::find(provider).unwrap().dialect.json_mode();
    for vendor in vendors::VENDORS {
        let expected = if matches!(vendor.id, "lmstudio" | "anthropic") {
            JsonMode::Unsupported
        } else {
            JsonMode::Supported
        };
        assert_eq!(of(vendor.id), expected, "{}", vendor.id);
    }
}

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn usage(counts: &str) -> String {
    format!(r#"{{"choices":[],"usage":{{{counts}}}}}"#)
}

#[test]
fn reasoning_tokens_are_counted_once_for_every_server() {
    let cases = [
        // xAI counts it on top, with and without a total that says so.
        (
            "xai",
            r#""prompt_tokens":100,"completion_tokens":20,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":15}"#,
            35,
        ),
        (
            "xai",
            r#""prompt_tokens":100,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":15}"#,
            35,
        ),
        // Should it ever count it within, the total tells.
        (
            "xai",
            r#""prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"completion_tokens_details":{"reasoning_tokens":15}"#,
            20,
        ),
        (
            "openai",
            r#""prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"completion_tokens_details":{"reasoning_tokens":15}"#,
            20,
        ),
        (
            "openai",
            r#""prompt_tokens":100,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":15}"#,
            20,
        ),
        (
            "vllm",
            r#""prompt_tokens":100,"completion_tokens":20,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":15}"#,
            35,
        ),
        (
            "vllm",
            r#""prompt_tokens":100,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":15}"#,
            20,
        ),
        (
            "mistral",
            r#""prompt_tokens":100,"completion_tokens":20,"total_tokens":120"#,
            20,
        ),
    ];
    for (provider, counts, output) in cases {
        let reply = decode_of(provider, &[TEXT, STOP, &usage(counts), "[DONE]"]).unwrap();
        assert_eq!(reply.usage.input, 100, "{provider} {counts}");
        assert_eq!(reply.usage.output, output, "{provider} {counts}");
    }
}

#[test]
fn a_reported_cost_is_read_from_each_servers_field() {
    let counts =
        r#""prompt_tokens":1,"completion_tokens":1,"cost":0.0013125,"cost_in_usd_ticks":13125000"#;
    let cost = |provider: &str| {
        decode_of(provider, &[TEXT, STOP, &usage(counts)])
            .unwrap()
            .reported_cost
    };
    assert_eq!(cost("openrouter"), Some(MicroUsd(1_313)), "rounded half up");
    assert_eq!(cost("xai"), Some(MicroUsd(1_313)), "rounded half up");
    for provider in ["openai", "mistral", "llamacpp", "lmstudio", "vllm"] {
        assert_eq!(cost(provider), None, "{provider}");
    }
    let free = usage(r#""prompt_tokens":1,"completion_tokens":1,"cost":0"#);
    assert_eq!(
        decode_of("openrouter", &[TEXT, STOP, &free])
            .unwrap()
            .reported_cost,
        Some(MicroUsd::ZERO)
    );
}

#[test]
fn an_empty_finish_reason_is_ignored() {
    let empty =
        r#"{"choices":[{"delta":{"content":"x","reasoning_content":"hm"},"finish_reason":""}]}"#;
    assert_eq!(
        decode_of("xai", &[empty, STOP]).unwrap().stop,
        StopReason::End
    );
    assert_eq!(
        decode_of("xai", &[empty]).unwrap_err().class,
        FailureClass::Interrupted
    );
}

#[tokio::test]
async fn mistral_content_lists_give_text_and_thinking() {
    let server = ProviderServer::start();
    let chunks = [
        r#"{"id":"1","object":"chat.completion.chunk","model":"magistral","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hmm, hmm."}]}]},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"b"}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16}}"#,
    ];
    let stream = chunks.map(|chunk| format!("data: {chunk}\n\n")).concat();
    server.on(On::any(), Answer::stream(stream + "data: [DONE]\n\n"));
    let (outcome, deltas) = call(
        &remote("mistral", &format!("{}/v1", server.url())),
        &ask_of("mistral", "magistral"),
    )
    .await;
    let reply = outcome.unwrap();
    assert_eq!(reply.text.as_str(), "abc");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(
        reply.usage,
        Usage {
            input: 7,
            output: 9,
            ..Usage::default()
        }
    );
    assert_eq!(reply.served_model.as_deref(), Some("magistral"));
    let mut signs = deltas.iter().filter(|delta| **delta != Delta::KeepAlive);
    assert_eq!(signs.next(), Some(&Delta::Connected));
    assert_eq!(signs.next(), Some(&Delta::Thinking));
}

#[test]
fn every_servers_finish_reasons_are_distinguished() {
    let finished = |reason: &str| {
        let last = format!(
            r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{reason}","native_finish_reason":"whatever"}}]}}"#
        );
        decode_of("openrouter", &[&last])
    };
    assert_eq!(finished("stop").unwrap().stop, StopReason::End);
    assert_eq!(finished("length").unwrap().stop, StopReason::Length);
    assert_eq!(finished("model_length").unwrap().stop, StopReason::Length);
    assert_eq!(
        finished("content_filter").unwrap().stop,
        StopReason::Refused("content_filter".into())
    );
    for other in ["tool_calls", "function_call", "something_new"] {
        assert_eq!(
            finished(other).unwrap().stop,
            StopReason::Other(other.into()),
            "not a clean end"
        );
    }
    let failure = finished("error").unwrap_err();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.partial.as_str(), "x");
    assert_eq!(
        failure.message,
        "the provider ended the answer with an error"
    );
    let before = decode_of(
        "mistral",
        &[r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#],
    )
    .unwrap_err();
    assert_eq!(
        before.class,
        FailureClass::Overload,
        "without any text a retry may succeed"
    );
    assert_eq!(before.usage, None, "without any text a retry may succeed");
}

#[test]
fn a_refusal_beside_a_clean_stop_is_a_refusal() {
    let refusal = r#"{"choices":[{"delta":{"content":null,"refusal":"I will not."}}]}"#;
    let reply = decode_of("openai", &[TEXT, refusal, STOP]).unwrap();
    assert_eq!(reply.stop, StopReason::Refused("I will not.".into()));
    assert_eq!(reply.text.as_str(), "");
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
    assert_eq!(reply.text.as_str(), "");
    assert_eq!(reply.usage.output, 16_384);
    let failure = decode_of(
        "openrouter",
        &[STOP, &usage(r#""prompt_tokens":9,"completion_tokens":3"#)],
    )
    .unwrap_err();
    assert_eq!(
        failure.class,
        FailureClass::Empty,
        "a cold start of a router's provider"
    );
    assert_eq!(
        failure.usage.unwrap().output,
        3,
        "a cold start of a router's provider"
    );
}

#[test]
fn a_message_sent_in_one_piece_is_read() {
    let whole =
        r#"{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}"#;
    assert_eq!(decode_of("llamacpp", &[whole]).unwrap().text, "x");
}

#[tokio::test]
async fn openrouter_comments_and_errors_in_a_success_are_read() {
    let server = ProviderServer::start();
    let remote = remote("openrouter", &format!("{}/v1", server.url()));
    let ask = ask_of("openrouter", "anthropic/claude-sonnet-5.5:free");
    server.on(
        On::any(),
        Answer::stream(format!(
            ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: {TEXT}\n\ndata: {STOP}\n\n"
        )),
    );
    assert_eq!(call(&remote, &ask).await.0.unwrap().text, "x");
    assert_eq!(
        server.requests()[0].headers["x-openrouter-title"],
        "conclave"
    );

    let error = r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"provider_name":"Together","raw":"out of memory"}},"choices":[]}"#;
    let words = "Provider returned error (Together: out of memory)";
    for (stream, class) in [
        (
            format!(": OPENROUTER PROCESSING\n\ndata: {error}\n\n"),
            FailureClass::Overload,
        ),
        (
            format!("data: {TEXT}\n\ndata: {error}\n\n"),
            FailureClass::Interrupted,
        ),
    ] {
        server.on(On::any(), Answer::stream(stream));
        let failure = call(&remote, &ask).await.0.unwrap_err();
        assert_eq!(failure.class, class);
        assert_eq!(failure.message.as_str(), words);
    }
    server.on(On::any(), Answer::http(200, "application/json", error));
    let failure = call(&remote, &ask).await.0.unwrap_err();
    assert_eq!(failure.class, FailureClass::Overload);
    assert_eq!(failure.message.as_str(), words);
    let in_choice = r#"{"choices":[{"delta":{"content":""},"error":{"code":429,"message":"busy"},"finish_reason":"error"}]}"#;
    let failure = decode_of("openrouter", &[in_choice]).unwrap_err();
    assert_eq!(failure.class, FailureClass::RateLimit);
    assert_eq!(failure.message.as_str(), "busy");
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
