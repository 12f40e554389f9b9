//! Slow vendors: hedged calls, silent connections, reports of a slow round, and its time limit.

use std::time::Duration;

use super::{attempts, each};
use conclave::domain::ids::short_id;

use crate::commands::consult::cost::assert_costs_add_up;
use crate::commands::consult::{ask, journal};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};

/// Longer than any timeout.
const FOREVER: Duration = Duration::from_secs(3_600);

#[test]
fn faster_hedge_wins_and_the_first_call_is_cancelled() {
    let server = ProviderServer::start();
    let never = Answer::valid().delay(FOREVER);
    server.on(On::vendor(Vendor::Anthropic).nth(1), never);
    let (conclave, output) = ask(&server, &["--hedge-after", "1"]);
    let output = output.ends_with(0);
    assert!(!output.stderr.contains("failed"), "{}", output.stderr);
    let control = journal(&conclave)[0]["data"]["plan"]["control"].clone();
    assert_eq!(control["hedge"]["after"]["secs"], 1, "{control}");
    let slow = server.requests_to(Vendor::Anthropic);
    assert_eq!(slow.len(), 1, "it is not asked again in later rounds");
    assert!(slow[0].finished.is_some());
    assert!(!slow[0].complete);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    // A busy machine may make other calls slow, too.
    let of_seat = |list: &str| {
        let mut entries = record[list].as_array().unwrap().iter();
        entries
            .find(|entry| entry["agent_id"] == "security")
            .unwrap()
    };
    assert_eq!(of_seat("substitutions")["reason"], "hedge");
    let hedge = of_seat("hedges");
    assert_eq!(hedge["model"], "anthropic:claude-sonnet-5-5");
    assert_eq!(hedge["backup"], "openai:gpt-6.1-sol");
    assert_eq!(hedge["dropped"], hedge["model"]);
    assert_eq!(record["cost"]["lower_bound"], true);
    assert_costs_add_up(&record);
}

#[test]
fn silence_ends_a_call_after_the_timeouts_of_the_settings() {
    for (setting, answer, class) in [
        ("first_byte", Answer::valid().silence(FOREVER), "timeout"),
        ("idle", Answer::valid().pieces(24).stall(), "interrupted"),
    ] {
        let server = ProviderServer::start();
        server.on(On::vendor(Vendor::Anthropic).nth(1), answer);
        let config = format!(r#"{{"{setting}_timeout_seconds": 1}}"#);
        let conclave = Conclave::at(&server).config(&config);
        let arguments = [
            "consult",
            "--on-failure",
            "skip",
            "--hedge-after",
            "off",
            "q",
        ];
        conclave.run(&arguments).ends_with(0);
        let record = conclave.record();
        let first = &attempts(&record, "round_1", "security")[0]["error"];
        assert_eq!(first["class"], class);
        let message = first["message"].as_str().unwrap();
        assert!(message.ends_with("sent nothing for 1 s"), "{message}");
        let attempts = attempts(&record, "round_1", "security");
        let purposes = &["answer", "retry"][..attempts.len()];
        assert_eq!(each(attempts, "/purpose"), purposes);
        assert_eq!(attempts.len() == 2, class == "timeout");
    }
}

#[test]
fn slow_round_is_reported_once_per_pulse_without_a_question() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let conclave = Conclave::at(&server).config(r#"{"pulse_seconds": 0.5, "hedge_after": "off"}"#);
    let running = conclave.start(&["consult", "Shall we?"]);
    // A busy machine makes other experts slow, too, at first.
    let last = "⏱️ Still waiting on Security Expert (";
    running.wait_until("two pulses are reported", |stderr| {
        stderr.matches(last).count() >= 2
    });
    hold.release();
    let output = running.wait().ends_with(0);
    assert!(!output.stderr.contains("or stop?"), "{}", output.stderr);
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn max_wait_ends_a_round_in_time_and_resume_continues() {
    let server = ProviderServer::start();
    let never = Answer::valid().delay(FOREVER);
    server.on(On::vendor(Vendor::OpenAi).nth(1), never);
    let flags = ["--max-wait", "1", "--hedge-after", "off"];
    let (conclave, output) = ask(&server, &flags);
    let output = output.ends_with(1);
    output.assert_stderr_contains("error: Round 1 was not done within 1 s\n");
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "timeout");
    let id = short_id(record["resume_token"].as_str().unwrap());
    output.assert_stderr_contains(&format!(
        "hint: resume it with `conclave resume {id} --max-wait SECONDS`\n"
    ));
    conclave.run(&["resume", "--max-wait", "50"]).ends_with(0);
}
