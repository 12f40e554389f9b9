//! The cost gate: nothing is spent without consent, and without a terminal no question is asked.

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

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

/// Returns the dry run as JSON.
fn dry_run(conclave: &Conclave, arguments: &[&str]) -> Value {
    conclave
        .run(
            &[
                &["consult", "Shall we?", "--dry-run", "--format", "json"],
                arguments,
            ]
            .concat(),
        )
        .ends_with(0)
        .json()
}

/// Returns the total cost of the saved records in micro-dollars.
fn saved_cost(conclave: &Conclave) -> u64 {
    let logs = std::fs::read_dir(conclave.home().join("consult-logs")).unwrap();
    let records = logs
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let cost = |path| {
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()["cost"]["micro_usd"].as_u64().unwrap()
    };
    records.map(cost).sum()
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
    let agreed = conclave
        .run(&[
            "consult",
            "Shall we?",
            "--model",
            EXPENSIVE,
            "-n",
            "--max-cost",
            high,
        ])
        .ends_with(0);
    assert!(
        agreed.stderr.contains(&format!(
            "💰 Estimated cost: {estimate} (below --max-cost)\n"
        )),
        "{}",
        agreed.stderr
    );
}

#[test]
fn ceiling_below_the_high_estimate_is_not_consent() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let range = dry_run(&conclave, &["--model", EXPENSIVE]);
    let cents = range["high"]["micro_usd"].as_u64().unwrap() / 10_000 - 1;
    assert!(cents * 10_000 > range["cost"]["micro_usd"].as_u64().unwrap());
    let ceiling = format!("{}.{:02}", cents / 100, cents % 100);
    assert_declined(
        &conclave,
        &server,
        &["--model", EXPENSIVE, "--max-cost", &ceiling],
    );
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

    let listed = conclave
        .run(&["history", "list", "--state", "declined", "--json"])
        .ends_with(0)
        .json();
    assert_eq!(listed["consultations"][0]["standing"], "declined");
    assert_eq!(listed["consultations"][0]["resumable"], false);
    let aborted = conclave
        .run(&["history", "list", "--state", "aborted", "--json"])
        .ends_with(0)
        .json();
    assert_eq!(aborted["total"], 0);

    let shown = conclave.run(&["history", "show", "last"]).ends_with(0);
    assert!(
        shown
            .stdout
            .contains("**Declined:** the estimated cost was not agreed to. Nothing was asked"),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains("Aborted"), "{}", shown.stdout);

    let statistics = conclave
        .run(&["consult-stats", "--json"])
        .ends_with(0)
        .json();
    assert_eq!(statistics["usage"]["by_state"]["declined"], 1);
    assert_eq!(statistics["usage"]["total"], 0);
}

#[test]
fn yes_flag_approves_in_advance() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--yes", "--model", EXPENSIVE, "Shall we?"])
        .ends_with(0);
    assert!(
        output.stderr.contains(" (approved by --yes)\n"),
        "{}",
        output.stderr
    );
    assert_eq!(server.requests().len(), 9);
    assert_eq!(conclave.record()["consent"]["how"], "flag");
}

