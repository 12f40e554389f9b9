//! Runs without a terminal: no question is asked, and every question has a default answer.

use super::fault::FOREVER;
use super::stage::Stage;
use super::{arguments, failing_server};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};

const QUESTIONS: [&str; 4] = ["[Y/n", "Proceed?", "or stop?", "instead?"];

fn assert_nothing_asked(stderr: &str) {
    for question in QUESTIONS {
        assert!(!stderr.contains(question), "{stderr}");
    }
}

#[test]
fn cost_gate_declines_without_a_terminal_and_gives_hints() {
    let server = ProviderServer::start();
    let conclave = Conclave::with_all_keys(&server).config(r#"{"always_allow_under": 0}"#);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(3);
    assert_nothing_asked(&output.stderr);
    assert!(output.stderr.contains("--yes"), "{}", output.stderr);
    assert!(output.stderr.contains("--max-cost"), "{}", output.stderr);
    assert!(server.requests().is_empty(), "{}", output.stderr);
}

#[test]
fn fallback_takes_over_without_a_question() {
    for flags in [
        &["consult", "Shall we?"][..],
        &["consult", "--yes", "Shall we?"],
        &["consult", "--on-failure", "ask", "Shall we?"],
    ] {
        let (_server, conclave) =
            failing_server(&Answer::error(401, "authentication_error", "no"), [1]);
        let output = conclave
            .run(&[flags, &Stage::Expert(1).panel()].concat())
            .ends_with(0);
        assert_nothing_asked(&output.stderr);
        assert_eq!(
            conclave.record()["substitutions"].as_array().unwrap().len(),
            1,
            "{flags:?}"
        );
    }
}

#[test]
fn slow_round_is_reported_once_per_pulse() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let conclave =
        Conclave::with_all_keys(&server).config(r#"{"pulse_seconds": 2, "hedge_after": "off"}"#);
    let running = conclave.start(&arguments(&[&Stage::Expert(1).panel()]));
    running.wait_until("two pulses are reported", |stderr| {
        stderr.matches("⏱️").count() >= 2
    });
    hold.release();
    let output = running.wait().ends_with(0);
    assert_nothing_asked(&output.stderr);
    // A busy machine makes time for more of them, also in later rounds.
    let lines = output.stderr.lines();
    let pulses: Vec<&str> = lines.filter(|line| line.contains("⏱️")).take(2).collect();
    let seconds = |pulse: &str| -> u32 {
        let (_, after) = pulse.split_once('(').unwrap();
        after.split_once('s').unwrap().0.parse().unwrap()
    };
    assert!(
        pulses.is_sorted_by(|earlier, later| seconds(earlier) < seconds(later)),
        "{pulses:?}"
    );
    for pulse in pulses {
        assert!(pulse.contains("Security Expert"), "{pulse}");
        assert!(!pulse.contains("Architect"), "{pulse}");
        assert!(!pulse.contains("Pragmatist"), "{pulse}");
    }
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn max_wait_ends_a_round_in_time_and_resume_continues() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::valid().delay(FOREVER),
    );
    let conclave = Conclave::with_all_keys(&server).config(r#"{"hedge_after": "off"}"#);
    let output = conclave
        .run(&arguments(&[
            &Stage::Expert(1).panel(),
            &["--max-wait", "3"],
        ]))
        .ends_with(1);
    assert_nothing_asked(&output.stderr);
    assert!(
        output
            .stderr
            .contains("error: Round 2 was not done within 3 s\n"),
        "{}",
        output.stderr
    );
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "timeout");
    assert_eq!(record["aborted_during"], "Synthesis");
    let id = record["resume_token"].as_str().unwrap();
    assert!(
        output.stderr.contains(&format!(
            "hint: resume it with `conclave resume {id} --max-wait SECONDS`\n"
        )),
        "{}",
        output.stderr
    );
    let before = server.requests().len();
    conclave.run(&["resume", "--max-wait", "50"]).ends_with(0);
    assert_eq!(before, 4, "only the interrupted call is repeated");
    assert_eq!(
        server.requests().len(),
        4 + 6,
        "only the interrupted call is repeated"
    );
}
