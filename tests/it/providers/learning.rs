//! What a refusal teaches: one step, kept for all later calls to that model, and told in words.

use std::collections::BTreeMap;

use conclave::consultation::call::{Ask, Failure, FailureClass, Prompt};
use conclave::providers::dialect::{Dialect, Quirks, Structure, TokensField};
use conclave::providers::form::{Form, Lesson, Parameters, Refusal, SystemPlace};
use conclave::providers::remote::Remote;
use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{VENDORS, ask, ask_of, call, cloud, remote};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use FailureClass::{BadRequest, Context, ModelMissing, Overload};

const OPENAI: Dialect = Dialect::OpenAi(Quirks::OPENAI);
const COMPATIBLE: Dialect = Dialect::OpenAi(Quirks::COMPATIBLE);
const LMSTUDIO: Dialect = Dialect::OpenAi(Quirks::LMSTUDIO);

fn form(dialect: Dialect) -> Form {
    let quirks = if let Dialect::OpenAi(quirks) = dialect { quirks } else { Quirks::COMPATIBLE };
    Form { json_object: dialect.json_object(), ..Form::new(Structure::Schema, quirks) }
}

/// The lesson of a refusal with these words and named fields, for a body that has some parameters of the user's.
fn lesson(dialect: Dialect, class: FailureClass, words: &str, fields: &[&str]) -> Option<Lesson> {
    let parts = [
        "model",
        "messages",
        "stream",
        "stream_options",
        "stream_options.include_usage",
        "provider",
        "provider.require_parameters",
        "think",
        "temperature",
        "top_p",
        "stop",
        "reasoning_effort",
        "output_config.effort",
        "generationConfig.topK",
        "options.num_ctx",
        "options.seed",
    ];
    let refusal = Refusal { class, words: words.to_owned(), fields: fields.iter().map(ToString::to_string).collect() };
    form(dialect).lesson(dialect, &ask_of("x", "m"), &parts.map(ToOwned::to_owned), &refusal)
}

fn without(path: &str) -> Option<Lesson> {
    Some(Lesson::Without(path.to_owned()))
}

fn structure(without: &'static str, now: Structure) -> Option<Lesson> {
    Some(Lesson::Structure { without, now })
}

#[test]
fn a_field_that_is_named_in_any_way_is_left_out() {
    let cases: &[(Dialect, &str, &[&str], &str)] = &[
        (OPENAI, "Unsupported value", &["temperature"], "temperature"),
        (OPENAI, "Unsupported value: 'temperature' does not support 0.8 with this model.", &[], "temperature"),
        (OPENAI, "'stop' is not supported with this model", &[], "stop"),
        (OPENAI, "Unrecognized request argument supplied: reasoning_effort", &[], "reasoning_effort"),
        (COMPATIBLE, "body.stream_options: Extra inputs are not permitted", &["body.stream_options"], "stream_options"),
        (COMPATIBLE, "Model grok-build-0.1 does not support parameter reasoningEffort.", &[], "reasoning_effort"),
        (COMPATIBLE, "stream_options: Extra inputs are not permitted", &[], "stream_options"),
        (Dialect::Anthropic, "temperature: Extra inputs are not permitted", &[], "temperature"),
        (Dialect::Anthropic, "output_config.effort: this model takes low and high", &[], "output_config.effort"),
        (Dialect::Anthropic, "This model does not support the effort parameter.", &[], "output_config.effort"),
        (
            Dialect::Gemini,
            "Invalid JSON payload received. Unknown name \"topK\" at 'generation_config': Cannot find field.",
            &["generation_config"],
            "generationConfig.topK",
        ),
        (Dialect::Gemini, "no", &["generation_config.top_k"], "generationConfig.topK"),
        (Dialect::Ollama, "\"gemma\" does not support thinking", &[], "think"),
        (Dialect::Ollama, "invalid think value: false (must be \"high\", \"medium\" or \"low\")", &[], "think"),
        (Dialect::Ollama, "invalid option provided: num_ctx", &[], "options.num_ctx"),
    ];
    for (dialect, words, fields, path) in cases {
        assert_eq!(lesson(*dialect, BadRequest, words, fields), without(path), "{words} {fields:?}");
    }
}

