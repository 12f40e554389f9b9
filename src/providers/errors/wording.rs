//! What servers say when they refuse or fail.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::consultation::protocol::call::FailureClass;
use crate::text::word_list::{WordList, load};

/// The lists of the file `wording.toml`, and the rows of `failures.toml` for programs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wording {
    pub(crate) no_such_path: WordList,
    pub(crate) no_system_role: WordList,
    pub(crate) about_system: WordList,
    pub(crate) refused: WordList,
    pub(crate) about_structure: WordList,
    pub(crate) before_names: WordList,
    pub(crate) before_context_size: WordList,
    pub(crate) after_prompt_size: WordList,
    pub(crate) before_answer_limit: WordList,
    pub(crate) answer_limit_names: WordList,
    pub(crate) refused_within_plan: WordList,
    pub(crate) ends_sign_in: WordList,
    pub(crate) classes: Vec<ClassRow>,
    pub(crate) program_classes: Vec<ClassRow>,
}

/// A row, which matches by any of its columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassRow {
    pub(crate) class: FailureClass,
    #[serde(default)]
    pub(crate) statuses: Vec<u16>,
    #[serde(default)]
    pub(crate) codes: WordList,
    #[serde(default)]
    pub(crate) words: Vec<Needles>,
}

/// Texts that must all occur, some only with a status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Needles {
    pub(crate) status: Option<u16>,
    pub(crate) all: WordList,
}

const FILES: &str = concat!(
    include_str!("wording.toml"),
    include_str!("../programs/reading/failures.toml")
);

pub(crate) static TABLES: LazyLock<Wording> = LazyLock::new(|| load(FILES));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_have_every_list() {
        let tables: Wording = toml::from_str(FILES).unwrap();
        assert!(!tables.classes.is_empty());
        assert!(tables.program_classes.len() > 5);
    }
}
