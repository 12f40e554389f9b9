//! A JSON document, or a list of documents, as it arrives.

use memchr::memchr;

use super::node::{LONGEST_KEY, Node, stored_key};
use super::string::{StringProgress, StringReader};
use crate::agent_loop::response::limits;
use crate::agent_loop::response::tail::TextTail;

/// Reads one value of JSON. The elements of a list at the top are documents of their own: Claude
/// Code prints its stream also in this form.
#[derive(Debug, Default)]
pub(in crate::agent_loop::response) struct JsonReader {
    state: State,
    /// The containers of the current document that are open and stored.
    open: Vec<Container>,
    is_list: bool,
    /// The nodes of the current document.
    nodes: usize,
    /// The bytes of the current document's finished texts.
    text_bytes: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    InKey(StringReader),
    InText(StringReader),
    InLiteral(Vec<u8>),
    /// Within a container that is not stored, at a depth of at least 1.
    Skipping {
        depth: usize,
        string: Option<StringReader>,
    },
    Done,
}

#[derive(Debug)]
enum Container {
    List(Vec<Node>),
    Object {
        members: Vec<(&'static str, Node)>,
        /// The key of the value that comes; `None` when it is not stored.
        key: Option<&'static str>,
    },
}

/// Where the reader is after some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::agent_loop::response) enum Progress {
    Open,
    Document(Node),
    /// The end of the value, or of the list of documents.
    Closed,
    /// This is not JSON.
    Broken,
}

impl JsonReader {
    /// Returns whether the value is complete.
    pub(in crate::agent_loop::response) fn is_closed(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Returns the bytes that are held.
    pub(in crate::agent_loop::response) fn held(&self) -> usize {
        let string = match &self.state {
            State::InKey(string) | State::InText(string) => string.held(),
            _ => 0,
        };
        string + self.text_bytes + self.nodes * size_of::<(&str, Node)>()
    }

    /// Takes bytes up to the end of a document, and returns how many those were.
    pub(in crate::agent_loop::response) fn feed(&mut self, bytes: &[u8]) -> (usize, Progress) {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let (taken, progress) = self.step(rest);
            used += taken;
            if progress != Progress::Open {
                return (used, progress);
            }
        }
        (used, Progress::Open)
    }

    /// Returns what there is of a document that ends early.
    pub(in crate::agent_loop::response) fn finish(mut self) -> Option<Node> {
        if let State::InText(string) = std::mem::take(&mut self.state) {
            let text = self.finish_text(string);
            self.store(text);
        }
        while let Some(container) = self.open.pop() {
            let node = container.close();
            if self.open.is_empty() {
                return Some(node);
            }
            self.store(Some(node));
        }
        None
    }

    fn step(&mut self, bytes: &[u8]) -> (usize, Progress) {
        match &mut self.state {
            State::InKey(string) => {
                let (taken, progress) = string.feed(bytes);
                (taken, self.after_key(progress))
            }
            State::InText(string) => {
                let (taken, progress) = string.feed(bytes);
                (taken, self.after_text(progress))
            }
            State::InLiteral(literal) => {
                let end = bytes.iter().position(|byte| !is_of_literal(*byte));
                let taken = end.unwrap_or(bytes.len());
                let room = limits::LITERAL.saturating_sub(literal.len());
                literal.extend(bytes.iter().take(taken.min(room)));
                match end {
                    Some(_) => (taken, self.after_literal()),
                    None => (taken, Progress::Open),
                }
            }
            State::Skipping { .. } => self.skip(bytes),
            State::Done => (0, Progress::Closed),
            State::Value
            | State::ValueOrEnd
            | State::KeyOrEnd
            | State::Key
            | State::Colon
            | State::CommaOrEnd => self.structure(bytes),
        }
    }

