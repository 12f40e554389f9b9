//! Keys and values of status fields.

use std::borrow::Cow;

use crate::agent_loop::signals::fraction::{StatedProgress, progress};
use crate::agent_loop::text::tables::tables;
use crate::stopping::exit_check::evidence::StatedState;

pub(super) enum FieldValue<'a> {
    Text(Cow<'a, str>),
    Truth(bool),
}

/// Returns a value without markup, remarks and case: `COMPLETE ✅ (all tests pass)` is `complete`.
pub(super) fn normal(value: &str) -> String {
    let value = value.trim().trim_matches(['`', '*', '"', '\'', '_', ' ']);
    let end = [
        " #", " (", " - ", " – ", " — ", ". ", ", ", "; ", " //", "(",
    ]
    .iter()
    .filter_map(|remark| value.find(remark))
    .min()
    .unwrap_or(value.len());
    let value = value
        .get(..end)
        .unwrap_or_default()
        .replace(['_', '-'], " ");
    let is_edge = |c: char| !c.is_alphanumeric() && c != '%';
    let lower = value.trim_matches(is_edge).to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a value is a form to fill in, or a question: `true | false`, `<one line>`, `complete?`.
pub(super) fn is_form(value: &str) -> bool {
    let value = value.trim();
    value.contains(['|', '?'])
        || value.contains(" / ")
        || value.to_lowercase().contains(" or ")
        || matches!(
            value.to_lowercase().as_str(),
            "true/false" | "false/true" | "yes/no"
        )
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
    let value = normal(value);
    let value = value.as_str();
    let percent = value
        .split_once('%')
        .and_then(|(number, _)| number.parse::<u8>().ok());
    if tables().done.has(value) {
        Some(StatedState::Done)
    } else if tables().not_done.has(value) || percent.is_some_and(|percent| percent < 100) {
        Some(StatedState::NotDone)
    } else if tables().blocked.has(value)
        || value.starts_with("blocked ")
        || value.starts_with("waiting for ")
        || value.starts_with("waiting on ")
    {
        Some(StatedState::Blocked)
    } else {
        None
    }
}

pub(super) fn truth_of(value: &str) -> Option<bool> {
    if is_form(value) {
        return None;
    }
    match normal(value).as_str() {
        "true" | "yes" | "1" | "ja" | "oui" | "sí" | "是" => Some(true),
        "false" | "no" | "0" | "nein" | "non" | "否" => Some(false),
        _ => None,
    }
}

/// Returns a key in lower case, with blanks between its words.
pub(super) fn normal_key(key: &str) -> String {
    let key = key.replace(['_', '-'], " ");
    let lower = key
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a number as percent: `85`, `85%`, `0.85`, `8/10`.
pub(super) fn percent_of(value: &str) -> Option<u8> {
    if is_form(value) {
        return None;
    }
    crate::agent_loop::signals::confidence::percent(value)
}
