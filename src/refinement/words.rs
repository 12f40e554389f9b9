//! Words of documents and of answers about them.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::text::word_list::{WordList, load};

/// The lists of the file `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::refinement) struct DocumentWords {
    /// Words that may stand before the name of a section.
    pub(in crate::refinement) before_heading: WordList,
    /// Words that may stand after the name of a section.
    pub(in crate::refinement) after_heading: WordList,
    /// Words that begin a remark of any words after the name of a section.
    pub(in crate::refinement) remarks: WordList,
    /// Words of headings of what is over.
    pub(in crate::refinement) over: WordList,
    /// List entries that say that there is nothing, as the keys of questions.
    pub(in crate::refinement) placeholders: WordList,
    /// The words and signs that begin a reference in parentheses.
    pub(in crate::refinement) references: WordList,
    /// Texts that say that there is nothing, as the keys of questions.
    pub(in crate::refinement) nothings: WordList,
    /// Texts that stand where an answer was asked for and are none.
    pub(in crate::refinement) non_answers: WordList,
}

pub(in crate::refinement) static TABLES: LazyLock<DocumentWords> =
    LazyLock::new(|| load(include_str!("words.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: Result<DocumentWords, _> = toml::from_str(include_str!("words.toml"));
        assert!(!tables.unwrap().before_heading.is_empty());
    }
}
