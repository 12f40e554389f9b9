//! `conclave models`: all models with prices and properties, as text and as JSON; and
//! `conclave models` for the embedded ones.

use serde_json::Value;

use crate::commands::succeed;
use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::provider_server::ProviderServer;
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/models.schema.json");

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let output = conclave
        .run(&[&["models", "--json"], arguments].concat())
        .ends_with(0);
    let json = output.json();
    schema::check(SCHEMA, &json);
    json
}

fn model<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
    let models = json["providers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|provider| provider["models"].as_array().unwrap());
    models.into_iter().find(|model| model["model"] == name)
}

#[test]
fn json_has_prices_with_source_and_date_and_key_status() {
    let json = json(&Conclave::new().variable("XAI_API_KEY", "xai-secret"), &[]);
    let providers = json["providers"].as_array().unwrap();
    let keyed: Vec<&Value> = providers
        .iter()
        .filter(|provider| provider["has_key"] == true)
        .map(|provider| &provider["id"])
        .collect();
    assert_eq!(keyed, ["xai"]);
    let price = &model(&json, "xai:grok-4.7").unwrap()["price"];
    assert_eq!(price["input"], 2.0);
    assert_eq!(price["long_context"]["output"], 12.0);
    assert_eq!(price["source"], "litellm 1.109.1");
    assert_eq!(price["as_of"], "2026-11-12");
    let mistral = model(&json, "mistral:mistral-large-4").unwrap();
    assert_eq!(mistral["price"]["approximate"], true);
    let note = mistral["note"].as_str().unwrap();
    assert!(note.starts_with("sources disagree"), "{note}");
    let retiring = model(&json, "openai:gpt-4o").unwrap();
    assert_eq!(retiring["successor"], "gpt-6.1-sol");
    let resold = model(&json, "openrouter:anthropic/claude-sonnet-5.5").unwrap();
    let source = &resold["price"]["source"];
    assert_eq!(source, "litellm 1.109.1, the price at Anthropic");
    assert!(!json.to_string().contains("xai-secret"));
    let embedded = &json["embedded"];
    assert_eq!(embedded["built_in"], cfg!(feature = "local"));
    assert_eq!(embedded["models"][2]["installed"], false);
}

#[test]
fn retired_models_are_shown_only_with_all() {
    let conclave = Conclave::new();
    let (some, all) = (json(&conclave, &[]), json(&conclave, &["--all"]));
    assert!(model(&some, "openai:gpt-4").is_none());
    assert!(some["retired_left_out"].as_u64().unwrap() >= 10);
    assert_eq!(model(&all, "openai:gpt-4").unwrap()["retired"], true);
    assert_eq!(all["retired_left_out"], 0);
    let text = conclave.run(&["models"]).ends_with(0).stdout;
    assert!(
        text.contains("retired models not shown; list with `--all`\n"),
        "{text}"
    );
    assert!(!text.contains("\ngpt-3.5-turbo"), "{text}");
    let text = conclave.run(&["models", "--all"]).ends_with(0).stdout;
    assert!(text.contains("\ngpt-3.5-turbo "), "{text}");
    assert!(
        text.contains("retired 2026-10-23, use gpt-6-luna"),
        "{text}"
    );
}

#[test]
fn local_server_models_are_listed_with_their_properties() {
    let ollama = LocalServer::start().get("/api/version", 200, r#"{"version":"0.12.6"}"#).get(
        "/api/tags",
        200,
        r#"{"models":[{"name":"qwen3:1.7b","model":"qwen3:1.7b","details":{"parameter_size":"2.0B"}},{"name":"gpt-oss:120b-cloud","model":"gpt-oss:120b-cloud"}]}"#,
    );
    let llama = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192);
    let addresses = format!("{},{}", ollama.authority(), llama.authority());
    let conclave = Conclave::new().variable("CONCLAVE_LOCAL_SERVERS", addresses);
    let json = json(&conclave, &[]);
    let served = &json["local_servers"][0];
    assert_eq!(served["id"], "ollama");
    assert_eq!(served["version"], "0.12.6");
    assert_eq!(served["address"], ollama.authority());
    let [small, cloud] = [0, 1].map(|index| &served["models"][index]);
    assert_eq!(small["small_prompts"], true);
    assert_eq!(small["free"], true);
    assert_eq!(cloud["small_prompts"], false);
    assert_eq!(cloud["free"], false);
    let text = conclave.run(&["models"]).ends_with(0).stdout;
    for line in [
        format!("Ollama  at {}, version 0.12.6", ollama.authority()),
        "ollama:qwen3:1.7b          2.0B parameters, short prompts, free".to_owned(),
        "ollama:gpt-oss:120b-cloud  120.0B parameters, runs in a cloud, price unknown".to_owned(),
        format!("llama.cpp server  at {}", llama.authority()),
        "llamacpp:m-7b  7.6B parameters, context 8k, loaded, free".to_owned(),
    ] {
        assert!(text.lines().any(|actual| actual == line), "{line}: {text}");
    }
}

