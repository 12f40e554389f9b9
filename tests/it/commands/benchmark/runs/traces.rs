//! The traces of cases.

use std::collections::BTreeSet;

use super::*;
use crate::support::trace_receiver::{Taken, TraceReceiver};

fn traced(cases: usize, receiver: &TraceReceiver) -> Bench {
    let mut bench = Bench::of(cases);
    bench.conclave = bench
        .conclave
        .variable("CONCLAVE_OTLP", "on")
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url());
    bench
}

#[test]
fn every_case_is_a_trace_that_names_run_and_case() {
    let receiver = TraceReceiver::start(&[]);
    traced(3, &receiver).run(&[]).ends_with(0);
    let traces = receiver.traces();
    let root = |name: &str| -> BTreeSet<String> {
        let roots = traces
            .iter()
            .map(|trace| &trace.spans[0]["attributes"][name]);
        roots.map(ToString::to_string).collect()
    };
    assert_eq!(traces.len(), 3);
    let cases = [1, 2, 3].map(|number| json!(id(number)).to_string());
    assert_eq!(root("conclave.benchmark.case"), BTreeSet::from(cases));
    assert_eq!(root("conclave.benchmark.run").len(), 1);
    assert_eq!(
        root("conclave.benchmark.arm"),
        BTreeSet::from([r#""single""#.to_owned()])
    );
    assert_eq!(root("gen_ai.conversation.id").len(), 3);
}

#[test]
fn failure_is_one_warning_for_the_run() {
    let receiver = TraceReceiver::start(&[Taken::Status(400)]);
    let run = traced(3, &receiver).run(&[]).ends_with(0);
    assert_eq!(
        receiver.requests().len(),
        1,
        "nothing is sent after a failure"
    );
    let warnings = run.stderr.matches("Failed to export traces").count();
    assert_eq!(warnings, 1, "{}", run.stderr);
}
