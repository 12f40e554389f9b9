//! A field of a status, in whatever form it is written: `EXIT_SIGNAL: true`, `"exit_signal": true`,
//! `<exit_signal>true</exit_signal>`.

use serde_json::Value;

use crate::agent_loop::signals::numbers::{StatedProgress, percent, progress};
use crate::agent_loop::text::TABLES;
use crate::stopping::exit_check::evidence::StatedState;
use crate::text::clean::one_line;

/// A key that is longer is prose.
const LONGEST_KEY: usize = 60;

#[derive(Debug)]
pub(super) struct Field {
    /// In lower case, with blanks between its words.
    pub(super) key: String,
    value: String,
    /// What states it, for people.
    pub(super) source: String,
}

impl Field {
    pub(super) fn new(key: &str, value: &str, source: String) -> Self {
        Self {
            key: normal(key.trim_matches(|c: char| !c.is_alphanumeric())),
            value: value.to_owned(),
            source,
        }
    }

    /// Splits `**Key:** value`, with or without a bullet.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let (key, value) = line.split_once([':', '=', '：'])?;
        let [key, value] = [key, value].map(|part| part.replace(['*', '`'], ""));
        let (key, value) = (key.trim(), value.trim());
        let is_field = key.len() <= LONGEST_KEY && !key.is_empty();
        is_field.then(|| Self::new(key, value, format!("{key}: {value}")))
    }

    /// A number may be a count, and states no more than a confidence.
    pub(super) fn of_member(key: &str, value: &Value) -> Option<Self> {
        let source = format!("\"{key}\": {value}");
        match value {
            Value::Bool(truth) => Some(Self::new(key, &truth.to_string(), source)),
            Value::String(text) => Some(Self::new(key, text, source)),
            Value::Number(number) if normal(key) == "confidence" => {
                Some(Self::new(key, &number.to_string(), source))
            }
            Value::Number(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(super) fn state(&self) -> Option<StatedState> {
        let key = self.key.as_str();
        let tables = &*TABLES;
        if tables.list("exit_keys").has(key) || tables.list("inner_exit_keys").has(key) {
            truth_of(&self.value)
        } else if tables.list("status_keys").has(key) || tables.list("inner_status_keys").has(key) {
            state_of(&self.value)
        } else {
            // An agent that says "complete" with failing tests contradicts itself.
            let is_of_tests = matches!(key, "tests status" | "test status");
            let fails = is_of_tests && bare(&self.value).starts_with("fail");
            fails.then_some(StatedState::NotDone)
        }
    }

    /// In percent.
    pub(super) fn confidence(&self) -> Option<u8> {
        let is_stated = self.key == "confidence" && !self.is_form();
        is_stated.then(|| percent(&self.value.to_lowercase()))?
    }

    pub(super) fn is_form(&self) -> bool {
        is_form(&self.value)
    }
}

/// In lower case, with one blank between its words.
pub(super) fn normal(text: &str) -> String {
    one_line(&text.replace(['_', '-'], " ").to_lowercase())
}

/// `COMPLETE ✅ (all tests pass)` is `complete`.
fn bare(value: &str) -> String {
    const REMARKS: [&str; 9] = ["(", " #", " - ", " – ", " — ", ". ", ", ", "; ", " //"];
    let value = value.trim().trim_matches(['`', '*', '"', '\'', '_', ' ']);
    let remarks = REMARKS.iter().filter_map(|remark| value.find(remark));
    let end = remarks.min().unwrap_or(value.len());
    let is_edge = |c: char| !c.is_alphanumeric() && c != '%';
    normal(value.get(..end).unwrap_or_default().trim_matches(is_edge))
}

/// Whether a value is a form to fill in, or a question: `true | false`, `<one line>`, `complete?`.
fn is_form(value: &str) -> bool {
    let value = value.trim().to_lowercase();
    value.contains(['|', '?'])
        || [" / ", " or "].iter().any(|or| value.contains(or))
        || ["true/false", "false/true", "yes/no"].contains(&value.as_str())
        || value.starts_with(['<', '[', '{', '$'])
        || value.starts_with("...")
}

pub(super) fn state_of(value: &str) -> Option<StatedState> {
    if is_form(value) {
        return None;
    }
    // `COMPLETE (3/16 tasks)`
    if progress(&value.to_lowercase()) == Some(StatedProgress::Part) {
        return Some(StatedState::NotDone);
    }
    let value = bare(value);
    let number = value.split_once('%').map(|(number, _)| number);
    let is_part = number.is_some_and(|number| number.parse().is_ok_and(|it: u8| it < 100));
    if TABLES.list("done").has(&value) {
        Some(StatedState::Done)
    } else if TABLES.list("not_done").has(&value) || is_part {
        Some(StatedState::NotDone)
    } else if TABLES.list("blocked").has(&value)
        || ["blocked ", "waiting for ", "waiting on "]
            .iter()
            .any(|words| value.starts_with(words))
    {
        Some(StatedState::Blocked)
    } else {
        None
    }
}

/// True is done.
pub(super) fn truth_of(value: &str) -> Option<StatedState> {
    match bare(value).as_str() {
        _ if is_form(value) => None,
        "true" | "yes" | "1" | "ja" | "oui" | "sí" | "是" => Some(StatedState::Done),
        "false" | "no" | "0" | "nein" | "non" | "否" => Some(StatedState::NotDone),
        _ => None,
    }
}