#[test]
fn the_answers_shape_is_asked_for_by_lesser_means_step_by_step() {
    use Structure::{JsonObject, Prompt};
    let cases: &[(Dialect, &str, &[&str], Option<Lesson>)] = &[
        (
            OPENAI,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            &["response_format"],
            structure("response_format", JsonObject),
        ),
        (OPENAI, "no", &["response_format.json_schema.schema"], structure("response_format", JsonObject)),
        (COMPATIBLE, "Failed to parse grammar", &[], structure("response_format", JsonObject)),
        (COMPATIBLE, "structured outputs are not supported by this engine", &[], structure("response_format", JsonObject)),
        (LMSTUDIO, "'response_format.type' must be 'json_schema' or 'text'", &[], structure("response_format", Prompt)),
        (Dialect::Anthropic, "output_config: Extra inputs are not permitted", &[], structure("output_config", Prompt)),
        (
            Dialect::Anthropic,
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be set",
            &[],
            structure("output_config", Prompt),
        ),
        (
            Dialect::Gemini,
            "Unknown name \"responseJsonSchema\" at 'generation_config'",
            &["generation_config"],
            structure("generationConfig", JsonObject),
        ),
        (
            Dialect::Gemini,
            "The specified schema produces a constraint that has too many states for serving.",
            &[],
            structure("generationConfig", JsonObject),
        ),
        (Dialect::Ollama, "invalid format: expected \"json\" or a JSON Schema", &[], structure("format", JsonObject)),
    ];
    for (dialect, words, fields, expected) in cases {
        assert_eq!(lesson(*dialect, BadRequest, words, fields), *expected, "{words}");
    }
    let refusal = Refusal { class: BadRequest, words: "response_format is unavailable".into(), fields: vec![] };
    let mut form = form(OPENAI);
    let ask = ask_of("x", "m");
    let mut steps = Vec::new();
    while let Some(lesson) = form.lesson(OPENAI, &ask, &[], &refusal) {
        form.learn(&ask, &refusal, &lesson);
        steps.push(form.structure);
    }
    assert_eq!(steps, [JsonObject, Prompt], "and then there is nothing left to leave out");
    assert_eq!(
        lesson(COMPATIBLE, ModelMissing, "No endpoints found that can handle the requested parameters.", &[]),
        structure("response_format", JsonObject)
    );
    assert_eq!(lesson(COMPATIBLE, Overload, "failed to compile the grammar", &[]), structure("response_format", JsonObject));
}

#[test]
fn the_field_for_the_tokens_is_swapped_once() {
    let words = "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.";
    assert_eq!(lesson(OPENAI, BadRequest, words, &["max_completion_tokens"]), Some(Lesson::TokensField(TokensField::MaxTokens)));
    let back = "body.max_tokens: Extra inputs are not permitted";
    assert_eq!(lesson(COMPATIBLE, BadRequest, back, &["body.max_tokens"]), Some(Lesson::TokensField(TokensField::MaxCompletionTokens)));
    assert_eq!(
        lesson(COMPATIBLE, BadRequest, "Unsupported parameter: max_tokens", &[]),
        Some(Lesson::TokensField(TokensField::MaxCompletionTokens))
    );
    assert_eq!(lesson(Dialect::Anthropic, BadRequest, "max_tokens: Field required", &[]), None);
    let swapped = Form { tokens_field_swapped: true, ..form(COMPATIBLE) };
    let refusal = Refusal { class: BadRequest, words: back.into(), fields: vec!["body.max_tokens".into()] };
    assert_eq!(swapped.lesson(COMPATIBLE, &ask_of("x", "m"), &["max_tokens".into()], &refusal), None);
}

