//! Words that answers are read by.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::domain::word_list::WordList;

/// The lists of the file `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerWords {
    /// Words for a percent sign.
    pub(super) percent: WordList,
    /// Nouns that introduce a letter, even "A": "option A by weight".
    pub(super) option_nouns: WordList,
    /// Words before the letter that a statement begins with.
    pub(super) option_leads: WordList,
    /// Other words that introduce a letter: "go with B", but not "with a car".
    pub(super) option_introductions: WordList,
    /// Words that deny what follows them.
    pub(super) denials: WordList,
    /// Words that deny what stands before them and a verb.
    pub(super) refutations: WordList,
    /// Words beside a number that says how sure the author is.
    pub(super) sure: WordList,
    /// Numbers from nought to nineteen, in their order.
    pub(super) ones: WordList,
    /// Numbers of tens from twenty, in their order.
    pub(super) tens: WordList,
    /// "Answer" in languages that suites are likely to be written in.
    pub(super) answer: WordList,
    /// The same in scripts without spaces between words.
    pub(super) unspaced_answer: WordList,
    /// Words before "answer" that make it another one than the final answer.
    pub(super) other_answers: WordList,
    /// Words between "answer" and the answer, the longer first.
    pub(super) copulas: WordList,
    /// Names of what a form asks for.
    pub(super) form_names: WordList,
}

/// Returns the lists, which are the same for the whole process.
pub(super) fn tables() -> &'static AnswerWords {
    static TABLES: LazyLock<AnswerWords> =
        LazyLock::new(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());
    &TABLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: Result<AnswerWords, _> = toml::from_str(include_str!("words.toml"));
        assert!(!tables.unwrap().percent.is_empty());
    }
}
