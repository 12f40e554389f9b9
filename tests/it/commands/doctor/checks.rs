//! The checks and their findings.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{KEYS, findings};
use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::network::VendorHosts;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};

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
    assert_eq!(
        message,
        format!("at {}: key accepted, 3 models", server.authority()).as_str()
    );
    let requests = server.get_requests();
    assert_eq!(
        requests
            .iter()
            .map(|request| request.path_and_query.as_str())
            .collect::<Vec<_>>(),
        ["/v1/models?limit=1000"]
    );
    assert_eq!(requests[0].headers["x-api-key"], KEYS[0].1);
    assert!(!requests[0].path_and_query.contains("secret"));
    let (status, message, _) = check(&findings, "keys");
    assert_eq!(status, "note");
    assert!(message.contains("xAI (XAI_API_KEY)"), "{message}");
    assert!(!message.contains("Anthropic"), "{message}");
}

#[test]
fn missing_models_are_reported_with_exit_code_one() {
    let output = Conclave::new().run(&["doctor"]).ends_with(1);
    assert!(output.stdout.starts_with("✓ home "), "{}", output.stdout);
    assert!(
        output.stdout.ends_with("\nNo model can answer now.\n"),
        "{}",
        output.stdout
    );
    assert_eq!(
        output
            .stdout
            .lines()
            .filter(|line| line.contains("no key"))
            .count(),
        1,
        "{}",
        output.stdout
    );
    assert!(
        output
            .stderr
            .starts_with("error: no model can answer a question\nhint: set a key"),
        "{}",
        output.stderr
    );
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
    let rejected_key = r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant-secret-1"}}"#;
    let without_opus = r#"{"data":[{"id":"claude-sonnet-5-5","retires_at":"2026-11-01T00:00:00Z"},{"id":"claude-haiku-5-5-20260901"}]}"#;
    for (status, body, code, expected, message, fix) in [
        (
            401,
            rejected_key,
            1,
            "error",
            "the key was refused: ",
            "create a new key",
        ),
        (
            403,
            r#"{"error":{"type":"permission_error","message":"no"}}"#,
            1,
            "error",
            "the key was refused: no",
            "create a new key",
        ),
        (
            529,
            r#"{"error":{"type":"overloaded_error","message":"busy"}}"#,
            0,
            "warning",
            "busy (HTTP 529)",
            "try again later",
        ),
        (
            404,
            "gone",
            0,
            "warning",
            "its list of models is not available",
            "--deep",
        ),
        (
            200,
            "<html>",
            0,
            "warning",
            "the answer is not a list of models",
            "check the base URL",
        ),
        (
            200,
            without_opus,
            0,
            "warning",
            "its list lacks `claude-opus-5-5` of the default panel",
            "--model",
        ),
        (
            200,
            without_opus,
            0,
            "warning",
            "`claude-sonnet-5-5` retires on 2026-11-01",
            "--model",
        ),
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
fn unreachable_vendors_do_not_stop_the_other_checks() {
    let (good, hanging) = (
        LocalServer::start().get("/v1/models", 200, ANTHROPIC),
        LocalServer::start().silent(),
    );
    let conclave = anthropic_at(&good)
        .variable("OPENAI_API_KEY", KEYS[1].1)
        .variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .variable("GEMINI_API_KEY", KEYS[2].1)
        .variable("GEMINI_BASE_URL", hanging.url());
    let output = conclave.run(&["doctor", "--json"]).ends_with(0);
    let findings = findings(&output);
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
    let key = |remaining: &str| {
        format!(r#"{{"data":{{"label":"sk-or-...","limit":10,"limit_remaining":{remaining}}}}}"#)
    };
    for (status, body, code, expected, message) in [
        (
            200,
            key("4.5"),
            0,
            "ok",
            "key accepted, $4.50 left under its limit; 3 models",
        ),
        (
            200,
            key("null"),
            0,
            "ok",
            "key accepted, without a limit; 3 models",
        ),
        (
            200,
            key("0"),
            1,
            "error",
            "key accepted, but its spending limit is used up; 3 models",
        ),
        (
            401,
            r#"{"error":{"code":401,"message":"User not found."}}"#.to_owned(),
            1,
            "error",
            "the key was refused: User not found. (HTTP 401)",
        ),
    ] {
        let server =
            LocalServer::start()
                .get("/api/v1/models", 200, list)
                .get("/api/v1/key", status, &body);
        let conclave = Conclave::new()
            .variable("OPENROUTER_API_KEY", KEYS[3].1)
            .variable("OPENROUTER_BASE_URL", server.url());
        let output = conclave.run(&["doctor", "--json"]).ends_with(code);
        let findings = findings(&output);
        let finding = check(&findings, "provider.openrouter");
        assert_eq!(finding.0, expected, "{finding:?}");
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
    let findings = findings(&output);
    let (status, message, fix) = check(&findings, "config");
    assert_eq!(status, "error", "{message} {fix}");
    assert!(message.contains("did you mean `panel`?"), "{message} {fix}");
    assert_eq!(
        fix, "remove it with `conclave config unset 'panl'`",
        "{message} {fix}"
    );
    let (status, message, fix) = check(&findings, "models");
    assert_eq!(status, "error", "{message} {fix}");
    assert!(message.contains("not JSON: "), "{message} {fix}");
    assert!(fix.starts_with("fix or remove"), "{message} {fix}");
    assert_eq!(
        check(&findings, "provider.anthropic").0,
        "ok",
        "the other checks still run"
    );
    assert!(
        output.stderr.contains("fix the items marked ✗ first"),
        "{}",
        output.stderr
    );

    let output = anthropic_at(&server)
        .without("CONCLAVE_HOME")
        .without("HOME")
        .run(&["doctor", "--json"])
        .ends_with(1);
    assert_eq!(
        check(&self::findings(&output), "home").2,
        "set CONCLAVE_HOME"
    );
}

#[test]
fn old_prices_and_proxies_are_reported() {
    let conclave = Conclave::new().variable("HTTPS_PROXY", "http://user:password@proxy:8080");
    let findings = findings(&conclave.run(&["doctor", "--json"]).ends_with(1));
    assert!(
        check(&findings, "proxies")
            .1
            .starts_with("HTTPS_PROXY=http://proxy:8080; never for this machine")
    );
    assert!(!findings.to_string().contains("password"));
    assert!(check(&findings, "prices").1.contains("2026-11-21"));
}

#[test]
fn narrow_terminals_get_fitting_lines() {
    let server = LocalServer::start().get(
        "/v1/models",
        200,
        r#"{"data":[{"id":"claude-sonnet-5-5"}]}"#,
    );
    let conclave = anthropic_at(&server)
        .without("NO_COLOR")
        .variable("TERM", "xterm");
    for columns in [50, 80] {
        let (output, transcript) =
            Terminal::start(&conclave, columns, Output::Terminal, &["doctor"]).end();
        assert_eq!(output.code, Some(0));
        assert!(transcript.has_colours());
        assert!(transcript.text().contains("✓ home"));
        // Lines with a path may be longer.
        let home = conclave.home().display().to_string();
        let too_wide: Vec<String> = transcript
            .too_wide(columns.into())
            .into_iter()
            .filter(|line| !line.contains(&home))
            .collect();
        assert_eq!(too_wide, Vec::<String>::new(), "{}", transcript.text());
    }
}

#[test]
fn slow_key_commands_do_not_stop_the_other_checks() {
    let server = LocalServer::start().get("/v1/models", 200, r#"{"data":[{"id":"m"}]}"#);
    let endpoint = |command: &str| {
        format!(
            r#"{{"base_url": "{}", "api_key_cmd": "{command}"}}"#,
            server.url()
        )
    };
    // Sequentially, these commands would exceed the time limit of a run.
    let names: Vec<String> = (0..8).map(|at| format!("w{at}")).collect();
    let waiting: Vec<String> = names
        .iter()
        .map(|name| format!(r#""{name}": {}"#, endpoint("exec sleep 60")))
        .collect();
    let config = format!(
        r#"{{"endpoints": {{{}, "good": {}}}}}"#,
        waiting.join(", "),
        endpoint("echo k")
    );
    let output = Conclave::new()
        .config(&config)
        .run(&["doctor", "--json"])
        .ends_with(0);
    let findings = findings(&output);
    for name in names {
        let (status, message, _) = check(&findings, &format!("provider.{name}"));
        assert_eq!(status, "error", "{message}");
        assert!(message.contains("did not finish within 4 s"), "{message}");
    }
    assert_eq!(check(&findings, "provider.good").0, "ok");
}

#[test]
fn environment_is_used_despite_a_broken_settings_file() {
    let server = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192);
    let output = Conclave::new()
        .config("{")
        .variable("CONCLAVE_LOCAL_SERVERS", server.authority())
        .run(&["doctor", "--json"])
        .ends_with(1);
    let findings = findings(&output);
    assert_eq!(check(&findings, "config").0, "error");
    assert_eq!(check(&findings, "config").2, "fix or remove it");
    assert_eq!(check(&findings, "server.llamacpp").0, "ok");
}
