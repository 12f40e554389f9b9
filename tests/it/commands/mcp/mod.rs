//! `conclave mcp`, over its standard input and output as clients use it.

pub(super) mod client;
mod files;
mod money;
mod origins;
mod faults;

use std::io::Write as _;

use serde_json::{Value, json};

use self::client::{Client, cheap, text};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[test]
fn tools_are_listed_with_every_valid_value_in_both_eras() {
    let conclave = Conclave::new();
    for is_modern in [false, true] {
        let mut client = Client::start(&conclave, &[], is_modern, json!({}));
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "consult",
                "consultation",
                "history_search",
                "models",
                "exit_check"
            ]
        );
        let consult = &tools[0];
        assert!(consult["annotations"]["openWorldHint"].as_bool().unwrap());
        let fields = |tool: &Value| tool["outputSchema"]["properties"].is_object();
        assert!(tools.iter().all(fields), "{listed}");
        let personas = consult["inputSchema"]["properties"]["personas"]["description"].as_str();
        assert!(personas.unwrap().contains("skeptic"));
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn consultation_is_answered_with_progress_and_can_be_read() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &[]);
    let arguments = json!({"question": "OAuth or JWT?", "context": "We are two."});
    let call = json!({"name": "consult", "arguments": arguments, "_meta": {"progressToken": 7}});
    let result = client.ask("tools/call", call)["result"].clone();
    let view = &result["structuredContent"];
    assert_eq!(view["status"], "complete", "{view}");
    for field in ["recommendation", "confidence_rests_on", "cost", "report"] {
        assert!(!view[field].as_str().unwrap().is_empty(), "{field}");
    }
    assert!(
        server.requests()[0]
            .body
            .to_string()
            .contains("We are two.")
    );
    let progress: Vec<&Value> = client.notices.iter().map(|it| &it["params"]).collect();
    let grows = progress
        .windows(2)
        .all(|two| two[0]["progress"].as_f64() < two[1]["progress"].as_f64());
    assert!(
        grows && progress.iter().all(|it| it["progressToken"] == 7),
        "{progress:?}"
    );
    let link = result["content"][1]["uri"].as_str().unwrap();
    let read = |client: &mut Client, uri: &str| {
        let read = client.ask("resources/read", json!({"uri": uri}));
        read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(read(&mut client, link).contains("OAuth or JWT?"));
    let record: Value =
        serde_json::from_str(&read(&mut client, &format!("{link}/record"))).unwrap();
    assert_eq!(record["consultation_id"], view["id"]);
    let found = client.call("history_search", json!({"query": "OAuth"}));
    assert_eq!(
        found["structuredContent"]["consultations"][0]["id"],
        view["id"]
    );
    let again = client.call("consultation", json!({"id": view["id"]}));
    assert_eq!(again["structuredContent"], *view);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn call_that_would_be_cut_off_gives_the_id_and_the_panel_goes_on() {
    let server = ProviderServer::start();
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::Google), stalled);
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &["--wait", "1"]);
    let view = client.call("consult", json!({"question": "Why?"}))["structuredContent"].clone();
    assert_eq!(view["status"], "running");
    assert_eq!(view["progress"], "Round 1: 2 of 3 answered");
    let id = view["id"].as_str().unwrap().to_owned();
    // The server ends; the next one continues what it left, and asks nothing again.
    assert_eq!(client.end(), Some(0));
    let asked = server.requests().len();
    server.on(On::any(), Answer::valid());
    let mut client = Client::legacy(&conclave, &[]);
    let view = client.call("consultation", json!({"id": id}))["structuredContent"].clone();
    assert_eq!(view["status"], "complete", "{view}");
    let repeated = server
        .requests()
        .iter()
        .skip(asked)
        .filter(|it| it.vendor != Some(Vendor::Google))
        .count();
    let later_rounds = server.requests().len() - asked - 1;
    assert!(repeated <= later_rounds);
}

