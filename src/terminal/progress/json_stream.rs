//! Reads JSON while it is being written and yields its strings: each value as it grows, under the
//! name of its field. Pure.
//!
//! A model may put words around the JSON, or write none at all: text that is not JSON passes
//! unchanged, without code fences. Invariant: the output does not depend on how the text is cut
//! into pieces.

mod string_decoder;

use string_decoder::StringDecoder;

/// A piece of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum JsonFragment {
    /// A string value of this field begins; its text follows.
    Field(String),
    Text(String),
    /// The string value is complete.
    End,
}

/// A reader of one text.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct StreamedJson {
    state: ReaderState,
    parts: Vec<JsonFragment>,
}

#[derive(Clone, Debug)]
enum ReaderState {
    /// Prose at the start of a line, with the characters that may still turn out to be a fence or
    /// JSON.
    LineStart(String),
    /// Prose further on in a line.
    Prose,
    /// The line that opens or closes a fence.
    Fence,
    /// A brace at the start of a line: JSON if a name follows.
    Brace(String),
    Json(JsonPosition),
}

/// The position within JSON.
#[derive(Clone, Debug)]
struct JsonPosition {
    containers: Vec<JsonContainer>,
    string: Option<OpenString>,
}

/// A string that has not ended.
#[derive(Clone, Debug)]
struct OpenString {
    role: StringRole,
    decoder: StringDecoder,
    /// The string itself, if it is a name.
    name: String,
}

#[derive(Clone, Debug)]
enum JsonContainer {
    Object { name: String, next: StringRole },
    List,
}

/// The role of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringRole {
    Name,
    Value,
}

impl Default for ReaderState {
    fn default() -> Self {
        Self::LineStart(String::new())
    }
}

impl StreamedJson {
    /// Reads the next piece and returns its output.
    pub(in crate::terminal) fn read(&mut self, piece: &str) -> Vec<JsonFragment> {
        for c in piece.chars() {
            self.state = match std::mem::take(&mut self.state) {
                ReaderState::LineStart(held) => self.line_start(held, c),
                ReaderState::Prose => {
                    self.text(c);
                    if c == '\n' {
                        ReaderState::default()
                    } else {
                        ReaderState::Prose
                    }
                }
                ReaderState::Fence => match c {
                    '\n' => ReaderState::default(),
                    '{' => ReaderState::Brace(c.to_string()),
                    _ => ReaderState::Fence,
                },
                ReaderState::Brace(held) => self.brace(held, c),
                ReaderState::Json(json) => self.json(json, c),
            };
        }
        std::mem::take(&mut self.parts)
    }

    /// Returns the output that was held back, at the end of the text.
    pub(in crate::terminal) fn finish(&mut self) -> Vec<JsonFragment> {
        match std::mem::take(&mut self.state) {
            ReaderState::LineStart(held) | ReaderState::Brace(held) => {
                held.chars().for_each(|c| self.text(c));
            }
            ReaderState::Json(JsonPosition {
                string:
                    Some(OpenString {
                        role: StringRole::Value,
                        mut decoder,
                        ..
                    }),
                ..
            }) => {
                if let Some(replacement) = decoder.lone_half() {
                    self.text(replacement);
                }
                self.parts.push(JsonFragment::End);
            }
            ReaderState::Prose | ReaderState::Fence | ReaderState::Json(_) => {}
        }
        std::mem::take(&mut self.parts)
    }

    fn line_start(&mut self, mut held: String, c: char) -> ReaderState {
        let blank = held.trim().is_empty();
        held.push(c);
        match c {
            '\n' => {
                held.chars().for_each(|c| self.text(c));
                ReaderState::default()
            }
            '{' if blank => ReaderState::Brace(held),
            '`' if held.trim() == "```" => ReaderState::Fence,
            '`' if held.trim().chars().all(|c| c == '`') => ReaderState::LineStart(held),
            c if c.is_whitespace() && blank => ReaderState::LineStart(held),
            _ => {
                held.chars().for_each(|c| self.text(c));
                ReaderState::Prose
            }
        }
    }

