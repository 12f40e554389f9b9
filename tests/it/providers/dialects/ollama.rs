//! Ollama's own format: its requests, and the reading of its lines.

use std::sync::Arc;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt, StopReason};
use conclave::domain::cost::tokens::{Usage, UsageSource};
use conclave::domain::model::dialect::{Dialect, Quirks, Structure};
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::dialects::ollama;
use conclave::providers::form::Form;
use conclave::providers::http::Http;
use conclave::providers::remote::Remote;
use conclave::providers::wire::{Account, Endpoint, Scheme};
use serde_json::{Value, json};

use super::super::{ask_of, body_of, decode_of, fed, header, remote, remote_with};

/// A call with a prompt of about this many tokens.
fn ask_with(tokens: usize, max_output_tokens: u64) -> Ask {
    let prompt = Prompt {
        shared: "word".repeat(tokens),
        ..Prompt::default()
    };
    Ask {
        prompt,
        max_output_tokens,
        cache_key: None,
        ..ask_of("ollama", "qwen3:8b")
    }
}

fn sizes(ask: &Ask, remote: &Remote) -> (u64, u64) {
    let options = &remote.codec(ask).0.body["options"];
    (
        options["num_ctx"].as_u64().unwrap(),
        options["num_predict"].as_u64().unwrap(),
    )
}

#[test]
fn a_request_has_exactly_these_fields() {
    let schema: Value = AnswerKind::Independent.schema(AnswerForm::Plain);
    let expected = json!({
        "model": "qwen3:8b",
        "stream": true,
        "think": false,
        "messages": [
            {"role": "system", "content": "You are P.\n\nRules."},
            {"role": "user", "content": "Question?\n\nAnswer."},
        ],
        "options": {"num_ctx": 32768, "num_predict": 16384},
        "format": schema,
    });
    assert_eq!(body_of("ollama", "qwen3:8b"), expected);
    let (request, _) = remote("ollama", "http://127.0.0.1:11434/").codec(&ask_of("ollama", "m"));
    assert_eq!(request.url, "http://127.0.0.1:11434/api/chat");
}

#[test]
fn json_mode_is_a_string_and_a_key_is_sent_only_if_set() {
    let format = |structure| {
        let form = Form::new(structure, Quirks::COMPATIBLE);
        ollama::body(&ask_of("ollama", "m"), &form)
            .get("format")
            .cloned()
    };
    assert_eq!(format(Structure::JsonObject), Some(json!("json")));
    assert_eq!(format(Structure::Prompt), None);
    for (key, sent) in [(None, None), (Some("k"), Some("Bearer k"))] {
        let remote = remote_with(Dialect::Ollama, "http://h", key, Scheme::Usual);
        let (request, _) = remote.codec(&ask_of("ollama", "m"));
        assert_eq!(header(&request, "authorization"), sent);
    }
}

#[test]
fn the_context_fits_prompt_and_answer_in_coarse_steps() {
    let remote = remote("ollama", "http://h");
    assert_eq!(sizes(&ask_with(10, 1_000), &remote), (8_192, 1_000));
    assert_eq!(sizes(&ask_with(4_000, 1_000), &remote), (8_192, 1_000));
    assert_eq!(sizes(&ask_with(10_000, 16_384), &remote), (32_768, 16_384));
    assert_eq!(sizes(&ask_with(50_000, 16_384), &remote), (131_072, 16_384));
}

#[test]
fn the_context_does_not_exceed_the_models_window() {
    let catalog = r#"{"models":[{"provider":"ollama","id":"qwen3:8b","context":40960}]}"#;
    let endpoint = Endpoint {
        base_url: "http://h".into(),
        account: Account {
            key: None,
            origin: String::new(),
            scheme: Scheme::Usual,
            is_word: false,
        },
    };
    let remote = Remote::new(
        Dialect::Ollama,
        endpoint,
        Arc::new(ModelCatalog::builtin().merge(catalog).unwrap()),
        Arc::new(Http::default()),
    );
    let cut = sizes(&ask_with(20_000, 16_384), &remote);
    assert_eq!(cut, (40_960, 40_960 - 25_256));
    assert_eq!(sizes(&ask_with(100_000, 16_384), &remote), (40_960, 256));
}

fn line(text: &str) -> String {
    json!({"model": "qwen3:8b", "message": {"content": text}, "done": false}).to_string()
}

