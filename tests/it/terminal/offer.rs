//! The offer to end after Round 2, on a real terminal: its text, its objections, and the effect of
//! each answer.

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::model_requests::request_counts;
use crate::support::one_point;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::sample_screens::question_on_both;
use crate::terminal::ended;

const OFFER: &str = "Stop here and save about $0.";

/// Starts a server whose judge (the second call of the panel's OpenAI model) has this confidence in
/// a point with these supporters.
fn judged(confidence: f64, supporters: &[&str], tensions: &Value) -> ProviderServer {
    let server = ProviderServer::start();
    let synthesis = one_point(confidence, supporters, tensions);
    server.on(On::vendor(Vendor::OpenAi).nth(2), synthesis);
    server
}

fn consult(server: &ProviderServer, width: u16, arguments: &[&str]) -> (Conclave, Terminal) {
    let config = r#"{"always_allow_under": 90, "hedge_after": "off"}"#;
    let conclave = Conclave::at(server)
        .variable("TERM", "xterm-256color")
        .config(config);
    let terminal = Terminal::start(
        &conclave,
        width,
        Output::Pipe,
        &[&["consult", "Shall we?"], arguments].concat(),
    );
    (conclave, terminal)
}

const ALL: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// Counts the requests of each kind, in the order of the rounds, and asserts that there are no
/// others.
fn requests(server: &ProviderServer) -> [usize; 5] {
    let asked: Vec<usize> = request_counts(server)
        .into_iter()
        .map(|(_, count)| count)
        .collect();
    assert_eq!(
        asked.iter().sum::<usize>(),
        server.requests().len(),
        "no hidden request"
    );
    asked.try_into().unwrap()
}

#[test]
fn accepting_the_offer_ends_before_later_rounds() {
    let server = judged(0.92, &ALL, &json!([]));
    let (conclave, mut terminal) = consult(&server, 160, &[]);
    terminal.wait_for(OFFER, 1);
    terminal.type_in("\n");
    let (ran, screen) = terminal.end();
    let answer = ran.ends_with(0).stdout;
    let text = screen.screen().history();
    for words in [
        "✨ Strong consensus reached (confidence: 92%)\n   • Start small (3 experts)\n",
        "   Calibrated probability: ",
        "? [Y/n] ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Against"), "there are no objections: {text}");
    assert!(answer.contains("Start small, with one team."), "{answer}");
    assert!(answer.contains("**Confidence:** 70%"), "{answer}");
    assert_eq!(requests(&server), [3, 1, 0, 0, 0]);
    let record = conclave.record();
    assert_eq!(record["early_termination"], true);
    assert_eq!(record["rounds_completed"], 2);
    assert_eq!(record["verdict_source"], "synthesis");
    assert_eq!(record["early_termination_evaluation"]["by"], "person");
}

#[test]
fn enter_continues_where_a_guard_objects() {
    let tensions = json!([
        {
            "topic": "Speed, says Expert A",
            "viewpoints": [{"agent": "Expert A", "viewpoint": "Go fast"}],
            "severity": "high",
        },
    ]);
    let server = judged(0.95, &ALL[..2], &tensions);
    let (conclave, mut terminal) = consult(&server, 60, &[]);
    terminal.wait_for("[y/N] ", 1);
    terminal.type_in("\r");
    let screen = ended(terminal, 0);
    let text = screen.screen().history();
    let (_, offer) = text.split_once("✨ Strong consensus").unwrap();
    let (offer, _) = offer.split_once("Stop here").unwrap();
    assert!(
        offer.contains("Against stopping: only 2 of 3 experts support"),
        "{text}"
    );
    assert!(
        offer.contains("Against stopping: 1 tension of high severity"),
        "{text}"
    );
    assert!(offer.contains("Open: Speed, says "), "{text}");
    assert!(!offer.contains("Expert A"), "a label means nothing: {text}");
    assert_eq!(requests(&server), [3, 1, 3, 1, 1]);
    let evaluation = &conclave.record()["early_termination_evaluation"];
    assert_eq!(evaluation["by"], "person");
}

#[test]
fn yes_ends_unasked_and_never_prints_nothing() {
    for (arguments, ends) in [(&["--yes"][..], true), (&["--early-stop", "never"], false)] {
        let server = judged(0.92, &ALL, &json!([]));
        let (conclave, terminal) = consult(&server, 160, arguments);
        let screen = ended(terminal, 0);
        let text = screen.text();
        assert!(!text.contains(OFFER), "{arguments:?}: {text}");
        assert_eq!(text.contains("Strong consensus"), ends, "{text}");
        assert_eq!(conclave.record()["early_termination"], ends);
    }
}

#[test]
fn the_offer_shows_what_is_agreed_and_what_is_open() {
    let synthesis = json!({
        "consensus_points": [
            {
                "point": "Move the scheduler piece by piece, each piece behind an interface of its own",
                "supporting_agents": ALL,
                "confidence": 0.95,
            },
            {"point": "Measure first", "supporting_agents": ALL[..2], "confidence": 0.92},
            {
                "point": "Freeze new features meanwhile",
                "supporting_agents": ALL[..1],
                "confidence": 0.99,
            },
            {
                "point": "Keep the old one for a release",
                "supporting_agents": ALL,
                "confidence": 0.9,
            },
        ],
        "tensions": [
            {
                "topic": "How long two schedulers can be maintained side by side",
                "viewpoints": [{"agent": "Expert A", "viewpoint": "A month"}],
                "severity": "high",
            },
        ],
        "priority_order": ["Safety"],
    });
    let shown = question_on_both("✨ Strong consensus", |columns, colours| {
        let server = ProviderServer::start();
        server.on(
            On::vendor(Vendor::OpenAi).nth(2),
            Answer::text(synthesis.to_string()),
        );
        let config = r#"{"always_allow_under": 90, "hedge_after": "off"}"#;
        let conclave = colours.apply(Conclave::at(&server)).config(config);
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &["consult", "Shall we?"]);
        ((server, conclave), terminal)
    });
    insta::assert_snapshot!(shown);
}