#[test]
fn a_model_without_a_system_role_reads_it_in_the_users_message() {
    for (class, words) in [
        (BadRequest, "System role not supported"),
        (BadRequest, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (BadRequest, "unsupported role 'system'"),
        (BadRequest, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (BadRequest, "Only user and assistant roles are supported!"),
        (Overload, "Jinja Exception: System role not supported"),
    ] {
        assert_eq!(lesson(COMPATIBLE, class, words, &[]), Some(Lesson::NoSystem), "{words}");
    }
    let folded = Form { system: SystemPlace::UserMessage, ..form(COMPATIBLE) };
    let words = (None, "You are P.\n\nRules.\n\nQuestion?\n\nAnswer.".to_owned());
    assert_eq!(folded.messages(&ask_of("x", "m")), words);
}

#[test]
fn what_names_nothing_that_can_be_spared_teaches_nothing() {
    for (class, words, fields) in [
        (BadRequest, "messages: text content blocks must be non-empty", vec![]),
        (BadRequest, "Invalid schema in messages", vec!["messages"]),
        (BadRequest, "body.model: field required", vec!["body.model"]),
        (BadRequest, "something is wrong, please stop and think about what your provider does", vec![]),
        (BadRequest, "", vec![]),
        (Context, "prompt is too long: 9 tokens > 8 maximum; see response_format", vec![]),
        (FailureClass::Policy, "temperature and response_format", vec!["temperature"]),
        (FailureClass::Auth, "response_format", vec![]),
        (ModelMissing, "no such model; response_format", vec![]),
        (Overload, "response_format", vec!["response_format"]),
        (FailureClass::RateLimit, "max_tokens", vec![]),
    ] {
        assert_eq!(lesson(OPENAI, class, words, &fields), None, "{words}");
    }
}

/// An ask whose prompt is 100 tokens by our count.
fn hundred() -> Ask {
    Ask { prompt: Prompt { shared: "word".repeat(100), ..Prompt::default() }, ..ask_of("x", "m") }
}

#[test]
fn room_beyond_what_the_model_gives_is_lowered_to_it() {
    let vllm = |context: u64, prompt: u64| {
        format!(
            "'max_tokens' is too large: 16384. This model's maximum context length is {context} tokens and your request has {prompt} input tokens (16384 > {context} - {prompt})."
        )
    };
    let cases = [
        (Dialect::Anthropic, "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens".to_owned(), BadRequest, 8_192),
        (OPENAI, "max_tokens is too large: 16384. This model supports at most 4096 completion tokens".to_owned(), BadRequest, 4_096),
        (COMPATIBLE, vllm(8_192, 50), Context, 8_142),
        (
            COMPATIBLE,
            "This model's maximum context length is 8192 tokens. However, you requested 16434 tokens (50 in the messages, 16384 in the completion).".to_owned(),
            Context,
            8_142,
        ),
        (COMPATIBLE, vllm(356, 100), Context, 256),
    ];
    for (dialect, words, class, room) in cases {
        let refusal = Refusal { class, words, fields: vec!["max_tokens".into()] };
        let mut form = form(dialect);
        let lesson = form.lesson(dialect, &hundred(), &[], &refusal);
        assert_eq!(lesson, Some(Lesson::Room(room)), "{}", refusal.words);
        form.learn(&hundred(), &refusal, &lesson.unwrap());
        assert_eq!(form.room(&hundred()), room);
        assert_eq!(form.room(&Ask { room: 300, ..hundred() }), room.min(300), "less may always be asked for");
        assert_ne!(form.lesson(dialect, &hundred(), &[], &refusal), Some(Lesson::Room(room)), "the same is never learnt twice");
    }
    for words in [vllm(355, 100), vllm(8_192, 9_000)] {
        let refusal = Refusal { class: Context, words, fields: vec![] };
        assert_eq!(form(COMPATIBLE).lesson(COMPATIBLE, &hundred(), &[], &refusal), Some(Lesson::NoRoom), "{}", refusal.words);
    }
}

#[test]
fn a_learnt_window_leaves_shorter_prompts_more_room() {
    let words = "This model's maximum context length is 8192 tokens and your request has 200 input tokens (16384 > 8192 - 200).";
    let refusal = Refusal { class: Context, words: words.into(), fields: vec![] };
    let mut form = form(COMPATIBLE);
    form.learn(&hundred(), &refusal, &Lesson::Room(0));
    assert_eq!(form.room(&hundred()), 8_192 - 200);
    let double = Ask { prompt: Prompt { shared: "word".repeat(200), ..Prompt::default() }, ..hundred() };
    assert_eq!(form.room(&double), 8_192 - 400, "the server counts two tokens where we count one");
}

proptest! {
    #[test]
    fn whatever_a_server_says_learning_comes_to_an_end(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..14),
        fields in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..3),
        class in prop::sample::select(vec![BadRequest, Context, ModelMissing, Overload]),
        dialect in prop::sample::select(vec![OPENAI, COMPATIBLE, LMSTUDIO, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama]),
    ) {
        let refusal = Refusal { class, words: words.join(" "), fields: fields.into_iter().map(ToOwned::to_owned).collect() };
        let mut form = form(dialect);
        let mut steps = 0;
        while let Some(lesson) = form.lesson(dialect, &hundred(), &WORDS.map(ToOwned::to_owned), &refusal) {
            if lesson == Lesson::NoRoom {
                break;
            }
            let before = form.clone();
            form.learn(&hundred(), &refusal, &lesson);
            prop_assert_ne!(&form, &before, "{}", lesson);
            prop_assert!(form.room(&hundred()) >= 256);
            steps += 1;
            prop_assert!(steps <= WORDS.len() + 6);
        }
    }
}

