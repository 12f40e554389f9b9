//! Sending traces at the end of runs.

use serde_json::json;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::trace_receiver::{Taken, TraceReceiver};

fn conclave(server: &ProviderServer, receiver: &TraceReceiver) -> Conclave {
    let url = receiver.url();
    Conclave::at(server)
        .variable("CONCLAVE_OTLP", "on")
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", url)
}

fn ask(conclave: &Conclave) -> String {
    let run = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(run.stdout.contains("# "), "{}", run.stdout);
    run.stderr
}

#[test]
fn consultation_is_sent_at_its_end() {
    let (server, receiver) = (ProviderServer::start(), TraceReceiver::start(&[]));
    let list = "authorization=Bearer%20sk-collector-1,x-team=a";
    let conclave = conclave(&server, &receiver).variable("OTEL_EXPORTER_OTLP_HEADERS", list);
    let stderr = ask(&conclave);
    assert!(
        !stderr.contains("trace") && !stderr.contains("sk-collector"),
        "{stderr}"
    );
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/traces");
    for (name, value) in [
        ("content-type", "application/x-protobuf"),
        ("authorization", "Bearer sk-collector-1"),
        ("x-team", "a"),
    ] {
        assert_eq!(requests[0].headers[name], value);
    }
    let traces = receiver.traces();
    assert_eq!(
        traces[0]
            .with("gen_ai.operation.name", &json!("chat"))
            .len(),
        9
    );
    assert_eq!(
        traces[0].spans[0]["attributes"]["conclave.state"],
        "Complete"
    );
}

#[test]
fn nothing_is_sent_unless_it_is_wanted() {
    let (server, receiver) = (ProviderServer::start(), TraceReceiver::start(&[]));
    for (name, value) in [
        ("CONCLAVE_OTLP", "off"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
        (
            "TRACEPARENT",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        ),
    ] {
        let stderr = ask(&conclave(&server, &receiver).variable(name, value));
        assert!(!stderr.contains("trace"), "{name}: {stderr}");
    }
    let unlogged = ["consult", "-n", "Shall we?"];
    conclave(&server, &receiver).run(&unlogged).ends_with(0);
    assert_eq!(receiver.requests().len(), 0);
}

#[test]
fn failure_is_one_warning_after_the_answer() {
    let server = ProviderServer::start();
    for (taken, requests, words) in [
        (
            &[Taken::Status(503), Taken::Status(429), Taken::Status(408)][..],
            4,
            None,
        ),
        (&[Taken::Status(401)], 1, Some("status 401")),
        (&[Taken::Later], 1, Some("status 503")),
        (&[Taken::InPart], 1, Some("some spans were rejected")),
        (&[Taken::Never], 1, Some("in time")),
    ] {
        let receiver = TraceReceiver::start(taken);
        let key = "authorization=Bearer%20sk-collector-1";
        let conclave = conclave(&server, &receiver)
            .variable("OTEL_EXPORTER_OTLP_HEADERS", key)
            .variable("OTEL_EXPORTER_OTLP_TIMEOUT", "700");
        let stderr = ask(&conclave);
        assert_eq!(receiver.requests().len(), requests, "{taken:?}");
        let warnings = stderr.matches("Failed to export traces").count();
        assert_eq!(
            warnings,
            usize::from(words.is_some()),
            "{taken:?}: {stderr}"
        );
        assert!(
            stderr.contains(words.unwrap_or_default()),
            "{taken:?}: {stderr}"
        );
        assert!(!stderr.contains("sk-collector"), "{stderr}");
    }
}

#[test]
fn variables_that_cannot_be_followed_are_one_warning() {
    let (server, receiver) = (ProviderServer::start(), TraceReceiver::start(&[]));
    for (name, value, words) in [
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "can only be `http/protobuf`",
        ),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://127.0.0.1:9",
            "`127.0.0.1:9`: no connection",
        ),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "collector",
            "is not an address",
        ),
    ] {
        let stderr = ask(&conclave(&server, &receiver).variable(name, value));
        assert_eq!(stderr.matches("export").count(), 1, "{name}: {stderr}");
        assert!(stderr.contains(words), "{name}: {stderr}");
    }
    assert_eq!(receiver.requests().len(), 0);
}
