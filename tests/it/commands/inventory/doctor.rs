//! `conclave doctor`: reports everything that matters, spends nothing without consent, never hangs
//! and never shows a key.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::commands::succeed;
use crate::support::binary::{Conclave, RunOutput};
use crate::support::local_server::LocalServer;
use crate::support::model_requests::model_requests;
use crate::support::network::VendorHosts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/doctor.schema.json");

/// Plausible keys that must never be shown.
const KEYS: [(&str, &str); 4] = [
    ("ANTHROPIC_API_KEY", "sk-ant-secret-1"),
    ("OPENAI_API_KEY", "sk-secret-2"),
    ("GEMINI_API_KEY", "AIzaSecret3"),
    ("OPENROUTER_API_KEY", "sk-or-secret-4"),
];

fn findings(output: &RunOutput) -> Value {
    let json = output.json();
    schema::check(SCHEMA, &json);
    for (_, key) in KEYS {
        assert!(
            !output.stdout.contains(key),
            "{}{}",
            output.stdout,
            output.stderr
        );
        assert!(
            !output.stderr.contains(key),
            "{}{}",
            output.stdout,
            output.stderr
        );
    }
    json
}

const ANTHROPIC: &str =
    r#"{"data":[{"id":"claude-sonnet-5-5"},{"id":"claude-opus-5-5"},{"id":"claude-haiku-5-5"}]}"#;

/// Returns the status, message and fix of a check.
fn check<'a>(findings: &'a Value, id: &str) -> (&'a str, &'a str, &'a str) {
    let check = findings["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == id)
        .unwrap_or_else(|| panic!("no `{id}`"));
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    (text("status"), text("message"), text("fix"))
}

/// Sets up a home with Anthropic alone, at this server.
fn anthropic_at(server: &LocalServer) -> Conclave {
    Conclave::new()
        .variable("ANTHROPIC_API_KEY", KEYS[0].1)
        .variable("ANTHROPIC_BASE_URL", server.url())
}

#[test]
fn accepted_key_suffices_and_costs_nothing() {
    let server = LocalServer::start().get("/v1/models", 200, ANTHROPIC);
    let output = anthropic_at(&server)
        .run(&["doctor", "--json"])
        .ends_with(0);
    let findings = findings(&output);
    assert_eq!(findings["can_answer"], true);
    let (status, message, _) = check(&findings, "provider.anthropic");
    assert_eq!(status, "ok");
    let accepted = format!("at {}: key accepted, 3 models", server.authority());
    assert_eq!(message, accepted);
    let requests = server.get_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path_and_query, "/v1/models?limit=1000");
    assert_eq!(requests[0].headers["x-api-key"], KEYS[0].1);
    let (status, message, _) = check(&findings, "keys");
    assert_eq!(status, "note");
    assert!(message.contains("xAI (XAI_API_KEY)"), "{message}");
    assert!(!message.contains("Anthropic"), "{message}");
}

#[test]
fn missing_models_are_reported_with_exit_code_one() {
    let output = Conclave::new().run(&["doctor"]).ends_with(1);
    let shown = &output.stdout;
    assert!(shown.starts_with("✓ home "), "{shown}");
    assert!(shown.ends_with("\nNo model can answer now.\n"), "{shown}");
    let keyless = shown.lines().filter(|line| line.contains("no key"));
    assert_eq!(keyless.count(), 1, "{shown}");
    output.assert_stderr_contains("error: no model can answer a question\nhint: set a key");
}

#[test]
fn local_server_suffices() {
    let server = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192);
    let output = Conclave::new()
        .variable("CONCLAVE_LOCAL_SERVERS", server.authority())
        .run(&["doctor", "--json"])
        .ends_with(0);
    assert_eq!(
        check(&findings(&output), "server.llamacpp").1,
        format!("at {}: m-7b", server.authority())
    );
}

#[test]
fn vendor_problems_are_reported_with_a_fix() {
    let refused = r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant-secret-1"}}"#;
    let no_list = "the answer is not a list of models";
    for (status, body, code, expected, message, fix) in [
        (
            401,
            refused,
            1,
            "error",
            "the key was refused: ",
            "create a new key",
        ),
        (200, "<html>", 0, "warning", no_list, "check the base URL"),
    ] {
        let server = LocalServer::start().get("/v1/models", status, body);
        let output = anthropic_at(&server)
            .run(&["doctor", "--json"])
            .ends_with(code);
        let findings = findings(&output);
        let finding = check(&findings, "provider.anthropic");
        assert_eq!(finding.0, expected, "{finding:?}");
        assert!(finding.1.contains(message), "{finding:?}");
        assert!(finding.2.contains(fix), "{finding:?}");
    }
}