    /// Takes one byte between values.
    fn structure(&mut self, bytes: &[u8]) -> (usize, Progress) {
        let Some(byte) = bytes.first() else {
            return (0, Progress::Open);
        };
        if byte.is_ascii_whitespace() {
            let blank = bytes.iter().take_while(|byte| byte.is_ascii_whitespace());
            return (blank.count(), Progress::Open);
        }
        let progress = match (&self.state, byte) {
            (State::KeyOrEnd | State::CommaOrEnd, b'}') => self.close_object(),
            (State::ValueOrEnd | State::CommaOrEnd, b']') => self.close_list(),
            (State::CommaOrEnd, b',') => {
                self.state = match self.open.last() {
                    Some(Container::Object { .. }) => State::Key,
                    Some(Container::List(_)) | None => State::Value,
                };
                Progress::Open
            }
            (State::KeyOrEnd | State::Key, b'"') => {
                let name = TextTail::new(LONGEST_KEY);
                self.state = State::InKey(StringReader::new(Some(name)));
                Progress::Open
            }
            (State::Colon, b':') => {
                self.state = State::Value;
                Progress::Open
            }
            (State::Value | State::ValueOrEnd, _) => return self.begin_value(bytes, *byte),
            _ => Progress::Broken,
        };
        (usize::from(progress != Progress::Broken), progress)
    }

    fn begin_value(&mut self, bytes: &[u8], first: u8) -> (usize, Progress) {
        let at_top = self.open.is_empty();
        match first {
            b'"' => {
                let text = self.is_stored().then(|| TextTail::new(self.text_limit()));
                self.state = State::InText(StringReader::new(text));
            }
            b'[' if at_top && !self.is_list => {
                self.is_list = true;
                self.state = State::ValueOrEnd;
            }
            b'{' | b'[' if !self.is_stored() || self.is_full() => {
                self.state = State::Skipping {
                    depth: 1,
                    string: None,
                };
            }
            b'{' => self.open(
                Container::Object {
                    members: Vec::new(),
                    key: None,
                },
                State::KeyOrEnd,
            ),
            b'[' => self.open(Container::List(Vec::new()), State::ValueOrEnd),
            _ if is_of_literal(first) && bytes.first() == Some(&first) => {
                self.state = State::InLiteral(Vec::new());
                return (0, Progress::Open);
            }
            _ => return (0, Progress::Broken),
        }
        (1, Progress::Open)
    }

    fn open(&mut self, container: Container, state: State) {
        self.nodes += 1;
        self.open.push(container);
        self.state = state;
    }

    fn after_key(&mut self, progress: StringProgress) -> Progress {
        match progress {
            StringProgress::Open => return Progress::Open,
            StringProgress::Broken => return Progress::Broken,
            StringProgress::Closed => {}
        }
        let State::InKey(string) = std::mem::replace(&mut self.state, State::Colon) else {
            return Progress::Broken;
        };
        let name = string.finish().map(TextTail::finish).unwrap_or_default();
        if let Some(Container::Object { key, .. }) = self.open.last_mut() {
            *key = stored_key(name.text.as_bytes()).filter(|_| !name.is_cut);
        }
        Progress::Open
    }

    fn after_text(&mut self, progress: StringProgress) -> Progress {
        match progress {
            StringProgress::Open => return Progress::Open,
            StringProgress::Broken => return Progress::Broken,
            StringProgress::Closed => {}
        }
        let State::InText(string) = std::mem::take(&mut self.state) else {
            return Progress::Broken;
        };
        let text = self.finish_text(string);
        self.complete(text)
    }

    fn finish_text(&mut self, string: StringReader) -> Option<Node> {
        let excerpt = string.finish()?.finish();
        self.text_bytes += excerpt.text.len();
        Some(Node::Text(excerpt))
    }

    fn after_literal(&mut self) -> Progress {
        let State::InLiteral(literal) = std::mem::take(&mut self.state) else {
            return Progress::Broken;
        };
        let node = match literal.as_slice() {
            b"null" => Node::Null,
            b"true" => Node::Bool(true),
            b"false" => Node::Bool(false),
            [b'-' | b'0'..=b'9', ..] => {
                let digits = std::str::from_utf8(&literal).unwrap_or_default();
                Node::Number(digits.parse().ok())
            }
            _ => return Progress::Broken,
        };
        let node = self.is_stored().then_some(node);
        self.complete(node)
    }