fn done(reason: &str, counts: &str) -> String {
    format!(
        r#"{{"model":"qwen3:8b","message":{{"role":"assistant","content":""}},"done":true,"done_reason":"{reason}"{counts}}}"#
    )
}

#[test]
fn lines_become_text_stop_reason_usage_and_served_model() {
    let thinking = r#"{"message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}"#;
    let counts = r#","prompt_eval_count":26,"eval_count":290,"total_duration":5191566416"#;
    let decoded = |reason: &str| {
        let lines = [
            thinking,
            &line("Grüße, "),
            &line("世界!"),
            &done(reason, counts),
        ];
        decode_of("ollama", &lines)
    };
    let reply = decoded("stop").unwrap();
    assert_eq!(reply.text, "Grüße, 世界!");
    assert_eq!(reply.stop, StopReason::End);
    let usage = Usage {
        input: 26,
        output: 290,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("qwen3:8b"));
    assert_eq!(reply.reported_cost, None);
    assert_eq!(decoded("length").unwrap().stop, StopReason::Length);
    for other in ["load", "something_new"] {
        assert_eq!(
            decoded(other).unwrap().stop,
            StopReason::Other(other.into())
        );
    }
    // Older servers give neither reason nor counts.
    let old = decode_of("ollama", &[&line("x"), r#"{"done":true}"#]).unwrap();
    assert_eq!(old.stop, StopReason::End);
    assert_eq!(old.usage.source, UsageSource::Estimated);
}

#[test]
fn a_missing_or_empty_answer_is_reported() {
    let counts = r#","prompt_eval_count":26,"eval_count":2"#;
    let empty = decode_of("ollama", &[&done("stop", counts)]).unwrap_err();
    assert_eq!(empty.class, FailureClass::Empty);
    assert_eq!(empty.usage.unwrap().output, 2);
    let cut = decode_of("ollama", &[&line("half")]).unwrap_err();
    assert_eq!(cut.class, FailureClass::Interrupted);
    assert_eq!(cut.partial.as_str(), "half");
    let cached = done("stop", r#","eval_count":2"#);
    let usage = decode_of("ollama", &[&line("x"), &cached]).unwrap().usage;
    assert_eq!(usage.source, UsageSource::Estimated);
    assert!(usage.input > 0 && usage.output == 2, "{usage:?}");
    let all_thought = decode_of("ollama", &[&done("length", counts)]).unwrap();
    assert_eq!(all_thought.stop, StopReason::Length);
    assert_eq!(all_thought.text, "");
    for odd in ["[]", "7", r#"{"message":"x"}"#, r#"{"done":"yes"}"#] {
        let failure = decode_of("ollama", &[odd]).unwrap_err();
        assert_eq!(failure.class, FailureClass::Malformed, "{odd}");
    }
}

#[test]
fn an_error_among_the_lines_is_an_error() {
    let error = r#"{"error":"an error was encountered while running the model: CUDA error"}"#;
    let failure = decode_of("ollama", &[error]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Overload);
    assert_eq!(
        failure.message.as_str(),
        "an error was encountered while running the model: CUDA error"
    );
    let later = decode_of("ollama", &[&line("half"), error]).unwrap_err();
    assert_eq!(later.class, FailureClass::Interrupted);
    assert_eq!(later.partial.as_str(), "half");
}

#[test]
fn a_truncated_prompt_is_a_failure() {
    let remote = remote("ollama", "http://h");
    let ask = ask_with(10_000, 16_384);
    let read = |ask: &Ask, prompt: u64, reason: &str| {
        let counts = format!(r#","prompt_eval_count":{prompt},"eval_count":5"#);
        fed(&remote, ask, &[&line("x"), &done(reason, &counts)])
    };
    let far_below = read(&ask, 4_095, "stop").unwrap_err();
    assert_eq!(far_below.class, FailureClass::Context);
    assert_eq!(far_below.usage.unwrap().input, 4_095);
    assert_eq!(
        far_below.message,
        "Ollama read only 4095 tokens of a prompt of about 10000: the model's context is too small for it"
    );
    let filled_to_the_brim = read(&ask, 32_767, "length").unwrap_err();
    assert_eq!(filled_to_the_brim.class, FailureClass::Context);
    let long = read(&ask, 9_000, "length").unwrap();
    assert_eq!(long.stop, StopReason::Length);
    // Our own count is only an estimate, and a short prompt is never cut.
    assert!(read(&ask, 6_000, "stop").is_ok());
    assert!(read(&ask_with(1_000, 100), 300, "stop").is_ok());
}
