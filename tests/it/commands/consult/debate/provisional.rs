//! The judge's provisional answer: what asks for it, where it is the answer, and who never sees it.

use serde_json::{Value, json};

use crate::commands::consult::{ask, assert_contains, assert_published};
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal};

const AFTER_2: &str = "Start small and go slow.";
const AFTER_3: &str = "Start small and grow with care.";

/// A synthesis without a provisional answer.
fn points_alone() -> Value {
    let point = |point: &str, confidence: f64| json!({"point": point, "supporting_agents": ["Expert A", "Expert B"], "confidence": confidence});
    json!({
        "consensus_points": [point("Start small", 0.6), point("Undo is cheap", 0.8)],
        "tensions": [{
            "topic": "Speed",
            "viewpoints": [{"agent": "Expert C", "viewpoint": "Go slow"}],
            "severity": "medium",
        }],
        "priority_order": ["Speed"],
    })
}

#[test]
fn no_other_prompt_shows_a_provisional_answer() {
    // Answers that can only be kept as prose.
    let points = points_alone().to_string();
    let points = points.trim_matches(['{', '}']);
    let given = format!(r#""provisional_answer": {{"answer": "{AFTER_2}" no}}"#);
    let last = format!("{{{points}, {given}");
    let first = format!("{{{given}, {points} no");
    let prose = format!("# Agreed\n\nStart small.\n\n## Provisional answer\n\n{AFTER_2}\n");
    for (flags, broken) in [
        (&["--judge-passes", "2"][..], None),
        (&["--verbose"], None),
        (&[], Some(last)),
        (&[], Some(first)),
        (&[], Some(prose)),
    ] {
        let server = ProviderServer::start();
        // The synthesis and its repair.
        for (nth, text) in [4, 5].into_iter().zip([&broken, &broken]) {
            if let Some(text) = text {
                server.on(On::any().nth(nth), Answer::text(text.clone()));
            }
        }
        let (conclave, output) = ask(&server, flags);
        output.ends_with(0);
        let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
        assert_contains(&journal, AFTER_2);
        for request in model_requests(&server) {
            let (answer, prompt) = (request.answer, request.prompt());
            let is_repair = prompt.contains("could not be used");
            for text in [AFTER_2, AFTER_3, "A deadline that "] {
                let is_seen = prompt.contains(text) && !is_repair;
                assert!(!is_seen, "{flags:?} {answer}: {text}: {prompt}");
            }
            let is_asked = request.schema["properties"].get("provisional_answer");
            let expected = ["synthesis", "cross_exam"].contains(&answer);
            assert_eq!(is_asked.is_some(), expected, "{answer}");
        }
    }
}

#[test]
fn run_without_a_verdict_has_the_judges_answer_in_every_format() {
    for (flags, text, confidence, round) in [
        (&["--quick"][..], AFTER_2, 0.75, "2"),
        (&["--rounds", "3"], AFTER_3, 0.78, "3"),
        (&["--quick", "--mode", "explore"], AFTER_2, 0.75, "2"),
    ] {
        let server = ProviderServer::start();
        let (conclave, output) = ask(&server, flags);
        let stdout = output.ends_with(0).stdout;
        let mark = format!("provisional, by the judge after Round {round}");
        let answer = format!("## Answer\n\n_{mark}_\n\n{text}\n");
        assert_contains(&stdout, &answer);
        assert_contains(&stdout, "**Would change it:** A deadline that ");
        assert!(!stdout.contains("Expert B"), "{stdout}");
        let record = conclave.record();
        assert_published(&record);
        assert_eq!(record["recommendation"], text, "{flags:?}");
        assert_eq!(record["confidence"], confidence, "{flags:?}");
        assert_eq!(record["evidence"], json!(["Start small"]));
        assert_eq!(record["status"], "complete");
        let page = conclave.run(&["history", "export", "last", "--format", "html"]);
        assert_contains(&page.ends_with(0).stdout, &mark);
        let shown = conclave.run(&["history", "show", "last"]).ends_with(0);
        assert_contains(&shown.stdout, &answer);
        let listed = conclave.run(&["history", "list", "--json"]).ends_with(0);
        assert_eq!(listed.json()["consultations"][0]["recommendation"], text);
    }
}

#[test]
fn without_a_provisional_answer_the_points_of_agreement_are_shown() {
    let server = ProviderServer::start();
    let synthesis = Answer::text(points_alone().to_string());
    server.on(On::asking_for("consensus_points"), synthesis);
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let arguments = ["consult", "--yes", "--quick", "Shall we?"];
    let terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    assert_eq!(server.requests().len(), 4, "no repair is asked for");
    let text = transcript.text();
    assert!(!text.contains("Answer"), "{text}");
    let (_, summary) = text.rsplit_once("They agree on").unwrap();
    let [first, second, differ] = ["Start small (60%)", "Undo is cheap (80%)", "They differ on"]
        .map(|part| {
            summary
                .find(part)
                .unwrap_or_else(|| panic!("{part}: {text}"))
        });
    assert!(
        first < second && second < differ,
        "the judge's order: {text}"
    );
    let record = conclave.record();
    assert_eq!(record["recommendation"], Value::Null);
    assert_eq!(record["confidence"], Value::Null);
    assert_eq!(record["status"], "complete");
    let judge = &record["responses"]["round_2"]["agents"][0]["problems"][0];
    assert_eq!(judge["field"], "provisional_answer");
    assert_eq!(judge["weight"], "flagged");
}

#[test]
fn ceiling_after_round_2_leaves_its_provisional_answer() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().usage(3_000, 16_000));
    let conclave = Conclave::at(&server)
        .config(r#"{"hedge_after": "off"}"#)
        .variable("TERM", "xterm-256color");
    let arguments = ["consult", "--yes", "--max-cost", "1.2", "Shall we?"];
    let terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
    let (ran, transcript) = terminal.end();
    ran.ends_with(4);
    assert_contains(&transcript.text(), AFTER_2);
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "cost_ceiling");
    assert_eq!(record["recommendation"], AFTER_2);
    assert_eq!(record["verdict_source"], "synthesis");

    let resume = ["resume", "--yes", "--max-cost", "5"];
    conclave.run(&resume).ends_with(0);
    let record = conclave.record();
    assert_eq!(record["verdict_source"], "judge");
    assert_eq!(record["recommendation"], "Start small, then grow.");
    let value = &record["debate_value_analysis"];
    assert_eq!(value["verdict_changed_after_round_2"], false);
}
