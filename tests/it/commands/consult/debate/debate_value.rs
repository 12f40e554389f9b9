//! The debate value analysis and its comparison call.

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};

/// The first judge is the helper model, because custom addresses may serve no other model.
const HELPER: &str = "gpt-6.1-sol";

fn with_analysis(server: &ProviderServer) -> Conclave {
    Conclave::at(server).without("CONCLAVE_DEBATE_ANALYSIS")
}

fn comparisons(server: &ProviderServer) -> Vec<String> {
    model_requests(server)
        .into_iter()
        .filter(|request| request.answer == "comparison")
        .map(|request| request.model)
        .collect()
}

#[test]
fn one_cheap_call_compares_positions_before_and_after() {
    let server = ProviderServer::start();
    let conclave = with_analysis(&server);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(comparisons(&server), [HELPER]);
    assert_eq!(server.requests().len(), 10);
    assert!(
        output
            .stdout
            .contains("## Changes\n\n3 of 3 experts changed their minds.\n"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains(
            "**Architect** changed its mind, a minor refinement (confidence 70% → 75%):\n"
        ),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stdout
            .contains("### Insights\n\n- Speed is what is contested\n"),
        "{}",
        output.stdout
    );
    let record = conclave.record();
    let analysis = &record["debate_value_analysis"];
    assert_eq!(analysis["status"], "compared");
    assert_eq!(analysis["agents_changed_position"], 3);
    assert_eq!(analysis["total_agents"], 3);
    assert!(
        analysis["semantic_comparison_cost"]["micro_usd"]
            .as_u64()
            .unwrap()
            > 0
    );
    let shown = conclave
        .run(&[
            "history",
            "show",
            record["consultation_id"].as_str().unwrap(),
        ])
        .ends_with(0)
        .stdout;
    assert!(
        shown.contains("## Changes\n\n3 of 3 experts changed their minds.\n"),
        "{shown}"
    );
    let stats = conclave
        .run(&["consult-stats", "--all-time", "--json"])
        .ends_with(0)
        .json();
    let debates = &stats["debate_value"];
    assert_eq!(debates["debates"], 1);
    assert_eq!(debates["agents_changed_position"], 3);
    assert_eq!(debates["total_agents"], 3);
}

#[test]
fn comparison_is_skipped_when_switched_off_or_too_early() {
    for (arguments, requests) in [
        (&["consult", "--no-debate-analysis", "Shall we?"][..], 9),
        (&["consult", "--quick", "Shall we?"], 4),
        (&["consult", "--rounds", "1", "Shall we?"], 3),
    ] {
        let server = ProviderServer::start();
        let output = with_analysis(&server).run(arguments).ends_with(0);
        assert!(comparisons(&server).is_empty(), "{arguments:?}");
        assert_eq!(server.requests().len(), requests, "{arguments:?}");
        assert!(
            !output.stdout.contains(" changed their minds"),
            "{}",
            output.stdout
        );
    }
    let server = ProviderServer::start();
    let output = with_analysis(&server)
        .config(r#"{"debate_analysis": "off"}"#)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert_eq!(server.requests().len(), 9);
    assert!(
        output
            .stdout
            .contains("; positions were not compared: no comparison was asked for.\n"),
        "{}",
        output.stdout
    );
}

#[test]
fn failed_comparison_changes_neither_answer_nor_exit_code() {
    let server = ProviderServer::start();
    server.on(
        On::asking_for("comparisons"),
        Answer::error(400, "INVALID_ARGUMENT", "not today"),
    );
    let conclave = with_analysis(&server);
    let output = conclave
        .run(&[
            "consult",
            "--strict",
            "--on-failure",
            "fail",
            "--format",
            "both",
            "Shall we?",
        ])
        .ends_with(0);
    assert!(
        output
            .stdout
            .contains("; positions were not compared: not today (HTTP 400).\n"),
        "{}",
        output.stdout
    );
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["debate_value_analysis"]["status"], "failed");
    assert_eq!(
        record["debate_value_analysis"]["change_rate"],
        serde_json::Value::Null
    );
}

#[test]
fn estimate_and_dry_run_include_the_comparison() {
    let server = ProviderServer::start();
    let preview = with_analysis(&server)
        .run(&["consult", "--dry-run", "Shall we?"])
        .ends_with(0)
        .stdout;
    assert!(preview.contains("comparison"), "{preview}");
    let without = with_analysis(&server)
        .run(&["consult", "--dry-run", "--no-debate-analysis", "Shall we?"])
        .ends_with(0)
        .stdout;
    assert!(!without.contains("comparison"), "{without}");
    assert_eq!(server.requests().len(), 0);
}
