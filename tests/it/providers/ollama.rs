//! Ollama's own format: its requests, and the reading of its lines.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt, StopReason};
use conclave::domain::dialect::{Dialect, Quirks, Structure};
use conclave::domain::tokens::{Usage, UsageSource};
use conclave::engine::ports::Delta;
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::form::Form;
use conclave::providers::http::Http;
use conclave::providers::ollama;
use conclave::providers::remote::Remote;
use conclave::providers::wire::{Account, Endpoint, Scheme};
use serde_json::{Value, json};

use super::{ask_of, body_of, call, decode_of, fed, header, remote, remote_with};

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
    let authorization = |key: Option<&str>| {
        let account = Account {
            key: key.map(Into::into),
            origin: String::new(),
            scheme: Scheme::Usual,
            is_word: false,
        };
        let (request, _) =
            remote_with(Dialect::Ollama, "http://h", account).codec(&ask_of("ollama", "m"));
        header(&request, "authorization").map(ToOwned::to_owned)
    };
    assert_eq!(authorization(None), None);
    assert_eq!(authorization(Some("k")).as_deref(), Some("Bearer k"));
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
    let account = Account {
        key: None,
        origin: String::new(),
        scheme: Scheme::Usual,
        is_word: false,
    };
    let endpoint = Endpoint {
        base_url: "http://h".into(),
        account,
    };
    let remote = Remote::new(
        Dialect::Ollama,
        endpoint,
        Arc::new(ModelCatalog::builtin().merge(catalog).unwrap()),
        Arc::new(Http::default()),
    );
    assert_eq!(
        sizes(&ask_with(20_000, 16_384), &remote),
        (40_960, 40_960 - 25_256)
    );
    assert_eq!(sizes(&ask_with(100_000, 16_384), &remote), (40_960, 256));
}

fn line(text: &str) -> String {
    json!({
        "model": "qwen3:8b",
        "created_at": "x",
        "message": {"role": "assistant", "content": text},
        "done": false,
    })
    .to_string()
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
        decode_of(
            "ollama",
            &[
                thinking,
                &line("Grüße, "),
                &line("世界!"),
                &done(reason, counts),
            ],
        )
    };
    let reply = decoded("stop").unwrap();
    assert_eq!(reply.text.as_str(), "Grüße, 世界!");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(
        reply.usage,
        Usage {
            input: 26,
            output: 290,
            ..Usage::default()
        }
    );
    assert_eq!(reply.served_model.as_deref(), Some("qwen3:8b"));
    assert_eq!(reply.reported_cost, None);
    assert_eq!(decoded("length").unwrap().stop, StopReason::Length);
    assert_eq!(
        decoded("load").unwrap().stop,
        StopReason::Other("load".into())
    );
    assert_eq!(
        decoded("something_new").unwrap().stop,
        StopReason::Other("something_new".into())
    );
    let old = decode_of("ollama", &[&line("x"), r#"{"done":true}"#]).unwrap();
    assert_eq!(
        old.stop,
        StopReason::End,
        "older servers give neither reason nor counts"
    );
    assert_eq!(
        old.usage.source,
        UsageSource::Estimated,
        "older servers give neither reason nor counts"
    );
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
    let cached = decode_of("ollama", &[&line("x"), &done("stop", r#","eval_count":2"#)])
        .unwrap()
        .usage;
    assert!(
        cached.source == UsageSource::Estimated && cached.input > 0 && cached.output == 2,
        "{cached:?}"
    );
    let all_thought = decode_of("ollama", &[&done("length", counts)]).unwrap();
    assert_eq!(all_thought.stop, StopReason::Length);
    assert_eq!(all_thought.text.as_str(), "");
    for odd in ["[]", "7", r#"{"message":"x"}"#, r#"{"done":"yes"}"#] {
        assert_eq!(
            decode_of("ollama", &[odd]).unwrap_err().class,
            FailureClass::Malformed,
            "{odd}"
        );
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
    let read = |prompt: u64, reason: &str| {
        fed(
            &remote,
            &ask,
            &[
                &line("x"),
                &done(
                    reason,
                    &format!(r#","prompt_eval_count":{prompt},"eval_count":5"#),
                ),
            ],
        )
    };
    let far_below = read(4_095, "stop").unwrap_err();
    assert_eq!(far_below.class, FailureClass::Context);
    assert_eq!(far_below.usage.unwrap().input, 4_095);
    assert_eq!(
        far_below.message,
        "Ollama read only 4095 tokens of a prompt of about 10000: the model's context is too small for it"
    );
    assert_eq!(
        read(32_767, "length").unwrap_err().class,
        FailureClass::Context,
        "the context was filled to the brim"
    );
    assert_eq!(read(9_000, "length").unwrap().stop, StopReason::Length);
    assert!(
        read(6_000, "stop").is_ok(),
        "our own count is only an estimate"
    );
    let short = fed(
        &remote,
        &ask_with(1_000, 100),
        &[
            &line("x"),
            &done("stop", r#","prompt_eval_count":300,"eval_count":5"#),
        ],
    );
    assert!(short.is_ok(), "so short a prompt is never cut");
}

/// Answers one request with these bytes, which come in two pieces.
fn answer_once(response: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") || !request.ends_with(b"}") {
            let read = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..read]);
        }
        let (first, second) = response.split_at(response.len() / 2);
        stream.write_all(first).unwrap();
        stream.flush().unwrap();
        stream.write_all(second).unwrap();
    });
    url
}

#[tokio::test]
async fn lines_are_read_as_they_arrive() {
    let url = answer_once(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n\
          {\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Hm.\"},\"done\":false}\n\
          {\"message\":{\"role\":\"assistant\",\"content\":\"{\\\"a\\\":\"},\"done\":false}\n\
          {\"message\":{\"role\":\"assistant\",\"content\":\"1}\"},\"done\":false}\n\
          {\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":3,\"eval_count\":4}\n",
    );
    let (outcome, deltas) = call(&remote("ollama", &url), &ask_of("ollama", "m")).await;
    assert_eq!(outcome.unwrap().text, "{\"a\":1}");
    assert_eq!(deltas[..2], [Delta::Connected, Delta::Thinking]);
}

#[tokio::test]
async fn a_missing_model_and_a_web_page_are_recognised() {
    let missing =
        b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"error\":\"model 'm' not found\"}";
    let failure = call(
        &remote("ollama", &answer_once(missing)),
        &ask_of("ollama", "m"),
    )
    .await
    .0
    .unwrap_err();
    assert_eq!(failure.class, FailureClass::ModelMissing);
    assert_eq!(failure.message.as_str(), "model 'm' not found (HTTP 404)");
    let page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n<html>\nwelcome\n</html>";
    let failure = call(
        &remote("ollama", &answer_once(page)),
        &ask_of("ollama", "m"),
    )
    .await
    .0
    .unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    assert_eq!(
        failure.message,
        "the server answered with text/html; charset=utf-8 instead of a stream of events"
    );
}