#[test]
fn silent_vendors_and_key_commands_do_not_stop_the_other_checks() {
    let (good, hanging) = (
        LocalServer::start().get("/v1/models", 200, ANTHROPIC),
        LocalServer::start().silent(),
    );
    let conclave = anthropic_at(&good)
        .variable("OPENAI_API_KEY", KEYS[1].1)
        .variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .variable("GEMINI_API_KEY", KEYS[2].1)
        .variable("GEMINI_BASE_URL", hanging.url())
        .config(
            r#"{"endpoints": {"slow": {"base_url": "http://127.0.0.1:9", "api_key_cmd": "exec sleep 60"}}}"#,
        );
    let output = conclave.run(&["doctor", "--json"]).ends_with(0);
    let findings = findings(&output);
    let (status, message, _) = check(&findings, "provider.slow");
    assert_eq!(status, "error");
    assert!(message.contains("did not finish within 4 s"), "{message}");
    assert_eq!(check(&findings, "provider.anthropic").0, "ok");
    assert_eq!(
        check(&findings, "provider.openai").1,
        "connection refused by `127.0.0.1:9`"
    );
    let (status, message, _) = check(&findings, "provider.google");
    assert_eq!(status, "error");
    assert_eq!(
        message,
        format!("`{}` did not answer within 5 s", hanging.authority()).as_str()
    );
}

#[test]
fn reseller_key_is_checked_despite_a_public_model_list() {
    let list = r#"{"data":[{"id":"anthropic/claude-sonnet-5.5"},{"id":"openai/gpt-6.1-sol"},{"id":"google/gemini-4-argon"}]}"#;
    let used_up = r#"{"data":{"label":"sk-or-...","limit":10,"limit_remaining":0}}"#;
    let refused = r#"{"error":{"code":401,"message":"User not found."}}"#;
    for (status, body, message) in [
        (
            200,
            used_up,
            "key accepted, but its spending limit is used up; 3 models",
        ),
        (
            401,
            refused,
            "the key was refused: User not found. (HTTP 401)",
        ),
    ] {
        let server =
            LocalServer::start()
                .get("/api/v1/models", 200, list)
                .get("/api/v1/key", status, body);
        let conclave = Conclave::new()
            .variable("OPENROUTER_API_KEY", KEYS[3].1)
            .variable("OPENROUTER_BASE_URL", server.url());
        let output = conclave.run(&["doctor", "--json"]).ends_with(1);
        let findings = findings(&output);
        let finding = check(&findings, "provider.openrouter");
        assert_eq!(finding.0, "error", "{finding:?}");
        assert!(finding.1.contains(message), "{finding:?}");
        assert!(server.get_requests().iter().any(|request| {
            request
                .headers
                .get("authorization")
                .is_some_and(|it| *it == format!("Bearer {}", KEYS[3].1))
        }));
    }
}

#[test]
fn malformed_key_is_not_sent() {
    let server = LocalServer::start().get("/v1/models", 200, ANTHROPIC);
    let output = anthropic_at(&server)
        .variable("ANTHROPIC_API_KEY", "sk-ant-secret-1 \u{1}x")
        .run(&["doctor", "--json"])
        .ends_with(1);
    let findings = findings(&output);
    let (status, message, fix) = check(&findings, "provider.anthropic");
    assert_eq!(status, "error");
    assert_eq!(fix, "copy the key again, without anything around it");
    assert!(
        message
            .starts_with("the key in `ANTHROPIC_API_KEY` cannot be sent: it contains whitespace"),
        "{message}"
    );
    assert_eq!(server.get_requests().len(), 0);
}

#[test]
fn form_of_a_key_matters_only_at_the_vendors_own_address() {
    let server = ProviderServer::start();
    let hosts = VendorHosts::of(&server);
    let warning = "the key in `OPENAI_API_KEY` does not begin with `sk-`";
    for (conclave, key, is_warned) in [
        (Conclave::by_default(&hosts), "test-key", true),
        (Conclave::by_default(&hosts), "sk-key", false),
        (Conclave::at(&server), "test-key", false),
    ] {
        let json = findings(
            &conclave
                .variable("OPENAI_API_KEY", key)
                .run(&["doctor", "--json"]),
        );
        let (_, message, _) = check(&json, "provider.openai");
        assert_eq!(message.contains(warning), is_warned, "{message}");
        assert!(message.contains("key accepted"), "{message}");
    }
    let asked_hosts: BTreeSet<String> = server
        .free_requests()
        .iter()
        .map(|request| request.headers["host"].clone())
        .collect();
    assert!(asked_hosts.contains("api.openai.com"), "{asked_hosts:?}");
}

