//! The tables of words that the texts of a loop are read by: files that are compiled in.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::text::word_list::{WordList, load};

/// A row of a table: words, what they mean, and where they come from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent_loop) struct WordRow<M> {
    pub(in crate::agent_loop) means: M,
    pub(in crate::agent_loop) words: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "shows what the words match"))]
    pub(in crate::agent_loop) example: String,
}

/// A table of nothing but rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent_loop) struct WordRows<M> {
    pub(in crate::agent_loop) rows: Vec<WordRow<M>>,
}

impl<M> Default for WordRows<M> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

/// The lists of the file `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent_loop) struct Tables {
    /// Keys of fields whose value says whether all is done, also on a line of their own.
    pub(in crate::agent_loop) exit_keys: WordList,
    /// The same, only within a block or an object.
    pub(in crate::agent_loop) inner_exit_keys: WordList,
    /// Keys of fields whose value is a status, also on a line of their own.
    pub(in crate::agent_loop) status_keys: WordList,
    /// The same, only within a block or an object.
    pub(in crate::agent_loop) inner_status_keys: WordList,
    /// The texts of `<promise>` that mean done, unless one is given.
    pub(in crate::agent_loop) promises: WordList,
    /// Words that are numbers, or stand for some; `#` stands for all digits.
    pub(in crate::agent_loop) numbers: WordList,
    /// The numbers from one on.
    pub(in crate::agent_loop) small_numbers: WordList,
    /// Words that begin a clause.
    pub(in crate::agent_loop) clause_dividers: WordList,
    /// Words that end with a full stop within a sentence.
    pub(in crate::agent_loop) abbreviations: WordList,
    /// First words of a text that says that there is nothing.
    pub(in crate::agent_loop) nothings: WordList,
    /// Words of an offer to continue the work itself.
    pub(in crate::agent_loop) continues: WordList,
    /// Words that make a fraction one of a wish or of a part.
    pub(in crate::agent_loop) not_progress: WordList,
    /// Words of an agent that speaks of its own confidence.
    pub(in crate::agent_loop) confidence_speakers: WordList,
    /// Words of a sentence that speaks of a signal: `When all is done I will output …`.
    pub(in crate::agent_loop) about: WordList,
    /// Words of the same kind in languages without blanks between words.
    pub(in crate::agent_loop) about_unspaced: WordList,
    /// Words before code that is not the agent's own.
    pub(in crate::agent_loop) about_code: WordList,
    /// Things that are a part of the work.
    pub(in crate::agent_loop) parts: WordList,
    /// Values of a status that say that all is done.
    pub(in crate::agent_loop) done: WordList,
    /// Values of a status that say that work remains.
    pub(in crate::agent_loop) not_done: WordList,
    /// Values of a status that say that the agent cannot go on.
    pub(in crate::agent_loop) blocked: WordList,
    /// Things that a plan counts.
    pub(in crate::agent_loop) counted: WordList,
    /// Words after a fraction that say that so much is done.
    pub(in crate::agent_loop) counted_done: WordList,
    /// Words of a heading that stands over a part of the work, together with a number.
    pub(in crate::agent_loop) part_headings: WordList,
    /// Words of a label over conditions: `I stop when:`, `Definition of done:`.
    pub(in crate::agent_loop) condition_labels: WordList,
    /// Labels of lists of open work, besides the phrases.
    pub(in crate::agent_loop) open_labels: WordList,
    /// Words that say that an error is over.
    pub(in crate::agent_loop) resolved: WordList,
    /// Words that say that a failure is of the past, is wanted, or is what the program does.
    pub(in crate::agent_loop) not_present: WordList,
    /// Words that say that something fails now.
    pub(in crate::agent_loop) fails: WordList,
    /// Words of lines that say only that something failed.
    pub(in crate::agent_loop) error_fillers: WordList,
    /// First words of what stands behind `Error:` if there is none.
    pub(in crate::agent_loop) error_nothings: WordList,
    /// Words of a sentence before an error, besides those that say that something fails.
    pub(in crate::agent_loop) error_names: WordList,
    /// Last words before inline code that is an error.
    pub(in crate::agent_loop) error_leads: WordList,
    /// Words of an agent that speaks: then the message is not the program's.
    pub(in crate::agent_loop) speakers: WordList,
    /// Parts of words about a refused tool call.
    pub(in crate::agent_loop) denials: WordList,
    /// Words of an agent that found another way after one.
    pub(in crate::agent_loop) other_ways: WordList,
    /// Words of failures that pass by themselves.
    pub(in crate::agent_loop) transient: WordList,
    /// Words of a report on work.
    pub(in crate::agent_loop) work: WordList,
    /// Words of a sentence whose number is not the agent's own confidence.
    pub(in crate::agent_loop) confidence_of_others: WordList,
    /// Words that may stand between `confidence` and its number.
    pub(in crate::agent_loop) confidence_between: WordList,
    /// Words before `confidence` that make it the agent's own.
    pub(in crate::agent_loop) confidence_own: WordList,
    /// Nouns for the confidence of an agent.
    pub(in crate::agent_loop) confidence_nouns: WordList,
    /// Adjectives for the confidence of an agent.
    pub(in crate::agent_loop) confidence_adjectives: WordList,
    /// Words that number a section of a plan.
    pub(in crate::agent_loop) numbering: WordList,
    /// Words that make what they stand over optional, as the beginning of a label.
    pub(in crate::agent_loop) optional_labels: WordList,
    /// Words that may follow: `Future enhancements` is a label, `Optional chaining` is a thing.
    pub(in crate::agent_loop) after_optional: WordList,
}

pub(in crate::agent_loop) static TABLES: LazyLock<Tables> =
    LazyLock::new(|| load(include_str!("words.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: Result<Tables, _> = toml::from_str(include_str!("words.toml"));
        assert!(tables.unwrap().done.has("complete"));
    }
}
