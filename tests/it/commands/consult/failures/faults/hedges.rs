//! Hedged calls: when the second call starts, which one wins, when the loser is cancelled, and the
//! cost. All times are measured at the server.

use std::time::Duration;

use serde_json::{Value, json};

use super::fault::FOREVER;
use super::stage::Stage;
use super::{FAILING, FALLBACK, arguments, assert_costs_add_up, check_concurrently};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};

/// The hedging delay in these tests. A busy machine delays no other answer for as long.
pub(super) const HEDGE_DELAY: Duration = Duration::from_secs(3);

/// The same as a value of `--hedge-after`.
pub(super) const HEDGE_AFTER: &str = "3";

/// The tolerated delay of a request on a busy machine.
const TOLERANCE: Duration = Duration::from_secs(20);

/// The tolerated time from the winner's answer to the end of the loser's connection on a busy
/// machine. The loser would never end by itself; `benches/process.rs` measures the time.
const CANCEL_TOLERANCE: Duration = Duration::from_secs(20);

fn consult(server: &ProviderServer, stage: Stage, flags: &[&str]) -> (Conclave, RunOutput) {
    let conclave = Conclave::with_all_keys(server);
    let output = conclave
        .run(&arguments(&[&stage.panel(), flags]))
        .ends_with(0);
    (conclave, output)
}

/// Returns the slow request and its hedge.
fn pair(server: &ProviderServer, stage: Stage) -> (RecordedRequest, RecordedRequest) {
    let slow = server
        .requests_to(Vendor::Anthropic)
        .remove(stage.first() - 1);
    (slow, server.requests_to(Vendor::Mistral).remove(0))
}

fn assert_hedged_in_time(first: &RecordedRequest, second: &RecordedRequest) {
    let after = second.arrived - first.arrived;
    // The first request took a moment to arrive.
    assert!(after > HEDGE_DELAY / 2, "{after:?}");
    assert!(after < HEDGE_DELAY + TOLERANCE, "{after:?}");
}

/// Asserts that the loser's connection ends as soon as the winner has answered, and not before.
fn assert_cancelled(winner: &RecordedRequest, loser: &RecordedRequest) {
    let (answered, closed) = (
        winner.finished.unwrap(),
        loser.finished.expect("the loser's connection ends"),
    );
    assert!(winner.complete, "{winner:?} {loser:?}");
    assert!(!loser.complete, "{winner:?} {loser:?}");
    assert!(closed >= answered, "{winner:?} {loser:?}");
    assert!(
        closed - answered < CANCEL_TOLERANCE,
        "{:?}",
        closed - answered
    );
}

#[test]
fn faster_hedge_wins_and_cancels_the_first_call_at_once() {
    check_concurrently(
        vec![
            Stage::Expert(1),
            Stage::Judge(2),
            Stage::Expert(3),
            Stage::Judge(4),
        ],
        |stage| {
            let server = ProviderServer::start();
            server.on(
                On::vendor(Vendor::Anthropic).nth(stage.first()),
                Answer::valid().delay(FOREVER),
            );
            let (conclave, output) = consult(&server, stage, &["--hedge-after", HEDGE_AFTER]);
            let (slow, quick_faults) = pair(&server, stage);
            assert_hedged_in_time(&slow, &quick_faults);
            assert_cancelled(&quick_faults, &slow);
            assert_eq!(
                server.requests_to(Vendor::Anthropic).len(),
                stage.first(),
                "the slow model is not asked again in later rounds"
            );

            let record = conclave.record();
            assert_eq!(record["status"], "complete", "{}", output.stderr);
            assert!(!output.stdout.contains("Degraded result"));
            let (agent, name) = stage.agent();
            let substitutions = record["substitutions"].as_array().unwrap();
            assert_eq!(substitutions.len(), 1, "{substitutions:?}");
            assert_eq!(
                ["agent_id", "original", "substitute", "reason"]
                    .map(|field| substitutions[0][field].as_str().unwrap()),
                [agent, FAILING, FALLBACK, "hedge"]
            );
            let hedge = &record["hedges"][0];
            assert_eq!(hedge["model"], FAILING);
            assert_eq!(hedge["backup"], FALLBACK);
            assert_eq!(hedge["dropped"], FAILING);
            assert_eq!(record["cost"]["lost_calls"], 1);
            assert_eq!(record["cost"]["lower_bound"], true);
            assert_costs_add_up(&record, name);
            assert!(output.stderr.contains(name), "{}", output.stderr);
            assert!(!output.stderr.contains("failed"), "{}", output.stderr);
        },
    );
}

#[test]
fn late_first_answer_wins_and_the_result_is_complete() {
    let stage = Stage::Expert(1);
    let server = ProviderServer::start();
    // The first call answers as soon as the hedge has arrived.
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().after_arrivals(4),
    );
    server.on(On::vendor(Vendor::Mistral), Answer::valid().delay(FOREVER));
    let (conclave, output) = consult(&server, stage, &["--hedge-after", HEDGE_AFTER]);
    let (slow, second) = pair(&server, stage);
    assert_hedged_in_time(&slow, &second);
    assert_cancelled(&slow, &second);
    let record = conclave.record();
    assert_eq!(record["status"], "complete", "{}", output.stderr);
    assert_eq!(record["substitutions"], json!([]), "{}", output.stderr);
    assert_eq!(record["hedges"][0]["dropped"], FALLBACK);
    assert_eq!(
        record["cost"]["lower_bound"], true,
        "the cost of the hedge is unknown"
    );
    assert!(!output.stdout.contains("Degraded result"));
    assert_costs_add_up(&record, "the first wins");
}