#[test]
fn threshold_of_zero_always_needs_consent() {
    for conclave in [
        |server: &ProviderServer| Conclave::at(server).config(r#"{"always_allow_under": 0}"#),
        |server: &ProviderServer| Conclave::at(server).config(r#"{"alwaysAllowUnder": 0}"#),
        |server: &ProviderServer| Conclave::at(server).variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0"),
    ] {
        let server = ProviderServer::start();
        assert_declined(&conclave(&server), &server, &[]);
    }
}

#[test]
fn higher_threshold_approves_an_expensive_run() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 50}"#);
    let output = conclave
        .run(&["consult", "--model", EXPENSIVE, "Shall we?"])
        .ends_with(0);
    assert!(
        output.stderr.contains(" (auto-approved)\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn lower_bound_estimates_are_never_auto_approved() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 50}"#);
    let seats = ["--model", "openai:gpt-unheard-of", "--model", "gpt-6.1-sol"];
    let output = assert_declined(&conclave, &server, &seats);
    assert!(
        output.stderr.contains("💰 Estimated cost: ≥ $0."),
        "{}",
        output.stderr
    );

    let output = conclave
        .run(
            &[
                &["consult", "Shall we?", "--yes", "--format", "json"],
                &seats[..],
            ]
            .concat(),
        )
        .ends_with(0);
    let answer = output.json();
    assert_eq!(answer["cost"]["lower_bound"], true);
    assert_eq!(answer["estimated_cost"]["lower_bound"], true);
}

#[test]
fn user_prices_are_used() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    let models = json!({
        "schema_version": "1.0",
        "models": [
            {
                "provider": "openai",
                "id": "gpt-unheard-of",
                "tier": 2,
                "prices": [
                    {"input": 1.0, "output": 2.0, "source": "contract", "as_of": "2026-11-01"},
                ],
            },
        ],
    });
    std::fs::write(conclave.home().join("models.json"), models.to_string()).unwrap();
    let output = conclave
        .run(&[
            "consult",
            "Shall we?",
            "--format",
            "json",
            "--model",
            "gpt-unheard-of",
            "--judge",
            "gpt-unheard-of",
        ])
        .ends_with(0);
    let cost = &output.json()["cost"];
    assert_eq!(cost["micro_usd"], 9 * (100 + 2 * 20));
    assert_eq!(cost["lower_bound"], false);
}

#[test]
fn unpriced_models_are_not_free_and_the_hint_works() {
    let conclave = Conclave::new()
        .config(r#"{"endpoints": {"w": {"base_url": "127.0.0.1:9"}}, "always_allow_under": 100}"#);
    let output = conclave
        .run(&["consult", "--model", "w:m", "q"])
        .ends_with(3);
    assert!(
        output
            .stderr
            .contains("the estimate is ≥ $0.00: agree to it with `--yes`"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("models.json"), "{}", output.stderr);
    assert!(!output.stderr.contains("or raise"), "{}", output.stderr);
}

#[test]
fn ceiling_below_the_minimum_cost_ends_the_run_early() {
    let server = ProviderServer::start();
    for (arguments, config) in [
        (&["--max-cost", "0.01"][..], "{}"),
        (&["--yes"][..], r#"{"maxCost": 0.01}"#),
        (&[], r#"{"max_cost": 0}"#),
    ] {
        let conclave = Conclave::at(&server).config(config);
        let output = conclave
            .run(&[&["consult", "Shall we?"], arguments].concat())
            .ends_with(4);
        assert_eq!(output.stdout, "");
        assert!(
            output
                .stderr
                .contains("error: The least that this costs, $0."),
            "{}",
            output.stderr
        );
        assert!(server.requests().is_empty());
    }
    let conclave = Conclave::at(&server).config(r#"{"max_cost": 0}"#);
    conclave
        .run(&["consult", "Shall we?", "--max-cost", "5"])
        .ends_with(0);
}

#[test]
fn full_artifacts_raise_the_estimate() {
    let conclave = Conclave::at(&ProviderServer::start());
    let expected = |arguments: &[&str]| {
        dry_run(&conclave, arguments)["cost"]["micro_usd"]
            .as_u64()
            .unwrap()
    };
    assert!(expected(&["--verbose"]) > expected(&[]));
}

#[test]
fn monthly_budget_warns_at_four_fifths_and_needs_consent_when_spent() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let spent = saved_cost(&conclave);
    let requests = server.requests().len();
    let expected = dry_run(&conclave, &[])["cost"]["micro_usd"]
        .as_u64()
        .unwrap();
    let with = |budget: u64, arguments: &[&str]| {
        let conclave = Conclave::at(&server).variable("CONCLAVE_HOME", conclave.home());
        let budget = format!("{}.{:06}", budget / 1_000_000, budget % 1_000_000);
        conclave
            .variable("CONCLAVE_MONTHLY_BUDGET", budget)
            .run(&[&["consult", "-n", "Shall we?"], arguments].concat())
    };
    let note = "has been spent";
    // A budget of five times the spent and expected amount yields no note.
    let ample = with((spent + expected) * 5, &[]).ends_with(0);
    assert!(!ample.stderr.contains(note), "{}", ample.stderr);
    // The rest of the budget, a tenth of the spent amount, is less than the expected cost.
    let short = with(spent * 11 / 10, &["--dry-run"]).ends_with(0);
    assert!(short.stdout.contains(note), "{}", short.stdout);
    assert!(
        short.stdout.contains("it would exceed the monthly budget"),
        "{}",
        short.stdout
    );
    let before = server.requests().len();
    let run = with(spent, &[]).ends_with(3);
    assert!(
        run.stderr
            .contains("hint: or raise `monthly_budget` in config.json: $0."),
        "{}",
        run.stderr
    );
    let run = with(spent, &["--max-cost", "50"]).ends_with(3);
    assert!(
        run.stderr.contains(note),
        "a ceiling does not approve a spent month: {}",
        run.stderr
    );
    assert_eq!(server.requests().len(), requests + 9);
    assert_eq!(before, requests + 9);
    with(spent, &["--yes"]).ends_with(0);
}
