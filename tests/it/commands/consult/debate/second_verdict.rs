//! `--judge-passes 2`: its calls, its report, and the runs that cannot have it.

use serde_json::Value;

use crate::commands::consult::failures::unauthorized;
use crate::commands::consult::{ask, assert_contains};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};

const JUDGE: &str = "claude-opus-5-5";

/// The numbers of the second verdict and of the helper among the judge's requests, after the
/// synthesis and the cross-examination: at a custom address the judge is also the helper.
const SECOND: usize = 4;
const HELPER: usize = 5;

const OTHER: &str = r#"{"summary":"s","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Grow at once.","confidence":0.4}"#;

/// Returns the requests of Round 4, in the order of arrival.
fn last_round(server: &ProviderServer) -> Vec<&'static str> {
    let requests = model_requests(server).into_iter();
    let answers = requests.map(|request| request.answer);
    answers.skip_while(|answer| *answer != "verdict").collect()
}

fn consult(server: &ProviderServer, flags: &[&str]) -> (Conclave, RunOutput) {
    let twice = ["--judge-passes", "2", "--yes", "--judge", JUDGE];
    let (conclave, output) = ask(server, &[&twice[..], flags].concat());
    (conclave, output.ends_with(0))
}

#[test]
fn equal_verdicts_take_two_calls_and_one_report_line() {
    let server = ProviderServer::start();
    let (conclave, output) = consult(&server, &[]);
    assert_eq!(last_round(&server), ["verdict", "verdict"]);
    let held = "**Judged twice:** the verdict held when the experts' order was reversed";
    assert_contains(&output.stdout, held);
    let record = conclave.record();
    assert_eq!(record["judge_consistent"], true);
    assert_eq!(record["judge_passes"]["magnitude"], "same");
    let orders = &record["judge_passes"]["expert_orders"];
    assert_eq!(record["expert_order"], orders[0]);
    let backwards = orders[1].as_array().unwrap().iter().rev();
    assert_eq!(orders[0], backwards.cloned().collect::<Value>());
    let requests = model_requests(&server);
    let [.., first, second] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_ne!(first.user, second.user);
}

#[test]
fn inconsistent_verdict_is_shown_with_a_warning() {
    let server = ProviderServer::start();
    server.on(On::model(JUDGE).nth(SECOND), Answer::text(OTHER));
    let comparison = r#"{"comparisons":[{"pair":"Verdict","reasoning":"The pace turned round.","magnitude":"significant_change"}],"key_insights":[]}"#;
    server.on(On::model(JUDGE).nth(HELPER), Answer::text(comparison));
    let (conclave, output) = consult(&server, &[]);
    assert_eq!(last_round(&server), ["verdict", "verdict", "comparison"]);
    let record = conclave.record();
    assert_eq!(record["judge_consistent"], false);
    assert_eq!(
        record["status"], "complete",
        "an inconsistent verdict is not a degraded result"
    );
    // Both go out at once, so either can be the fourth request.
    let second = &record["judge_passes"]["second"]["verdict"]["recommendation"];
    let second = second.as_str().unwrap();
    let mut both = [second, record["recommendation"].as_str().unwrap()];
    both.sort_unstable();
    assert_eq!(both, ["Grow at once.", "Start small, then grow."]);
    let shown = conclave.run(&["history", "show", "last"]).ends_with(0);
    let reason =
        "the verdict did NOT hold when the experts' order was reversed: The pace turned round";
    for text in [&output.stdout, &shown.stdout] {
        let (before, _) = text.split_once("## Answer").unwrap();
        assert_contains(
            before,
            "**The verdict depends on the order of the experts.**",
        );
        assert_contains(text, &format!("> {second}"));
        assert_contains(text, reason);
    }
    let export = ["history", "export", "last", "--format", "html"];
    let page = conclave.run(&export).ends_with(0).stdout;
    assert_contains(&page, "<strong>Judged twice:</strong>");
    assert_contains(&page, second);
}

#[test]
fn helper_failure_leaves_consistency_unknown() {
    let server = ProviderServer::start();
    server.on(On::model(JUDGE).nth(SECOND), Answer::text(OTHER));
    server.on(On::model(JUDGE).nth(HELPER), unauthorized());
    let (conclave, output) = consult(&server, &["--strict"]);
    let unknown = "**Judged twice:** it is not known whether the verdict holds";
    assert_contains(&output.stdout, unknown);
    assert_eq!(conclave.record()["judge_consistent"], Value::Null);
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn second_pass_needs_all_four_rounds() {
    let server = ProviderServer::start();
    for (flags, message) in [
        (
            &["--judge-passes", "2", "--rounds", "3"][..],
            "`--judge-passes 2` needs a verdict",
        ),
        (
            &["--judge-passes", "2", "--quick"],
            "`--judge-passes 2` needs a verdict",
        ),
        (&["--judge-passes", "0"], "invalid value '0'"),
        (&["--judge-passes", "3"], "invalid value '3'"),
    ] {
        let (_, output) = ask(&server, flags);
        output.ends_with(2).assert_stderr_contains(message);
    }
}

#[test]
fn dry_run_shows_both_verdicts_and_the_comparison() {
    let server = ProviderServer::start();
    let (_, output) = consult(&server, &["--dry-run", "--json"]);
    let shown = output.json();
    let calls = shown["prompts"].as_array().unwrap().iter();
    let last = calls.filter(|call| call["round_number"] == 4);
    assert_eq!(
        last.map(|call| [&call["agent"], &call["answer"]])
            .collect::<Vec<_>>(),
        [
            ["Judge", "verdict"],
            ["Judge (second pass)", "verdict"],
            ["Helper", "consistency"]
        ]
    );
    assert!(server.requests().is_empty());
}