    fn brace(&mut self, mut held: String, c: char) -> ReaderState {
        match c {
            '"' => ReaderState::Json(JsonPosition {
                containers: vec![JsonContainer::Object {
                    name: String::new(),
                    next: StringRole::Name,
                }],
                string: Some(OpenString::new(StringRole::Name)),
            }),
            c if c.is_whitespace() => {
                held.push(c);
                ReaderState::Brace(held)
            }
            '}' => ReaderState::default(),
            _ => {
                held.push(c);
                held.chars().for_each(|c| self.text(c));
                ReaderState::Prose
            }
        }
    }

    fn json(&mut self, mut json: JsonPosition, c: char) -> ReaderState {
        if let Some(mut string) = json.string.take() {
            let (decoded, ended) = string.decoder.take(c);
            match string.role {
                StringRole::Name => string.name.extend(decoded),
                StringRole::Value => decoded.for_each(|c| self.text(c)),
            }
            match (string.role, ended) {
                (StringRole::Name, true) => json.name(string.name),
                (StringRole::Value, true) => self.parts.push(JsonFragment::End),
                (StringRole::Name | StringRole::Value, false) => json.string = Some(string),
            }
            return ReaderState::Json(json);
        }
        match c {
            '"' => {
                let role = json.next_role();
                if role == StringRole::Value {
                    self.parts.push(JsonFragment::Field(json.field()));
                }
                json.string = Some(OpenString::new(role));
            }
            '{' => json.containers.push(JsonContainer::Object {
                name: String::new(),
                next: StringRole::Name,
            }),
            '[' => json.containers.push(JsonContainer::List),
            '}' | ']' => {
                json.containers.pop();
                if json.containers.is_empty() {
                    return ReaderState::default();
                }
            }
            ':' => json.expect(StringRole::Value),
            ',' => json.expect(StringRole::Name),
            // Numbers, words and white space.
            _ => {}
        }
        ReaderState::Json(json)
    }

    fn text(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(JsonFragment::Text(text)) => text.push(c),
            Some(JsonFragment::Field(_) | JsonFragment::End) | None => {
                self.parts.push(JsonFragment::Text(c.to_string()));
            }
        }
    }
}

impl OpenString {
    fn new(role: StringRole) -> Self {
        Self {
            role,
            decoder: StringDecoder::default(),
            name: String::new(),
        }
    }
}

impl JsonPosition {
    fn next_role(&self) -> StringRole {
        match self.containers.last() {
            Some(JsonContainer::Object { next, .. }) => *next,
            Some(JsonContainer::List) | None => StringRole::Value,
        }
    }

    fn expect(&mut self, role: StringRole) {
        if let Some(JsonContainer::Object { next, .. }) = self.containers.last_mut() {
            *next = role;
        }
    }

    fn name(&mut self, named: String) {
        if let Some(JsonContainer::Object { name, .. }) = self.containers.last_mut() {
            *name = named;
        }
    }

