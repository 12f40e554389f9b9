//! Failing judges: the next one takes over; without any judge the consultation ends and saves its
//! answers.

use super::unauthorized;
use crate::support::binary::Conclave;
use crate::support::model_requests::{model_requests, request_counts};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[test]
fn next_judge_takes_over_and_is_reported() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::OpenAi).nth(2), unauthorized());
    let conclave = Conclave::at(&server);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let judges: Vec<_> = model_requests(&server)
        .into_iter()
        .filter(|request| request.answer == "synthesis")
        .map(|request| request.model)
        .collect();
    assert_eq!(judges, ["gpt-6.1-sol", "claude-sonnet-5-5"]);
    assert!(
        output
            .stderr
            .contains("anthropic:claude-sonnet-5-5 takes over as Judge."),
        "{}",
        output.stderr
    );
    let record = conclave.record();
    assert_eq!(record["state"], "Complete");
    assert_eq!(
        record["responses"]["round_2"]["agents"][0]["attempts"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn judges_are_asked_in_order_and_a_substitute_stays() {
    let server = ProviderServer::start();
    server.on(On::model("gemini-3.8-flash"), unauthorized());
    let conclave = Conclave::at(&server);
    conclave
        .run(&[
            "consult",
            "--judge",
            "gemini-3.8-flash,claude-opus-5-5",
            "Shall we?",
        ])
        .ends_with(0);
    let judges: Vec<_> = model_requests(&server)
        .into_iter()
        .filter(|request| !request.is_from_expert())
        .map(|request| request.model)
        .collect();
    assert_eq!(
        judges,
        [
            "gemini-3.8-flash",
            "claude-opus-5-5",
            "claude-opus-5-5",
            "claude-opus-5-5"
        ]
    );
}

#[test]
fn run_without_a_judge_fails_with_the_round() {
    let server = ProviderServer::start();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google] {
        server.on(On::vendor(vendor).nth(2), unauthorized());
    }
    let conclave = Conclave::at(&server);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(1);
    assert_eq!(output.stdout, "");
    assert_eq!(
        request_counts(&server)[..2],
        [("independent", 3), ("synthesis", 3)]
    );
    assert!(
        output.stderr.contains(
            "error: The judge failed in Round 2 (Synthesis): this key was withdrawn (HTTP 401)"
        ),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains(&format!(
            "💾 Partial results saved to: {}\n",
            conclave.log("json").display()
        )),
        "{}",
        output.stderr
    );
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "judge_failed");
    assert_eq!(record["completed_rounds"][0]["round_number"], 1);
    assert_eq!(
        record["responses"]["round_1"]["artifacts"]
            .as_array()
            .unwrap()
            .len(),
        3,
        "paid answers are saved"
    );
}

#[test]
fn judge_failure_in_the_last_round_leaves_a_partial_consensus() {
    let server = ProviderServer::start();
    for (vendor, nth) in [
        (Vendor::OpenAi, 5),
        (Vendor::Anthropic, 3),
        (Vendor::Google, 3),
    ] {
        server.on(On::vendor(vendor).nth(nth), unauthorized());
    }
    let conclave = Conclave::at(&server);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(1);
    assert!(
        output
            .stderr
            .contains("The judge failed in Round 4 (Verdict)"),
        "{}",
        output.stderr
    );
    let record = conclave.record();
    assert!(
        record["partial_consensus"]
            .as_str()
            .unwrap()
            .contains("Start small"),
        "{record}"
    );
    assert!(record["recommendation"].is_null());
}

#[test]
fn unreadable_judge_answer_is_repaired_once() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text("They agree."),
    );
    Conclave::at(&server)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert_eq!(request_counts(&server)[1], ("synthesis", 2));
}
