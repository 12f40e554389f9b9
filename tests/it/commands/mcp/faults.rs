//! What clients and people do that was not meant: limits, signals, half-done consultations.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Client, cheap, text};
use crate::support::binary::Conclave;
use crate::support::otlp::Exported;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::trace_receiver::TraceReceiver;

fn tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn stalled() -> ProviderServer {
    let server = ProviderServer::start();
    let answer = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::Google), answer);
    server
}

/// Returns the id of a consultation whose server was killed when all experts were asked.
fn killed(server: &ProviderServer, conclave: &Conclave) -> String {
    let mut client = Client::start(conclave, &[], true, tasks());
    let call = json!({"name": "consult", "arguments": {"question": "Why?"},
        "_meta": {"traceparent": PARENT}});
    let task = client.ask("tools/call", call)["result"].clone();
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    client.child.kill().unwrap();
    task["taskId"].as_str().unwrap().to_owned()
}

#[test]
fn client_of_the_old_era_gets_no_task_whatever_it_declares() {
    let server = ProviderServer::start();
    let mut client = Client::start(&cheap(&server), &[], false, tasks());
    let result = client.call("consult", json!({"question": "Why?", "rounds": 1}));
    assert_eq!(
        result["structuredContent"]["status"], "complete",
        "{result}"
    );
}

#[test]
fn cancelled_task_is_not_continued_by_the_next_server() {
    let server = stalled();
    let conclave = cheap(&server);
    let id = killed(&server, &conclave);
    let mut client = Client::start(&conclave, &[], true, tasks());
    client.ask("tasks/cancel", json!({"taskId": id}));
    let got = client.ask("tasks/get", json!({"taskId": id}))["result"].clone();
    assert_eq!(got["status"], "completed", "{got}");
    assert_eq!(got["result"]["structuredContent"]["status"], "incomplete");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn calls_that_ask_for_the_same_consultation_continue_it_once() {
    let server = stalled();
    let conclave = cheap(&server);
    let id = killed(&server, &conclave);
    server.on(On::any(), Answer::valid());
    let mut client = Client::legacy(&conclave, &[]);
    let call =
        json!({"name": "consultation", "arguments": {"id": id}, "_meta": {"progressToken": 1}});
    let calls: Vec<u64> = (0..8)
        .map(|_| client.begin("tools/call", call.clone()))
        .collect();
    for call in calls {
        let answer = client.answer_in_any_order(call);
        let view = &answer["result"]["structuredContent"];
        assert_eq!(view["status"], "complete", "{answer}");
    }
    assert!(
        client
            .notices
            .iter()
            .any(|it| it["method"] == "notifications/progress")
    );
    let first = server
        .requests()
        .iter()
        .filter(|it| it.vendor == Some(Vendor::Google))
        .count();
    // The first round once more, and the cross-examination.
    assert_eq!(first, 3);
}

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn exporting(conclave: Conclave, receiver: &TraceReceiver) -> Conclave {
    conclave
        .variable("CONCLAVE_OTLP", "on")
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
}

fn is_in_parent(trace: &Exported) -> bool {
    trace.spans[0]["trace"] == "4bf92f3577b34da6a3ce929d0e0e4736"
        && trace.spans[0]["parent"] == "00f067aa0ba902b7"
}

#[test]
fn trace_is_a_part_of_the_clients_and_is_sent_before_the_end() {
    let (server, receiver) = (ProviderServer::start(), TraceReceiver::start(&[]));
    let mut client = Client::legacy(&exporting(cheap(&server), &receiver), &[]);
    let mut call = json!({"name": "consult", "arguments": {"question": "Why?", "rounds": 1}});
    client.ask("tools/call", call.clone());
    call["_meta"] = json!({"traceparent": PARENT});
    client.ask("tools/call", call.clone());
    // The client does not record its trace.
    call["_meta"] = json!({"traceparent": PARENT.replace("-01", "-00")});
    client.ask("tools/call", call);
    assert_eq!(client.end(), Some(0));
    let traces = receiver.traces();
    assert_eq!(traces.len(), 2);
    assert_eq!(traces.iter().filter(|trace| is_in_parent(trace)).count(), 1);
}

#[test]
fn continued_consultation_is_in_the_trace_of_the_client_that_began_it() {
    let (server, receiver) = (stalled(), TraceReceiver::start(&[]));
    let conclave = exporting(cheap(&server), &receiver);
    let id = killed(&server, &conclave);
    server.on(On::any(), Answer::valid());
    let other = PARENT.replace("4bf", "abc");
    let conclave = conclave.variable("TRACEPARENT", &other);
    let mut client = Client::legacy(&conclave, &[]);
    let call = json!({"name": "consultation", "arguments": {"id": id},
        "_meta": {"traceparent": other}});
    let answer = client.ask("tools/call", call);
    let status = &answer["result"]["structuredContent"]["status"];
    assert_eq!(status, "complete", "{answer}");
    assert_eq!(client.end(), Some(0));
    let traces = receiver.traces();
    assert_eq!(traces.iter().filter(|trace| is_in_parent(trace)).count(), 1);
    assert_eq!(traces.len(), 1);
}

#[test]
fn signal_ends_the_server_and_its_consultations_can_be_continued() {
    let server = stalled();
    let conclave = cheap(&server);
    let mut client = Client::start(&conclave, &[], true, tasks());
    let task = client.call("consult", json!({"question": "Why?"}));
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    kill_process(Pid::from_child(&client.child), Signal::TERM).unwrap();
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    server.on(On::any(), Answer::valid());
    let mut client = Client::legacy(&conclave, &[]);
    let result = client.call("consultation", json!({"id": task["taskId"]}));
    assert_eq!(
        result["structuredContent"]["status"], "complete",
        "{result}"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the protocol's crate would go on for five seconds"
)]
fn end_of_input_ends_the_panel_of_an_open_call_at_once() {
    let server = stalled();
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &[]);
    let call = json!({"name": "consult", "arguments": {"question": "Why?"}});
    client.begin("tools/call", call);
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    let since = Instant::now();
    assert_eq!(client.end(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(4), "{since:?}");
    assert_eq!(server.requests().len(), 3);
}

/// The client's server can write no file any more, as on a full disk.
#[cfg(target_os = "linux")]
fn fill_disk(client: &Client) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Some(Pid::from_child(&client.child)), Resource::Fsize, limit).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_costs_no_answer_and_nothing_begins_on_one() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::vendor(Vendor::Google), Answer::valid().held_by(&hold));
    let mut client = Client::start(&cheap(&server), &[], true, tasks());
    let task = client.call("consult", json!({"question": "Why?"}));
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    fill_disk(&client);
    hold.release();
    let mut get = || client.ask("tasks/get", json!({"taskId": task["taskId"]}))["result"].clone();
    let got = loop {
        let got = get();
        if got["status"] != "working" {
            break got;
        }
    };
    assert_eq!(
        got["result"]["structuredContent"]["status"], "complete",
        "{got}"
    );
    let asked = server.requests().len();
    assert_eq!(get()["result"], got["result"]);
    let refused = client.call("consult", json!({"question": "Why?"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(server.requests().len() <= asked + 3);
}

#[test]
fn person_at_a_terminal_reads_what_it_waits_for() {
    let conclave = Conclave::new();
    let mut terminal = Terminal::start(&conclave, 200, Output::Terminal, &["mcp"]);
    terminal.wait_for_sight("--print-config claude");
    terminal.type_in("\x03");
    assert_eq!(terminal.end().0.code, Some(0));
}

#[test]
fn broken_index_is_rebuilt_under_a_search() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &[]);
    client.call("consult", json!({"question": "Why?", "rounds": 1}));
    assert_eq!(client.end(), Some(0));
    fs::write(conclave.home().join("consult-analytics.db"), "no database").unwrap();
    let mut client = Client::legacy(&conclave, &[]);
    let found = client.call("history_search", json!({"query": "why"}));
    let found = found["structuredContent"]["consultations"].as_array();
    assert_eq!(found.unwrap().len(), 1);
}

