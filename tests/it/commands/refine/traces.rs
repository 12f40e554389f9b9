//! The traces of consultations about a document.

use super::*;
use crate::support::trace_receiver::TraceReceiver;

#[test]
fn every_consultation_is_a_trace() {
    let receiver = TraceReceiver::start(&[]);
    let mut refinement = Refinement::of(2);
    refinement.conclave = refinement
        .conclave
        .variable("CONCLAVE_OTLP", "on")
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url());
    refinement.run(&[]).ends_with(0);
    let traces = receiver.traces();
    assert_eq!(traces.len(), 2);
    let state = |trace: usize| &traces[trace].spans[0]["attributes"]["conclave.state"];
    assert_eq!([state(0), state(1)], ["Complete", "Complete"]);
}
