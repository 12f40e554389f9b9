//! A large context at the gate and in the requests.

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

/// Writes a file of about 14,000 tokens, and returns its path.
fn large_file(conclave: &Conclave) -> String {
    let path = conclave.folder().join("big.txt");
    std::fs::write(&path, "let total = price * amount;\n".repeat(2_000)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn large_context_without_a_terminal_is_refused_with_its_size() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let file = large_file(&conclave);
    let output = conclave
        .run(&["consult", "Shall we?", "--file", &file])
        .ends_with(3);
    output.assert_stderr_contains("⚠️ Large context detected (~14,0");
    output.assert_stderr_contains("This may increase cost and response time.\n");
    output.assert_stderr_contains("agree to it with `--yes`");
    assert!(server.requests().is_empty());
}

#[test]
fn every_round_sends_an_agreed_large_context_first() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let file = large_file(&conclave);
    conclave
        .run(&["consult", "Shall we?", "--yes", "--file", &file])
        .ends_with(0);
    let requests = server.requests();
    // Without a schema the server's answers are repaired.
    assert!(requests.len() >= 9);
    for request in requests {
        let body = request.body.to_string();
        let context = body.find("### File: ").unwrap();
        assert!(body.contains("let total = price * amount;"));
        assert!(context < body.rfind("Shall we?").unwrap());
        assert!(context < body.rfind("JSON object").unwrap());
    }
    let record = conclave.record();
    assert_eq!(record["context"]["sources"][0]["kind"], "file");
}

/// Returns the context of a dry run whose only file makes it so long, headings included.
fn context_of(bytes: usize) -> Value {
    let around = "### File: notes.txt\n\n\n\n".len();
    let mut text = "word ".repeat(bytes / 5);
    text.truncate(bytes - around - 1);
    text.push('.');
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    std::fs::write(conclave.folder().join("notes.txt"), text).unwrap();
    let arguments = ["Shall we?", "--dry-run", "--json", "-f", "notes.txt"];
    let shown = conclave
        .run(&[&["consult"][..], &arguments[..]].concat())
        .ends_with(0)
        .json();
    assert_eq!(shown["context"]["bytes"], bytes);
    shown["context"].clone()
}

#[test]
fn tokenizer_counts_a_context_from_10_000_tokens_on() {
    let below = context_of(9_999 * 4);
    assert_eq!(below["counted_by"], "ratio");
    assert_eq!(below["tokens"], 9_999);
    let from = context_of(9_999 * 4 + 1);
    assert_eq!(from["counted_by"], "o200k");
    let tokens = from["tokens"].as_u64().unwrap();
    assert!((7_900..8_100).contains(&tokens), "{tokens}");
}
