//! Signals and limits of the system: the run ends at once or says why it cannot begin, saves its
//! answers, and leaves no connection open.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// The longest time to the exit after a signal on a busy machine: less than anything that the runs
/// wait for.
const AT_ONCE: Duration = Duration::from_secs(15);

#[expect(
    clippy::disallowed_methods,
    reason = "the test measures the time to the exit"
)]
fn now() -> Instant {
    Instant::now()
}

/// Sends the signal after this number of requests, and waits for the exit.
fn interrupt(
    server: &ProviderServer,
    conclave: &Conclave,
    signal: Signal,
    count: usize,
) -> RunOutput {
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("the requests have arrived", |requests| {
        requests.len() == count
    });
    let sent = now();
    running.signal(signal);
    let output = running.wait().ends_with(130);
    assert!(
        sent.elapsed() < AT_ONCE,
        "it took {:?} to end",
        sent.elapsed()
    );
    server.wait_until("all connections are closed", |requests| {
        requests.iter().all(|request| request.finished.is_some())
    });
    assert_eq!(output.stdout, "");
    output
}

#[test]
fn signal_ends_the_run_and_closes_every_connection() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let server = ProviderServer::start();
        server.on(On::any(), Answer::text("never to be finished").stall());
        let conclave = Conclave::at(&server);
        let output = interrupt(&server, &conclave, signal, 3);
        output.assert_stderr_contains("\nConsultation interrupted\n");
        assert!(server.requests().iter().all(|request| !request.complete));
        let record = conclave.record();
        assert_eq!(record["abort_reason"], "interrupted");
        assert_eq!(record["aborted_during"], "Independent");
        assert_eq!(
            record["cost"]["lost_calls"], 3,
            "cancelled calls may have been billed"
        );
        assert_eq!(
            record["cost"]["lower_bound"], true,
            "cancelled calls may have been billed"
        );
    }
}

#[test]
fn record_contains_the_answers_before_the_interrupt() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text("never to be finished").stall(),
    );
    let conclave = Conclave::at(&server);
    let output = interrupt(&server, &conclave, Signal::INT, 4);
    let record = conclave.record();
    let completed = record["completed_rounds"].as_array().unwrap();
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0]["round_number"], 1);
    assert_eq!(record["incomplete_rounds"][0], 2);
    assert_eq!(completed[0]["artifacts"].as_array().unwrap().len(), 3);
    assert_eq!(record["perspectives"].as_array().unwrap().len(), 3);
    assert_eq!(record["cost"]["calls"], 3);
    assert_eq!(record["cost"]["lost_calls"], 1);
    assert!(
        std::fs::read_to_string(conclave.log("md"))
            .unwrap()
            .contains("> 🛑 **Aborted in Synthesis:**")
    );
    let saved = format!(
        "💾 Partial results saved to: {}\nConsultation interrupted\nhint: resume it with `conclave resume ",
        conclave.log("json").display()
    );
    output.assert_stderr_contains(&saved);
}

#[test]
fn signal_interrupts_the_wait_before_a_retry() {
    let server = ProviderServer::start();
    let busy = Answer::http(529, "application/json", "{}").header("retry-after-ms", "29000");
    server.on(On::vendor(Vendor::Anthropic), busy);
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "--events", "-", "Shall we?"]);
    server.wait_until("all experts have answered", |requests| {
        requests.len() == 3 && requests.iter().all(|request| request.finished.is_some())
    });
    let sent = now();
    running.signal(Signal::TERM);
    running.wait().ends_with(130);
    assert!(sent.elapsed() < AT_ONCE);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn too_few_file_handles_are_an_error_with_a_hint() {
    for handles in [8, 12, 16] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let output = conclave.run_limited(&format!("-n {handles}"), "consult --yes 'Shall we?'");
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        output.assert_stderr_contains("\n  caused by: ");
        output.assert_stderr_contains("\nhint: ");
        assert!(matches!(output.code, Some(1 | 2)), "{:?}", output.code);
        assert_eq!(server.requests().len(), 0, "{handles}");
    }
}
