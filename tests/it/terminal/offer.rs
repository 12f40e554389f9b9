//! The offer to end after Round 2, on a real terminal: its text, its objections, and the effect of
//! each answer.

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::model_requests::request_counts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::question_screens::at_every_width;

const OFFER: &str = "Stop here and save about $0.";

/// Starts a server whose judge (the second call of the panel's OpenAI model) has this confidence in
/// a point with these supporters.
fn judged(confidence: f64, supporters: &[&str], tensions: &Value) -> ProviderServer {
    let server = ProviderServer::start();
    let synthesis = json!({
        "consensus_points": [
            {"point": "Start small", "supporting_agents": supporters, "confidence": confidence},
        ],
        "tensions": tensions,
        "priority_order": ["Speed"],
    });
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text(synthesis.to_string()),
    );
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
    assert!(
        text.contains(
            "✨ Strong consensus reached (confidence: 92%)\n   • Start small (3 experts)\n"
        ),
        "{text}"
    );
    assert!(text.contains("   Calibrated probability: "), "{text}");
    assert!(text.contains("? [Y/n] "), "Enter ends it: {text}");
    assert!(!text.contains("Against"), "there are no objections: {text}");
    assert!(
        answer.contains("Start small") && answer.contains("**Confidence:** 92%"),
        "{answer}"
    );
    assert_eq!(requests(&server), [3, 1, 0, 0, 0]);
    let record = conclave.record();
    assert_eq!(&record["early_termination"], &json!(true));
    assert_eq!(&record["rounds_completed"], &json!(2));
    assert_eq!(&record["verdict_source"], &json!("synthesis"));
    assert_eq!(record["early_termination_evaluation"]["by"], "person");
}

#[test]
fn declining_the_offer_runs_all_rounds_without_asking_again() {
    let server = judged(0.92, &ALL, &json!([]));
    let (conclave, mut terminal) = consult(&server, 160, &[]);
    terminal.wait_for(OFFER, 1);
    terminal.type_in("p");
    terminal.wait_for("Press one of these keys: y = yes, n = no", 1);
    terminal.type_in("n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert_eq!(screen.screen().history().matches(OFFER).count(), 1);
    assert_eq!(requests(&server), [3, 1, 3, 1, 1]);
    assert_eq!(conclave.record()["early_termination"], false);
}

#[test]
fn objections_follow_the_offer_and_fit_a_narrow_window() {
    let tensions = json!([
        {
            "topic": "Speed, says Expert A",
            "viewpoints": [{"agent": "Expert A", "viewpoint": "Go fast"}],
            "severity": "high",
        },
    ]);
    let server = judged(0.95, &ALL[..2], &tensions);
    let (_conclave, mut terminal) = consult(&server, 60, &[]);
    terminal.wait_for("[y/N] ", 1);
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
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
    assert!(
        offer.lines().all(|line| line.chars().count() <= 60),
        "{offer}"
    );
}

#[test]
fn resume_repeats_an_offer_interrupted_by_ctrl_c() {
    let server = judged(0.92, &ALL, &json!([]));
    let (conclave, mut terminal) = consult(&server, 160, &[]);
    terminal.wait_for(OFFER, 1);
    terminal.type_in("\x03");
    terminal.end().0.ends_with(130);
    let ran = conclave
        .run(&["resume", "--early-stop", "auto"])
        .ends_with(0);
    assert!(
        ran.stderr
            .contains("✨ Strong consensus reached (confidence: 92%): Rounds 3-4 skipped"),
        "{}",
        ran.stderr
    );
    assert_eq!(requests(&server), [3, 1, 0, 0, 0], "no call is repeated");
}

#[test]
fn yes_and_auto_do_not_ask_and_never_prints_nothing() {
    for (arguments, ends) in [
        (&["--yes"][..], true),
        (&["--early-stop", "auto"], true),
        (&["--early-stop", "never"], false),
    ] {
        let server = judged(0.92, &ALL, &json!([]));
        let (conclave, terminal) = consult(&server, 160, arguments);
        let (ran, screen) = terminal.end();
        ran.ends_with(0);
        assert!(
            !screen.text().contains("Terminate early"),
            "{arguments:?}: {}",
            screen.text()
        );
        assert_eq!(
            screen.text().contains("Strong consensus"),
            ends,
            "{arguments:?}"
        );
        assert_eq!(
            conclave.record()["early_termination"],
            ends,
            "{arguments:?}"
        );
    }
}

#[test]
fn enter_continues_where_a_guard_speaks_against_stopping() {
    let server = judged(0.92, &ALL[..2], &json!([]));
    let (conclave, mut terminal) = consult(&server, 100, &[]);
    terminal.wait_for_sight(OFFER);
    terminal.type_in("\r");
    terminal.end().0.ends_with(0);
    assert_eq!(requests(&server), [3, 1, 3, 1, 1]);
    assert_eq!(
        conclave.record()["early_termination_evaluation"]["by"],
        "person"
    );
}

#[test]
fn the_offer_shows_what_is_agreed_and_what_is_open_at_every_width() {
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
    let shown = at_every_width("✨ Strong consensus", |columns, paint| {
        let server = ProviderServer::start();
        server.on(
            On::vendor(Vendor::OpenAi).nth(2),
            Answer::text(synthesis.to_string()),
        );
        let config = r#"{"always_allow_under": 90, "hedge_after": "off"}"#;
        let conclave = paint.apply(Conclave::at(&server)).config(config);
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &["consult", "Shall we?"]);
        ((server, conclave), terminal)
    });
    insta::assert_snapshot!(shown);
}
