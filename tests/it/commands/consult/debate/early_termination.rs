//! Early termination without a terminal, and runs with fewer rounds: output, record and requests.

use serde_json::{Value, json};

use crate::commands::consult::failures::unauthorized;
use crate::commands::consult::{ask, assert_contains, assert_published};
use crate::support::binary::Conclave;
use crate::support::model_requests::request_counts;
use crate::support::one_point;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Starts a server whose judge finds one point with this confidence in Round 2.
fn server_with_synthesis(confidence: f64, supporters: &[&str], tensions: &Value) -> ProviderServer {
    let server = ProviderServer::start();
    let synthesis = one_point(confidence, supporters, tensions);
    server.on(On::asking_for("consensus_points"), synthesis);
    server
}

const ALL: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// The request counts of a whole debate, in the order of the rounds.
const WHOLE: [usize; 5] = [3, 1, 3, 1, 1];

/// Returns the request counts in the order of the rounds, and checks that there are no others.
fn requests(server: &ProviderServer) -> [usize; 5] {
    let counts = request_counts(server).into_iter();
    let counts: Vec<usize> = counts.map(|(_, count)| count).collect();
    assert_eq!(counts.iter().sum::<usize>(), server.requests().len());
    counts.try_into().unwrap()
}

#[test]
fn strong_consensus_without_objections_ends_an_unattended_run() {
    let server = server_with_synthesis(0.92, &ALL, &json!([]));
    let (_, output) = ask(&server, &["--json"]);
    let output = output.ends_with(0);
    output.assert_stderr_contains(
        "✨ Strong consensus reached (confidence: 92%): Rounds 3-4 skipped, about $",
    );
    assert_eq!(requests(&server), [3, 1, 0, 0, 0]);
    let printed = output.json();
    assert_published(&printed);
    assert_eq!(printed["recommendation"], "Start small, with one team.");
    assert_eq!(printed["confidence"], 0.7);
    assert_eq!(printed["verdict_source"], "synthesis");
    assert_eq!(printed["status"], "complete");
    assert_eq!(printed["rounds_skipped"], 2);
    assert!(
        printed["calibrated_confidence"].as_f64().unwrap() < 0.92,
        "three experts at 0.7 do not support 0.92"
    );
    let rules = &printed["early_termination_evaluation"]["rules"];
    let rules = rules.as_array().unwrap().iter();
    assert_eq!(
        rules.map(|rule| &rule["name"]).collect::<Vec<_>>(),
        [
            "stated_confidence",
            "answers",
            "families",
            "troubled_seats",
            "support",
            "high_tensions",
            "rubber_stamp"
        ]
    );
}

#[test]
fn objecting_guards_continue_an_unattended_debate_and_are_named() {
    let copied = json!({
        "position": "Start small and grow when it has proved itself to all who use it.",
        "key_points": ["It can be undone"],
        "rationale": "Small steps are safe, because they can be undone.",
        "confidence": 0.95,
    });
    let server = server_with_synthesis(0.92, &ALL[..2], &json!([]));
    server.on(
        On::asking_for("rationale"),
        Answer::text(copied.to_string()),
    );
    let (_, output) = ask(&server, &["--verbose"]);
    let output = output.ends_with(0);
    for line in [
        "EARLY TERMINATION CHECK (Round 2)",
        "├─ ",
        "2 of 3",
        "└─ DECISION: CONTINUE",
        "   Strong consensus (confidence: 92%), but the debate continues: ",
        "only 2 of 3 experts support the strongest point",
        "the answers look copied: all sure, hardly different, and without a tension",
    ] {
        output.assert_stderr_contains(line);
    }
    assert_eq!(requests(&server), WHOLE);

    let tension = json!([{
        "topic": "Speed",
        "viewpoints": [{"agent": "Expert A", "viewpoint": "Go fast"}],
        "severity": "high",
    }]);
    let server = server_with_synthesis(0.92, &ALL[..1], &tension);
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    server.on(On::vendor(Vendor::Google), unauthorized());
    let (conclave, output) = ask(&server, &["--on-failure", "skip"]);
    let output = output.ends_with(0);
    for objection in [
        "only 1 expert answered",
        "all answers come from one family of models",
        "2 seats failed, answered badly or used the local model",
        "1 tension of high severity",
    ] {
        output.assert_stderr_contains(objection);
    }
    assert_eq!(requests(&server), [3, 1, 1, 1, 1]);
    let record = conclave.record();
    assert_published(&record);
    assert_eq!(record["early_termination_evaluation"]["ended"], false);
    assert_eq!(record["early_termination_evaluation"]["by"], "guards");
    assert_eq!(record["rounds_completed"], 4);
}