/// What refusals are made of, and names of fields.
const WORDS: [&str; 36] = [
    "max_tokens",
    "max_tokens:",
    "max_completion_tokens",
    "'temperature'",
    "temperature",
    "top_p",
    "think",
    "response_format",
    "json_schema",
    "output_config.effort",
    "generationConfig.topK",
    "format",
    "schema",
    "grammar",
    "requested parameters",
    "System role",
    "not supported",
    "parameter",
    "value",
    "is too large",
    "maximum context length is",
    "input tokens",
    "in the messages",
    "supports at most",
    "less than or equal to",
    "exceed context limit:",
    "16384",
    "8192",
    "300",
    "99999999999999999999",
    ">",
    "+",
    "(",
    "é",
    "\u{0}",
    ".[.",
];

/// A refusal of a parameter as most servers write it.
fn refused(words: &str, param: Option<&str>) -> Answer {
    Answer::http(400, "application/json", json!({"error": {"message": words, "type": "invalid_request_error", "param": param}}).to_string())
}

async fn failed(remote: &Remote, ask: &Ask) -> Failure {
    call(remote, ask).await.0.unwrap_err()
}

#[tokio::test]
async fn a_refused_schema_is_left_out_of_the_next_request_and_of_all_later_ones() {
    for (vendor, model, field, steps) in [
        (Vendor::Anthropic, "claude-sonnet-5-5", "output_config", 1),
        (Vendor::OpenAi, "gpt-6.1-sol", "response_format", 2),
        (Vendor::Google, "gemini-4-argon", "generationConfig", 2),
    ] {
        let server = ProviderServer::start();
        for nth in 1..=steps {
            server.on(On::any().nth(nth), refused("structured output is not supported by this model", None));
        }
        let remote = cloud(vendor, &server);
        let ask = ask(vendor, model);
        for step in 1..=steps {
            let failure = failed(&remote, &ask).await;
            assert_eq!((failure.class, failure.retry_after), (FailureClass::Unsupported, None), "{vendor:?}");
            let told = match (step == steps, vendor) {
                (true, Vendor::Google) => "without `responseMimeType`".to_owned(),
                (true, _) => format!("without `{field}`"),
                (false, _) => format!("without a schema in `{field}`"),
            };
            let message = format!("structured output is not supported by this model (HTTP 400); asking again {told}");
            assert_eq!(failure.message, message);
        }
        for _ in 0..2 {
            assert!(call(&remote, &ask).await.0.is_ok(), "{vendor:?}");
        }
        let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        let structure = |body: &Value| match vendor {
            Vendor::Anthropic => body.get("output_config").is_some(),
            Vendor::OpenAi => body.get("response_format").is_some(),
            Vendor::Google => body["generationConfig"].get("responseMimeType").is_some(),
        };
        let told: Vec<bool> = bodies.iter().map(structure).collect();
        assert_eq!(told, [vec![true; steps], vec![false; 2]].concat(), "{vendor:?}");
        if steps == 2 {
            let second = bodies[1].to_string();
            assert!(!second.contains("key_points") && second.contains("json"), "the second is in JSON mode: {second}");
        }
    }
}

#[tokio::test]
async fn what_one_model_refuses_another_is_still_asked_for() {
    let server = ProviderServer::start();
    server.on(On::model("small").nth(1), refused("no", Some("response_format")));
    let remote = remote("xai", &format!("{}/v1", server.url()));
    assert_eq!(failed(&remote, &ask_of("xai", "small")).await.class, FailureClass::Unsupported);
    call(&remote, &ask_of("xai", "large")).await.0.unwrap();
    call(&remote, &ask_of("xai", "small")).await.0.unwrap();
    let kinds: Vec<_> = server.requests().iter().map(|request| request.body["response_format"]["type"].clone()).collect();
    assert_eq!(kinds, ["json_schema", "json_schema", "json_object"]);
}

