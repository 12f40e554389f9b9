//! Reads JSON while it is being written and yields its strings: each value as it grows, under the
//! name of its field. Pure.
//!
//! A model may put words around the JSON, or write none at all: text that is not JSON passes
//! unchanged, without code fences. Invariant: the output does not depend on how the text is cut
//! into pieces.

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A piece of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum JsonFragment {
    /// A string value of this field begins; its text follows.
    Field {
        /// The field of the outermost object that the value is part of.
        section: String,
        name: String,
    },
    Text(String),
    /// The string value is complete.
    End,
    /// An object within another one is complete.
    EndOfObject,
}

/// A reader of one text.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct StreamedJson {
    place: ReaderPlace,
    /// Text whose meaning depends on what follows it.
    pending: String,
    containers: Vec<JsonContainer>,
    fragments: Vec<JsonFragment>,
}

/// Where the next character stands.
#[derive(Clone, Debug, Default)]
enum ReaderPlace {
    /// At the start of a line of prose, where a fence or JSON may begin.
    #[default]
    LineStart,
    Prose,
    /// In the line that opens or closes a fence.
    Fence,
    /// In JSON, outside of strings.
    Json,
    /// In the name of a field, read as far as this.
    Name(String),
    /// In a string value.
    Value,
}

#[derive(Clone, Debug)]
struct JsonContainer {
    /// The name of the current field; `None` in a list.
    field: Option<String>,
    /// The next string is a value, not a name.
    is_value_next: bool,
}

impl StreamedJson {
    /// Reads the next piece and returns its output.
    pub(in crate::terminal) fn read(&mut self, piece: &str) -> Vec<JsonFragment> {
        let text = std::mem::take(&mut self.pending) + piece;
        let mut rest = text.as_str();
        while !rest.is_empty()
            && let Some(unread) = self.step(rest)
        {
            rest = unread;
        }
        rest.clone_into(&mut self.pending);
        std::mem::take(&mut self.fragments)
    }

    /// Returns the output that was held back, at the end of the text.
    pub(in crate::terminal) fn finish(&mut self) -> Vec<JsonFragment> {
        let pending = std::mem::take(&mut self.pending);
        match self.place {
            ReaderPlace::LineStart => self.text(&pending),
            ReaderPlace::Value => {
                // A whole escape is held back only as the first half of a character.
                if pending.len() >= r"\ud83d".len() {
                    self.text(REPLACEMENT.encode_utf8(&mut [0; 4]));
                }
                self.fragments.push(JsonFragment::End);
            }
            ReaderPlace::Prose | ReaderPlace::Fence | ReaderPlace::Json | ReaderPlace::Name(_) => {}
        }
        std::mem::take(&mut self.fragments)
    }

    /// Reads the beginning of a text and returns the rest; `None` if it takes more text to read it.
    fn step<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        match &mut self.place {
            ReaderPlace::LineStart => self.line_start(text),
            ReaderPlace::Prose => {
                let line = text.split_inclusive('\n').next()?;
                if line.ends_with('\n') {
                    self.place = ReaderPlace::LineStart;
                }
                self.text(line);
                text.strip_prefix(line)
            }
            ReaderPlace::Fence => {
                let rest = text.trim_start_matches(|c| c != '\n' && c != '{');
                if !rest.is_empty() {
                    self.place = ReaderPlace::LineStart;
                }
                Some(rest.strip_prefix('\n').unwrap_or(rest))
            }
            ReaderPlace::Json => self.json(text),
            ReaderPlace::Name(name) => {
                let (next, rest) = decode(text)?;
                if let Some(c) = next {
                    name.push(c);
                } else {
                    let name = std::mem::take(name);
                    if let Some(container) = self.containers.last_mut() {
                        container.field = Some(name);
                    }
                    self.place = ReaderPlace::Json;
                }
                Some(rest)
            }
            ReaderPlace::Value => {
                let (next, rest) = decode(text)?;
                if let Some(c) = next {
                    self.text(c.encode_utf8(&mut [0; 4]));
                } else {
                    self.fragments.push(JsonFragment::End);
                    self.place = ReaderPlace::Json;
                }
                Some(rest)
            }
        }
    }

    fn line_start<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let body = text.trim_start_matches(|c: char| c != '\n' && c.is_whitespace());
        if let Some(rest) = body.strip_prefix("```") {
            self.place = ReaderPlace::Fence;
            return Some(rest);
        }
        // Nothing yet, or the beginning of a fence.
        if "```".starts_with(body) {
            return None;
        }
        let Some(object) = body.strip_prefix('{') else {
            self.place = ReaderPlace::Prose;
            return Some(text);
        };
        let members = object.trim_start();
        match members.chars().next()? {
            '"' => {
                self.place = ReaderPlace::Json;
                Some(body)
            }
            '}' => members.strip_prefix('}'),
            _ => {
                self.text(text.strip_suffix(members)?);
                self.place = ReaderPlace::Prose;
                Some(members)
            }
        }
    }

    /// Reads one character of JSON outside of strings.
    fn json<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let mut rest = text.chars();
        match rest.next()? {
            '"' if self
                .containers
                .last()
                .is_some_and(|open| !open.is_value_next) =>
            {
                self.place = ReaderPlace::Name(String::new());
            }
            '"' => {
                // Across lists, a value belongs to the field of the nearest object.
                let mut fields = self.containers.iter().filter_map(|open| open.field.clone());
                let section = fields.next().unwrap_or_default();
                let name = fields.next_back().unwrap_or_else(|| section.clone());
                self.fragments.push(JsonFragment::Field { section, name });
                self.place = ReaderPlace::Value;
            }
            '{' => self.containers.push(JsonContainer {
                field: Some(String::new()),
                is_value_next: false,
            }),
            '[' => self.containers.push(JsonContainer {
                field: None,
                is_value_next: true,
            }),
            '}' | ']' => {
                let closed = self.containers.pop();
                if closed.is_some_and(|closed| closed.field.is_some())
                    && !self.containers.is_empty()
                {
                    self.fragments.push(JsonFragment::EndOfObject);
                }
                if self.containers.is_empty() {
                    self.place = ReaderPlace::LineStart;
                }
            }
            separator @ (':' | ',') => {
                if let Some(open) = self.containers.last_mut() {
                    open.is_value_next = separator == ':' || open.field.is_none();
                }
            }
            // Numbers, words and white space.
            _ => {}
        }
        Some(rest.as_str())
    }

    fn text(&mut self, piece: &str) {
        match self.fragments.last_mut() {
            Some(JsonFragment::Text(text)) => text.push_str(piece),
            Some(_) | None if piece.is_empty() => {}
            Some(_) | None => {
                self.fragments.push(JsonFragment::Text(piece.to_owned()));
            }
        }
    }
}