#[test]
fn one_failed_call_of_a_hedged_pair_does_no_harm() {
    let unauthorized = || Answer::error(401, "authentication_error", "no");
    let cases = [
        // The first call fails while the hedge is open: the hedge answers for all rounds.
        (
            unauthorized().after_arrivals(4),
            Answer::valid()
                .after_arrivals(4)
                .delay(Duration::from_millis(200)),
            1,
        ),
        // The hedge fails while the first call is open.
        (
            Answer::valid()
                .after_arrivals(4)
                .delay(Duration::from_millis(200)),
            unauthorized(),
            0,
        ),
    ];
    check_concurrently(cases.into(), |(first, second, substitutions)| {
        let server = ProviderServer::start();
        server.on(On::vendor(Vendor::Anthropic).nth(1), first);
        server.on(On::vendor(Vendor::Mistral).nth(1), second);
        let (conclave, output) =
            consult(&server, Stage::Expert(1), &["--hedge-after", HEDGE_AFTER]);
        let record = conclave.record();
        assert_eq!(
            record["substitutions"].as_array().unwrap().len(),
            substitutions,
            "{}",
            output.stderr
        );
        assert_eq!(
            record["cost"]["lower_bound"], false,
            "both calls finished, and a rejected key costs nothing"
        );
        assert_eq!(server.requests().len(), 10, "there are no retries");
        assert_costs_add_up(&record, "one fails");
    });
}

#[test]
fn failed_hedged_pair_reports_the_first_reason() {
    let server = ProviderServer::start();
    let unauthorized = |message| Answer::error(401, "authentication_error", message);
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        unauthorized("the first").after_arrivals(4),
    );
    server.on(
        On::vendor(Vendor::Mistral).nth(1),
        unauthorized("the second"),
    );
    let (conclave, output) = consult(&server, Stage::Expert(1), &["--hedge-after", HEDGE_AFTER]);
    let record = conclave.record();
    let substitutions = record["substitutions"].as_array().unwrap();
    assert_eq!(substitutions.len(), 1, "{}", output.stderr);
    assert!(
        substitutions[0]["message"]
            .as_str()
            .unwrap()
            .contains("the first"),
        "{substitutions:?}"
    );
    assert_eq!(Stage::Expert(1).attempts(&record).len(), 3);
    assert_costs_add_up(&record, "both fail");
}

#[test]
fn hedging_needs_permission_and_a_silent_call() {
    let slow = || Answer::valid().delay(HEDGE_DELAY * 3 / 2);
    let trickling = || Answer::valid().pace(HEDGE_DELAY / 5);
    let cases = [
        ("off", slow(), vec!["--hedge-after", "off"]),
        (
            "strict",
            slow(),
            vec!["--hedge-after", HEDGE_AFTER, "--strict"],
        ),
        ("later than it takes", slow(), vec!["--hedge-after", "60"]),
        (
            "a sign of an answer",
            trickling(),
            vec!["--hedge-after", HEDGE_AFTER],
        ),
    ];
    check_concurrently(cases.into(), |(what, answer, flags)| {
        let server = ProviderServer::start();
        server.on(On::vendor(Vendor::Anthropic).nth(1), answer);
        let (conclave, output) = consult(&server, Stage::Expert(1), &flags);
        let record = conclave.record();
        assert_eq!(server.requests().len(), 9, "{what}");
        assert_eq!(record["hedges"], json!([]), "{what}");
        assert_eq!(record["status"], "complete", "{what}");
        assert_eq!(
            record["cost"]["lower_bound"], false,
            "{what}: {}",
            output.stderr
        );
        let first = server.requests_to(Vendor::Anthropic).remove(0);
        assert!(
            first.finished.unwrap() - first.arrived > HEDGE_DELAY,
            "{what}: the answer took longer than the hedge delay"
        );
    });
}

#[test]
fn at_most_a_quarter_of_the_calls_are_hedged() {
    let server = ProviderServer::start();
    // With four slow experts, two of eleven calls may be hedged.
    let panel = "security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon,\
                 security=xai:grok-4.7";
    for vendor in [
        Vendor::Anthropic,
        Vendor::OpenAi,
        Vendor::Google,
        Vendor::Xai,
    ] {
        server.on(
            On::vendor(vendor).nth(1),
            Answer::valid().delay(HEDGE_DELAY * 2),
        );
    }
    let conclave = Conclave::with_all_keys(&server);
    let judge = "mistral:mistral-large-4";
    let flags = [
        "--panel",
        panel,
        "--judge",
        judge,
        "--hedge-after",
        HEDGE_AFTER,
        "--events",
        "events.jsonl",
    ];
    conclave.run(&arguments(&[&flags])).ends_with(0);
    let record = conclave.record();
    assert_eq!(
        record["hedges"].as_array().unwrap().len(),
        2,
        "{}",
        record["hedges"]
    );
    let events = std::fs::read_to_string(conclave.folder().join("events.jsonl")).unwrap();
    let not_hedged = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "call:not_hedged");
    let reasons: Vec<Value> = not_hedged
        .map(|event| event["data"]["reason"].clone())
        .collect();
    assert_eq!(reasons, ["quota_used", "quota_used"]);
    assert_costs_add_up(&record, "a quarter");
}
