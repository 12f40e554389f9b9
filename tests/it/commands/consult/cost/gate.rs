//! The cost gate: nothing is spent without consent, and without a terminal no question is asked.

use serde_json::{Value, json};

use crate::commands::consult::{ask, assert_contains};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::in_flight::dollars;
use crate::support::provider_server::{Answer, On, ProviderServer};

/// A model whose nine calls cost more than half a dollar.
const EXPENSIVE: &str = "claude-fable-5-1";

/// Runs a consultation that must end at the gate.
fn assert_declined(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> RunOutput {
    let output = conclave
        .run(&[&["consult", "Shall we?"], arguments].concat())
        .ends_with(3);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty(), "no request without consent");
    output
}

#[test]
fn expensive_run_without_a_terminal_ends_with_hints() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = assert_declined(&conclave, &server, &["--model", EXPENSIVE]);
    let (progress, hints) = output.stderr.split_once("error: ").unwrap();
    assert_eq!(
        assert_declined(&conclave, &server, &["--model", EXPENSIVE, "-q"]).stderr,
        format!("error: {hints}")
    );
    let estimate = progress
        .split_once("💰 Estimated cost: ")
        .unwrap()
        .1
        .trim_end_matches(" (no terminal to ask on)\n");
    assert!(estimate.starts_with('$'), "{progress}");
    let (_, rest) = hints.split_once("--max-cost ").unwrap();
    let high = rest.split_once('`').unwrap().0;
    assert_eq!(
        hints,
        format!(
            "The estimated cost needs consent, and there is no terminal to ask on\nhint: the estimate is {estimate}: agree to it with `--yes`\n\
             hint: or allow the high estimate with `--max-cost {high}`\n\
             hint: or raise `always_allow_under` in config.json\n"
        )
    );
    let (_, agreed) = ask(&server, &["--model", EXPENSIVE, "--max-cost", high]);
    agreed.ends_with(0).assert_stderr_contains(&format!(
        "💰 Estimated cost: {estimate} (within your ceiling of ${high})\n"
    ));
}

#[test]
fn ceiling_below_the_estimate_is_not_asked_for_again() {
    let server = ProviderServer::start();
    let arguments = ["--model", EXPENSIVE, "--max-cost", "0.60"];
    let dry_run = [&arguments[..], &["--dry-run", "--json"]].concat();
    let shown = ask(&server, &dry_run).1.ends_with(0).json();
    let decision = shown["consent"]["message"].as_str().unwrap();
    assert_contains(decision, "needs --yes or a higher ceiling, because");
    let expected = (shown["cost"]["micro_usd"].as_u64().unwrap() + 5_000) / 10_000;
    let output = assert_declined(&Conclave::at(&server), &server, &arguments);
    output.assert_stderr_contains(&format!(
        "error: The ceiling of $0.60 is below the estimate of ${}.{:02}, and there is no terminal \
         to ask on\n\
         hint: go on below the ceiling, with less than is expected, with `--yes`\n\
         hint: or allow the high estimate with `--max-cost ",
        expected / 100,
        expected % 100
    ));
    assert!(
        !output.stderr.contains("always_allow_under"),
        "{}",
        output.stderr
    );
    let (_, agreed) = ask(&server, &[&arguments[..], &["--yes"]].concat());
    agreed.assert_stderr_contains(" (approved by --yes; your ceiling is $0.60)\n");
}

#[test]
fn declined_consultation_is_recorded_as_declined() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = assert_declined(&conclave, &server, &["--model", EXPENSIVE]);
    assert!(!output.stderr.contains("Partial results"), "there are none");
    let record = conclave.record();
    assert_eq!(record["status"], "declined");
    assert_eq!(record["abort_reason"], "declined");
    assert_eq!(record["aborted_during"], "AwaitingConsent");
    assert_eq!(
        record["consent"],
        json!({"approved": false, "how": "nobody_to_ask"})
    );
    assert_eq!(record["cost"]["calls"], 0);

    let json = |arguments: &[&str]| {
        let arguments = [arguments, &["--json"]].concat();
        conclave.run(&arguments).ends_with(0).json()
    };
    let listed = json(&["history", "list", "--state", "declined"]);
    assert_eq!(listed["consultations"][0]["standing"], "declined");
    assert_eq!(listed["consultations"][0]["resumable"], false);
    let aborted = json(&["history", "list", "--state", "aborted"]);
    assert_eq!(aborted["total"], 0);
    let statistics = json(&["consult-stats"]);
    assert_eq!(statistics["usage"]["by_state"]["declined"], 1);
    assert_eq!(statistics["usage"]["total"], 0);
    let shown = conclave.run(&["history", "show", "last"]).ends_with(0);
    let words = "**Declined:** the estimated cost was not agreed to. Nothing was asked";
    assert_contains(&shown.stdout, words);
    assert!(!shown.stdout.contains("Aborted"), "{}", shown.stdout);
}

