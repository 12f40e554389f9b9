//! Requests with a context that the vendor caches: the same beginning in all of them, the mark at
//! its end, and no schema.

use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt};
use conclave::domain::context::ContextText;
use conclave::domain::model::dialect::{Dialect, Quirks, Structure};
use conclave::providers::form::{Adjustment, Form, Refusal, SystemPlace};
use serde_json::{Value, json};

use super::{ask_of, call, failed, header, openai_request, remote};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const KEY: &str = "conclave-0123456789abcdef";

/// Everything in a request that follows the context.
const REST: &str = "Question?\n\nRules.\n\nYou are P.\n\nAnswer.";

/// Returns a call whose context is as long as the vendor wants it.
fn cached(provider: &str, model: &str) -> Ask {
    let ask = ask_of(provider, model);
    Ask {
        prompt: Prompt {
            preamble: "Weigh the context.".into(),
            context: ContextText::from("The context.".to_owned()),
            ..ask.prompt
        },
        cache_key: Some(KEY.to_owned()),
        ..ask
    }
}

fn body(ask: &Ask) -> Value {
    super::body(&remote(ask.model.provider.as_str(), "http://h/v1"), ask)
}

fn json_mode() -> Value {
    json!({"type": "json_object"})
}

/// The messages of a chat whose vendor needs no mark. The JSON mode needs the word.
fn unmarked() -> Value {
    let user = format!("The context.\n\n{REST}\n\nAnswer with one JSON object.");
    json!([
        {"role": "system", "content": "Weigh the context."},
        {"role": "user", "content": user},
    ])
}

#[test]
fn request_to_anthropic_marks_the_context_and_has_no_schema() {
    let expected = json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 16384,
        "stream": true,
        "system": "Weigh the context.",
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "The context.\n\n", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": REST},
        ]}],
    });
    assert_eq!(body(&cached("anthropic", "claude-sonnet-5-5")), expected);
}

#[test]
fn request_to_openai_marks_the_context_for_models_that_need_it() {
    let explicit = json!({"mode": "explicit"});
    let expected = openai_request(&json!({
        "messages": [
            {"role": "system", "content": "Weigh the context."},
            {"role": "user", "content": [
                {"type": "text", "text": "The context.\n\n", "prompt_cache_breakpoint": explicit},
                {"type": "text", "text": format!("{REST}\n\nAnswer with one JSON object.")},
            ]},
        ],
        "response_format": json_mode(),
        "prompt_cache_options": explicit,
        "prompt_cache_key": KEY,
    }));
    assert_eq!(body(&cached("openai", "gpt-6.1-sol")), expected);
}

#[test]
fn request_to_an_older_openai_model_has_only_the_key() {
    let body = body(&cached("openai", "gpt-5.5"));
    assert_eq!(body["messages"], unmarked());
    assert_eq!(body["response_format"], json_mode());
    assert_eq!(body["prompt_cache_key"], KEY);
    assert_eq!(body.get("prompt_cache_options"), None);
}

#[test]
fn request_to_gemini_has_the_context_in_a_part_of_its_own() {
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Weigh the context."}]},
        "contents": [{"role": "user", "parts": [
            {"text": "The context.\n\n"},
            {"text": format!("{REST}\n\nAnswer with one JSON object.")},
        ]}],
        "generationConfig": {"maxOutputTokens": 16384, "responseMimeType": "application/json"},
    });
    assert_eq!(body(&cached("google", "gemini-4-argon")), expected);
}

#[test]
fn mistral_gets_the_key_in_a_field_and_xai_in_a_header() {
    let mistral = body(&cached("mistral", "mistral-large-4"));
    assert_eq!(mistral["messages"], unmarked());
    assert_eq!(mistral["response_format"], json_mode());
    assert_eq!(mistral["prompt_cache_key"], KEY);

    let xai = cached("xai", "grok-4.7");
    let (request, _) = remote("xai", "http://h/v1").codec(&xai);
    assert_eq!(header(&request, "x-grok-conv-id"), Some(KEY));
    assert_eq!(request.body["messages"], unmarked());
    assert_eq!(request.body.get("prompt_cache_key"), None);
}