    /// Returns the field that a value here belongs to: that of the nearest object, across any lists
    /// in between.
    fn field(&self) -> String {
        let name = |container: &JsonContainer| match container {
            JsonContainer::Object { name, .. } => Some(name.clone()),
            JsonContainer::List => None,
        };
        self.containers
            .iter()
            .rev()
            .find_map(name)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// All fragments, with consecutive texts joined.
    fn parts<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<JsonFragment> {
        let mut reader = StreamedJson::default();
        let mut all: Vec<JsonFragment> = Vec::new();
        let mut add = |parts: Vec<JsonFragment>| {
            for part in parts {
                match (all.last_mut(), part) {
                    (Some(JsonFragment::Text(before)), JsonFragment::Text(text)) => {
                        before.push_str(&text);
                    }
                    (_, part) => all.push(part),
                }
            }
        };
        pieces.into_iter().for_each(|piece| add(reader.read(piece)));
        add(reader.finish());
        all
    }

    /// `field: text` of each value, prose by itself.
    fn read(text: &str) -> Vec<String> {
        let mut read = Vec::new();
        for part in parts([text]) {
            match part {
                JsonFragment::Field(name) => read.push(format!("{name}: ")),
                JsonFragment::Text(text) => match read.last_mut() {
                    Some(last) if last.ends_with(": ") => last.push_str(&text),
                    _ => read.push(text),
                },
                JsonFragment::End => read.push(String::new()),
            }
        }
        read.retain(|line| !line.is_empty());
        read
    }

    const HARD: &str = "Here it is:\n```json\n{\"summary\": \"a \\\"q\\\" \\\\ \\n\\u00e9 \
        \\ud83d\\ude00 \\ud83d x\", \"n\": 0.5,\n \"list\": [\"one\", {\"point\": \"two {[:,\"}, \
        []],\n \"empty\": \"\", \"ok\": true}\n```\nThat was {it}.\n{not json}\n";

    #[test]
    fn texts_are_reported_under_their_field_names() {
        let expected = [
            "summary: a \"q\" \\ \né 😀 \u{fffd} x",
            "list: one",
            "point: two {[:,",
            "empty: ",
        ];
        let read = read(HARD);
        assert_eq!(read[0], "Here it is:\n");
        assert_eq!(&read[1..5], expected);
        assert_eq!(&read[5..], ["\nThat was {it}.\n{not json}\n"]);
    }

    #[test]
    fn prose_passes_unchanged() {
        for prose in [
            "I would wait.\n\nThen `go`.",
            "{",
            "  {\n  ",
            "`",
            "``a``",
            "{x} is a set",
            "\n\n",
        ] {
            assert_eq!(read(prose).concat(), prose);
        }
    }

    #[test]
    fn truncated_json_is_shown_as_far_as_it_arrived() {
        assert_eq!(read("{\"summary\": \"not fini"), ["summary: not fini"]);
        assert_eq!(read("{\"a\": \"x\\ud83d"), ["a: x\u{fffd}"]);
        assert_eq!(read("{\"a\": \"\\uZ\\u12\""), ["a: \u{fffd}Z\u{fffd}"]);
        assert_eq!(read("{\"a"), Vec::<String>::new());
    }

    #[test]
    fn fragments_do_not_depend_on_where_the_text_is_cut() {
        let whole = parts([HARD]);
        for (at, _) in HARD.char_indices() {
            let (head, tail) = HARD.split_at(at);
            assert_eq!(parts([head, tail]), whole, "cut at {at}");
        }
        let characters: Vec<String> = HARD.chars().map(String::from).collect();
        assert_eq!(parts(characters.iter().map(String::as_str)), whole);
    }

    /// All string values, in the order in which they are written.
    fn strings(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
            Value::Object(fields) => fields.values().for_each(|field| strings(field, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(Value::Null)
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Every character beyond ASCII as one or two `\u` escapes.
    fn escaped(text: &str) -> String {
        let mut escaped = String::new();
        for c in text.chars() {
            if c.is_ascii() {
                escaped.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(escaped, "\\u{unit:04x}").unwrap();
                }
            }
        }
        escaped
    }

    proptest! {
        #[test]
        fn every_string_of_random_json_arrives_whole(value in json(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let wanted = serde_json::json!({"answer": value});
            let text = escaped(&wanted.to_string());
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| ends[cut.index(ends.len())]).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let all = parts(cuts.windows(2).map(|cut| text.get(cut[0]..cut[1]).unwrap()));
            let mut texts: Vec<String> = Vec::new();
            for part in &all {
                match part {
                    JsonFragment::Field(_) => texts.push(String::new()),
                    JsonFragment::Text(text) => texts.last_mut().unwrap().push_str(text),
                    JsonFragment::End => {}
                }
            }
            let mut expected = Vec::new();
            strings(&wanted, &mut expected);
            prop_assert_eq!(texts, expected);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in any::<String>()) {
            parts([text.as_str()]);
        }
    }
}
