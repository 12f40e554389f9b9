//! JSON as agent programs print it: whole, cut off by a kill, or with half of a character.

use std::borrow::Cow;

use regex::Captures;
use serde_json::Value;

use crate::text::json::{self, Attempt};
use crate::text::pattern::Pattern;

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

/// Completes a document that is cut off; `None` if it nests too deeply.
pub(super) fn completed(text: &str) -> Option<Value> {
    let mut steps = usize::MAX;
    match json::parse(text, 0, &mut steps) {
        Attempt::CutOff { value, .. } => Some(value),
        Attempt::Whole { .. } | Attempt::Broken => None,
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
            (r#"{"a":1,"b":"#, json!({"a": 1, "b": null})),
            (r#"{"a":1,"b":tr"#, json!({"a": 1, "b": null})),
            (r#"[{"a":1},"#, json!([{"a": 1}])),
            (r#"{"a":{"b":"#, json!({"a": {"b": null}})),
        ] {
            let text = with_whole_characters(text);
            assert_eq!(completed(&text), Some(expected), "{text}");
        }
    }

    #[test]
    fn half_characters_are_replaced() {
        let text = r#"{"a":"\ud83d \ud83d\ude00 \\ud83d \udE00"}"#;
        let value: Value = serde_json::from_str(&with_whole_characters(text)).unwrap();
        assert_eq!(value, json!({"a": "\u{fffd} 😀 \\ud83d \u{fffd}"}));
    }
}