#[test]
fn custom_thresholds_apply_from_flags_and_settings() {
    let setting = r#"{"confidence_threshold": 0.95}"#;
    for (flags, config, ends) in [
        (&["--confidence-threshold", "0.93"][..], "{}", false),
        (&[], setting, false),
        (&["--confidence-threshold", "0.5"], setting, true),
        (&["--early-stop", "never"], "{}", false),
    ] {
        let server = server_with_synthesis(0.92, &ALL, &json!([]));
        let conclave = Conclave::at(&server).config(config);
        let arguments = [&["consult", "Shall we?"], flags].concat();
        conclave.run(&arguments).ends_with(0);
        let ended = conclave.record()["early_termination"].clone();
        assert_eq!(ended, ends, "{flags:?} {config}");
    }
}

#[test]
fn invalid_thresholds_and_rounds_are_rejected_before_any_request() {
    let server = ProviderServer::start();
    let threshold = "must be between 0.0 and 1.0";
    for (flags, message) in [
        (&["--confidence-threshold=1.1"][..], threshold),
        (&["--confidence-threshold=-0.1"], threshold),
        (&["--confidence-threshold=NaN"], threshold),
        (&["--rounds", "5"], "1..=4"),
        (&["--rounds", "3", "--quick"], "cannot be used with"),
    ] {
        let (_, output) = ask(&server, flags);
        output.ends_with(2).assert_stderr_contains(message);
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn requested_number_of_rounds_is_run() {
    let side_by_side = "the positions stand side by side below";
    for (flags, expected, text, source) in [
        (&["--rounds", "1"][..], [3, 0, 0, 0, 0], side_by_side, None),
        (
            &["--quick"],
            [3, 1, 0, 0, 0],
            "Start small",
            Some("synthesis"),
        ),
        (
            &["--rounds", "3"],
            [3, 1, 3, 1, 0],
            "Start small",
            Some("cross_examination"),
        ),
    ] {
        let server = ProviderServer::start();
        let (conclave, output) = ask(&server, flags);
        assert_contains(&output.ends_with(0).stdout, text);
        assert_eq!(requests(&server), expected, "{flags:?}");
        let record = conclave.record();
        assert_published(&record);
        assert_eq!(record["verdict_source"].as_str(), source, "{flags:?}");
        assert_eq!(record["early_termination"], false);
    }
}

#[test]
fn explore_mode_runs_all_rounds_and_yields_a_menu() {
    let server = server_with_synthesis(1.0, &ALL, &json!([]));
    let menu = json!({
        "summary": "Both can work.",
        "recommendations": [
            {
                "option": "Start small",
                "description": "One team first.",
                "pros": ["It is safe"],
                "cons": ["It is slow"],
                "best_when": "the team has no experience",
                "confidence": 0.8,
            },
            {
                "option": "All at once",
                "description": "All teams.",
                "pros": ["It is quick"],
                "cons": ["It can break"],
                "best_when": "it can be undone",
                "confidence": 0.5,
            },
        ],
        "evidence": [],
        "dissent": [],
        "recommendation": "Choose by what a mistake costs.",
    });
    let menu = Answer::text(menu.to_string());
    server.on(On::asking_for("recommendations"), menu);
    let (conclave, output) = ask(&server, &["--mode", "explore"]);
    let output = output.ends_with(0);
    output.assert_stderr_contains("🔍 Explore mode: all rounds will execute");
    assert_eq!(requests(&server), WHOLE);
    for text in [
        "Start small",
        "All at once",
        "It can break",
        "the team has no experience",
        "80%",
        "50%",
        "Choose by what a mistake costs.",
    ] {
        assert_contains(&output.stdout, text);
    }
    let record = conclave.record();
    assert_published(&record);
    assert_eq!(record["mode"], "explore");
    assert_eq!(record["confidence"], Value::Null);
    assert_eq!(record["prompt_versions"]["mode"], "explore");
    assert_eq!(
        record["recommendations"][1]["best_when"],
        "it can be undone"
    );
    assert_eq!(
        record["prompt_versions"]["explore_verdict_v"],
        record["prompt_versions"]["verdict_prompt_version"]
    );
}