#[test]
fn openrouter_gets_the_marks_of_each_models_maker() {
    let claude = body(&cached("openrouter", "anthropic/claude-sonnet-5.5"));
    let marked = json!([
        {"type": "text", "text": "The context.\n\n", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": REST},
    ]);
    assert_eq!(claude["messages"][1]["content"], marked);
    assert_eq!(claude["session_id"], KEY);
    assert_eq!(claude.get("response_format"), None);
    assert_eq!(claude.get("provider"), None, "no parameter to require");

    let gpt = body(&cached("openrouter", "openai/gpt-6.1-sol"));
    assert_eq!(
        gpt["messages"][1]["content"][0]["prompt_cache_breakpoint"],
        json!({"mode": "explicit"})
    );
    assert_eq!(gpt.get("prompt_cache_options"), None);

    let grok = body(&cached("openrouter", "x-ai/grok-4.7"));
    assert_eq!(grok["messages"], unmarked());
    assert_eq!(grok["response_format"], json_mode());
    assert_eq!(grok["provider"], json!({"require_parameters": true}));
}

#[test]
fn beginning_is_the_same_to_the_byte_for_every_seat_and_round() {
    let beginning = |provider: &str, model: &str, answer: AnswerKind, persona: &str| {
        let mut ask = cached(provider, model);
        ask.answer = answer;
        ask.prompt.persona = persona.to_owned();
        ask.prompt.task = format!("The task of {persona}.");
        let mut body = body(&ask);
        let places = [
            "/messages/1/content/0/text",
            "/messages/0/content/0/text",
            "/contents/0/parts/0/text",
        ];
        let context = places.iter().find_map(|place| body.pointer(place)).cloned();
        for varying in ["messages", "contents"] {
            body.as_object_mut().unwrap().remove(varying);
        }
        (context, body)
    };
    for (provider, model) in [
        ("anthropic", "claude-sonnet-5-5"),
        ("openai", "gpt-6.1-sol"),
        ("google", "gemini-4-argon"),
    ] {
        let first = beginning(provider, model, AnswerKind::Independent, "A");
        for answer in AnswerKind::ALL {
            assert_eq!(beginning(provider, model, answer, "B"), first, "{provider}");
        }
        assert!(first.0.is_some(), "{provider}");
    }
}

#[test]
fn context_that_is_not_cached_stays_first_and_keeps_the_schema() {
    for (provider, model) in [
        ("anthropic", "claude-sonnet-5-5"),
        ("openai", "gpt-6.1-sol"),
        ("mistral", "mistral-large-4"),
        ("openrouter", "anthropic/claude-sonnet-5.5"),
        ("vllm", "qwen3"),
    ] {
        let mut ask = cached(provider, model);
        ask.cache_key = None;
        let body = body(&ask);
        let user = body["messages"].as_array().unwrap().last().unwrap();
        let content = format!("The context.\n\n{REST}");
        assert_eq!(user["content"], content, "{provider}");
        let text = body.to_string();
        assert!(text.contains("json_schema"), "{provider}");
        for field in ["cache", "session_id"] {
            assert!(!text.contains(field), "{provider} {field}");
        }
    }
}

#[test]
fn folded_system_prompt_stays_before_the_context() {
    let form = Form {
        system: SystemPlace::UserMessage,
        ..Form::new(Structure::Prompt, Quirks::OPENAI)
    };
    let messages = form.messages(&cached("openai", "gpt-6.1-sol"));
    assert_eq!(messages.system, None);
    let start = "Weigh the context.\n\nThe context.\n\n";
    assert_eq!(messages.user, [start, REST]);
}

#[test]
fn repair_of_an_answer_keeps_the_beginning() {
    let original = cached("anthropic", "claude-sonnet-5-5");
    let mut repaired = original.clone();
    repaired.prompt.task = "Answer.\n\nRepair it.".into();
    let first_block = |ask: &Ask| body(ask)["messages"][0]["content"][0].clone();
    assert_eq!(first_block(&repaired), first_block(&original));
}

#[test]
fn refused_mark_is_left_out_of_later_requests() {
    let refusals = [
        (
            Dialect::OpenAi(Quirks::OPENAI),
            cached("openai", "gpt-6.1-sol"),
            "Unknown parameter: 'messages[1].content[0].prompt_cache_breakpoint'.",
            "prompt_cache_breakpoint",
        ),
        (
            Dialect::Anthropic,
            cached("anthropic", "claude-sonnet-5-5"),
            "messages.0.content.0.text.cache_control: Extra inputs are not permitted",
            "cache_control",
        ),
    ];
    for (dialect, ask, words, field) in refusals {
        let refusal = Refusal {
            class: FailureClass::BadRequest,
            words: words.to_owned(),
            fields: Vec::new(),
        };
        let mut form = Form::new(Structure::Prompt, Quirks::OPENAI);
        let adjustment = form.adjustment(dialect, &ask, &["messages".to_owned()], &refusal);
        assert_eq!(adjustment, Some(Adjustment::Without(field.to_owned())));
        form.learn(&ask, &refusal, &adjustment.unwrap());
        assert_eq!(form.cache_mark(&ask, dialect), None);
        let again = form.adjustment(dialect, &ask, &["messages".to_owned()], &refusal);
        assert_eq!(again, None, "it is not the reason any more");
    }
}

#[tokio::test]
async fn refused_key_is_left_out_and_the_schema_stays_for_other_calls() {
    let server = ProviderServer::start();
    let words = "Unrecognized request argument: `prompt_cache_key`";
    server.on(On::any().nth(1), Answer::error(400, "invalid", words));
    let mistral = remote("mistral", &server.base_url(Vendor::Mistral));
    let mut ask = cached("mistral", "mistral-large-4");
    let failure = failed(&mistral, &ask).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    call(&mistral, &ask).await.0.unwrap();
    ask.cache_key = None;
    call(&mistral, &ask).await.0.unwrap();
    let requests = server.requests();
    assert_eq!(requests[1].body.get("prompt_cache_key"), None);
    assert_eq!(requests[1].body["response_format"], json_mode());
    assert_eq!(requests[2].body["response_format"]["type"], "json_schema");
}

#[test]
fn cached_context_of_another_dialect_changes_nothing_else() {
    let ollama = body(&cached("ollama", "qwen3:8b"));
    assert_eq!(ollama["format"], "json");
    assert_eq!(ollama["messages"], unmarked());
}
