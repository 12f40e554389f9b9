//! Adjustments over HTTP: each refusal causes one, reports it, and applies it to all later calls to
//! that model.

use std::collections::BTreeMap;
use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::providers::form::Parameters;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::providers::{VENDORS, ask_of, body, call, cloud, failed, failure, remote, usual};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// A refusal of a parameter as most servers write it.
fn refused(words: &str, param: Option<&str>) -> Answer {
    let kind = "invalid_request_error";
    let body = json!({"error": {"message": words, "type": kind, "param": param}});
    Answer::http(400, "application/json", body.to_string())
}

fn json_mode() -> Value {
    json!({"type": "json_object"})
}

#[tokio::test]
async fn a_refused_schema_is_left_out_of_later_calls() {
    let words = "structured output is not supported by this model";
    for (vendor, field, steps) in [
        (Vendor::Anthropic, "output_config", 1),
        (Vendor::OpenAi, "response_format", 2),
        (Vendor::Google, "generationConfig", 2),
    ] {
        let server = ProviderServer::start();
        for nth in 1..=steps {
            server.on(On::any().nth(nth), refused(words, None));
        }
        let remote = cloud(vendor, &server);
        let ask = usual(vendor);
        for step in 1..=steps {
            let failure = failed(&remote, &ask).await;
            assert_eq!(failure.class, FailureClass::Unsupported, "{vendor:?}");
            assert_eq!(failure.retry_after, None, "{vendor:?}");
            let change = match (step == steps, vendor) {
                (true, Vendor::Google) => "without `responseMimeType`".to_owned(),
                (true, _) => format!("without `{field}`"),
                (false, _) => format!("without a schema in `{field}`"),
            };
            let message = format!("{words} (HTTP 400); asking again {change}");
            assert_eq!(failure.message, message);
        }
        for _ in 0..2 {
            assert!(call(&remote, &ask).await.0.is_ok(), "{vendor:?}");
        }
        let bodies = server.requests().into_iter().map(|request| request.body);
        let bodies: Vec<Value> = bodies.collect();
        let structure = |body: &Value| match vendor {
            Vendor::Anthropic => body.get("output_config").is_some(),
            Vendor::Google => body["generationConfig"].get("responseMimeType").is_some(),
            _ => body.get("response_format").is_some(),
        };
        let structured: Vec<bool> = bodies.iter().map(structure).collect();
        let expected = [vec![true; steps], vec![false; 2]].concat();
        assert_eq!(structured, expected, "{vendor:?}");
        if steps == 2 {
            let in_json_mode = bodies[1].to_string();
            assert!(!in_json_mode.contains("key_points"), "{in_json_mode}");
            assert!(in_json_mode.contains("json"), "{in_json_mode}");
        }
    }
}

