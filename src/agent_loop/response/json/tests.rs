use super::node::Node;
use super::reader::{JsonProgress, JsonReader};
use crate::agent_loop::response::limits;

/// Returns the documents of some JSON, and whether it is JSON up to its end.
fn read(json: &str) -> (Vec<Node>, bool) {
    let mut reader = JsonReader::default();
    let mut documents = Vec::new();
    let mut rest = json.as_bytes();
    while !rest.is_empty() {
        let (taken, progress) = reader.feed(rest);
        rest = &rest[taken..];
        match progress {
            JsonProgress::Open => {}
            JsonProgress::Document(document) => documents.push(document),
            JsonProgress::Closed => return (documents, true),
            JsonProgress::Broken => return (documents, false),
        }
        if reader.is_closed() {
            return (documents, true);
        }
    }
    documents.extend(reader.finish());
    (documents, false)
}

fn document(json: &str) -> Node {
    let (mut documents, is_whole) = read(json);
    assert!(is_whole, "{json}");
    assert_eq!(documents.len(), 1, "{json}");
    documents.remove(0)
}

#[test]
fn members_that_matter_are_stored() {
    let node = document(r#" {"usage":{"text":1,"a":["}"]},"text":"a","code":-7,"status":null}"#);
    assert_eq!(node.text("text"), Some("a"));
    assert_eq!(node.number("code"), Some(-7));
    assert_eq!(node.get("status"), Some(&Node::Null));
    assert_eq!(node.get("usage"), None);
}

#[test]
fn a_list_is_read_element_by_element() {
    let (documents, is_whole) = read(r#"[{"id":"1"}, [2], "three", {"id":"4"}]"#);
    assert!(is_whole);
    assert_eq!(documents.len(), 4);
    assert_eq!(documents[3].text("id"), Some("4"));
    assert_eq!(read("[]"), (vec![], true));
}

#[test]
fn what_is_not_json_is_noticed() {
    for broken in [
        "{a",
        "{\"a\" 1}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1 2]",
        "{]",
        "[}",
        "{,}",
        "{\"a\":tru}",
        "{\"text\":\"a\nb\"}",
        "{\"zzz\":\"a\nb\"}",
        "{\"zzz\":[\"a\nb\"]}",
        "[1,]}",
        "[[1,]]",
    ] {
        assert!(!read(broken).1, "{broken}");
    }
}

#[test]
fn a_document_that_ends_early_gives_what_there_is() {
    let (documents, _) = read(r#"{"type":"a","message":{"content":[{"text":"be"},{"text":"gu"#);
    let content = documents[0].get("message").unwrap().get("content").unwrap();
    assert_eq!(content.elements()[1].text("text"), Some("gu"));
    assert_eq!(read("[").0, []);
    assert_eq!(read("\"te").0, []);
}

#[test]
fn numbers_of_any_size_are_read() {
    let node = document(r#"{"code":1e400,"exit_code":99999999999999999999,"status":0.5}"#);
    assert_eq!(node.get("code"), Some(&Node::Number(None)));
    assert_eq!(node.number("exit_code"), None);
    assert_eq!(
        document(&format!("{{\"code\":{}}}", "1".repeat(100_000))).number("code"),
        None
    );
}

#[test]
fn depth_has_no_limit() {
    for (open, close) in [("[", "]"), ("{\"text\":", "}"), ("{\"zzz\":", "}")] {
        let depth = 100_000;
        let json = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(read(&json).0.len(), 1);
        assert!(read(&json).1);
    }
}

#[test]
fn what_is_stored_of_a_document_is_bounded() {
    let text = "a".repeat(100_000);
    let many = format!("{{\"content\":[{}1]}}", format!("\"{text}\",").repeat(100));
    assert!(document(&many).text_bytes() <= limits::DOCUMENT_TEXT);
    let many = format!(
        "{{\"content\":[{}1],\"text\":\"a\"}}",
        "[],{},".repeat(50_000)
    );
    let node = document(&many);
    assert!(node.get("content").unwrap().elements().len() <= limits::DOCUMENT_NODES);
}
