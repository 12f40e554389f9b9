//! Cuts texts that reached a limit of the tight schema back to their last whole sentence or clause:
//! the limit ends a small model's text in the middle of a word.

use serde_json::Value;

use super::schema::SHORTEST;

/// A text this close to its limit was ended by it: no whole token fitted any more.
const MARGIN: u64 = 2;

/// An answer that is not valid JSON stays as it is.
pub fn cut_back(answer: &str, schema: &Value) -> String {
    let Ok(mut value) = serde_json::from_str(answer) else {
        return answer.to_owned();
    };
    if cut_node(&mut value, schema) {
        value.to_string()
    } else {
        answer.to_owned()
    }
}

/// Returns whether there were any.
fn cut_node(node: &mut Value, schema: &Value) -> bool {
    match node {
        Value::String(text) => {
            let limit = schema.get("maxLength").and_then(Value::as_u64);
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            // Names and labels have shorter limits: a part of them would name something else.
            let is_cut = schema.get("enum").is_none()
                && limit.is_some_and(|limit| limit > SHORTEST && length + MARGIN >= limit);
            match whole_part(text).filter(|_| is_cut) {
                Some(whole) => {
                    *text = whole;
                    true
                }
                None => false,
            }
        }
        Value::Array(items) => {
            let of_items = schema.get("items").unwrap_or(&Value::Null);
            let mut is_cut = false;
            for item in items {
                is_cut |= cut_node(item, of_items);
            }
            is_cut
        }
        Value::Object(fields) => {
            let of_fields = schema.get("properties").unwrap_or(&Value::Null);
            let mut is_cut = false;
            for (name, field) in fields {
                is_cut |= cut_node(field, of_fields.get(name).unwrap_or(&Value::Null));
            }
            is_cut
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns a text up to its last whole sentence, or up to its last whole clause or word with an
/// ellipsis. A sentence that leaves less than half of the text is too short. `None` if the text
/// ends with a sentence, or has no shorter part.
fn whole_part(text: &str) -> Option<String> {
    let text = text.trim_end();
    if text.ends_with(is_sentence_end) {
        return None;
    }
    let half = text.len() / 2;
    let up_to = |at: usize| text.get(..at).filter(|part| part.len() >= half);
    let sentence = ends(text, is_sentence_end).and_then(|(at, end)| up_to(at + end.len_utf8()));
    if let Some(sentence) = sentence {
        return Some(sentence.to_owned());
    }
    let is_end = |c| matches!(c, ',' | ';' | ':' | '–' | '—' | '，' | '；' | '：');
    let clause = ends(text, is_end).and_then(|(at, _)| up_to(at));
    let word = || {
        text.rsplit_once(char::is_whitespace)
            .map(|(words, _)| words)
    };
    clause
        .or_else(word)
        .map(|part| format!("{}…", part.trim_end()))
}

/// Returns the last such character that ends a word, with its position: not the point in `1.5`.
fn ends(text: &str, is_end: fn(char) -> bool) -> Option<(usize, char)> {
    let mut characters = text.char_indices().rev();
    characters.find(|(at, c)| {
        let after = text.get(at + c.len_utf8()..).unwrap_or_default();
        is_end(*c) && (!c.is_ascii() || after.starts_with(char::is_whitespace))
    })
}

fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The text after its field is cut to a schema with this limit.
    fn cut(text: &str, limit: usize) -> String {
        let schema = json!({"properties": {"list": {"items": {"maxLength": limit}}}});
        let answer = cut_back(&json!({"list": [text]}).to_string(), &schema);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["list"][0].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_text_at_its_limit_ends_with_a_whole_sentence_clause_or_word() {
        for (text, expected) in [
            (
                "Tokens can be stolen at any time. Use short-lived ones of 1.5 hou",
                "Tokens can be stolen at any time.",
            ),
            (
                "Yes. Use tokens that live for an hour at most, and rotate the ke",
                "Yes. Use tokens that live for an hour at most…",
            ),
            (
                "Use tokens that live for an hour at most and rotate their signing ke",
                "Use tokens that live for an hour at most and rotate their signing…",
            ),
            (
                "短期令牌可以随时撤销。密钥必须每天轮换，短期令牌可以随时撤销。密钥必须每天轮换密钥必",
                "短期令牌可以随时撤销。密钥必须每天轮换，短期令牌可以随时撤销。",
            ),
        ] {
            assert_eq!(cut(text, text.chars().count()), expected);
        }
    }

    #[test]
    fn whole_short_and_named_texts_stay_as_they_are() {
        let whole = "Tokens can be stolen at any time, so use short ones.";
        assert_eq!(cut(whole, whole.len()), whole);
        let within = "Tokens can be stolen at any time, so use short";
        assert_eq!(cut(within, within.len() + 3), within);
        let label = "Expert A, Expert B and Expe";
        assert_eq!(cut(label, label.len()), label);
        let broken = "{\"list\": [\"Tokens can be stolen, so";
        assert_eq!(cut_back(broken, &json!({"maxLength": 50})), broken);
    }
}
