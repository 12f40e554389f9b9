//! `conclave history ids`: ids for shell completion, one line each: the id without `consult-`, a
//! tab, the question.
//!
//! A shell waits for this on every key: it prints nothing but ids, never fails, and builds no
//! index.

use std::fmt::Write;

use crate::records::history::{self, CompleteEntries, CompletionCandidate};
use crate::records::lookup;
use crate::terminal::markdown::escape::one_line;

use super::Archive;

/// Ids that are listed at most.
const MOST_IDS: u32 = 100;

/// Characters of a question beside its id.
const LONGEST_QUESTION: usize = 60;

/// List ids for shell completion
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The prefix to complete
    beginning: Option<String>,

    /// List only consultations without an answer
    #[arg(long)]
    unanswered: bool,
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) {
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
    // A shell only offers completions that begin with what was typed.
    let head = if unique.len() < typed.len() {
        "consult-"
    } else {
        ""
    };
    let mut text = String::new();
    for CompletionCandidate { id, question } in
        completions(archive, &format!("consult-{unique}"), complete)
    {
        let id = id.strip_prefix("consult-").unwrap_or(&id);
        let _ = writeln!(
            text,
            "{head}{id}\t{}",
            console::truncate_str(&one_line(&question), LONGEST_QUESTION, "…")
        );
    }
    // A shell that stops reading is no failure.
    let _ = archive.printer.result(&text);
}

fn completions(
    archive: &Archive<'_>,
    beginning: &str,
    complete: CompleteEntries,
) -> Vec<CompletionCandidate> {
    let indexed = archive.name_index().and_then(|index| {
        history::completion_candidates(index.connection(), beginning, complete, MOST_IDS).ok()
    });
    indexed.unwrap_or_else(|| {
        let all = lookup::consultations_newest_first(&archive.logs)
            .unwrap_or_default()
            .into_iter();
        let beginning = all
            .filter(|found| found.id.starts_with(beginning))
            .take(MOST_IDS as usize);
        beginning
            .map(|found| CompletionCandidate {
                id: found.id,
                question: String::new(),
            })
            .collect()
    })
}
