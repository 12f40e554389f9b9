//! A provider that refuses access to the judge, after the experts were paid.

use serde_json::Value;

use super::{Desk, SIX, verdict};
use crate::support::provider_server::{Answer, On};

const REFUSALS: [(u16, &str, &str); 2] = [
    (401, "invalid_api_key", "authentication"),
    (429, "insufficient_quota", "quota"),
];

/// Sets up a panel whose judges are refused in the last round.
fn refused((status, code, _): (u16, &str, &str)) -> Desk {
    let desk = Desk::with(SIX);
    let refusal = Answer::error(status, code, "no access for this key");
    desk.server.on(On::asking_for("recommendation"), refusal);
    desk
}

fn answered() -> Answer {
    let lines: Vec<String> = (1..=6)
        .map(|number| format!("Q{number} ANSWERED: As the law says in article {number}."))
        .collect();
    verdict(&lines.join("\n"))
}

fn last_cause(desk: &Desk) -> Value {
    let log = desk.read("SPEC.refine/log.jsonl");
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    last["cause"].clone()
}

/// Returns the number of requests to experts.
fn asked_experts(desk: &Desk) -> usize {
    let requests = desk.server.requests();
    let of_experts = requests.iter().filter(|request| {
        let body = request.body.to_string();
        body.contains("\"key_points\":{") || body.contains("\\\"key_points\\\":")
    });
    of_experts.count()
}

#[test]
fn rounds_that_are_paid_are_not_paid_again_once_access_is_back() {
    for refusal in REFUSALS {
        let desk = refused(refusal);
        let output = desk.run_panel(&[]).ends_with(1);
        output.assert_stderr_contains("no access for this key");
        assert_eq!(last_cause(&desk), refusal.2);
        let before = desk.requests();

        desk.server.on(On::asking_for("recommendation"), answered());
        desk.run_panel(&[]).ends_with(0);
        assert_eq!(desk.requests(), before + 1, "{refusal:?}");
        assert!(desk.read("SPEC.refined.md").contains("article 6"));
    }
}

#[test]
fn refusal_before_a_resume_stops_nothing_after_it() {
    let desk = refused(REFUSALS[0]);
    desk.run_panel(&[]).ends_with(1);
    let words = Answer::refusal("I cannot answer this.");
    desk.server.on(On::asking_for("recommendation"), words);
    desk.run_panel(&[]).ends_with(1);
    assert_eq!(last_cause(&desk), "no_answer");

    let experts = asked_experts(&desk);
    desk.server.on(On::asking_for("recommendation"), answered());
    desk.run_panel(&[]).ends_with(0);
    assert_eq!(asked_experts(&desk), experts);
}

#[test]
fn other_models_are_asked_from_the_beginning() {
    let desk = refused(REFUSALS[0]);
    desk.run_panel(&[]).ends_with(1);
    let experts = asked_experts(&desk);
    desk.server.on(On::asking_for("recommendation"), answered());
    let others = ["--panel", "pragmatic=openai:gpt-6.1-sol"];
    desk.run_panel(&others).ends_with(0);
    assert!(asked_experts(&desk) > experts);
}

#[test]
fn strict_panel_is_asked_again_as_a_whole() {
    let desk = Desk::with(SIX);
    desk.server.on(On::asking_for("recommendation"), answered());
    let words = Answer::refusal("I cannot answer this.");
    desk.server.on(On::asking_for("position").nth(1), words);
    desk.run_panel(&["--strict"]).ends_with(1);
    let experts = asked_experts(&desk);
    desk.run_panel(&["--strict"]).ends_with(0);
    assert_eq!(asked_experts(&desk), experts + 3);
}