#[test]
fn pipes_get_plain_lines() {
    let conclave = Conclave::new()
        .without("NO_COLOR")
        .variable("TERM", "xterm");
    let piped = conclave.run(&["models"]).ends_with(0);
    assert!(!piped.stdout.contains('\u{1b}'));
    assert!(piped.stderr.is_empty());
    let row = "claude-opus-5-5       1   $4.00  $20.00       1M     [1]  default 2";
    assert!(
        piped.stdout.lines().any(|line| line == row),
        "{}",
        piped.stdout
    );
}

#[test]
fn user_models_are_listed_and_a_broken_file_is_named() {
    let file = r#"{"models":[{"provider":"acme","id":"one","prices":[{"input":1,"output":2,"as_of":"2026-01-01"}]},{"provider":"openai","id":"free-of-figures"}]}"#;
    let own = |conclave: Conclave, text: &str| {
        let conclave = conclave.config("{}");
        std::fs::write(conclave.home().join("models.json"), text).unwrap();
        conclave
    };
    let conclave = own(Conclave::new(), file);
    let listed = json(&conclave, &[]);
    let price = |name| &model(&listed, name).unwrap()["price"];
    assert_eq!(price("acme:one")["source"], "user");
    assert_eq!(
        *price("openai:free-of-figures"),
        Value::Null,
        "a missing price is not zero"
    );
    let old = "the newest price in your models.json is of 2026-01-01";
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("of 2026-01-01"), "{warning}");
    let stderr = succeed(&conclave, &["models"]).stderr;
    assert!(stderr.starts_with(&format!("Warning: {old}")), "{stderr}");

    let server = ProviderServer::start();
    let conclave = own(Conclave::at(&server), file);
    let asked = succeed(&conclave, &["consult", "-n", "Shall we?"]);
    asked.assert_stderr_contains(&format!("Note: {old}, "));

    let broken = own(Conclave::new(), "{").run(&["models"]).ends_with(2);
    assert_eq!(broken.stdout, "");
    broken.assert_stderr_contains("models.json");
}

#[test]
fn embedded_models_are_listed_with_their_requirements() {
    let conclave = Conclave::new();
    let output = conclave.run(&["models", "list"]).ends_with(0);
    assert_eq!(output.stderr, "");
    let list = &output.stdout;
    let is_smallest = |line: &str| line.starts_with("local:smollm2-135m-instruct ");
    assert!(list.lines().any(is_smallest), "{list}");
    assert!(list.contains("not installed"), "{list}");
    assert!(
        list.contains("local model, demonstration quality"),
        "{list}"
    );
    let folder = conclave.home().join("models");
    for arguments in [&["models", "path"][..], &["models", "path", "smollm2"]] {
        let path = conclave.run(arguments).ends_with(0).stdout;
        assert!(path.starts_with(folder.to_str().unwrap()), "{path}");
        assert!(path.ends_with(".gguf\n"), "{path}");
    }
    assert!(!conclave.home().exists(), "reading creates no folder");
}

#[test]
fn missing_and_unknown_models_are_named() {
    let conclave = Conclave::new();
    let missing = ["models", "rm", "smollm2-135m-instruct"];
    assert_eq!(
        conclave.run(&missing).ends_with(1).stderr,
        "error: `smollm2-135m-instruct` is not downloaded\n"
    );
    let stderr = conclave.run(&["models", "path", "gpt"]).ends_with(2).stderr;
    let hint = "hint: see the models with `conclave models list`\n";
    assert!(stderr.ends_with(hint), "{stderr}");
}

#[cfg(not(feature = "local"))]
#[test]
fn build_without_the_local_feature_names_the_feature() {
    let conclave = Conclave::new();
    for name in ["smollm2-135m-instruct", "nonsense"] {
        let output = conclave.run(&["models", "pull", name]).ends_with(2);
        assert_eq!(output.stdout, "");
        output.assert_stderr_contains("--features local");
        assert!(!conclave.home().exists());
    }
    let consult = ["consult", "--model", "local:smollm2-135m-instruct", "q"];
    assert_eq!(
        conclave.run(&consult).ends_with(2).stderr,
        "error: this build has no local model\n\
         hint: build it in with `cargo build --release --features local`\n"
    );
}
