//! `conclave history ids`: ids for shell completion, a line each: the id without `consult-`, a tab,
//! the question.
//!
//! Whoever presses a key waits for this: it says nothing but ids, fails at nothing, and makes no
//! index.

use std::fmt::Write;

use crate::records::history::{self, CompleteEntries, CompletionCandidate};
use crate::records::lookup;
use crate::terminal::markdown::escape::one_line;

use super::Past;

/// More than these nobody reads.
const MOST: u32 = 100;

/// Characters of a question beside its id.
const LONGEST_QUESTION: usize = 60;

/// List ids for shell completion
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// What they begin with
    beginning: Option<String>,

    /// Only those that have no answer
    #[arg(long)]
    unanswered: bool,
}

pub(super) fn run(args: &Args, past: &Past<'_>) {
    let typed = args.beginning.as_deref().unwrap_or_default();
    let unique = typed
        .strip_prefix("consult-")
        .unwrap_or(typed)
        .to_ascii_lowercase();
    let complete = if args.unanswered {
        CompleteEntries::Excluded
    } else {
        CompleteEntries::Included
    };
    // Whoever typed `consult-` gets it back, or the shell would not find what was typed.
    let head = if unique.len() < typed.len() {
        "consult-"
    } else {
        ""
    };
    let mut text = String::new();
    for CompletionCandidate { id, question } in
        offered(past, &format!("consult-{unique}"), complete)
    {
        let id = id.strip_prefix("consult-").unwrap_or(&id);
        let _ = writeln!(
            text,
            "{head}{id}\t{}",
            console::truncate_str(&one_line(&question), LONGEST_QUESTION, "…")
        );
    }
    // A shell that reads no more is no failure.
    let _ = past.printer.result(&text);
}

fn offered(
    past: &Past<'_>,
    beginning: &str,
    complete: CompleteEntries,
) -> Vec<CompletionCandidate> {
    let indexed = past.names().and_then(|index| {
        history::completion_candidates(index.connection(), beginning, complete, MOST).ok()
    });
    indexed.unwrap_or_else(|| {
        let all = lookup::consultations_newest_first(&past.logs)
            .unwrap_or_default()
            .into_iter();
        let beginning = all
            .filter(|found| found.id.starts_with(beginning))
            .take(MOST as usize);
        beginning
            .map(|found| CompletionCandidate {
                id: found.id,
                question: String::new(),
            })
            .collect()
    })
}
