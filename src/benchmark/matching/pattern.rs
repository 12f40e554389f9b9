//! Regular expressions over the word lists of `words.toml`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex};

/// A regular expression in which `{name}` stands for any word of the list with this name, in any
/// case, and `{marks}` for a mark that Markdown and quotes leave between the parts of a statement.
pub(super) struct Pattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(source: &'static str) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| {
            let regex = Regex::new(&with_words(self.source));
            debug_assert!(regex.is_ok(), "{regex:?}");
            regex.ok()
        });
        compiled.as_ref()
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Returns all matches in their order.
    pub(super) fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        let regex = self.regex().into_iter();
        regex.flat_map(move |regex| regex.captures_iter(text))
    }

    /// Returns the text with every match replaced; `$1` is a group of the match.
    pub(super) fn replaced(&self, text: &str, by: &str) -> String {
        let regex = self.regex();
        regex.map_or_else(
            || text.to_owned(),
            |regex| regex.replace_all(text, by).into_owned(),
        )
    }
}

static LISTS: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());

/// Returns the words of a list.
pub(super) fn words(list: &str) -> &'static [String] {
    LISTS.get(list).map_or(&[], Vec::as_slice)
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
