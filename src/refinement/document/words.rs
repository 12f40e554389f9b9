//! Words of documents and of answers about them.

use std::sync::LazyLock;

use crate::text::word_list::{WordLists, load};

/// The lists of the file `words.toml`.
pub(in crate::refinement) static TABLES: LazyLock<WordLists> =
    LazyLock::new(|| load(include_str!("words.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let tables: WordLists = toml::from_str(include_str!("words.toml")).unwrap();
        assert!(tables.0.values().all(|list| !list.is_empty()));
    }
}
