//! Keys and values of status fields.

use std::borrow::Cow;

use crate::agent_loop::signals::fraction::{StatedProgress, progress};
use crate::stopping::exit_check::evidence::StatedState;

pub(super) enum FieldValue<'a> {
    Text(Cow<'a, str>),
    Truth(bool),
}

const DONE: [&str; 40] = [
    "done",
    "complete",
    "completed",
    "finished",
    "all done",
    "all complete",
    "all completed",
    "all tasks complete",
    "all tasks completed",
    "all tasks done",
    "tasks complete",
    "task complete",
    "task completed",
    "project complete",
    "loop complete",
    "fully complete",
    "fully implemented",
    "completed successfully",
    "successfully completed",
    "done done",
    "100%",
    "100% complete",
    "100% done",
    "ready to exit",
    "fertig",
    "erledigt",
    "abgeschlossen",
    "terminé",
    "terminée",
    "fini",
    "terminado",
    "completado",
    "completo",
    "concluído",
    "готово",
    "завершено",
    "выполнено",
    "完成",
    "已完成",
    "完了",
];

const NOT_DONE: [&str; 44] = [
    "in progress",
    "inprogress",
    "ongoing",
    "incomplete",
    "not done",
    "not complete",
    "not completed",
    "not finished",
    "not yet done",
    "not yet complete",
    "unfinished",
    "partial",
    "partially complete",
    "partially done",
    "partially completed",
    "almost done",
    "almost complete",
    "nearly done",
    "working",
    "wip",
    "work in progress",
    "continue",
    "continuing",
    "pending",
    "todo",
    "to do",
    "open",
    "started",
    "active",
    "running",
    "more work",
    "needs work",
    "failing",
    "failed",
    "in arbeit",
    "nicht fertig",
    "en cours",
    "en progreso",
    "em andamento",
    "в работе",
    "в процессе",
    "进行中",
    "未完成",
    "進行中",
];

const BLOCKED: [&str; 24] = [
    "blocked",
    "waiting",
    "waiting for user",
    "waiting for input",
    "waiting for user input",
    "waiting for human",
    "waiting for approval",
    "waiting for confirmation",
    "awaiting input",
    "awaiting user input",
    "awaiting approval",
    "awaiting confirmation",
    "needs human",
    "needs human input",
    "needs input",
    "needs user input",
    "needs clarification",
    "need clarification",
    "needs approval",
    "needs review by human",
    "stuck",
    "blockiert",
    "bloqué",
    "bloqueado",
];

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
    if DONE.contains(&value) {
        Some(StatedState::Done)
    } else if NOT_DONE.contains(&value) || percent.is_some_and(|percent| percent < 100) {
        Some(StatedState::NotDone)
    } else if BLOCKED.contains(&value)
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
