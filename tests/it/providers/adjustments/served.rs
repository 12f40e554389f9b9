//! Adjustments over HTTP: each refusal causes one, reports it, and applies it to all later calls to
//! that model.

use std::collections::BTreeMap;

use conclave::consultation::protocol::call::{Ask, Failure, FailureClass};
use conclave::providers::form::Parameters;
use conclave::providers::remote::Remote;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::providers::{VENDORS, ask, ask_of, call, cloud, remote};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// A refusal of a parameter as most servers write it.
fn refused(words: &str, param: Option<&str>) -> Answer {
    Answer::http(
        400,
        "application/json",
        json!({"error": {"message": words, "type": "invalid_request_error", "param": param}})
            .to_string(),
    )
}

async fn failed(remote: &Remote, ask: &Ask) -> Failure {
    call(remote, ask).await.0.unwrap_err()
}

#[tokio::test]
async fn a_refused_schema_is_left_out_of_later_calls() {
    for (vendor, model, field, steps) in [
        (Vendor::Anthropic, "claude-sonnet-5-5", "output_config", 1),
        (Vendor::OpenAi, "gpt-6.1-sol", "response_format", 2),
        (Vendor::Google, "gemini-4-argon", "generationConfig", 2),
    ] {
        let server = ProviderServer::start();
        for nth in 1..=steps {
            server.on(
                On::any().nth(nth),
                refused("structured output is not supported by this model", None),
            );
        }
        let remote = cloud(vendor, &server);
        let ask = ask(vendor, model);
        for step in 1..=steps {
            let failure = failed(&remote, &ask).await;
            assert_eq!(failure.class, FailureClass::Unsupported, "{vendor:?}");
            assert_eq!(failure.retry_after, None, "{vendor:?}");
            let change = match (step == steps, vendor) {
                (true, Vendor::Google) => "without `responseMimeType`".to_owned(),
                (true, _) => format!("without `{field}`"),
                (false, _) => format!("without a schema in `{field}`"),
            };
            let message = format!(
                "structured output is not supported by this model (HTTP 400); asking again {change}"
            );
            assert_eq!(failure.message, message);
        }
        for _ in 0..2 {
            assert!(call(&remote, &ask).await.0.is_ok(), "{vendor:?}");
        }
        let bodies: Vec<Value> = server
            .requests()
            .into_iter()
            .map(|request| request.body)
            .collect();
        let structure = |body: &Value| match vendor {
            Vendor::Anthropic => body.get("output_config").is_some(),
            Vendor::Google => body["generationConfig"].get("responseMimeType").is_some(),
            _ => body.get("response_format").is_some(),
        };
        let structured: Vec<bool> = bodies.iter().map(structure).collect();
        assert_eq!(
            structured,
            [vec![true; steps], vec![false; 2]].concat(),
            "{vendor:?}"
        );
        if steps == 2 {
            let second = bodies[1].to_string();
            assert!(
                !second.contains("key_points") && second.contains("json"),
                "the second is in JSON mode: {second}"
            );
        }
    }
}

#[tokio::test]
async fn an_adjustment_applies_to_one_model_only() {
    let server = ProviderServer::start();
    server.on(
        On::model("small").nth(1),
        refused("no", Some("response_format")),
    );
    let remote = remote("xai", &format!("{}/v1", server.url()));
    assert_eq!(
        failed(&remote, &ask_of("xai", "small")).await.class,
        FailureClass::Unsupported
    );
    call(&remote, &ask_of("xai", "large")).await.0.unwrap();
    call(&remote, &ask_of("xai", "small")).await.0.unwrap();
    let kinds: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.body["response_format"]["type"].clone())
        .collect();
    assert_eq!(kinds, ["json_schema", "json_schema", "json_object"]);
}

