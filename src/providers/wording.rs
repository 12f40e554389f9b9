//! What servers say when they refuse or fail.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::consultation::protocol::call::FailureClass;
use crate::text::word_list::{WordList, load};

/// The lists of the file `wording.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wording {
    pub(super) no_such_path: WordList,
    pub(super) no_system_role: WordList,
    pub(super) about_system: WordList,
    pub(super) refused: WordList,
    pub(super) about_structure: WordList,
    pub(super) before_names: WordList,
    pub(super) before_context_size: WordList,
    pub(super) after_prompt_size: WordList,
    pub(super) before_answer_limit: WordList,
    pub(super) answer_limit_names: WordList,
    pub(super) classes: Vec<ClassRow>,
}

/// A row, which matches by any of its columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassRow {
    pub(super) class: FailureClass,
    #[serde(default)]
    pub(super) statuses: Vec<u16>,
    #[serde(default)]
    pub(super) codes: WordList,
    #[serde(default)]
    pub(super) words: Vec<Needles>,
}

/// Texts that must all occur, some only with a status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Needles {
    pub(super) status: Option<u16>,
    pub(super) all: WordList,
}

pub(super) static TABLES: LazyLock<Wording> = LazyLock::new(|| load(include_str!("wording.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list() {
        let tables: Wording = toml::from_str(include_str!("wording.toml")).unwrap();
        assert!(!tables.classes.is_empty());
    }
}
