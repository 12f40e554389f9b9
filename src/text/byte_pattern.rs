//! Regular expressions that match bytes, without the tables of Unicode, compiled when they are
//! first used.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::bytes::Regex;
use serde::Deserialize;

/// A regular expression of bytes, also as a field of a table.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub struct BytePattern {
    source: Cow<'static, str>,
    compiled: OnceLock<Option<Regex>>,
}

impl BytePattern {
    pub const fn new(source: &'static str) -> Self {
        Self {
            source: Cow::Borrowed(source),
            compiled: OnceLock::new(),
        }
    }

    pub fn is_in(&self, text: &str) -> bool {
        let regex = self.regex();
        regex.is_some_and(|regex| regex.is_match(text.as_bytes()))
    }

    /// `None` if it is no regular expression; the tests use each.
    pub fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let regex = Regex::new(&format!("(?-u){}", self.source));
            debug_assert!(regex.is_ok(), "{regex:?}");
            regex.ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl From<String> for BytePattern {
    fn from(source: String) -> Self {
        Self {
            source: Cow::Owned(source),
            compiled: OnceLock::new(),
        }
    }
}