#[tokio::test]
async fn concurrent_refusals_cause_one_adjustment() {
    let server = ProviderServer::start();
    for nth in 1..=3 {
        server.on(
            On::any().nth(nth),
            refused("no", Some("response_format")).after_arrivals(3),
        );
    }
    // One is refused for the same reason in words that lead to no adjustment.
    server.on(
        On::any().nth(3),
        refused("something is wrong", None)
            .after_arrivals(3)
            .delay(std::time::Duration::from_millis(100)),
    );
    let remote = cloud(Vendor::OpenAi, &server);
    let ask = ask(Vendor::OpenAi, "gpt-6.1-sol");
    let failures: Vec<Failure> = join_all((0..3).map(|_| failed(&remote, &ask))).await;
    assert!(
        failures
            .iter()
            .all(|failure| failure.class == FailureClass::Unsupported),
        "{failures:?}"
    );
    let other = failures.iter().filter(|failure| {
        failure.message
            == "something is wrong (HTTP 400); asking again in the form that other calls have found"
    });
    assert_eq!(other.count(), 1, "{failures:?}");
    call(&remote, &ask).await.0.unwrap();
    assert_eq!(
        server.requests()[3].body["response_format"],
        json!({"type": "json_object"})
    );
}

#[tokio::test]
async fn the_token_limit_field_stays_renamed() {
    let server = ProviderServer::start();
    let detail = json!({
        "detail": [
            {
                "loc": ["body", "max_completion_tokens"],
                "msg": "Extra inputs are not permitted",
                "type": "extra_forbidden",
            },
        ],
    });
    server.on(
        On::any().nth(1),
        Answer::http(422, "application/json", detail.to_string()),
    );
    let remote = cloud(Vendor::OpenAi, &server);
    let ask = ask(Vendor::OpenAi, "gpt-6.1-sol");
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
    assert_eq!(
        failure.message,
        format!("{too_large} (HTTP 400); asking again with at most 8172 output tokens")
    );
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
    server.on(
        On::any().nth(1),
        Answer::http(
            500,
            "application/json",
            r#"{"error":{"code":500,"message":"Jinja Exception: System role not supported"}}"#,
        ),
    );
    let remote = remote("llamacpp", &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of("llamacpp", "gemma")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    assert!(
        failure
            .message
            .ends_with("asking again with the system prompt inside the user's message"),
        "{}",
        failure.message
    );
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
    server.on(
        On::model("a").nth(1),
        refused(
            "Unsupported value: 'temperature' does not support 0.3 with this model.",
            Some("temperature"),
        ),
    );
    let failure = failed(&remote, &ask_of("openrouter", "a")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    assert!(
        failure
            .message
            .ends_with("; asking again without `temperature`"),
        "{}",
        failure.message
    );
    for model in ["a", "a", "b"] {
        call(&remote, &ask_of("openrouter", model)).await.0.unwrap();
    }
    let requests = server.requests();
    let temperatures: Vec<_> = requests
        .iter()
        .map(|request| {
            (
                request.model.as_str(),
                request.body.get("temperature").cloned(),
            )
        })
        .collect();
    assert_eq!(
        temperatures,
        [
            ("a", Some(json!(0.3))),
            ("a", None),
            ("a", None),
            ("b", Some(json!(0.9)))
        ],
        "and the model is never overridden"
    );
    for request in &requests {
        assert_eq!(
            request.body["provider"],
            json!({"require_parameters": true, "zdr": true})
        );
        assert_eq!(
            request.body["response_format"]["type"], "json_schema",
            "nothing else is left out"
        );
    }
}

#[test]
fn user_parameters_reach_nested_fields_in_every_dialect() {
    let with = |provider: &str, parameters: Value| {
        let parameters = Parameters {
            for_all: fields(&parameters),
            by_model: BTreeMap::new(),
        };
        remote(provider, "http://h")
            .with_parameters(parameters)
            .codec(&ask_of(provider, "m"))
            .0
            .body
    };
    let gemini = with(
        "google",
        json!({"generationConfig": {"topK": 5, "maxOutputTokens": 1}}),
    );
    assert_eq!(&gemini["generationConfig"]["topK"], &json!(5));
    assert_eq!(
        &gemini["generationConfig"]["maxOutputTokens"],
        &json!(16_384)
    );
    let ollama = with(
        "ollama",
        json!({"think": true, "options": {"seed": 1, "num_ctx": 4096}}),
    );
    assert_eq!(&ollama["think"], &json!(true));
    assert_eq!(
        &ollama["options"],
        &json!({"num_ctx": 4096, "num_predict": 16384, "seed": 1})
    );
    let anthropic = with(
        "anthropic",
        json!({"output_config": {"effort": "low", "format": "none"}}),
    );
    assert_eq!(&anthropic["output_config"]["effort"], &json!("low"));
    assert_eq!(
        &anthropic["output_config"]["format"]["type"],
        &json!("json_schema")
    );
}

#[tokio::test]
async fn an_unexplained_failure_causes_no_adjustment() {
    let server = ProviderServer::start();
    for (vendor, model) in VENDORS {
        server.on(On::model(model), refused("something is wrong", None));
        let remote = cloud(vendor, &server);
        for _ in 0..2 {
            let failure = failed(&remote, &ask(vendor, model)).await;
            assert_eq!(failure.class, FailureClass::BadRequest, "{vendor:?}");
            assert_eq!(
                failure.message.as_str(),
                "something is wrong (HTTP 400)",
                "{vendor:?}"
            );
        }
    }
    let error = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    server.on(
        On::any(),
        Answer::stream(format!("data: {error}\n\ndata: {{\"error\":{{\"message\":\"no response_format\",\"code\":400}}}}\n\n")),
    );
    let failure = failed(&cloud(Vendor::OpenAi, &server), &ask(Vendor::OpenAi, "m")).await;
    assert_eq!(
        failure.class,
        FailureClass::BadRequest,
        "an answer had begun: its form was taken"
    );
    assert_eq!(
        failure.partial.as_str(),
        "half",
        "an answer had begun: its form was taken"
    );
}

#[tokio::test]
async fn a_refusal_inside_a_success_causes_an_adjustment() {
    let server = ProviderServer::start();
    let error = r#"{"error":{"message":"response_format is not supported by this endpoint","code":400},"choices":[]}"#;
    server.on(
        On::any().nth(1),
        Answer::stream(format!(": OPENROUTER PROCESSING\n\ndata: {error}\n\n")),
    );
    let remote = remote("openrouter", &format!("{}/v1", server.url()));
    assert_eq!(
        failed(&remote, &ask_of("openrouter", "m")).await.class,
        FailureClass::Unsupported
    );
    call(&remote, &ask_of("openrouter", "m")).await.0.unwrap();
    let second = &server.requests()[1].body;
    assert_eq!(second["response_format"], json!({"type": "json_object"}));
    assert_eq!(
        second["provider"],
        json!({"require_parameters": true}),
        "JSON mode may be ignored as well"
    );
}

#[tokio::test]
async fn a_refusal_sent_as_a_server_error_causes_an_adjustment() {
    let server = ProviderServer::start();
    let words = "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), \
                 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}\n\n  File \"/srv/app.py\", line 376";
    let body = json!({
        "error": {"message": words, "type": "internal_server_error", "param": null, "code": null},
    });
    server.on(
        On::any().nth(1),
        Answer::http(500, "application/json", body.to_string()),
    );
    let remote = remote("llamacpp", &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of("llamacpp", "m")).await;
    assert_eq!(
        failure.class,
        FailureClass::Unsupported,
        "{}",
        failure.message
    );
    assert!(
        failure
            .message
            .ends_with("asking again without a schema in `response_format`"),
        "{}",
        failure.message
    );
    call(&remote, &ask_of("llamacpp", "m")).await.0.unwrap();
    assert_eq!(
        server.requests()[1].body["response_format"],
        json!({"type": "json_object"})
    );

    let body = json!({
        "error": {
            "message": "can only concatenate str (not \"list\") to str",
            "type": "internal_server_error",
        },
    });
    server.on(
        On::any(),
        Answer::http(500, "application/json", body.to_string()),
    );
    assert_eq!(
        failed(&remote, &ask_of("llamacpp", "m")).await.class,
        FailureClass::Overload,
        "a failure of the server's own teaches nothing"
    );
}
