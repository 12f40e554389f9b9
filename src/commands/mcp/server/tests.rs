//! A form that the person leaves open: both eras, on a clock that is moved on.

use std::collections::BTreeSet;

use rmcp::ServiceExt as _;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    duplex, split,
};
use tokio::time::advance;

use super::*;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::domain::cost::money::MicroUsd;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::pool::PoolRules;
use crate::engine::ports::silent::SilentFace;
use crate::session::index::IndexQueue;

const CEILING: MicroUsd = MicroUsd(9_000_000);

/// A server that asks about every cost, with keys for vendors that nothing reaches.
fn server() -> (TempDir, IndexQueue, Server) {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::of([
        ("CONCLAVE_HOME", folder.path().to_str().unwrap()),
        ("CONCLAVE_LOCAL_SERVERS", "none"),
        ("CONCLAVE_ALWAYS_ALLOW_UNDER", "0"),
        ("ANTHROPIC_API_KEY", "sk-ant-1"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
    ]);
    let (home, clock) = (Home::at(folder.path()), Clock::starting(Timestamp(0)));
    let index = IndexQueue::start(&home, clock.now());
    let dispatcher = Dispatcher::new(clock, PoolRules::seeded(1));
    let host = Host::new(
        (environment, home),
        Box::new(SilentFace),
        clock,
        (Vec::new(), false),
        Some(CEILING),
        (dispatcher, index.sender()),
    );
    (folder, index, Server::new(host, Vec::new(), None))
}

/// The client's ends of the pipes.
struct Client(
    Lines<BufReader<ReadHalf<DuplexStream>>>,
    WriteHalf<DuplexStream>,
);

impl Client {
    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let line = format!("{message}\n");
        self.1.write_all(line.as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let line = self.0.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

/// Serves this client until it ends.
async fn serve(server: Server, client: impl AsyncFnOnce(Client)) {
    let (near, far) = duplex(1 << 20);
    let (output, input) = split(near);
    let client = Box::pin(client(Client(BufReader::new(output).lines(), input)));
    let serving = Box::pin(server.serve(far));
    let serving = async { serving.await.unwrap().waiting().await };
    tokio::select! {
        ended = serving => panic!("{ended:?}"),
        () = client => {}
    }
}

fn assert_that_nothing_is_kept(server: &Server, folder: &TempDir) {
    assert!(server.asked.lock().unwrap().is_empty());
    assert_eq!(server.host.left(), Some(CEILING));
    let begun = folder.path().join("consult-logs").read_dir();
    assert_eq!(begun.map_or(0, Iterator::count), 0);
}

#[tokio::test(start_paused = true)]
async fn form_that_stays_open_is_withdrawn_after_ten_minutes() {
    let (folder, _index, server) = server();
    serve(server.clone(), async |mut client| {
        let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "1"}});
        let arguments = json!({"question": "Why?"});
        let call = json!({"name": "consult", "arguments": arguments});
        for message in [
            json!({"id": 1, "method": "initialize", "params": begin}),
            json!({"method": "notifications/initialized"}),
            json!({"id": 2, "method": "tools/call", "params": call}),
        ] {
            client.send(message).await;
        }
        client.receive().await;
        let (asked, since) = (client.receive().await, Instant::now());
        assert_eq!(asked["method"], "elicitation/create");
        // The client closes the form.
        let withdrawn = client.receive().await;
        assert_eq!(withdrawn["method"], "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
        let answer = client.receive().await;
        assert_eq!(since.elapsed().as_secs(), 600);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(answer["result"]["isError"], true);
        assert!(text.contains("the person gave no answer"), "{text}");
        assert!(text.contains("`max_cost`"), "{text}");
        // Too late.
        let late = json!({"action": "accept", "content": {}});
        client
            .send(json!({"id": asked["id"], "result": late}))
            .await;
        client.send(json!({"id": 3, "method": "ping"})).await;
        assert_eq!(client.receive().await["id"], 3);
    })
    .await;
    assert_that_nothing_is_kept(&server, &folder);
}

#[tokio::test(start_paused = true)]
async fn answer_to_a_form_of_more_than_ten_minutes_ago_is_asked_for_again() {
    let (folder, _index, server) = server();
    serve(server.clone(), async |mut client| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}});
        let mut call = json!({"name": "consult", "arguments": {"question": "Why?"}, "_meta": meta});
        let mut states = BTreeSet::new();
        // The third answer is in time.
        for action in ["accept", "accept", "decline"] {
            client
                .send(json!({"id": 1, "method": "tools/call", "params": call}))
                .await;
            let asked = client.receive().await["result"].clone();
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            states.insert(asked["requestState"].to_string());
            call["requestState"] = asked["requestState"].clone();
            call["inputResponses"] = json!({"consent": {"action": action, "content": {}}});
            if action == "accept" {
                advance(ANSWER).await;
            }
        }
        assert_eq!(states.len(), 3);
        client
            .send(json!({"id": 1, "method": "tools/call", "params": call}))
            .await;
        let declined = client.receive().await["result"].clone();
        let text = declined["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("it was declined"), "{text}");
    })
    .await;
    assert_that_nothing_is_kept(&server, &folder);
}
