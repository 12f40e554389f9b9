//! The words that signals are read by.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::domain::word_list::WordList;

/// The lists of the file `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent_loop) struct Tables {
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
    /// How lines that report an error begin, in any case.
    pub(in crate::agent_loop) error_marks: WordList,
    /// Lines in which programs that run others report that one of them failed, without saying why.
    pub(in crate::agent_loop) error_summaries: WordList,
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
    /// Words that may follow: `Future enhancements` is a label, `Optional chaining` is a thing.
    pub(in crate::agent_loop) after_optional: WordList,
}

/// Returns the lists, which are the same for the whole process.
pub(in crate::agent_loop) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> =
        LazyLock::new(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());
    &TABLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: Result<Tables, _> = toml::from_str(include_str!("words.toml"));
        assert!(tables.unwrap().done.has("complete"));
    }
}
