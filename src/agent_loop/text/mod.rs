//! The text of a message, taken apart: its prose, without what it only shows or repeats.
//!
//! Prose is what is left without code, quotes, comments, tables, struck words, quoted words, the
//! targets of links, the escape sequences of terminals, front matter and the repeated prompt.
//! Tables are left out because their cells speak of parts: `| Task 1 | done |`.

mod normal;
mod echo;
mod message;
mod sentence;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::text::byte_pattern::BytePattern;
use crate::text::word_list::{WordLists, load};

pub use message::{Block, BlockKind, Message, PLACEHOLDER};
pub use normal::normal;
pub use sentence::{Sentence, Token, TokenKind, has_word, sentences, tokens};

/// A row of a table: words, what they mean, and where they come from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::agent_loop) struct WordRow<M> {
    pub(in crate::agent_loop) means: M,
    pub(in crate::agent_loop) words: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "shows what the words match"))]
    pub(in crate::agent_loop) example: String,
}

pub(in crate::agent_loop) fn rows<M: DeserializeOwned>(file: &str) -> Vec<WordRow<M>> {
    let mut tables: BTreeMap<String, Vec<WordRow<M>>> = load(file);
    tables.remove("rows").unwrap_or_default()
}

/// Returns the expression of all rows of a meaning, which stands for `{}` in the frame. Its classes are
/// of ASCII, which takes a third of the time to prepare.
pub(in crate::agent_loop) fn pattern<M: PartialEq + Copy>(
    rows: &[WordRow<M>],
    means: M,
    frame: &str,
) -> BytePattern {
    let rows = rows.iter().filter(|row| row.means == means);
    let words: Vec<&str> = rows.map(|row| row.words.as_str()).collect();
    BytePattern::from(frame.replace("{}", &format!("(?:{})", words.join("|"))))
}

/// The lists of the file `words.toml`.
pub(in crate::agent_loop) static TABLES: LazyLock<WordLists> =
    LazyLock::new(|| load(include_str!("words.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let tables: WordLists = toml::from_str(include_str!("words.toml")).unwrap();
        assert!(tables.list("done").has("complete"));
    }
}