#[test]
fn task_outlives_its_server() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google),
        Answer::text("never to be finished").stall(),
    );
    let conclave = cheap(&server);
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = Client::start(&conclave, &[], true, tasks.clone());
    let task = client.call("consult", json!({"question": "Why?"}));
    assert_eq!(
        (&task["resultType"], &task["status"]),
        (&json!("task"), &json!("working"))
    );
    let id = task["taskId"].as_str().unwrap().to_owned();
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    client.child.kill().unwrap();
    drop(client);
    server.on(On::any(), Answer::valid());
    let mut client = Client::start(&conclave, &[], true, tasks);
    let got = loop {
        let got = client.ask("tasks/get", json!({"taskId": id}))["result"].clone();
        if got["status"] != "working" {
            break got;
        }
    };
    assert_eq!(got["status"], "completed", "{got}");
    assert_eq!(got["result"]["structuredContent"]["status"], "complete");
    let unknown = client.ask("tasks/get", json!({"taskId": &id[..20]}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn cancelled_call_stops_its_consultation_and_keeps_what_is_paid() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google),
        Answer::text("never to be finished").stall(),
    );
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &[]);
    let id = client.begin(
        "tools/call",
        json!({"name": "consult", "arguments": {"question": "Why?"}}),
    );
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancelled);
    let journal = conclave.log("jsonl");
    let id = journal.file_stem().unwrap().to_str().unwrap();
    let ended = client.call("consultation", json!({"id": id}));
    assert_eq!(ended["structuredContent"]["status"], "aborted", "{ended}");
    assert_eq!(client.end(), Some(0));
    let shown = conclave.run(&["history", "show", id, "--json"]);
    let record: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(record["abort_reason"], "interrupted");
    assert_eq!(record["resume_token"], id);
}

#[test]
fn many_calls_run_beside_each_other() {
    const CALLS: usize = 20;
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &[]);
    let call = json!({"name": "consult", "arguments": {"question": "Why?", "rounds": 1}});
    let ids: Vec<u64> = (0..CALLS)
        .map(|_| client.begin("tools/call", call.clone()))
        .collect();
    for id in ids {
        let answer = client.answer_in_any_order(id);
        assert_eq!(
            answer["result"]["structuredContent"]["status"], "complete",
            "{answer}"
        );
    }
}

#[test]
fn garbage_is_survived_and_wrong_arguments_are_named() {
    let conclave = Conclave::new();
    let mut client = Client::legacy(&conclave, &[]);
    for line in 0..10_000 {
        let input = client.input.as_mut().unwrap();
        writeln!(input, "{{\"garbage\": {line}").unwrap();
    }
    let wrong = [
        ("consult", json!({"q": "Why?"}), "unknown field `q`"),
        ("consult", json!({"question": " "}), "`question` is empty"),
        (
            "consult",
            json!({"question": "Why?", "rounds": 9}),
            "wrong arguments",
        ),
        (
            "consultation",
            json!({"id": "never"}),
            "no consultation is called `never`",
        ),
        (
            "consult",
            json!({"question": "Why?", "rounds": 4, "quick": true}),
            "`quick` and `rounds`",
        ),
        ("exit_check", json!({}), "missing field `message`"),
    ];
    for (tool, arguments, expected) in wrong {
        let refused = client.call(tool, arguments);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text(&refused).contains(expected), "{refused}");
    }
    let unknown = client.ask("tools/call", json!({"name": "no_tool", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn end_of_a_loop_is_decided_turn_by_turn() {
    let conclave = Conclave::new();
    let mut client = Client::legacy(&conclave, &[]);
    let mut turn = |message: &str, checklist: &str| {
        let arguments = json!({"message": message, "checklist": checklist, "loop": "a"});
        client.call("exit_check", arguments)["structuredContent"].clone()
    };
    let first = turn("I wrote the parser.", "- [x] parser\n- [ ] printer\n");
    assert_eq!(
        (&first["may_stop"], &first["turn"]),
        (&json!(false), &json!(1))
    );
    let last = turn(
        "All tasks are done.\nEXIT_SIGNAL: true",
        "- [x] parser\n- [x] printer\n",
    );
    assert_eq!(
        (&last["may_stop"], &last["turn"]),
        (&json!(true), &json!(2)),
        "{last}"
    );
}

#[test]
fn clients_are_set_up_by_printed_lines() {
    for client in ["claude", "codex", "vscode", "cursor", "zed"] {
        let printed = Conclave::new().run(&["mcp", "--print-config", client]);
        assert_eq!(printed.code, Some(0));
        assert!(
            printed.stdout.contains("conclave") && !printed.stdout.contains("==="),
            "{client}"
        );
    }
}
