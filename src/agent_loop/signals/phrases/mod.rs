//! Phrases, as data: what they mean, in eight languages, and how they are matched.
//!
//! One file a language. The words are those that agents end their turns with; a phrase is matched by
//! whole words, or by its characters in languages that are written without blanks. Each has an
//! example, which the tests match.

mod phrase_match;
mod pattern;
mod lexicon;
mod unspaced;

use std::sync::LazyLock;

use serde::Deserialize;

pub(super) use lexicon::Lexicon;
pub(super) use phrase_match::PhraseMatch;

/// What a phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Meaning {
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
}

/// The words of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    /// Whether words are divided by blanks. Without, phrases are matched by their characters.
    has_blanks: bool,
    /// Deny what follows in the clause: `not`, `nearly`.
    negators: Vec<String>,
    /// Make what follows in the sentence conditional: `once`, `until`.
    conditions: Vec<String>,
    /// Make a claim that follows one of the future, of a wish or of others: `should`, `says`.
    modals: Vec<String>,
    /// Restrict a claim before them: `except`.
    exceptions: Vec<String>,
    /// Things that are part of the work: `phase`.
    parts: Vec<String>,
    /// Take back what was open in the same clause: `fixed the remaining …`.
    resolutions: Vec<String>,
    phrases: Vec<PhraseRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseRow {
    means: Meaning,
    /// See the module `pattern`.
    words: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "shows what the words match"))]
    example: String,
}

const FILES: [&str; 8] = [
    include_str!("english.toml"),
    include_str!("german.toml"),
    include_str!("french.toml"),
    include_str!("spanish.toml"),
    include_str!("portuguese.toml"),
    include_str!("russian.toml"),
    include_str!("chinese.toml"),
    include_str!("japanese.toml"),
];

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let languages = FILES
        .iter()
        .map(|file| toml::from_str(file).unwrap_or_default());
    languages.collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_matches_its_example() {
        assert!(
            FILES
                .iter()
                .all(|file| toml::from_str::<Language>(file).is_ok())
        );
        for row in LANGUAGES.iter().flat_map(|language| &language.phrases) {
            let found = Lexicon::shared().matches(&row.example);
            let is_found = found.iter().any(|found| found.meaning == row.means);
            assert!(is_found, "{row:?}");
        }
    }
}
