//! A client of either era.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

const LEGACY: &str = "2025-06-18";
const MODERN: &str = "2026-07-28";

/// A client of the era of `initialize`, or of the one without.
pub(in crate::commands) struct Client {
    pub(in crate::commands) child: Child,
    pub(in crate::commands) input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    capabilities: Value,
    is_modern: bool,
    next_id: u64,
    /// Messages beside the answers.
    pub(in crate::commands) notices: Vec<Value>,
}

impl Client {
    pub(in crate::commands) fn start(
        conclave: &Conclave,
        arguments: &[&str],
        is_modern: bool,
        capabilities: Value,
    ) -> Self {
        let mut command = conclave.command();
        command.arg("mcp").args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            input: child.stdin.take(),
            child,
            output,
            capabilities,
            is_modern,
            next_id: 1,
            notices: Vec::new(),
        };
        if !is_modern {
            let begun = client.ask(
                "initialize",
                json!({"protocolVersion": LEGACY, "capabilities": client.capabilities,
                    "clientInfo": {"name": "test", "version": "1"}}),
            );
            assert_eq!(begun["result"]["protocolVersion"], LEGACY);
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    pub(in crate::commands) fn legacy(conclave: &Conclave, arguments: &[&str]) -> Self {
        Self::start(conclave, arguments, false, json!({}))
    }

    pub(in crate::commands) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// Every line of standard output is a message of the protocol.
    pub(in crate::commands) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    pub(in crate::commands) fn begin(&mut self, method: &str, mut parameters: Value) -> u64 {
        if self.is_modern {
            let meta = &mut parameters["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        self.send(&request);
        id
    }

    pub(in crate::commands) fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notices.push(message);
        }
    }

    pub(in crate::commands) fn answer_in_any_order(&mut self, id: u64) -> Value {
        let early = self.notices.iter().position(|it| it["id"] == id);
        match early {
            Some(at) => self.notices.remove(at),
            None => self.answer_to(id),
        }
    }

    pub(in crate::commands) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.answer_to(id)
    }

    pub(in crate::commands) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Ends the input, and returns the exit code.
    pub(in crate::commands) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(in crate::commands) fn cheap(server: &ProviderServer) -> Conclave {
    Conclave::at(server).config(r#"{"always_allow_under": 50}"#)
}

pub(in crate::commands) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}
