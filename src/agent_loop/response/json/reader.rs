//! A JSON document, or a list of documents, as it arrives.

use super::builder::Builder;
use super::node::{LONGEST_KEY, Node};
use super::string::{StringProgress, StringReader};
use crate::agent_loop::response::limits;
use crate::agent_loop::response::tail::TextTail;

/// Reads one value of JSON. The elements of a list at the top are documents of their own: Claude
/// Code prints its stream also in this form.
#[derive(Debug, Default)]
pub(crate) struct JsonReader {
    state: ReaderState,
    builder: Builder,
    /// The value is a list of documents.
    is_list: bool,
}

#[derive(Debug, Default)]
enum ReaderState {
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

/// Where the reader is after some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JsonProgress {
    Open,
    Document(Node),
    /// The end of the list of documents.
    Closed,
    /// This is not JSON.
    Broken,
}

impl JsonReader {
    /// Returns whether the value is complete.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, ReaderState::Done)
    }

    /// Returns whether a document has begun and is not complete.
    pub(crate) fn is_in_document(&self) -> bool {
        !self.builder.is_at_top()
    }

    /// Returns the bytes that are held.
    pub(crate) fn held(&self) -> usize {
        let string = match &self.state {
            ReaderState::InKey(string) | ReaderState::InText(string) => string.held(),
            _ => 0,
        };
        string + self.builder.held()
    }

    /// Takes bytes up to the end of a document, and returns how many those were.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> (usize, JsonProgress) {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let (taken, progress) = self.step(rest);
            used += taken;
            if progress != JsonProgress::Open {
                return (used, progress);
            }
        }
        (used, JsonProgress::Open)
    }

    /// Returns what there is of a document that ends early.
    pub(crate) fn finish(mut self) -> Option<Node> {
        if let ReaderState::InText(string) = self.state {
            self.builder.store(text_of(string));
        }
        self.builder.finish()
    }

    fn step(&mut self, bytes: &[u8]) -> (usize, JsonProgress) {
        match &mut self.state {
            ReaderState::InKey(string) | ReaderState::InText(string) => match string.feed(bytes) {
                (taken, StringProgress::Open) => (taken, JsonProgress::Open),
                (taken, StringProgress::Closed) => (taken, self.end_string()),
                (taken, StringProgress::Broken) => (taken, JsonProgress::Broken),
            },
            ReaderState::InLiteral(literal) => {
                let end = bytes.iter().position(|byte| !is_of_literal(*byte));
                let taken = end.unwrap_or(bytes.len());
                let room = limits::LITERAL.saturating_sub(literal.len());
                literal.extend(bytes.iter().take(taken.min(room)));
                match end {
                    Some(_) => (taken, self.end_literal()),
                    None => (taken, JsonProgress::Open),
                }
            }
            ReaderState::Skipping { .. } => self.skip(bytes),
            ReaderState::Done => (0, JsonProgress::Closed),
            ReaderState::Value
            | ReaderState::ValueOrEnd
            | ReaderState::KeyOrEnd
            | ReaderState::Key
            | ReaderState::Colon
            | ReaderState::CommaOrEnd => self.structure(bytes),
        }
    }

    /// Takes what is between values.
    fn structure(&mut self, bytes: &[u8]) -> (usize, JsonProgress) {
        let blank = bytes.iter().take_while(|byte| byte.is_ascii_whitespace());
        let blank = blank.count();
        let Some(byte) = bytes.get(blank) else {
            return (blank, JsonProgress::Open);
        };
        let progress = match (&self.state, byte) {
            (ReaderState::KeyOrEnd | ReaderState::CommaOrEnd, b'}') => {
                match self.builder.close_object() {
                    Some(object) => self.complete(Some(object)),
                    None => JsonProgress::Broken,
                }
            }
            (ReaderState::ValueOrEnd | ReaderState::CommaOrEnd, b']') => self.close_list(),
            (ReaderState::CommaOrEnd, b',') => {
                self.state = if self.builder.is_in_object() {
                    ReaderState::Key
                } else {
                    ReaderState::Value
                };
                JsonProgress::Open
            }
            (ReaderState::KeyOrEnd | ReaderState::Key, b'"') => {
                let name = TextTail::new(LONGEST_KEY);
                self.state = ReaderState::InKey(StringReader::new(Some(name)));
                JsonProgress::Open
            }
            (ReaderState::Colon, b':') => {
                self.state = ReaderState::Value;
                JsonProgress::Open
            }
            (ReaderState::Value | ReaderState::ValueOrEnd, first) if is_of_literal(*first) => {
                self.state = ReaderState::InLiteral(Vec::new());
                return (blank, JsonProgress::Open);
            }
            (ReaderState::Value | ReaderState::ValueOrEnd, first) => self.begin_value(*first),
            _ => JsonProgress::Broken,
        };
        match progress {
            JsonProgress::Broken => (blank, JsonProgress::Broken),
            progress => (blank + 1, progress),
        }
    }

    fn begin_value(&mut self, first: u8) -> JsonProgress {
        self.state = match first {
            b'"' => {
                let text = self.builder.text_limit().map(TextTail::new);
                ReaderState::InText(StringReader::new(text))
            }
            b'[' if self.builder.is_at_top() && !self.is_list => {
                self.is_list = true;
                ReaderState::ValueOrEnd
            }
            b'{' | b'[' if !self.builder.stores_container() => ReaderState::Skipping {
                depth: 1,
                string: None,
            },
            b'{' => {
                self.builder.open_object();
                ReaderState::KeyOrEnd
            }
            b'[' => {
                self.builder.open_list();
                ReaderState::ValueOrEnd
            }
            _ => return JsonProgress::Broken,
        };
        JsonProgress::Open
    }

    fn end_string(&mut self) -> JsonProgress {
        match std::mem::replace(&mut self.state, ReaderState::Colon) {
            ReaderState::InKey(string) => {
                let name = string.finish().map(TextTail::finish).unwrap_or_default();
                self.builder.set_key(&name);
                JsonProgress::Open
            }
            ReaderState::InText(string) => self.complete(text_of(string)),
            _ => JsonProgress::Broken,
        }
    }

    fn end_literal(&mut self) -> JsonProgress {
        let ReaderState::InLiteral(literal) = std::mem::take(&mut self.state) else {
            return JsonProgress::Broken;
        };
        let node = match literal.as_slice() {
            b"null" => Node::Null,
            b"true" => Node::Bool(true),
            b"false" => Node::Bool(false),
            [b'-' | b'0'..=b'9', ..] => {
                let digits = std::str::from_utf8(&literal).unwrap_or_default();
                Node::Number(digits.parse().ok())
            }
            _ => return JsonProgress::Broken,
        };
        let node = self.builder.stores_value().then_some(node);
        self.complete(node)
    }

    /// Passes over a container that is not stored.
    fn skip(&mut self, bytes: &[u8]) -> (usize, JsonProgress) {
        let ReaderState::Skipping { depth, string } = &mut self.state else {
            return (0, JsonProgress::Broken);
        };
        if let Some(reader) = string {
            return match reader.feed(bytes) {
                (taken, StringProgress::Broken) => (taken, JsonProgress::Broken),
                (taken, StringProgress::Open) => (taken, JsonProgress::Open),
                (taken, StringProgress::Closed) => {
                    *string = None;
                    (taken, JsonProgress::Open)
                }
            };
        }
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    *string = Some(StringReader::new(None));
                    return (index + 1, JsonProgress::Open);
                }
                b'{' | b'[' => *depth += 1,
                b'}' | b']' => *depth -= 1,
                _ => {}
            }
            if *depth == 0 {
                let node = self.builder.stores_value().then_some(Node::Skipped);
                return (index + 1, self.complete(node));
            }
        }
        (bytes.len(), JsonProgress::Open)
    }

    fn close_list(&mut self) -> JsonProgress {
        if self.builder.is_at_top() && self.is_list {
            self.state = ReaderState::Done;
            return JsonProgress::Closed;
        }
        match self.builder.close_list() {
            Some(list) => self.complete(Some(list)),
            None => JsonProgress::Broken,
        }
    }

    /// Ends a value, which may be the document.
    fn complete(&mut self, value: Option<Node>) -> JsonProgress {
        self.state = ReaderState::CommaOrEnd;
        match self.builder.store(value) {
            None => JsonProgress::Open,
            Some(document) => {
                if !self.is_list {
                    self.state = ReaderState::Done;
                }
                JsonProgress::Document(document)
            }
        }
    }
}

fn text_of(string: StringReader) -> Option<Node> {
    string.finish().map(|text| Node::Text(text.finish()))
}

/// Returns whether a byte can be part of a number, `true`, `false` or `null`.
fn is_of_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}
