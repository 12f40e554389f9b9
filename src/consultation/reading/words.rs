//! Words that answers of models are read and compared by.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::domain::answer::artifact::{FindingOutcome, Magnitude, Severity};
use crate::text::word_list::{WordList, load};

/// The lists of the file `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerWords {
    pub(crate) stop_words: WordList,
    pub(crate) negations: WordList,
    pub(crate) refusals: WordList,
    pub(crate) yes: WordList,
    pub(crate) no: WordList,
    pub(crate) confidences: Vec<Meaning<f64>>,
    pub(crate) severities: Vec<Meaning<Severity>>,
    pub(crate) magnitudes: Vec<Meaning<Magnitude>>,
    pub(crate) outcomes: Vec<Meaning<FindingOutcome>>,
    pub(crate) fields: BTreeMap<String, WordList>,
}

/// A value and the words that stand for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Meaning<T> {
    pub(crate) value: T,
    pub(crate) words: WordList,
}

pub(crate) static TABLES: LazyLock<AnswerWords> =
    LazyLock::new(|| load(include_str!("words.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: AnswerWords = toml::from_str(include_str!("words.toml")).unwrap();
        assert!(!tables.fields.is_empty());
    }
}