#[tokio::test]
async fn calls_that_are_refused_beside_each_other_learn_one_step_together() {
    let server = ProviderServer::start();
    for nth in 1..=3 {
        server.on(On::any().nth(nth), refused("no", Some("response_format")).after_arrivals(3));
    }
    // One is refused for the same reason in words that nothing could be learnt from.
    server.on(On::any().nth(3), refused("something is wrong", None).after_arrivals(3).delay(std::time::Duration::from_millis(100)));
    let remote = cloud(Vendor::OpenAi, &server);
    let ask = ask(Vendor::OpenAi, "gpt-6.1-sol");
    let failures: Vec<Failure> = join_all((0..3).map(|_| failed(&remote, &ask))).await;
    assert!(failures.iter().all(|failure| failure.class == FailureClass::Unsupported), "{failures:?}");
    let other = failures
        .iter()
        .filter(|failure| failure.message == "something is wrong (HTTP 400); asking again in the form that other calls have found");
    assert_eq!(other.count(), 1, "{failures:?}");
    call(&remote, &ask).await.0.unwrap();
    assert_eq!(server.requests()[3].body["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn the_field_for_the_tokens_is_renamed_and_stays_so() {
    let server = ProviderServer::start();
    let detail =
        json!({"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]});
    server.on(On::any().nth(1), Answer::http(422, "application/json", detail.to_string()));
    let remote = cloud(Vendor::OpenAi, &server);
    let ask = ask(Vendor::OpenAi, "gpt-6.1-sol");
    let message = "body.max_completion_tokens: Extra inputs are not permitted (HTTP 422); asking again with `max_tokens` instead of `max_completion_tokens`";
    assert_eq!(failed(&remote, &ask).await.message, message);
    call(&remote, &ask).await.0.unwrap();
    call(&remote, &ask).await.0.unwrap();
    for request in &server.requests()[1..] {
        assert_eq!((&request.body["max_tokens"], request.body.get("max_completion_tokens")), (&json!(16_384), None));
    }
}

#[tokio::test]
async fn room_is_lowered_to_what_the_server_gives_and_a_prompt_without_room_stays_too_long() {
    let server = ProviderServer::start();
    let too_large = "This model's maximum context length is 8192 tokens and your request has 20 input tokens (16384 > 8192 - 20).";
    server.on(On::any().nth(1), refused(too_large, Some("max_tokens")));
    let remote = remote("vllm", &format!("{}/v1", server.url()));
    let ask = ask_of("vllm", "m");
    let failure = failed(&remote, &ask).await;
    assert_eq!(
        (failure.class, failure.message),
        (FailureClass::Unsupported, format!("{too_large} (HTTP 400); asking again with room for 8172 tokens"))
    );
    call(&remote, &ask).await.0.unwrap();
    assert_eq!(server.requests()[1].body["max_tokens"], 8_172);
    let no_room = "This model's maximum context length is 8192 tokens and your request has 9000 input tokens (16384 > 8192 - 9000).";
    server.on(On::any().nth(1), refused(no_room, Some("max_tokens")));
    let failure = failed(&remote, &ask).await;
    assert_eq!((failure.class, failure.message), (FailureClass::Context, format!("{no_room} (HTTP 400)")));
}

#[tokio::test]
async fn a_server_without_a_system_role_is_asked_in_one_message() {
    let server = ProviderServer::start();
    server.on(
        On::any().nth(1),
        Answer::http(500, "application/json", r#"{"error":{"code":500,"message":"Jinja Exception: System role not supported"}}"#),
    );
    let remote = remote("llamacpp", &format!("{}/v1", server.url()));
    let failure = failed(&remote, &ask_of("llamacpp", "gemma")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    assert!(failure.message.ends_with("asking again with the system prompt inside the user's message"), "{}", failure.message);
    call(&remote, &ask_of("llamacpp", "gemma")).await.0.unwrap();
    let expected = json!([{"role": "user", "content": "You are P.\n\nRules.\n\nQuestion?\n\nAnswer."}]);
    assert_eq!(server.requests()[1].body["messages"], expected);
}

fn fields(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test]
async fn the_users_parameters_go_out_until_the_model_refuses_them() {
    let server = ProviderServer::start();
    let parameters = Parameters {
        for_all: fields(&json!({"temperature": 0.3, "model": "other", "provider": {"zdr": true}})),
        by_model: BTreeMap::from([("b".to_owned(), fields(&json!({"temperature": 0.9})))]),
    };
    let remote = remote("openrouter", &format!("{}/v1", server.url())).with_parameters(parameters);
    server
        .on(On::model("a").nth(1), refused("Unsupported value: 'temperature' does not support 0.3 with this model.", Some("temperature")));
    let failure = failed(&remote, &ask_of("openrouter", "a")).await;
    assert_eq!(failure.class, FailureClass::Unsupported);
    assert!(failure.message.ends_with("; asking again without `temperature`"), "{}", failure.message);
    for model in ["a", "a", "b"] {
        call(&remote, &ask_of("openrouter", model)).await.0.unwrap();
    }
    let requests = server.requests();
    let told: Vec<_> = requests.iter().map(|request| (request.model.as_str(), request.body.get("temperature").cloned())).collect();
    assert_eq!(told, [("a", Some(json!(0.3))), ("a", None), ("a", None), ("b", Some(json!(0.9)))], "and the model is never replaced");
    for request in &requests {
        assert_eq!(request.body["provider"], json!({"require_parameters": true, "zdr": true}));
        assert_eq!(request.body["response_format"]["type"], "json_schema", "nothing else is given up");
    }
}

#[test]
fn parameters_reach_the_nested_fields_of_every_dialect() {
    let with = |provider: &str, parameters: Value| {
        let parameters = Parameters { for_all: fields(&parameters), by_model: BTreeMap::new() };
        remote(provider, "http://h").with_parameters(parameters).codec(&ask_of(provider, "m")).0.body
    };
    let gemini = with("google", json!({"generationConfig": {"topK": 5, "maxOutputTokens": 1}}));
    assert_eq!((&gemini["generationConfig"]["topK"], &gemini["generationConfig"]["maxOutputTokens"]), (&json!(5), &json!(16_384)));
    let ollama = with("ollama", json!({"think": true, "options": {"seed": 1, "num_ctx": 4096}}));
    assert_eq!((&ollama["think"], &ollama["options"]), (&json!(true), &json!({"num_ctx": 4096, "num_predict": 16384, "seed": 1})));
    let anthropic = with("anthropic", json!({"output_config": {"effort": "low", "format": "none"}}));
    assert_eq!(
        (&anthropic["output_config"]["effort"], &anthropic["output_config"]["format"]["type"]),
        (&json!("low"), &json!("json_schema"))
    );
}

#[tokio::test]
async fn a_failure_that_teaches_nothing_stays_what_it_is() {
    let server = ProviderServer::start();
    for (vendor, model) in VENDORS {
        server.on(On::model(model), refused("something is wrong", None));
        let remote = cloud(vendor, &server);
        for _ in 0..2 {
            let failure = failed(&remote, &ask(vendor, model)).await;
            assert_eq!(
                (failure.class, failure.message.as_str()),
                (FailureClass::BadRequest, "something is wrong (HTTP 400)"),
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
    assert_eq!((failure.class, failure.partial.as_str()), (FailureClass::BadRequest, "half"), "an answer had begun: its form was taken");
}

#[tokio::test]
async fn a_refusal_inside_a_success_teaches_as_well() {
    let server = ProviderServer::start();
    let error = r#"{"error":{"message":"response_format is not supported by this endpoint","code":400},"choices":[]}"#;
    server.on(On::any().nth(1), Answer::stream(format!(": OPENROUTER PROCESSING\n\ndata: {error}\n\n")));
    let remote = remote("openrouter", &format!("{}/v1", server.url()));
    assert_eq!(failed(&remote, &ask_of("openrouter", "m")).await.class, FailureClass::Unsupported);
    call(&remote, &ask_of("openrouter", "m")).await.0.unwrap();
    assert_eq!(server.requests()[1].body["response_format"], json!({"type": "json_object"}));
}
