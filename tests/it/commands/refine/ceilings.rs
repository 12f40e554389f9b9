//! The ceiling of a loop over processes that end with calls in flight.

use std::fs;

use rustix::process::Signal;

use super::{Refinement, answered, arguments, asking, open};
use crate::support::binary::Conclave;
use crate::support::in_flight::{
    amounts, dollars, end_with_calls_in_flight, journals, least_reserve, most_output_cost,
    stalling_server,
};
use crate::support::provider_server::Hold;

#[test]
fn calls_in_flight_of_ended_processes_count_under_the_ceiling() {
    let questions = Refinement::of(4).document();
    for (signals, text) in [
        (&[Signal::KILL][..], questions.as_str()),
        (&[Signal::INT, Signal::INT], "# Spec\n\nIs it a service?\n"),
    ] {
        let server = stalling_server();
        let conclave = Conclave::at(&server);
        let refinement = Refinement { server, conclave };
        refinement.write(text);
        let (output, ended) = end_with_calls_in_flight(&refinement.server, signals, |_| {
            refinement.start(&["--max-cost", "0.6", "--jobs", "2"])
        });
        let output = output.ends_with(4);
        let cost = most_output_cost(&refinement.server);
        assert!(cost <= 600_000, "{cost} micro-dollars");
        // Another call does not fit. A killed process may not have sent all that it began.
        let journals = journals(&refinement.conclave.home());
        let counted: u64 = journals.iter().flat_map(|journal| amounts(journal)).sum();
        let another = least_reserve(&journals[0]);
        assert!(counted + another > 600_000, "{counted} micro-dollars");
        assert!(ended >= 2, "{ended} processes");
        output.assert_stderr_contains(" more\n");
        output.assert_stderr_contains("calls whose cost is unknown count $0.");
        output.assert_stderr_contains(
            "error: the loop is stopped: The ceiling of the loop of $0.60 does not pay for the next \
             call: $0.",
        );
        output.assert_stderr_contains(
            " counts as spent, and openai:gpt-6.1-sol could cost up to $0.",
        );
        output.assert_stderr_contains("--max-cost USD`");
    }
}

#[test]
fn ceiling_of_an_interrupted_loop_counts_its_calls_wherever_the_journal_ends() {
    let refinement = Refinement::of(1);
    refinement.on(1, answered(1).usage(1_000, 4_000));
    let text = refinement.document();
    refinement.run(&["--max-iterations", "1"]).ends_with(0);
    refinement.cut_log_after("batch_started");
    let log = fs::read(refinement.folder().join("log.jsonl")).unwrap();
    let [journal] = journals(&refinement.conclave.home()).try_into().unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let context = fs::read(refinement.conclave.log("context")).unwrap();
    let path = refinement.conclave.log("jsonl");
    // The first line, what a kill leaves of a call, its end, and all.
    let place = |event: &str| lines.iter().position(|line| line.contains(event)).unwrap();
    let [begun, ended] = ["call:started", "call:finished"].map(place);
    for length in [1, begun, begun + 1, ended, ended + 1, lines.len()] {
        refinement.write(&text);
        fs::write(refinement.folder().join("log.jsonl"), &log).unwrap();
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(path.with_extension("context"), &context).unwrap();
        fs::write(&path, lines[..length].concat()).unwrap();
        let kept = lines[..length].concat();
        let used: u64 = amounts(&kept).iter().sum();
        let is_answered = kept.contains("call:finished");
        let before = refinement.server.requests().len();
        let ceiling = dollars(used + least_reserve(&journal) - 1);
        let output = refinement.run(&["--max-iterations", "1", "--max-cost", &ceiling]);
        let place = format!("after {length} lines, {ceiling}: {}", output.stderr);
        assert_eq!(refinement.server.requests().len(), before, "{place}");
        let expected = Some(if is_answered { 0 } else { 4 });
        assert_eq!(output.code, expected, "{place}");
    }
}

#[test]
fn slow_call_of_a_hedged_pair_counts_for_later_processes() {
    let refinement = Refinement::of(1);
    refinement.on(1, open());
    let hold = Hold::new();
    let slow = asking(1).and_model("gpt-6.1-sol");
    refinement.server.on(slow, open().held_by(&hold));
    let run = |iterations: &str, ceiling: &str| {
        let mut arguments = arguments(&["--max-iterations", iterations]);
        let judge = arguments.iter().position(|word| *word == "--judge");
        // The only other model that may take over at an address of one's own.
        arguments[judge.unwrap() + 1] = "anthropic:claude-sonnet-5-5";
        arguments.extend(["--hedge-after", "0.05", "--max-cost", ceiling]);
        refinement.conclave.run(&arguments)
    };
    let report = run("1", "5").ends_with(0).json();
    assert_eq!(refinement.server.requests().len(), 2);
    let spend = &report["spend"];
    let (cost, in_doubt) = (&spend["cost"]["micro_usd"], &spend["in_doubt"]);
    let used = cost.as_u64().unwrap() + in_doubt.as_u64().unwrap();
    assert!(used > 150_000, "{spend}");
    run("2", &dollars(used + 30_000)).ends_with(4);
    assert_eq!(refinement.server.requests().len(), 2);
}
