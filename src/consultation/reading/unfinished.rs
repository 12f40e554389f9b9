//! Splits an answer that is still being written into prose and the objects that it has so far.
//!
//! Text that is not JSON passes unchanged, without code fences. What may still become a fence or an
//! object is left out.

use serde_json::Value;

use crate::text::json::{self, Parse};

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart {
    Prose(String),
    /// An object, and how many of the containers at its end, and of texts, have no end yet.
    Object(Value, usize),
}

pub fn parts(answer: &str) -> Vec<AnswerPart> {
    let mut steps = answer.len().saturating_mul(3).saturating_add(10_000);
    let mut parts = Vec::new();
    let mut rest = answer;
    loop {
        let body = rest.trim_start_matches(|c: char| c != '\n' && c.is_whitespace());
        let members = body.strip_prefix('{').map(str::trim_start);
        if "```".starts_with(body) || members == Some("") {
            return parts;
        }
        if let Some(fence) = body.strip_prefix("```") {
            let after = fence.trim_start_matches(|c| c != '\n' && c != '{');
            rest = after.strip_prefix('\n').unwrap_or(after);
            continue;
        }
        if let Some(after) = members.and_then(|members| members.strip_prefix('}')) {
            rest = after;
            continue;
        }
        if members.is_some_and(|members| members.starts_with('"')) {
            match json::parse(answer, answer.len() - body.len(), &mut steps) {
                Parse::Whole { value, end, .. } => {
                    parts.push(AnswerPart::Object(value, 0));
                    rest = answer.get(end..).unwrap_or_default();
                    continue;
                }
                Parse::CutOff { value, open, .. } => {
                    parts.push(AnswerPart::Object(value, open));
                    return parts;
                }
                Parse::Broken => {}
            }
        }
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        match parts.last_mut() {
            Some(AnswerPart::Prose(prose)) => prose.push_str(line),
            _ => parts.push(AnswerPart::Prose(line.to_owned())),
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// `field: text` of each value, prose by itself.
    fn read(text: &str) -> Vec<String> {
        let mut read = Vec::new();
        for part in parts(text) {
            match part {
                AnswerPart::Prose(prose) => read.push(prose),
                AnswerPart::Object(value, _) => named_texts(&value, "", &mut read),
            }
        }
        read
    }

    fn named_texts(value: &Value, name: &str, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(format!("{name}: {text}")),
            Value::Array(items) => items.iter().for_each(|item| named_texts(item, name, into)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    named_texts(field, name, into);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    const HARD: &str = "Here it is:\n```json\n{\"summary\": \"a \\\"q\\\" \\\\ \\n\\u00e9 \
        \\ud83d\\ude00 \\ud83d x\", \"n\": 0.5,\n \"list\": [\"one\", {\"point\": \"two {[:,\"}, \
        []],\n \"empty\": \"\", \"ok\": true}\n```\nThat was {it}.\n{not json}\n";

    #[test]
    fn texts_are_read_under_their_field_names() {
        let expected = [
            "Here it is:\n",
            "summary: a \"q\" \\ \né 😀 \u{fffd} x",
            "list: one",
            "point: two {[:,",
            "empty: ",
            "\nThat was {it}.\n{not json}\n",
        ];
        assert_eq!(read(HARD), expected);
    }

    #[test]
    fn prose_passes_unchanged() {
        for prose in [
            "I would wait.\n\nThen `go`.",
            "``a``",
            "{x} is a set",
            "[1]",
        ] {
            assert_eq!(read(prose).concat(), prose);
        }
        for undecided in ["", "{", "  {\n  ", "`", "``", "\n\n", " "] {
            assert_eq!(read(undecided).concat().trim(), "", "{undecided}");
        }
    }

    #[test]
    fn cut_off_json_is_read_as_far_as_it_arrived() {
        assert_eq!(read("{\"summary\": \"not fini"), ["summary: not fini"]);
        assert_eq!(read("{\"a\": \"x\\ud83d"), ["a: x"]);
        assert_eq!(read("{\"a\": \"x\\ud83d\\ude0"), ["a: x"]);
        assert_eq!(read("{\"a\": \"x\\u00e"), ["a: x"]);
        assert_eq!(read("{\"a\": \"x\", \"b"), ["a: x"]);
        assert_eq!(read("{\"a"), Vec::<String>::new());
    }

    #[test]
    fn containers_and_texts_without_an_end_are_counted() {
        for (text, expected) in [
            ("{\"a\": [\"x", 3),
            ("{\"a\": [\"x\"", 3),
            ("{\"a\": [\"x\", ", 2),
            ("{\"a\": [\"x\"]", 1),
            ("{\"a\": [\"x\"], \"b\": ", 1),
            ("{\"a\": [\"x\"]}", 0),
        ] {
            let open = parts(text).pop().map(|part| match part {
                AnswerPart::Object(_, open) => open,
                AnswerPart::Prose(_) => panic!("{text}"),
            });
            assert_eq!(open, Some(expected), "{text}");
        }
    }

    #[test]
    fn more_text_never_changes_what_was_read() {
        let whole = read(HARD).concat();
        for (at, _) in HARD.char_indices() {
            let so_far = read(HARD.split_at(at).0).concat();
            assert!(whole.starts_with(&so_far), "{at}: {so_far}");
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
        fn random_json_is_read_exactly_and_grows(
            value in json(),
            cut in any::<prop::sample::Index>(),
        ) {
            let answer = serde_json::json!({"answer": value});
            let text = escaped(&answer.to_string());
            prop_assert_eq!(parts(&text), [AnswerPart::Object(answer, 0)]);
            let whole = read(&text).concat();
            let so_far = read(text.split_at(cut.index(text.len())).0).concat();
            prop_assert!(whole.starts_with(&so_far), "{}", so_far);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in any::<String>()) {
            parts(&text);
        }
    }
}
