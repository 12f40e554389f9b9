//! Completion of consultation ids, with their ages and questions, newest first.
//!
//! A shell waits for this on every key: it never fails, and builds no index.

use std::ffi::OsStr;

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use jiff::tz::TimeZone;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::engine::clock::Clock;
use crate::records::files;
use crate::records::history::{self, Began, CompleteEntries};
use crate::records::index::Index;
use crate::records::runs::RunStore;
use crate::terminal::tables::history::age;
use crate::text::clean::one_line;

/// Most ids that are offered.
const MAX_IDS: u32 = 100;

const RUN_PREFIX: &str = "bench-";

/// Characters of a question beside its id.
const LONGEST_QUESTION: usize = 40;

/// A variable that only the script for bash sets.
const BASH: &str = "_CLAP_COMPLETE_SPACE";

/// `COMP_TYPE` of menu completion, in which bash inserts what it lists.
const MENU: &str = "37";

pub(crate) fn all() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| candidates(typed, CompleteEntries::Included))
}

pub(crate) fn unanswered() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| candidates(typed, CompleteEntries::Excluded))
}

pub(crate) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(run_candidates)
}

/// Newest first; files when there are none.
fn run_candidates(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let home = Home::find(&Environment::read()).ok();
    let store = home.map(|home| RunStore::in_folder(home.runs_folder()));
    let runs = store.and_then(|store| store.newest_first().ok());
    let runs = runs.unwrap_or_default().into_iter().take(MAX_IDS as usize);
    with_last(
        typed,
        runs.filter_map(|run| {
            let unique = run.as_str().strip_prefix(RUN_PREFIX).unwrap_or_default();
            let mut spellings = [run.as_str(), unique].into_iter();
            let id = spellings.find(|id| !id.is_empty() && id.starts_with(&*text));
            id.map(CompletionCandidate::new)
        }),
    )
}

/// Files when there are none.
fn with_last(
    typed: &OsStr,
    others: impl Iterator<Item = CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    let last = CompletionCandidate::new("last").help(Some("the newest".into()));
    let last = "last"
        .starts_with(&*typed.to_string_lossy())
        .then_some(last);
    let candidates: Vec<_> = last.into_iter().chain(others).collect();
    if candidates.is_empty() {
        return PathCompleter::any().complete(typed);
    }
    candidates
}

/// Files when there are none.
fn candidates(typed: &OsStr, complete: CompleteEntries) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let unique = text.strip_prefix("consult-");
    // A shell only offers completions that begin with what was typed.
    let head = if unique.is_some() { "consult-" } else { "" };
    let prefix = format!("consult-{}", unique.unwrap_or(&text).to_ascii_lowercase());
    let found = ids(&prefix, complete);
    let (now, zone) = (Clock::system().now(), TimeZone::system());
    // Bash shows nothing beside a candidate: where it lists several, it becomes part of each.
    let environment = Environment::read();
    let is_within = found.len() > 1
        && environment.text(BASH).is_some()
        && environment.text("_CLAP_COMPLETE_COMP_TYPE") != Some(MENU);
    let candidate = |(id, began): (ConsultationId, Option<Began>)| {
        let id = id.as_str();
        let id = format!("{head}{}", id.strip_prefix("consult-").unwrap_or(id));
        let Some((at, question)) = began else {
            return CompletionCandidate::new(id);
        };
        let question = one_line(&question);
        let question = console::truncate_str(&question, LONGEST_QUESTION, "…");
        let help = format!("{}, {question}", age(at, now, &zone));
        if is_within {
            return CompletionCandidate::new(format!("{id}  ({help})"));
        }
        CompletionCandidate::new(id).help(Some(help.into()))
    };
    with_last(typed, found.into_iter().map(candidate))
}

/// From the index, or without ages and questions from the folder of logs.
fn ids(prefix: &str, complete: CompleteEntries) -> Vec<(ConsultationId, Option<Began>)> {
    let Ok(home) = Home::find(&Environment::read()) else {
        return Vec::new();
    };
    let index = Index::open(&home.index_file()).ok();
    let indexed = index.and_then(|index| {
        history::id_candidates(&index.connection, prefix, complete, MAX_IDS).ok()
    });
    if let Some(found) = indexed {
        return found
            .into_iter()
            .map(|(id, began)| (id, Some(began)))
            .collect();
    }
    let stored = files::consultations_newest_first(&home.logs_folder()).unwrap_or_default();
    let found = stored
        .into_iter()
        .filter(|found| found.as_str().starts_with(prefix));
    found
        .take(MAX_IDS as usize)
        .map(|found| (found, None))
        .collect()
}