#[test]
fn unpriced_models_are_not_free_and_the_hint_works() {
    let conclave = Conclave::new()
        .config(r#"{"endpoints": {"w": {"base_url": "127.0.0.1:9"}}, "always_allow_under": 100}"#);
    let output = conclave
        .run(&["consult", "--model", "w:m", "q"])
        .ends_with(3);
    output.assert_stderr_contains("hint: agree to it with `--yes`");
    assert_eq!(
        output.stderr.matches("price unknown").count(),
        1,
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("$0.00"), "{}", output.stderr);
    output.assert_stderr_contains("models.json");
    assert!(!output.stderr.contains("or raise"), "{}", output.stderr);
}

#[test]
fn yes_flag_approves_in_advance() {
    let server = ProviderServer::start();
    let (conclave, output) = ask(&server, &["--yes", "--model", EXPENSIVE]);
    let output = output.ends_with(0);
    output.assert_stderr_contains(" (approved by --yes)\n");
    assert_eq!(server.requests().len(), 9);
    assert_eq!(conclave.record()["consent"]["how"], "flag");
}

#[test]
fn ceiling_below_the_minimum_cost_ends_the_run_early() {
    let server = ProviderServer::start();
    let (_, output) = ask(&server, &["--max-cost", "0.01"]);
    let output = output.ends_with(4);
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains("error: A ceiling of $0.01 does not pay for this: it takes $0.16 with short answers, and $0.31 with answers of the expected length; nothing was spent\n");
    assert!(server.requests().is_empty());
}

#[test]
fn ceiling_above_what_a_run_costs_pays_for_it_with_lower_output_limits() {
    for (flags, micro_dollars, calls) in [(&["--quick"][..], 100_000, 4), (&[], 420_000, 9)] {
        let ceiling = &dollars(micro_dollars);
        let server = ProviderServer::start();
        server.on(On::any(), Answer::valid().usage(1_000, 700));
        let flags = [flags, &["--max-cost", ceiling]].concat();
        let (conclave, output) = ask(&server, &flags);
        output.ends_with(0);
        let requests = server.requests();
        assert_eq!(requests.len(), calls, "{flags:?}");
        let limit = |body: &Value| {
            let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
            names.iter().find_map(|name| body[name].as_u64())
        };
        let limits: Vec<u64> = requests
            .iter()
            .filter_map(|request| limit(&request.body))
            .collect();
        assert!(limits.iter().all(|limit| *limit >= 2_000), "{limits:?}");
        assert!(limits.iter().any(|limit| *limit < 16_384), "{limits:?}");
        let spent = &conclave.record()["cost"]["micro_usd"];
        assert!(spent.as_u64().unwrap() <= micro_dollars, "{spent}");
    }
}

#[test]
fn full_artifacts_raise_the_estimate() {
    let server = ProviderServer::start();
    let expected = |flags: &[&str]| {
        let (_, output) = ask(&server, &[&["--dry-run", "--json"], flags].concat());
        let shown = output.ends_with(0).json();
        shown["cost"]["micro_usd"].as_u64().unwrap()
    };
    assert!(expected(&["--verbose"]) > expected(&[]));
}

#[test]
fn spent_month_is_shown_and_needs_consent_beside_a_ceiling() {
    let server = ProviderServer::start();
    let (conclave, output) = ask(&server, &[]);
    output.ends_with(0);
    let spent = conclave.record()["cost"]["micro_usd"].as_u64().unwrap();
    let with = |budget: u64, flags: &[&str]| {
        Conclave::at(&server)
            .variable("CONCLAVE_HOME", conclave.home())
            .variable("CONCLAVE_MONTHLY_BUDGET", dollars(budget))
            .run(&[&["consult", "-n", "Shall we?"], flags].concat())
    };
    // What is left, a tenth of the spent amount, is less than the expected cost.
    let shown = with(spent * 11 / 10, &["--dry-run"]).ends_with(0).stdout;
    assert_contains(&shown, "has been spent");
    assert_contains(&shown, "it would exceed the monthly budget");
    let refused = with(spent, &["--max-cost", "50"]).ends_with(3);
    refused.assert_stderr_contains("has been spent");
    refused.assert_stderr_contains("hint: or raise `monthly_budget` in config.json: $0.");
    assert_eq!(server.requests().len(), 9, "nothing is asked");
    with(spent, &["--yes"]).ends_with(0);
}
