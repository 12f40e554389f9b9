//! `--judge-passes 2`: its calls, its report, and the runs that cannot have it.

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};

use crate::commands::consult::failures::unauthorized;

const JUDGE: &str = "claude-opus-5-5";

/// The number of the helper model's request. At a custom address the judge is also the helper: this
/// is its fifth request, after the synthesis, the cross-examination and both verdicts.
const HELPER: usize = 5;

/// Returns the requests of Round 4, in the order of arrival.
fn last_round(server: &ProviderServer) -> Vec<&'static str> {
    let answers = model_requests(server)
        .into_iter()
        .map(|request| request.answer);
    answers.skip_while(|answer| *answer != "verdict").collect()
}

fn consult(conclave: &Conclave, more: &[&str]) -> crate::support::binary::RunOutput {
    let usual = [
        "consult",
        "Shall we?",
        "--judge-passes",
        "2",
        "--yes",
        "--judge",
        JUDGE,
        "--no-debate-analysis",
        "--early-stop",
        "never",
    ];
    conclave.run(&[&usual, more].concat())
}

#[test]
fn equal_verdicts_take_two_calls_and_one_report_line() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = consult(&conclave, &[]).ends_with(0);
    assert_eq!(last_round(&server), ["verdict", "verdict"]);
    assert!(
        output
            .stdout
            .contains("**Judged twice:** the verdict held when the experts' order was reversed"),
        "{}",
        output.stdout
    );
    let record = conclave.record();
    assert_eq!(record["judge_consistent"], true);
    assert_eq!(record["judge_passes"]["magnitude"], "same");
    let orders = record["judge_passes"]["expert_orders"]
        .as_array()
        .unwrap()
        .clone();
    let mut backwards = orders[1].as_array().unwrap().clone();
    backwards.reverse();
    assert_eq!(orders[0], Value::Array(backwards));
    assert_eq!(record["expert_order"], orders[0]);
    assert!(record["seed"].is_u64());
    let prompts: Vec<String> = model_requests(&server)
        .into_iter()
        .filter(|request| request.answer == "verdict")
        .map(|request| request.user)
        .collect();
    assert_ne!(prompts[0], prompts[1]);
}

#[test]
fn inconsistent_verdict_is_shown_with_a_warning() {
    let server = ProviderServer::start();
    let other = r#"{"summary":"s","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Grow at once.","confidence":0.4}"#;
    server.on(On::model(JUDGE).nth(4), Answer::text(other));
    let comparison = r#"{"comparisons":[{"pair":"Verdict","reasoning":"The pace turned round.","magnitude":"significant_change"}],"key_insights":[]}"#;
    let conclave = Conclave::at(&server);
    server.on(On::model(JUDGE).nth(HELPER), Answer::text(comparison));
    let output = consult(&conclave, &[]).ends_with(0);
    assert_eq!(last_round(&server), ["verdict", "verdict", "comparison"]);
    let record = conclave.record();
    assert_eq!(record["judge_consistent"], false);
    assert_eq!(record["judge_passes"]["reason"], "The pace turned round.");
    let recommendations = [
        &record["recommendation"],
        &record["judge_passes"]["second"]["verdict"]["recommendation"],
    ]
    .map(|text| text.as_str().unwrap());
    // Both go out at once, so either can be the fourth request.
    let mut both = recommendations;
    both.sort_unstable();
    assert_eq!(both, ["Grow at once.", "Start small, then grow."]);
    let shown = conclave
        .run(&["history", "show", "last"])
        .ends_with(0)
        .stdout;
    for text in [&output.stdout, &shown] {
        let warning = text
            .find("**The verdict depends on the order of the experts.**")
            .unwrap_or_else(|| panic!("{text}"));
        assert!(
            warning < text.find("## Answer").unwrap(),
            "the warning precedes the answer: {text}"
        );
        assert!(
            text.contains(&format!("> {}", recommendations[1])),
            "{text}"
        );
        assert!(text.contains("the verdict did NOT hold when the experts' order was reversed: The pace turned round"), "{text}");
    }
    let page = conclave
        .run(&["history", "export", "last", "--format", "html"])
        .ends_with(0)
        .stdout;
    assert!(page.contains("<strong>Judged twice:</strong>"), "{page}");
    assert!(page.contains(recommendations[1]), "{page}");
    assert_eq!(
        record["status"], "complete",
        "an inconsistent verdict is not a degraded result"
    );
}

#[test]
fn helper_failure_leaves_consistency_unknown() {
    let server = ProviderServer::start();
    let other = r#"{"summary":"s","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Grow at once.","confidence":0.4}"#;
    server.on(On::model(JUDGE).nth(4), Answer::text(other));
    let conclave = Conclave::at(&server);
    server.on(On::model(JUDGE).nth(HELPER), unauthorized());
    let output = consult(&conclave, &["--strict"]).ends_with(0);
    assert!(
        output
            .stdout
            .contains("**Judged twice:** it is not known whether the verdict holds"),
        "{}",
        output.stdout
    );
    assert_eq!(conclave.record()["judge_consistent"], Value::Null);
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn single_pass_leaves_no_second_pass_in_the_record() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"judge_passes": 2}"#);
    conclave
        .run(&[
            "consult",
            "Shall we?",
            "--judge-passes",
            "1",
            "--no-debate-analysis",
        ])
        .ends_with(0);
    let record = conclave.record();
    assert_eq!(record["judge_passes"], Value::Null);
    assert_eq!(record["judge_consistent"], Value::Null);
    assert_eq!(record["rejudged_from"], Value::Null);
    assert_eq!(last_round(&server), ["verdict"]);
}

#[test]
fn second_pass_needs_all_four_rounds() {
    let conclave = Conclave::at(&ProviderServer::start());
    for rounds in [
        &["--rounds", "3"] as &[&str],
        &["--rounds", "1"],
        &["--quick"],
    ] {
        let stderr = conclave
            .run(&[&["consult", "Shall we?", "--judge-passes", "2"], rounds].concat())
            .ends_with(2)
            .stderr;
        assert!(
            stderr.contains("`--judge-passes 2` needs a verdict"),
            "{stderr}"
        );
    }
    for wrong in ["0", "3", "two"] {
        conclave
            .run(&["consult", "Shall we?", "--judge-passes", wrong])
            .ends_with(2);
    }
    let bad = Conclave::new()
        .config(r#"{"judge_passes": 3}"#)
        .run(&["consult", "Shall we?"])
        .ends_with(2)
        .stderr;
    assert!(bad.contains("judge_passes"), "{bad}");
    assert!(bad.contains("1 or 2"), "{bad}");
    assert_eq!(
        conclave
            .run(&["config", "get", "judge_passes"])
            .ends_with(0)
            .stdout
            .trim(),
        "1"
    );
}

#[test]
fn dry_run_shows_both_verdicts_and_the_comparison() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let shown = consult(&conclave, &["--dry-run", "--format", "json"])
        .ends_with(0)
        .json();
    let last: Vec<(&str, &str)> = shown["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|call| call["round_number"] == 4)
        .map(|call| {
            (
                call["agent"].as_str().unwrap(),
                call["answer"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        last,
        [
            ("Judge", "verdict"),
            ("Judge (second pass)", "verdict"),
            ("Helper", "consistency")
        ]
    );
    assert!(server.requests().is_empty());
}