    /// Passes over a container that is not stored.
    fn skip(&mut self, bytes: &[u8]) -> (usize, Progress) {
        let State::Skipping { depth, string } = &mut self.state else {
            return (0, Progress::Broken);
        };
        if let Some(reader) = string {
            let (taken, progress) = reader.feed(bytes);
            return match progress {
                StringProgress::Open => (taken, Progress::Open),
                StringProgress::Broken => (taken, Progress::Broken),
                StringProgress::Closed => {
                    *string = None;
                    (taken, Progress::Open)
                }
            };
        }
        let end = memchr(b'"', bytes).unwrap_or(bytes.len());
        for (index, byte) in bytes.iter().take(end).enumerate() {
            match byte {
                b'{' | b'[' => *depth += 1,
                b'}' | b']' => *depth -= 1,
                _ => {}
            }
            if *depth == 0 {
                let node = self.is_stored().then_some(Node::Skipped);
                return (index + 1, self.complete(node));
            }
        }
        if end < bytes.len() {
            *string = Some(StringReader::new(None));
            return (end + 1, Progress::Open);
        }
        (end, Progress::Open)
    }

    fn close_object(&mut self) -> Progress {
        match self.open.pop() {
            Some(object @ Container::Object { .. }) => self.complete(Some(object.close())),
            Some(Container::List(_)) | None => Progress::Broken,
        }
    }

    fn close_list(&mut self) -> Progress {
        match self.open.pop() {
            Some(list @ Container::List(_)) => self.complete(Some(list.close())),
            None if self.is_list => {
                self.state = State::Done;
                Progress::Closed
            }
            Some(Container::Object { .. }) | None => Progress::Broken,
        }
    }

    /// Ends a value: of an open container, or a document.
    fn complete(&mut self, node: Option<Node>) -> Progress {
        self.state = State::CommaOrEnd;
        if !self.open.is_empty() {
            self.store(node);
            return Progress::Open;
        }
        if !self.is_list {
            self.state = State::Done;
        }
        self.nodes = 0;
        self.text_bytes = 0;
        Progress::Document(node.unwrap_or(Node::Skipped))
    }

    fn store(&mut self, node: Option<Node>) {
        let Some(node) = node else { return };
        self.nodes += 1;
        match self.open.last_mut() {
            Some(Container::List(elements)) => elements.push(node),
            Some(Container::Object { members, key }) => {
                members.extend(key.take().map(|key| (key, node)));
            }
            None => {}
        }
    }

    /// Returns whether the value that comes is stored.
    fn is_stored(&self) -> bool {
        match self.open.last() {
            Some(Container::Object { key, .. }) => key.is_some() && !self.has_enough_nodes(),
            Some(Container::List(_)) => !self.has_enough_nodes(),
            None => true,
        }
    }

    fn has_enough_nodes(&self) -> bool {
        self.nodes >= limits::DOCUMENT_NODES
    }

    /// Returns whether no further container is stored within those that are open.
    fn is_full(&self) -> bool {
        self.open.len() >= limits::DOCUMENT_DEPTH || self.has_enough_nodes()
    }

    /// Returns the limit of the next text: half of what is left, so that there is always some left.
    fn text_limit(&self) -> usize {
        let left = limits::DOCUMENT_TEXT.saturating_sub(self.text_bytes);
        (left / 2).min(limits::MESSAGE)
    }
}

impl Container {
    fn close(self) -> Node {
        match self {
            Self::List(elements) => Node::List(elements),
            Self::Object { members, .. } => Node::Object(members),
        }
    }
}

/// Returns whether a byte can be part of a number, `true`, `false` or `null`.
fn is_of_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the documents of some JSON, and whether it is JSON up to its end.
    fn read(json: &str) -> (Vec<Node>, bool) {
        let mut reader = JsonReader::default();
        let mut documents = Vec::new();
        let mut rest = json.as_bytes();
        while !rest.is_empty() {
            let (taken, progress) = reader.feed(rest);
            rest = &rest[taken..];
            match progress {
                Progress::Open => {}
                Progress::Document(document) => documents.push(document),
                Progress::Closed => return (documents, true),
                Progress::Broken => return (documents, false),
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
        let node =
            document(r#" {"usage":{"text":1,"a":["}"]},"text":"a","code":-7,"status":null}"#);
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
        let most = limits::DOCUMENT_TEXT + limits::DOCUMENT_NODES;
        assert!(document(&many).text_bytes() <= most);
        let many = format!(
            "{{\"content\":[{}1],\"text\":\"a\"}}",
            "[],{},".repeat(50_000)
        );
        let node = document(&many);
        assert!(node.get("content").unwrap().elements().len() <= limits::DOCUMENT_NODES);
    }
}