#[test]
fn errors_keep_keys_to_themselves_and_say_how_to_get_one() {
    let server = ProviderServer::start();
    let key = Vendor::Anthropic.key();
    let mut client = Client::legacy(&Conclave::at(&server), &[]);
    let refused = client.call("consultation", json!({"id": key}));
    assert!(
        text(&refused).contains("no consultation is called"),
        "{refused}"
    );
    assert!(!refused.to_string().contains(&*key));
    // Without a person at a terminal, nothing asks for anything.
    let mut client = Client::legacy(&Conclave::new(), &[]);
    let refused = client.call("consult", json!({"question": "Why?"}));
    assert!(text(&refused).contains("no model to ask"), "{refused}");
}

#[test]
fn lines_and_questions_of_any_length_are_survived() {
    let server = ProviderServer::start();
    let mut client = Client::legacy(&cheap(&server), &[]);
    let input = client.input.as_mut().unwrap();
    let line = vec![b'x'; 17 * 1024 * 1024];
    input
        .write_all(&line)
        .and_then(|()| input.write_all(b"\n"))
        .unwrap();
    // Longer than any model reads, and dear.
    let long = "why ".repeat(250_000);
    let refused = client.call("consult", json!({"question": long}));
    assert_eq!(refused["isError"], true, "{}", text(&refused));
    assert!(text(&refused).len() < 2_000, "{}", text(&refused).len());
    assert_eq!(server.requests().len(), 0);
    assert_eq!(client.end(), Some(0));
}