/// Decodes the next character within a string, or its end as `None`. Returns the rest of the text
/// too, and nothing while an escape is incomplete.
fn decode(text: &str) -> Option<(Option<char>, &str)> {
    let mut rest = text.chars();
    let c = match rest.next()? {
        '"' => return Some((None, rest.as_str())),
        '\\' => match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let (c, rest) = decode_unicode(rest.as_str())?;
                return Some((Some(c), rest));
            }
            c => c,
        },
        c => c,
    };
    Some((Some(c), rest.as_str()))
}

/// Decodes what follows `\u`. A character outside the basic plane takes a second escape.
fn decode_unicode(text: &str) -> Option<(char, &str)> {
    let (first, rest) = utf16_unit(text)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first).unwrap_or(REPLACEMENT), rest));
    }
    if r"\u".starts_with(rest) {
        return None;
    }
    if let Some(second) = rest.strip_prefix(r"\u")
        && let (second @ 0xDC00..0xE000, rest) = utf16_unit(second)?
    {
        let point = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return Some((char::from_u32(point).unwrap_or(REPLACEMENT), rest));
    }
    Some((REPLACEMENT, rest))
}

/// Reads four hexadecimal digits. Fewer are read as one invalid unit.
fn utf16_unit(text: &str) -> Option<(u32, &str)> {
    let is_digit = |c: &char| c.is_ascii_hexdigit();
    let count = text.chars().take(4).take_while(is_digit).count();
    let (digits, rest) = text.split_at(count);
    match count {
        4 => Some((u32::from_str_radix(digits, 16).ok()?, rest)),
        _ if rest.is_empty() => None,
        _ => Some((u32::from(REPLACEMENT), rest)),
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
                JsonFragment::Field { name, .. } => read.push(format!("{name}: ")),
                JsonFragment::Text(text) => match read.last_mut() {
                    Some(last) if last.ends_with(": ") => last.push_str(&text),
                    _ => read.push(text),
                },
                JsonFragment::End | JsonFragment::EndOfObject => read.push(String::new()),
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
    fn value_belongs_to_a_field_and_to_a_part_of_the_whole() {
        let text = r#"{"tensions": [{"topic": "t", "viewpoints": [{"agent": "a"}]}], "x": "y"}"#;
        let fields = parts([text]).into_iter().filter_map(|part| match part {
            JsonFragment::Field { section, name } => Some(format!("{section}/{name}")),
            JsonFragment::EndOfObject => Some("}".to_owned()),
            JsonFragment::Text(_) | JsonFragment::End => None,
        });
        let expected = ["tensions/topic", "tensions/agent", "}", "}", "x/x"];
        assert_eq!(fields.collect::<Vec<_>>(), expected);
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
        fn every_string_of_random_json_arrives_whole(
            value in json(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let wanted = serde_json::json!({"answer": value});
            let text = escaped(&wanted.to_string());
            let ends: Vec<usize> = text
                .char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect();
            let mut cuts: Vec<usize> = cuts
                .iter()
                .map(|cut| ends[cut.index(ends.len())])
                .chain([0, text.len()])
                .collect();
            cuts.sort_unstable();
            let all = parts(cuts.windows(2).map(|cut| text.get(cut[0]..cut[1]).unwrap()));
            let mut texts: Vec<String> = Vec::new();
            for part in &all {
                match part {
                    JsonFragment::Field { .. } => texts.push(String::new()),
                    JsonFragment::Text(text) => texts.last_mut().unwrap().push_str(text),
                    JsonFragment::End | JsonFragment::EndOfObject => {}
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
