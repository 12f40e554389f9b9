//! Phrases, as data: what they mean, in eight languages, and how they are matched.
//!
//! One file a language. The words are those that agents end their turns with. Each phrase has an
//! example, which the tests match.

mod matcher;

use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_loop::text::WordRow;
use crate::text::word_list::{WordList, load};

pub(super) use matcher::matches;

/// What a phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sense {
    /// All of the work is done: `all tasks are complete`, `nothing is left to do`.
    AllDone,
    /// The one thing that was asked for is done: `the implementation is complete`.
    WholeDone,
    /// Work remains: `is not done yet`.
    Open,
    /// What the agent does next: `next I will`. A later claim shows that it was done.
    Intention,
    /// A request to the person: `please confirm`.
    Request,
    /// What only a person can give is missing, or the agent refuses: `I don't have access`.
    Need,
    /// Words of a question to the person: `which … do you prefer`.
    Address,
    /// More work is offered, which is a question only as long as work is open: `shall I also`.
    Offer,
    /// A courtesy: `let me know if you need anything else`.
    Courtesy,
    /// The agent decides itself: `I'll go with`, `in the meantime`.
    Proceeds,
    /// The sentence speaks of what may be done: `optional`, `nice to have`.
    Optional,
    /// A part is missing or was not tried: `is only a stub`, `could not run the tests`.
    Lack,
    /// A run failed, which a later one may make good: `two tests fail`.
    Failure,
    /// A failure before it is over: `all tests pass now`.
    Recovery,
    /// A failure or a lack in the sentence is of the past, of others or wanted: `before my change`.
    Past,
}

/// A phrase in a sentence, with what the words around it do to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhraseMatch {
    pub(super) meaning: Sense,
    /// Its place among the phrases of the sentence.
    pub(super) at: usize,
    /// `Not all of it is done.`
    pub(super) is_denied: bool,
    /// `Once everything is done`
    pub(super) is_conditional: bool,
    /// `Everything should be done.`
    pub(super) is_modal: bool,
    /// `Everything is done except the tests.`
    pub(super) has_exception: bool,
    /// `All tasks of phase 1 are complete.`
    pub(super) is_of_part: bool,
    /// `I fixed what was still failing.`
    pub(super) is_resolved: bool,
}

/// The words of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    /// Deny what follows in the clause: `not`, `nearly`.
    negators: WordList,
    /// Make what follows in the sentence conditional: `once`, `until`.
    conditions: WordList,
    /// Make what follows in the sentence the content of a screen or a result: `shows`, `returns`.
    #[serde(default)]
    displays: WordList,
    /// Make a claim that follows one of the future, of a wish or of others: `should`, `says`.
    modals: WordList,
    /// Restrict a claim before them: `except`.
    exceptions: WordList,
    /// Restrict a claim after them: `except for the tests`.
    #[serde(default)]
    exceptions_before: WordList,
    /// Things that are part of the work: `phase`.
    parts: WordList,
    /// Take back what was open in the same clause: `fixed the remaining …`.
    resolutions: WordList,
    rows: Vec<WordRow<Sense>>,
}

static LANGUAGES: LazyLock<[Language; 8]> = LazyLock::new(|| {
    [
        include_str!("english.toml"),
        include_str!("german.toml"),
        include_str!("french.toml"),
        include_str!("spanish.toml"),
        include_str!("portuguese.toml"),
        include_str!("russian.toml"),
        include_str!("chinese.toml"),
        include_str!("japanese.toml"),
    ]
    .map(load)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_matches_its_example() {
        let rows = LANGUAGES.iter().flat_map(|language| &language.rows);
        let is_missed = |row: &&WordRow<Sense>| {
            let found = matches(&row.example);
            !found.iter().any(|found| found.meaning == row.means)
        };
        let missed: Vec<_> = rows.filter(is_missed).collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
