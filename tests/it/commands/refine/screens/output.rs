//! What is printed, where, and in which form.

use std::process::Stdio;

use super::{Desk, ONE_ANSWER, SIX, arguments, position};
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::{Hold, On};
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

#[test]
fn diff_has_the_changes_of_the_whole_loop() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let output = desk.run(&["--diff"]).ends_with(0);
    let diff = &output.stdout;
    let expected = "--- SPEC.md\n+++ SPEC.refined.md\n@@ ";
    assert!(diff.starts_with(expected), "{diff}");
    let expected = "\n-- Where are idempotency keys kept?\n";
    assert!(diff.contains(expected), "{diff}");
    output.assert_stderr_contains("converged after 3 iterations");
    // The same without a call, once the loop has converged.
    let asked = desk.requests();
    assert_eq!(&desk.run(&["--diff"]).ends_with(0).stdout, diff);
    assert_eq!(desk.requests(), asked);
}

#[test]
fn report_follows_its_schema() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let json = desk.run(&["--json"]).ends_with(0).json();
    schema::check(
        include_str!("../../../../../schemas/refine.schema.json"),
        &json,
    );
    assert_eq!(json["iterations"].as_array().unwrap().len(), 3);
}

#[test]
fn quiet_run_prints_the_summary_alone() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let output = desk.run(&["--quiet"]).ends_with(0);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.starts_with("Converged"), "{}", output.stdout);
}

#[test]
fn verbose_run_prints_the_rules_after_each_iteration() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let output = desk.run(&["--verbose"]).ends_with(0);
    for iteration in 1..=3 {
        output.assert_stderr_contains(&format!("CONVERGENCE CHECK (Iteration {iteration})"));
    }
    output.assert_stderr_contains("└─ DECISION: CONTINUE");
}

#[test]
fn claim_that_two_consultations_contradict_is_listed_once() {
    let desk = Desk::with(SIX).finds("C1 CONTRADICTED: it is retried for three days");
    let once = ["refine", "SPEC.md", "--yes", "--max-iterations", "1"];
    let output = desk.conclave.run(&once).ends_with(14);
    output.assert_stderr_contains("6 questions in 2 consultations");
    let listed = output.stdout.to_lowercase();
    let claim = "refunds go through the ledger service";
    assert_eq!(listed.matches(claim).count(), 1, "{}", output.stdout);
}

#[test]
fn closed_standard_output_is_no_error() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = desk.conclave.command();
    command
        .args(arguments(&[]))
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped());
    let running = RunningProcess::of(command.spawn().unwrap());
    running.wait().ends_with(0);
    assert!(desk.path("SPEC.refined.md").exists());
}

#[test]
fn summary_fits_a_narrow_terminal() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let conclave: Conclave = desk.conclave.without("NO_COLOR");
    let terminal = Terminal::start(&conclave, 40, Output::Terminal, &arguments(&["-v"]));
    let (output, transcript) = terminal.end();
    output.ends_with(0);
    assert!(transcript.has_restored_modes());
    assert!(transcript.text().contains("Converged after 3"));
    // Commands and paths are there to be copied, and stay on one line.
    let mut too_wide = transcript.too_wide(40);
    too_wide.retain(|line| !line.trim_start().starts_with("conclave "));
    assert_eq!(too_wide, Vec::<String>::new());
}

#[test]
fn summary_has_answers_with_confidence_and_dissent_and_each_item_once() {
    let findings = "Q1 ANSWERED: In the table `keys`.\nQ1 DISSENT: performance wants Redis\n\
                    NEW: Who rotates the keys?";
    let desk = Desk::with(SIX).finds(findings);
    let output = desk.run(&["--max-iterations", "2"]).ends_with(14);
    let stdout = &output.stdout;
    for expected in [
        "Where are idempotency keys kept? → Medium Confidence (consult-",
        "In the table `keys`. (80%)",
        "Dissent: performance wants Redis",
        "New questions (1)",
    ] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
    // It was asked in the second iteration, and stays open.
    let listed = stdout.matches("Who rotates the keys?").count();
    assert_eq!(listed, 1, "{stdout}");
}

#[test]
fn live_screen_has_the_question_at_work_and_its_experts() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let hold = Hold::new();
    let slow = position(ONE_ANSWER).held_by(&hold);
    desk.server.on(On::asking_for("position"), slow);
    let arguments = arguments(&["--max-iterations", "1"]);
    let conclave = desk.conclave.variable("TERM", "xterm-256color");
    let terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
    terminal.wait_for_sight("Question 1 of 6: where are idempotency keys kept (+5)");
    terminal.wait_for_sight("Round 1 of 1");
    terminal.wait_for_sight("iteration 1/1 · 0/1 consultations");
    hold.release();
    let (output, transcript) = terminal.end();
    output.ends_with(14);
    assert!(!transcript.screen().contents().contains("Question 1 of 6"));
}
