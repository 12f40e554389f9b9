//! `--deep`: one small call to each provider.

use super::{KEYS, findings};
use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};

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
    let output = conclave
        .run(&["doctor", "--json", "--deep", "--yes"])
        .ends_with(0);
    assert!(
        output.stderr.starts_with(
            "--deep makes one small call each to anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol, google:gemini-4-argon: at most $0."
        ),
        "{}",
        output.stderr
    );
    let findings = findings(&output);
    let trials = findings["trials"].as_array().unwrap();
    assert_eq!(
        trials
            .iter()
            .map(|trial| trial["provider"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["anthropic", "openai", "google"]
    );
    assert!(
        trials
            .iter()
            .all(|trial| trial["answered"] == true && trial["cost_usd"].as_f64().unwrap() > 0.0),
        "{trials:?}"
    );
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 3);
    assert!(
        requests
            .iter()
            .any(|request| request.recorded.body["max_tokens"] == 256)
    );
}

#[test]
fn empty_or_cut_answers_count_as_answered() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), Answer::length(""));
    server.on(On::vendor(Vendor::OpenAi), Answer::text(""));
    server.on(
        On::vendor(Vendor::Google),
        Answer::http(429, "application/json", r#"{"error":{"message":"quota"}}"#),
    );
    let (conclave, _fronts) = three_vendors(&server);
    let output = conclave
        .run(&["doctor", "--json", "--deep", "--yes"])
        .ends_with(0);
    let findings = findings(&output);
    let answered: Vec<bool> = findings["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| trial["answered"].as_bool().unwrap())
        .collect();
    assert_eq!(answered, [true, true, false], "{}", output.stdout);
    assert!(
        findings["trials"][2]["message"]
            .as_str()
            .unwrap()
            .contains("quota")
    );
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
