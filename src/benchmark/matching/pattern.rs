//! Regular expressions over the word lists of `words.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::text::pattern::Pattern;
use crate::text::word_list::{WordList, load};

/// Returns a regular expression in which `{name}` stands for any word of the list with this name, in
/// any case, and `{marks}` for a mark that Markdown and quotes leave between the parts of a
/// statement.
pub(super) const fn worded(source: &'static str) -> Pattern {
    Pattern::prepared(source, with_words)
}

static LISTS: LazyLock<BTreeMap<String, WordList>> =
    LazyLock::new(|| load(include_str!("words.toml")));

/// Returns the words of a list.
pub(super) fn words(list: &str) -> &'static [String] {
    LISTS.get(list).map_or(&[], |list| list)
}

fn with_words(source: &str) -> String {
    const MARKS: &str = r#"[[\s--\n]*_`~"'”’»“)\]]"#;
    let mut text = source.replace("{marks}", MARKS);
    for (name, words) in &*LISTS {
        let words = words.join("|").replace(' ', "\\ ");
        text = text.replace(&format!("{{{name}}}"), &format!("(?i:{words})"));
    }
    text
}
