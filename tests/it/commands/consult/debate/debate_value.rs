//! The debate value analysis and its comparison call.

use serde_json::Value;

use crate::commands::consult::assert_contains;
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};

fn with_analysis(server: &ProviderServer) -> Conclave {
    Conclave::at(server).without("CONCLAVE_DEBATE_ANALYSIS")
}

#[test]
fn comparison_is_skipped_when_switched_off_or_too_early() {
    for (flag, requests) in [("--no-debate-analysis", 9), ("--quick", 4)] {
        let server = ProviderServer::start();
        let output = with_analysis(&server).run(&["consult", flag, "Shall we?"]);
        let stdout = output.ends_with(0).stdout;
        assert_eq!(server.requests().len(), requests, "{flag}");
        assert!(!stdout.contains("of 3 experts changed"), "{stdout}");
    }
    let server = ProviderServer::start();
    let output = with_analysis(&server)
        .config(r#"{"debate_analysis": "off"}"#)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert_eq!(server.requests().len(), 9);
    let reason = "; positions were not compared: no comparison was asked for.\n";
    assert_contains(&output.stdout, reason);
}

#[test]
fn failed_comparison_changes_neither_answer_nor_exit_code() {
    let server = ProviderServer::start();
    server.on(
        On::asking_for("comparisons"),
        Answer::error(400, "INVALID_ARGUMENT", "not today"),
    );
    let conclave = with_analysis(&server);
    let strict = ["--strict", "--on-failure", "fail"];
    let output = conclave.run(&[&["consult", "Shall we?"], &strict[..]].concat());
    let reason = "; positions were not compared: not today (HTTP 400).\n";
    assert_contains(&output.ends_with(0).stdout, reason);
    let requests = model_requests(&server).into_iter();
    let helpers: Vec<_> = requests
        .filter(|request| request.answer == "comparison")
        .map(|request| request.model)
        .collect();
    // The first judge is the helper, because custom addresses may serve no other model.
    assert_eq!(helpers, ["gpt-6.1-sol"]);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    let analysis = &record["debate_value_analysis"];
    assert_eq!(analysis["status"], "failed");
    assert_eq!(analysis["change_rate"], Value::Null);
}

#[test]
fn preview_includes_the_comparison() {
    let server = ProviderServer::start();
    let preview = |flags: &[&str]| {
        let arguments = [&["consult", "--dry-run", "Shall we?"], flags].concat();
        with_analysis(&server).run(&arguments).ends_with(0).stdout
    };
    assert_contains(&preview(&[]), "comparison");
    let without = preview(&["--no-debate-analysis"]);
    assert!(!without.contains("comparison"), "{without}");
    assert_eq!(server.requests().len(), 0);
}
