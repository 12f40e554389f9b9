//! Words of documents and of answers about them.

use std::sync::LazyLock;

use crate::text::word_list::{WordLists, load};

/// The lists of the file `words.toml`.
pub(in crate::refinement) static TABLES: LazyLock<WordLists> =
    LazyLock::new(|| load(include_str!("words.toml")));

/// Returns a regular expression for what any of the list is. `<name>` in it stands for another list.
pub(in crate::refinement) fn expression(list: &str) -> String {
    let joined = TABLES.list(list).join("|");
    TABLES.0.keys().fold(joined, |text, name| {
        let place = format!("<{name}>");
        if !text.contains(&place) {
            return text;
        }
        text.replace(&place, &format!("(?:{})", expression(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let tables: WordLists = toml::from_str(include_str!("words.toml")).unwrap();
        assert!(tables.0.values().all(|list| !list.is_empty()));
    }
}