#[test]
fn unusable_files_are_reported_as_failed_checks() {
    let server = LocalServer::start().get("/v1/models", 200, ANTHROPIC);
    let conclave = anthropic_at(&server).config(r#"{"panl": 1}"#);
    std::fs::write(conclave.home().join("models.json"), "{").unwrap();
    let output = conclave.run(&["doctor", "--json"]).ends_with(1);
    output.assert_stderr_contains("fix the items marked ✗ first");
    let found = findings(&output);
    for (id, words, way) in [
        (
            "config",
            "did you mean `panel`?",
            "remove it with `conclave config unset 'panl'`",
        ),
        ("models", "not JSON: ", "fix or remove"),
    ] {
        let (status, message, fix) = check(&found, id);
        assert_eq!(status, "error", "{message} {fix}");
        assert!(message.contains(words), "{message} {fix}");
        assert!(fix.starts_with(way), "{message} {fix}");
    }
    let (other, ..) = check(&found, "provider.anthropic");
    assert_eq!(other, "ok", "the other checks still run");

    let homeless = anthropic_at(&server)
        .without("CONCLAVE_HOME")
        .without("HOME");
    let output = homeless.run(&["doctor", "--json"]).ends_with(1);
    assert_eq!(check(&findings(&output), "home").2, "set CONCLAVE_HOME");
}

/// Sets up three vendors at one provider server, each behind its own list of models.
fn three_vendors(server: &ProviderServer) -> (Conclave, Vec<LocalServer>) {
    let fronts: Vec<LocalServer> = (0..3)
        .map(|_| LocalServer::start().before(server))
        .collect();
    let conclave = KEYS
        .iter()
        .take(3)
        .fold(Conclave::new(), |conclave, (name, key)| {
            conclave.variable(name, *key)
        });
    let conclave = conclave
        .variable("ANTHROPIC_BASE_URL", fronts[0].url())
        .variable("OPENAI_BASE_URL", fronts[1].url())
        .variable("GEMINI_BASE_URL", fronts[2].url());
    (conclave, fronts)
}

#[test]
fn deep_asks_each_provider_once_and_reports_latency_and_cost() {
    let server = ProviderServer::start();
    let (conclave, _fronts) = three_vendors(&server);
    let output = succeed(&conclave, &["doctor", "--json", "--deep", "--yes"]);
    output.assert_stderr_contains(
        "--deep makes one small call each to anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol, google:gemini-4-argon: at most $0."
    );
    let findings = findings(&output);
    let trials = [0, 1, 2].map(|at| &findings["trials"][at]);
    let providers = trials.map(|trial| &trial["provider"]);
    assert_eq!(providers, ["anthropic", "openai", "google"]);
    for trial in trials {
        assert_eq!(trial["answered"], true);
        assert!(trial["cost_usd"].as_f64().unwrap() > 0.0, "{trial}");
    }
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 3);
    let mut bodies = requests.iter().map(|request| &request.recorded.body);
    assert!(bodies.any(|body| body["max_tokens"] == 256));
}

#[test]
fn empty_or_cut_answers_count_as_answered() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), Answer::length(""));
    server.on(On::vendor(Vendor::OpenAi), Answer::text(""));
    let quota = r#"{"error":{"message":"quota"}}"#;
    let quota = Answer::http(429, "application/json", quota);
    server.on(On::vendor(Vendor::Google), quota);
    let (conclave, _fronts) = three_vendors(&server);
    let output = succeed(&conclave, &["doctor", "--json", "--deep", "--yes"]);
    let findings = findings(&output);
    let trials = [0, 1, 2].map(|at| &findings["trials"][at]);
    let answered = trials.map(|trial| &trial["answered"]);
    assert_eq!(answered, [true, true, false], "{}", output.stdout);
    let message = trials[2]["message"].as_str().unwrap();
    assert!(message.contains("quota"), "{message}");
}

#[test]
fn deep_needs_consent() {
    let server = ProviderServer::start();
    let (conclave, fronts) = three_vendors(&server);
    let output = conclave.run(&["doctor", "--deep"]).ends_with(3);
    assert!(output.stdout.is_empty(), "{}", output.stderr);
    output.assert_stderr_contains(
        "the estimate is at most $0.01: agree to it with `conclave doctor --deep --yes`",
    );
    let mut terminal = Terminal::start(&conclave, 100, Output::Terminal, &["doctor", "--deep"]);
    terminal.wait_for("At most $0.01. Go on? [Y/n]", 1);
    terminal.type_in("n");
    let (output, transcript) = terminal.end();
    assert_eq!(output.code, Some(3), "{}", transcript.text());
    assert!(server.requests().is_empty());
    assert!(fronts.iter().all(|front| front.get_requests().is_empty()));
}
