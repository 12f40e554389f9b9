//! Nothing is spent that the user did not agree to. Without a terminal nobody is asked, and nothing hangs.

use serde_json::json;

use crate::support::binary::{Conclave, Ran};
use crate::support::provider_server::ProviderServer;

/// Nine calls of this one cost more than half a dollar.
const DEAR: &str = "claude-fable-5-1";

/// Runs what must end at the gate.
fn declined(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> Ran {
    let ran = conclave.run(&[&["consult", "Shall we?"], arguments].concat()).ends_with(3);
    assert_eq!(ran.stdout, "");
    assert!(server.requests().is_empty(), "nothing is asked without consent");
    ran
}

#[test]
fn a_dear_consultation_without_a_terminal_ends_with_both_ways_out() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = declined(&conclave, &server, &["--model", DEAR]);
    let (said, hints) = ran.stderr.split_once("error: ").unwrap();
    let estimate = said.split_once("💰 Estimated cost: ").unwrap().1.trim_end_matches(" (nobody to ask)\n");
    assert!(estimate.starts_with('$'), "{said}");
    assert_eq!(
        hints,
        format!(
            "The estimated cost needs consent, and there is no terminal to ask on\nhint: the estimate is {estimate}: agree to it with --yes\n\
             hint: or set a ceiling above it with --max-cost USD\nhint: or raise `always_allow_under` in config.json\n"
        )
    );
    assert_eq!(declined(&conclave, &server, &["--model", DEAR, "-q"]).stderr, format!("error: {hints}"));
}

#[test]
fn what_was_declined_is_recorded_as_such() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = declined(&conclave, &server, &["--model", DEAR]);
    assert!(!ran.stderr.contains("Partial results"), "there are none");
    let record = conclave.record();
    assert_eq!((&record["abort_reason"], &record["aborted_during"]), (&"declined".into(), &"AwaitingConsent".into()));
    assert_eq!(record["consent"], json!({"approved": false, "how": "nobody_to_ask"}));
    assert_eq!(record["cost"]["calls"], 0);
}

#[test]
fn yes_agrees_in_advance() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = conclave.run(&["consult", "--yes", "--model", DEAR, "Shall we?"]).ends_with(0);
    assert!(ran.stderr.contains(" (approved by --yes)\n"), "{}", ran.stderr);
    assert_eq!((server.requests().len(), &conclave.record()["consent"]["how"]), (9, &"flag".into()));
}

#[test]
fn zero_means_always_ask() {
    for conclave in [
        |server: &ProviderServer| Conclave::at(server).config(r#"{"always_allow_under": 0}"#),
        |server: &ProviderServer| Conclave::at(server).config(r#"{"alwaysAllowUnder": 0}"#),
        |server: &ProviderServer| Conclave::at(server).variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0"),
    ] {
        let server = ProviderServer::start();
        declined(&conclave(&server), &server, &[]);
    }
}

#[test]
fn a_higher_threshold_lets_a_dear_consultation_pass() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 50}"#);
    let ran = conclave.run(&["consult", "--model", DEAR, "Shall we?"]).ends_with(0);
    assert!(ran.stderr.contains(" (auto-approved)\n"), "{}", ran.stderr);
}

#[test]
fn a_model_without_a_price_makes_the_estimate_a_lower_bound_that_never_passes_by_itself() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 50}"#);
    let seats = ["--model", "openai:gpt-unheard-of", "--model", "gpt-6.1-sol"];
    let ran = declined(&conclave, &server, &seats);
    assert!(ran.stderr.contains("💰 Estimated cost: ≥ $0."), "{}", ran.stderr);

    let ran = conclave.run(&[&["consult", "Shall we?", "--yes", "--format", "json"], &seats[..]].concat()).ends_with(0);
    let answer = ran.json();
    assert_eq!((&answer["cost"]["lower_bound"], &answer["estimated_cost"]["lower_bound"]), (&true.into(), &true.into()));
}

#[test]
fn the_users_own_price_counts() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    let models = json!({"schema_version": "1.0", "models": [{"provider": "openai", "id": "gpt-unheard-of", "tier": 2,
        "prices": [{"input": 1.0, "output": 2.0, "source": "contract", "as_of": "2026-11-01"}]}]});
    std::fs::write(conclave.home().join("models.json"), models.to_string()).unwrap();
    let ran =
        conclave.run(&["consult", "Shall we?", "--format", "json", "--model", "gpt-unheard-of", "--judge", "gpt-unheard-of"]).ends_with(0);
    let cost = &ran.json()["cost"];
    assert_eq!((&cost["micro_usd"], &cost["lower_bound"]), (&(9 * (100 + 2 * 20)).into(), &false.into()));
}

#[test]
fn a_model_without_a_price_is_never_taken_for_free_and_the_way_out_is_one_that_works() {
    let conclave = Conclave::new().config(r#"{"endpoints": {"w": {"base_url": "127.0.0.1:9"}}, "always_allow_under": 100}"#);
    let ran = conclave.run(&["consult", "--model", "w:m", "q"]).ends_with(3);
    assert!(ran.stderr.contains("the estimate is ≥ $0.00: agree to it with --yes"), "{}", ran.stderr);
    assert!(ran.stderr.contains("models.json") && !ran.stderr.contains("or raise"), "{}", ran.stderr);
}