#[tokio::test]
async fn an_adjustment_applies_to_one_model_only() {
    let server = ProviderServer::start();
    let no = refused("no", Some("response_format"));
    server.on(On::model("small").nth(1), no);
    let remote = remote("xai", &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of("xai", "small")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    call(&remote, &ask_of("xai", "large")).await.0.unwrap();
    call(&remote, &ask_of("xai", "small")).await.0.unwrap();
    let requests = server.requests();
    let kinds = ["json_schema", "json_schema", "json_object"];
    for (request, kind) in requests.iter().zip(kinds) {
        assert_eq!(request.body["response_format"]["type"], kind);
    }
}

#[tokio::test]
async fn concurrent_refusals_cause_one_adjustment() {
    let server = ProviderServer::start();
    let no = refused("no", Some("response_format")).after_arrivals(3);
    server.on(On::any().nth(1), no.clone());
    server.on(On::any().nth(2), no);
    // One is refused for the same reason in words that lead to no adjustment.
    let wrong = refused("something is wrong", None)
        .after_arrivals(3)
        .delay(Duration::from_millis(100));
    server.on(On::any().nth(3), wrong);
    let (remote, ask) = (cloud(Vendor::OpenAi, &server), usual(Vendor::OpenAi));
    let failures: Vec<Failure> = join_all((0..3).map(|_| failed(&remote, &ask))).await;
    for failure in &failures {
        assert_eq!(failure.class, FailureClass::Unsupported);
    }
    let words =
        "something is wrong (HTTP 400); asking again in the form that other calls have found";
    let other = failures.iter().filter(|failure| failure.message == words);
    assert_eq!(other.count(), 1, "{failures:?}");
    call(&remote, &ask).await.0.unwrap();
    assert_eq!(server.requests()[3].body["response_format"], json_mode());
}

#[tokio::test]
async fn the_token_limit_field_stays_renamed() {
    let server = ProviderServer::start();
    let detail = r#"{"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]}"#;
    server.on(
        On::any().nth(1),
        Answer::http(422, "application/json", detail),
    );
    let (remote, ask) = (cloud(Vendor::OpenAi, &server), usual(Vendor::OpenAi));
    let message = "body.max_completion_tokens: Extra inputs are not permitted (HTTP 422); asking again with `max_tokens` instead of `max_completion_tokens`";
    assert_eq!(failed(&remote, &ask).await.message, message);
    call(&remote, &ask).await.0.unwrap();
    call(&remote, &ask).await.0.unwrap();
    for request in &server.requests()[1..] {
        assert_eq!(&request.body["max_tokens"], &json!(16_384));
        assert_eq!(request.body.get("max_completion_tokens"), None);
    }
}

#[tokio::test]
async fn the_output_limit_is_lowered_to_the_servers_maximum() {
    let server = ProviderServer::start();
    let too_large = "This model's maximum context length is 8192 tokens and your request has 20 input tokens (16384 > 8192 - 20).";
    server.on(On::any().nth(1), refused(too_large, Some("max_tokens")));
    let remote = remote("vllm", &format!("{}/v1", server.url()));
    let ask = ask_of("vllm", "m");
    let failure = failed(&remote, &ask).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    let message = format!("{too_large} (HTTP 400); asking again with at most 8172 output tokens");
    assert_eq!(failure.message, message);
    call(&remote, &ask).await.0.unwrap();
    assert_eq!(server.requests()[1].body["max_tokens"], 8_172);
    let no_room = "This model's maximum context length is 8192 tokens and your request has 9000 input tokens (16384 > 8192 - 9000).";
    server.on(On::any().nth(1), refused(no_room, Some("max_tokens")));
    let failure = failed(&remote, &ask).await;
    assert_eq!(failure.class, FailureClass::Context);
    assert_eq!(failure.message, format!("{no_room} (HTTP 400)"));
}

#[tokio::test]
async fn a_server_without_a_system_role_gets_one_message() {
    let server = ProviderServer::start();
    let error = r#"{"error":{"code":500,"message":"Jinja Exception: System role not supported"}}"#;
    server.on(
        On::any().nth(1),
        Answer::http(500, "application/json", error),
    );
    let remote = remote("llamacpp", &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of("llamacpp", "gemma")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    let end = "asking again with the system prompt inside the user's message";
    assert!(failure.message.ends_with(end), "{}", failure.message);
    call(&remote, &ask_of("llamacpp", "gemma")).await.0.unwrap();
    let expected =
        json!([{"role": "user", "content": "You are P.\n\nRules.\n\nQuestion?\n\nAnswer."}]);
    assert_eq!(server.requests()[1].body["messages"], expected);
}

fn fields(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test]
async fn user_parameters_are_sent_until_the_model_refuses_them() {
    let server = ProviderServer::start();
    let parameters = Parameters {
        for_all: fields(&json!({"temperature": 0.3, "model": "other", "provider": {"zdr": true}})),
        by_model: BTreeMap::from([("b".to_owned(), fields(&json!({"temperature": 0.9})))]),
    };
    let remote = remote("openrouter", &format!("{}/v1", server.url())).with_parameters(parameters);
    let words = "Unsupported value: 'temperature' does not support 0.3 with this model.";
    let refusal = refused(words, Some("temperature"));
    server.on(On::model("a").nth(1), refusal);
    let failure = failed(&remote, &ask_of("openrouter", "a")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    let end = "; asking again without `temperature`";
    assert!(failure.message.ends_with(end), "{}", failure.message);
    for model in ["a", "a", "b"] {
        call(&remote, &ask_of("openrouter", model)).await.0.unwrap();
    }
    let requests = server.requests();
    // The model is never overridden, and nothing else is left out.
    let expected = [
        ("a", json!(0.3)),
        ("a", json!(null)),
        ("a", json!(null)),
        ("b", json!(0.9)),
    ];
    for (request, (model, temperature)) in requests.iter().zip(expected) {
        let body = &request.body;
        assert_eq!(request.model, model);
        assert_eq!(body["temperature"], temperature);
        assert_eq!(
            body["provider"],
            json!({"require_parameters": true, "zdr": true})
        );
        assert_eq!(body["response_format"]["type"], "json_schema");
    }
}

#[test]
fn user_parameters_reach_nested_fields_in_every_dialect() {
    let with = |provider: &str, parameters: Value| {
        let parameters = Parameters {
            for_all: fields(&parameters),
            by_model: BTreeMap::new(),
        };
        let remote = remote(provider, "http://h").with_parameters(parameters);
        body(&remote, &ask_of(provider, "m"))
    };
    let wanted = json!({"generationConfig": {"topK": 5, "maxOutputTokens": 1}});
    let gemini = with("google", wanted);
    assert_eq!(gemini["generationConfig"]["topK"], 5);
    assert_eq!(gemini["generationConfig"]["maxOutputTokens"], 16_384);
    let wanted = json!({"think": true, "options": {"seed": 1, "num_ctx": 4096}});
    let ollama = with("ollama", wanted);
    assert_eq!(ollama["think"], true);
    let options = json!({"num_ctx": 4096, "num_predict": 16384, "seed": 1});
    assert_eq!(ollama["options"], options);
    let wanted = json!({"output_config": {"effort": "low", "format": "none"}});
    let anthropic = with("anthropic", wanted);
    assert_eq!(anthropic["output_config"]["effort"], "low");
    assert_eq!(anthropic["output_config"]["format"]["type"], "json_schema");
}

#[tokio::test]
async fn an_unexplained_failure_causes_no_adjustment() {
    let server = ProviderServer::start();
    server.on(On::any(), refused("something is wrong", None));
    for vendor in VENDORS {
        let remote = cloud(vendor, &server);
        for _ in 0..2 {
            let failure = failed(&remote, &usual(vendor)).await;
            assert_eq!(failure.class, FailureClass::BadRequest, "{vendor:?}");
            assert_eq!(
                failure.message, "something is wrong (HTTP 400)",
                "{vendor:?}"
            );
        }
    }
    // An answer had begun: its form was taken.
    let error = json!({"message": "no response_format", "code": 400});
    server.on(On::any(), Answer::error_in_stream("half", error));
    let failure = failure(Vendor::OpenAi, &server).await;
    assert_eq!(failure.class, FailureClass::BadRequest);
    assert_eq!(failure.partial, "half");
}

/// Asserts that the provider asks in JSON mode after this answer, and returns the words of the
/// failure.
async fn then_asks_in_json_mode(provider: &str, answer: Answer) -> (String, Value) {
    let server = ProviderServer::start();
    server.on(On::any().nth(1), answer);
    let remote = remote(provider, &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of(provider, "m")).await;
    assert_eq!(failure.class, FailureClass::Unsupported, "{failure:?}");
    call(&remote, &ask_of(provider, "m")).await.0.unwrap();
    let second = server.requests()[1].body.clone();
    assert_eq!(second["response_format"], json_mode());
    (failure.message, second)
}

#[tokio::test]
async fn a_refusal_inside_a_success_causes_an_adjustment() {
    let error = r#"{"error":{"message":"response_format is not supported by this endpoint","code":400},"choices":[]}"#;
    let answer = Answer::stream(format!(": OPENROUTER PROCESSING\n\ndata: {error}\n\n"));
    let (_, second) = then_asks_in_json_mode("openrouter", answer).await;
    // JSON mode may be ignored as well.
    assert_eq!(second["provider"], json!({"require_parameters": true}));
}

#[tokio::test]
async fn a_refusal_sent_as_a_server_error_causes_an_adjustment() {
    let words = "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), \
                 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}\n\n  File \"/srv/app.py\", line 376";
    let answer = Answer::error(500, "internal_server_error", words);
    let (message, _) = then_asks_in_json_mode("llamacpp", answer).await;
    let end = "asking again without a schema in `response_format`";
    assert!(message.ends_with(end), "{message}");

    // A failure of the server's own teaches nothing.
    let server = ProviderServer::start();
    let words = "can only concatenate str (not \"list\") to str";
    server.on(
        On::any(),
        Answer::error(500, "internal_server_error", words),
    );
    let failure = failure(Vendor::LlamaCpp, &server).await;
    assert_eq!(failure.class, FailureClass::Overload);
}
