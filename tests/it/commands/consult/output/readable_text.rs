//! What a person reads of an answer, in every format: names for labels, no invented dissent, and
//! one judgement of who changed their mind.

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal};

const REVISION: &str = r#"{
    "challenges": [{"target_agent": "Expert B", "challenge": "Expert B skips the cost",
        "evidence": ["as Expert C says"], "severity": "medium"}],
    "rebuttals": [], "changed": true,
    "because_of": [{"agent": "Expert A", "argument": "Expert A is right about speed"}],
    "revised_position": "As Expert A says, start small.", "revised_confidence": 0.75
}"#;

const VERDICT: &str = r#"{
    "summary": "Expert A and Expert C agree.",
    "evidence": [{"claim": "Expert A measured it", "agent": "Expert A",
        "quote": "Small steps are safe"}],
    "dissent": [{"agent": "Expert B", "concern": "Expert B fears the delay that Expert C accepts",
        "severity": "low"}],
    "recommendation": "Follow **Expert C**, then Expert B.",
    "confidence": 0.8
}"#;

const LABELS: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// Every format in which a person reads a stored consultation, with its text.
fn readings(conclave: &Conclave) -> Vec<(&'static str, String)> {
    let exported = |format| {
        let arguments = ["history", "export", "last", "--format", format];
        conclave.run(&arguments).ends_with(0).stdout
    };
    let on_terminal = |arguments: &[&str]| {
        let terminal = Terminal::start(conclave, 120, Output::Terminal, arguments);
        let (ran, transcript) = terminal.end();
        ran.ends_with(0);
        transcript.text()
    };
    vec![
        ("show", on_terminal(&["history", "show", "last"])),
        (
            "round 3",
            on_terminal(&["history", "show", "last", "--round", "3"]),
        ),
        ("Markdown", exported("md")),
        ("page", exported("html")),
        ("JSON", exported("json")),
    ]
}

#[test]
fn labels_in_sentences_of_models_are_names_everywhere() {
    let server = ProviderServer::start();
    server.on(On::asking_for("revised_position"), Answer::text(REVISION));
    server.on(On::asking_for("summary"), Answer::text(VERDICT));
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let arguments = ["consult", "--yes", "--full", "--stream", "Shall we?"];
    let terminal = Terminal::start(&conclave, 120, Output::Terminal, &arguments);
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    let mut readings = readings(&conclave);
    readings.push(("run", transcript.text()));
    for (kind, text) in readings {
        for label in LABELS {
            assert!(!text.contains(label), "{kind}: {label}: {text}");
        }
        let words = if kind == "round 3" {
            "is right about speed"
        } else {
            "fears the delay"
        };
        assert!(text.contains(words), "{kind}: {text}");
    }
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    assert!(journal.contains("Expert B fears the delay"), "{journal}");
}

#[test]
fn two_rounds_invent_no_dissent() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let arguments = ["consult", "--quick", "Shall we?"];
    let stdout = conclave.run(&arguments).ends_with(0).stdout;
    assert!(!stdout.contains("## Dissent"), "{stdout}");
    assert!(!stdout.contains("## Changes"), "{stdout}");
    for view in ["Speed", "Go fast", "Go slow"] {
        assert!(stdout.contains(view), "{view}: {stdout}");
    }
    let record = conclave.record();
    assert_eq!(record["dissent"], Value::Array(Vec::new()), "{record}");
    let page = conclave
        .run(&["history", "export", "last", "--format", "html"])
        .ends_with(0)
        .stdout;
    assert!(!page.contains(">Dissent<"), "{page}");
    assert!(page.contains("Go slow"), "{page}");
}

#[test]
fn every_format_says_the_same_of_changed_minds() {
    // The experts say that they held their positions; the comparison finds that they refined them.
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .without("CONCLAVE_DEBATE_ANALYSIS");
    let stdout = conclave.run(&["consult", "Shall we?"]).ends_with(0).stdout;
    let mut readings = readings(&conclave);
    readings.retain(|(kind, _)| *kind != "JSON" && *kind != "round 3");
    readings.push(("run", stdout));
    for (kind, text) in readings {
        assert!(
            text.contains("No expert changed its mind, 3 refined their positions"),
            "{kind}: {text}"
        );
        for other in [
            "held its position",
            "changed its mind, a ",
            "experts changed their minds",
        ] {
            assert!(!text.contains(other), "{kind}: {other}: {text}");
        }
    }
}
