//! Early termination without a terminal, and runs with fewer rounds: output, record and requests.

use serde_json::{Value, json};

use crate::commands::consult::failures::unauthorized;
use crate::commands::consult::output::formats::assert_published;
use crate::support::binary::Conclave;
use crate::support::model_requests::request_counts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

fn server_with_synthesis(confidence: f64, supporters: &[&str]) -> ProviderServer {
    let server = ProviderServer::start();
    let synthesis = json!({
        "consensus_points": [
            {"point": "Start small", "supporting_agents": supporters, "confidence": confidence},
        ],
        "tensions": [],
        "priority_order": ["Speed"],
    });
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text(synthesis.to_string()),
    );
    server
}

const ALL: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// The request counts of a whole debate, in the order of the rounds.
const WHOLE: [usize; 5] = [3, 1, 3, 1, 1];

/// Returns the request counts in the order of the rounds, and checks that there are no others.
fn requests(server: &ProviderServer) -> [usize; 5] {
    let counts: Vec<usize> = request_counts(server)
        .into_iter()
        .map(|(_, count)| count)
        .collect();
    assert_eq!(
        counts.iter().sum::<usize>(),
        server.requests().len(),
        "there are no other requests"
    );
    counts.try_into().unwrap()
}

#[test]
fn strong_consensus_without_objections_ends_an_unattended_run() {
    let server = server_with_synthesis(0.92, &ALL);
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--format", "json", "Shall we?"])
        .ends_with(0);
    assert!(
        output
            .stderr
            .contains("✨ Strong consensus reached (confidence: 92%): Rounds 3-4 skipped, about $"),
        "{}",
        output.stderr
    );
    assert_eq!(requests(&server), [3, 1, 0, 0, 0]);
    let printed: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_published(&printed);
    assert_eq!(printed["recommendation"], "Start small");
    assert_eq!(printed["confidence"], 0.92);
    assert_eq!(printed["status"], "complete");
    assert_eq!(printed["rounds_skipped"], 2);
    assert!(
        printed["calibrated_confidence"].as_f64().unwrap() < 0.92,
        "three experts at 0.7 do not support 0.92"
    );
    let rules: Vec<&str> = printed["early_termination_evaluation"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        rules,
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
fn objecting_guard_continues_an_unattended_debate_and_is_named() {
    let server = server_with_synthesis(0.92, &ALL[..2]);
    let output = Conclave::at(&server)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert!(
        output.stderr.contains("   Strong consensus (confidence: 92%), but the debate continues: only 2 of 3 experts support the strongest point"),
        "{}",
        output.stderr
    );
    assert_eq!(requests(&server), WHOLE);
}

#[test]
fn custom_thresholds_apply_from_flags_and_settings() {
    for (arguments, config, ends) in [
        (&["--confidence-threshold", "0.93"][..], "{}", false),
        (&["--confidence-threshold", "0.92"], "{}", true),
        (&[], r#"{"confidenceThreshold": 0.95}"#, false),
        (
            &["--confidence-threshold", "0.5"],
            r#"{"confidence_threshold": 0.95}"#,
            true,
        ),
        (&["--early-stop", "never"], "{}", false),
        (&[], r#"{"early_stop": "never"}"#, false),
    ] {
        let server = server_with_synthesis(0.92, &ALL);
        let conclave = Conclave::at(&server).config(config);
        conclave
            .run(&[&["consult", "Shall we?"], arguments].concat())
            .ends_with(0);
        assert_eq!(
            conclave.record()["early_termination"],
            ends,
            "{arguments:?} {config}"
        );
    }
}

#[test]
fn invalid_thresholds_are_rejected_before_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for wrong in ["1.1", "-0.1", "much", "NaN"] {
        let output = conclave
            .run(&[
                "consult",
                &format!("--confidence-threshold={wrong}"),
                "Shall we?",
            ])
            .ends_with(2);
        assert!(
            output.stderr.contains("must be between 0.0 and 1.0"),
            "{}",
            output.stderr
        );
    }
    let output = conclave
        .run(&["consult", "--rounds", "5", "Shall we?"])
        .ends_with(2);
    assert!(output.stderr.contains("1..=4"), "{}", output.stderr);
    conclave
        .run(&["consult", "--rounds", "3", "--quick", "Shall we?"])
        .ends_with(2);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn verbose_shows_every_rule_and_the_decision() {
    let server = server_with_synthesis(0.92, &ALL[..2]);
    let output = Conclave::at(&server)
        .run(&["consult", "--verbose", "Shall we?"])
        .ends_with(0);
    for line in [
        "EARLY TERMINATION CHECK (Round 2)",
        "├─ ",
        "2 of 3",
        "└─ DECISION: CONTINUE",
    ] {
        assert!(output.stderr.contains(line), "{line}: {}", output.stderr);
    }
}

#[test]
fn requested_number_of_rounds_is_run() {
    let cases: [(&[&str], [usize; 5], &str, Value); 4] = [
        (
            &["--rounds", "1"],
            [3, 0, 0, 0, 0],
            "the positions stand side by side below",
            Value::Null,
        ),
        (
            &["--quick"],
            [3, 1, 0, 0, 0],
            "Start small",
            json!("synthesis"),
        ),
        (
            &["--rounds", "3"],
            [3, 1, 3, 1, 0],
            "Start small",
            json!("cross_examination"),
        ),
        (
            &["--rounds", "4"],
            WHOLE,
            "Start small, then grow.",
            json!("judge"),
        ),
    ];
    for (arguments, expected, text, source) in cases {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let output = conclave
            .run(&[&["consult", "Shall we?"], arguments].concat())
            .ends_with(0);
        assert_eq!(requests(&server), expected, "{arguments:?}");
        assert!(
            output.stdout.contains(text),
            "{arguments:?}: {}",
            output.stdout
        );
        let record = conclave.record();
        assert_published(&record);
        assert_eq!(record["verdict_source"], source, "{arguments:?}");
        assert_eq!(record["state"], "Complete", "{arguments:?}");
        assert_eq!(record["early_termination"], false);
    }
}

#[test]
fn explore_mode_runs_all_rounds_and_yields_a_menu() {
    let server = server_with_synthesis(1.0, &ALL);
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
    server.on(
        On::vendor(Vendor::OpenAi).nth(5),
        Answer::text(menu.to_string()),
    );
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--mode", "explore", "Shall we?"])
        .ends_with(0);
    assert!(
        output
            .stderr
            .contains("🔍 Explore mode: all rounds will execute"),
        "{}",
        output.stderr
    );
    for text in [
        "Start small",
        "All at once",
        "It can break",
        "the team has no experience",
        "80%",
        "50%",
        "Choose by what a mistake costs.",
    ] {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
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

/// Returns a synthesis with one unanimous point of this confidence, or none, and these tensions.
fn synthesis_answer(confidence: Option<f64>, severities: &[&str]) -> Answer {
    let point = |confidence| {
        json!({
            "point": "Start small",
            "supporting_agents": ALL,
            "confidence": confidence,
        })
    };
    let tension = |severity: &&str| {
        json!({
            "topic": "Speed",
            "viewpoints": [{"agent": "Expert A", "viewpoint": "Go fast"}],
            "severity": severity,
        })
    };
    let points: Vec<Value> = confidence.map(point).into_iter().collect();
    let tensions: Vec<Value> = severities.iter().map(tension).collect();
    Answer::text(
        json!({"consensus_points": points, "tensions": tensions, "priority_order": ["Speed"]})
            .to_string(),
    )
}

/// Returns the states in the journal from Round 1 on.
fn states(conclave: &Conclave) -> Vec<String> {
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    let events = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "state:changed");
    events
        .skip(2)
        .map(|event| event["data"]["to"].as_str().unwrap().to_owned())
        .collect()
}

/// A case in which the debate continues.
struct ContinuedDebate {
    on: fn(&ProviderServer),
    arguments: &'static [&'static str],
    unmet: &'static [&'static str],
    requests: [usize; 5],
    message: Option<&'static str>,
}

#[test]
fn every_guard_continues_an_unattended_debate_and_is_reported() {
    let cases = [
        ContinuedDebate {
            on: |server| {
                server.on(
                    On::asking_for("consensus_points"),
                    synthesis_answer(None, &["low"]),
                );
            },
            arguments: &[],
            unmet: &[],
            requests: WHOLE,
            message: None,
        },
        ContinuedDebate {
            on: |server| {
                server.on(
                    On::asking_for("consensus_points"),
                    synthesis_answer(Some(0.95), &[]),
                );
                server.on(On::vendor(Vendor::Anthropic), unauthorized());
                server.on(On::vendor(Vendor::Google), unauthorized());
            },
            arguments: &["--on-failure", "skip"],
            unmet: &["answers", "families", "troubled_seats"],
            requests: [3, 1, 1, 1, 1],
            message: Some("only 1 expert answered"),
        },
        ContinuedDebate {
            on: |server| {
                server.on(
                    On::asking_for("consensus_points"),
                    synthesis_answer(Some(0.95), &[]),
                );
            },
            arguments: &["--model", "claude-sonnet-5-5"],
            unmet: &["families"],
            requests: WHOLE,
            message: Some("all answers come from one family of models"),
        },
        ContinuedDebate {
            on: |server| {
                server.on(
                    On::asking_for("consensus_points"),
                    synthesis_answer(Some(0.95), &["high"]),
                );
            },
            arguments: &[],
            unmet: &["high_tensions"],
            requests: WHOLE,
            message: Some("1 tension of high severity"),
        },
        ContinuedDebate {
            on: |server| {
                server.on(
                    On::asking_for("consensus_points"),
                    synthesis_answer(Some(0.95), &[]),
                );
                let same = json!({
                    "position": "Start small and grow when it has proved itself to all who use it.",
                    "key_points": ["It can be undone"],
                    "rationale": "Small steps are safe, because they can be undone.",
                    "confidence": 0.95,
                });
                server.on(On::asking_for("rationale"), Answer::text(same.to_string()));
            },
            arguments: &[],
            unmet: &["rubber_stamp"],
            requests: WHOLE,
            message: Some("the debate continues"),
        },
    ];
    for case in cases {
        let server = ProviderServer::start();
        (case.on)(&server);
        let conclave = Conclave::at(&server);
        let output = conclave
            .run(&[&["consult", "Shall we?"], case.arguments].concat())
            .ends_with(0);
        let record = conclave.record();
        assert_published(&record);
        let evaluation = &record["early_termination_evaluation"];
        let rules = evaluation["rules"].as_array().unwrap().iter();
        let unmet: Vec<&str> = rules
            .filter(|rule| {
                rule["kind"] == "guard"
                    && (rule["outcome"] == "fired" || rule["outcome"] == "unknown")
            })
            .map(|rule| rule["name"].as_str().unwrap())
            .collect();
        let is_near = !case.unmet.is_empty();
        if is_near {
            assert_eq!(unmet, case.unmet, "{}", output.stderr);
        }
        assert_eq!(evaluation["ended"], false, "{unmet:?}");
        assert_eq!(
            evaluation["by"],
            json!(if is_near { "guards" } else { "threshold" }),
            "{unmet:?}"
        );
        assert_eq!(record["early_termination"], false, "{unmet:?}");
        assert_eq!(record["rounds_completed"], 4, "{unmet:?}");
        assert_eq!(requests(&server), case.requests, "{unmet:?}");
        assert_eq!(
            states(&conclave),
            [
                "Independent",
                "Synthesis",
                "CrossExam",
                "Verdict",
                "Complete"
            ],
            "{unmet:?}"
        );
        let near = output.stderr.contains("Strong consensus (confidence: 95%)");
        assert_eq!(near, case.message.is_some(), "{}", output.stderr);
        assert!(
            output.stderr.contains(case.message.unwrap_or_default()),
            "{}",
            output.stderr
        );
    }
}
