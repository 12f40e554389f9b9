//! JSON as agent programs print it: whole, cut off by a kill, or with half of a character.

use std::borrow::Cow;

use serde_json::{Deserializer, Value};

/// A document at the beginning of a text.
pub(super) enum Document {
    /// It ends at this byte.
    Whole(Value, usize),
    /// The text ends within it; see [`completed`].
    CutOff,
    /// The text is no JSON.
    None,
}

/// Reads the document that a text begins with.
pub(super) fn read(text: &str) -> Document {
    let mut documents = Deserializer::from_str(text).into_iter::<Value>();
    match documents.next() {
        Some(Ok(value)) => Document::Whole(value, documents.byte_offset()),
        Some(Err(error)) if error.is_eof() => Document::CutOff,
        Some(Err(_)) | None => Document::None,
    }
}

/// Replaces the escapes of half a UTF-16 pair by that of the replacement character: programs cut
/// texts between the two. All else keeps its place.
pub(super) fn with_whole_characters(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into();
    }
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        repaired.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                repaired.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            _ => escape
                .char_indices()
                .nth(2)
                .map_or(escape.len(), |(at, _)| at),
        };
        repaired.push_str(escape.get(..length).unwrap_or(escape));
        rest = escape.get(length..).unwrap_or_default();
    }
    repaired.push_str(rest);
    repaired.into()
}

fn unit(escape: &str) -> Option<u32> {
    u32::from_str_radix(escape.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Completes a document that is cut off: closes what is open, behind the last value that is whole
/// or a text. `None` if nothing of it is left.
pub(super) fn completed(text: &str) -> Option<Value> {
    let mut open: Vec<char> = Vec::new();
    let mut is_in_text = false;
    // The characters that an escape still has, at most.
    let mut escape = 0_usize;
    // The ends at which nothing is half written but a text, with what closes them.
    let mut ends: Vec<(usize, String)> = Vec::new();
    let closing = |open: &[char]| open.iter().rev().collect::<String>();
    for (at, c) in text.char_indices() {
        if is_in_text {
            match (escape, c) {
                (0, '\\') => escape = 5,
                (0, '"') => is_in_text = false,
                (0, _) => {}
                (5, 'u') => escape = 4,
                (5, _) => escape = 0,
                (_, _) => escape -= 1,
            }
            continue;
        }
        match c {
            '"' => is_in_text = true,
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                ends.push((at + 1, closing(&open)));
            }
            '}' | ']' => {
                open.pop();
                ends.push((at + 1, closing(&open)));
            }
            ',' => ends.push((at, closing(&open))),
            _ => {}
        }
        if ends.len() > 4 {
            ends.remove(0);
        }
    }
    let mut whole = text.to_owned();
    if is_in_text {
        let escaped = text.rfind('\\').filter(|_| escape > 0);
        whole.truncate(escaped.unwrap_or(text.len()));
        whole.push('"');
    }
    whole += &closing(&open);
    let shorter = ends.iter().rev().filter_map(|(end, closing)| {
        let text = text.get(..*end)?;
        Some(format!("{text}{closing}"))
    });
    let mut candidates = std::iter::once(whole).chain(shorter);
    candidates.find_map(|text| serde_json::from_str(&with_whole_characters(&text)).ok())
}

/// The members of a document, whose values may have any type.
pub(super) trait Members {
    fn text(&self, key: &str) -> Option<&str>;
    /// Returns whether a member is there and is not `null`.
    fn has(&self, key: &str) -> bool;
    fn is_true(&self, key: &str) -> bool;
    fn number(&self, key: &str) -> Option<i64>;
    /// Returns the elements of a list; none of anything else.
    fn elements(&self) -> &[Value];
}

impl Members for Value {
    fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| !value.is_null())
    }

    fn is_true(&self, key: &str) -> bool {
        self.get(key).and_then(Self::as_bool) == Some(true)
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    fn elements(&self) -> &[Value] {
        self.as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_cut_off_is_completed() {
        for (text, expected) in [
            (r#"{"a":"Hal"#, json!({"a": "Hal"})),
            (r#"{"a":"Hal\"#, json!({"a": "Hal"})),
            (r#"{"a":"Hal\u00"#, json!({"a": "Hal"})),
            (r#"{"a":"x\ud83d"#, json!({"a": "x\u{fffd}"})),
            (r#"{"a":[1,{"b":"c"#, json!({"a": [1, {"b": "c"}]})),
            (r#"{"a":1,"b"#, json!({"a": 1})),
            (r#"{"a":1,"b":"#, json!({"a": 1})),
            (r#"{"a":1,"b":tr"#, json!({"a": 1})),
            (r#"[{"a":1},"#, json!([{"a": 1}])),
            (r#"{"a":{"b":"#, json!({"a": {}})),
        ] {
            let text = with_whole_characters(text);
            assert!(matches!(read(&text), Document::CutOff), "{text}");
            assert_eq!(completed(&text), Some(expected), "{text}");
        }
    }

    #[test]
    fn half_characters_are_replaced() {
        let text = r#"{"a":"\ud83d \ud83d\ude00 \\ud83d \udE00"} rest"#;
        let Document::Whole(value, end) = read(&with_whole_characters(text)) else {
            panic!("{text}");
        };
        assert_eq!(value, json!({"a": "\u{fffd} 😀 \\ud83d \u{fffd}"}));
        assert_eq!(text.get(end..), Some(" rest"));
    }

    #[test]
    fn other_text_is_no_document() {
        for text in ["{ not json", "[link](a)", "{'a': 1}"] {
            assert!(matches!(read(text), Document::None), "{text}");
        }
    }
}
