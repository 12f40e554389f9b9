//! JSON as agent programs print it: whole, cut off by a kill, or with half of a character.

use std::borrow::Cow;
use std::collections::VecDeque;

use regex::Captures;
use serde_json::{Deserializer, Value};

use crate::text::pattern::Pattern;

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
    let first = documents.next();
    #[cfg(test)]
    tests::count(first.as_ref(), documents.byte_offset(), text);
    match first {
        Some(Ok(value)) => Document::Whole(value, documents.byte_offset()),
        Some(Err(error)) if error.is_eof() => Document::CutOff,
        Some(Err(_)) | None => Document::None,
    }
}

/// Replaces the escapes of half a UTF-16 pair by that of the replacement character: programs cut
/// texts between the two. All else keeps its place.
pub(super) fn with_whole_characters(text: &str) -> Cow<'_, str> {
    /// A pair, half a pair, or another escape.
    static ESCAPE: Pattern = Pattern::prepared("", |_| {
        let unit = |digits: &str| format!(r"\\u[dD][{digits}][0-9a-fA-F]{{2}}");
        let (first, second) = (unit("89abAB"), unit("c-fC-F"));
        format!(r"(?s){first}{second}|(?P<half>{first}|{second})|\\.")
    });
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into();
    }
    ESCAPE.replace_in(text, |escape: &Captures<'_>| {
        let whole = escape.get(0).filter(|_| escape.name("half").is_none());
        whole.map_or("\\ufffd", |whole| whole.as_str()).to_owned()
    })
}

/// Completes a document that is cut off: closes what is open, behind the last value that is whole
/// or a text. `None` if nothing of it is left.
pub(super) fn completed(text: &str) -> Option<Value> {
    /// A text up to its last whole character, or a mark.
    static TOKEN: Pattern = Pattern::prepared("", |_| {
        let text = r#""(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*(?P<end>"?)"#;
        format!(r"(?s){text}|[{{}}\[\],]")
    });
    let mut open: Vec<char> = Vec::new();
    // The last ends at which nothing is half written but a text, with what closes them.
    let mut ends: VecDeque<(usize, String)> = VecDeque::new();
    let closing = |open: &[char]| open.iter().rev().collect::<String>();
    for found in TOKEN.all(text) {
        let Some(token) = found.get(0) else { continue };
        let is_whole_text = found.name("end").is_some_and(|end| !end.is_empty());
        match token.as_str() {
            "{" => open.push('}'),
            "[" => open.push(']'),
            "}" | "]" => drop(open.pop()),
            "," => {}
            _ if is_whole_text => continue,
            _ => open.push('"'),
        }
        let is_comma = token.as_str() == ",";
        let end = if is_comma { token.start() } else { token.end() };
        ends.push_back((end, closing(&open)));
        if ends.len() > 4 {
            ends.pop_front();
        }
    }
    if open.last() != Some(&'"') {
        ends.push_back((text.len(), closing(&open)));
    }
    ends.iter().rev().find_map(|(end, closing)| {
        let whole = format!("{}{closing}", text.get(..*end)?);
        serde_json::from_str(&with_whole_characters(&whole)).ok()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    thread_local! {
        /// The bytes that were read for documents.
        pub(in crate::agent_loop::response) static BYTES_READ: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count(read: Option<&serde_json::Result<Value>>, end: usize, text: &str) {
        let bytes = match read {
            Some(Err(error)) => {
                let lines = text.split_inclusive('\n').map(str::len);
                lines.take(error.line() - 1).sum::<usize>() + error.column()
            }
            Some(Ok(_)) | None => end,
        };
        BYTES_READ.set(BYTES_READ.get() + bytes);
    }

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
