//! Regular expressions of this program, compiled when they are first used.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{Captures, Match, Regex, Replacer};

/// A regular expression. One that is none would match nothing; the tests use each.
#[derive(Debug)]
pub struct Pattern {
    source: &'static str,
    prepare: fn(&str) -> String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub const fn new(source: &'static str) -> Self {
        Self::prepared(source, str::to_owned)
    }

    /// Returns the expression that a function makes, of a source or of its own parts.
    pub const fn prepared(source: &'static str, prepare: fn(&str) -> String) -> Self {
        Self {
            source,
            prepare,
            compiled: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let compile = || compiled(&(self.prepare)(self.source));
        self.compiled.get_or_init(compile).as_ref()
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Matches do not overlap.
    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        let regex = self.regex().into_iter();
        regex.flat_map(move |regex| regex.captures_iter(text))
    }

    /// Matches without their groups, which are found several times as fast.
    pub fn whole<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        let regex = self.regex().into_iter();
        regex.flat_map(move |regex| regex.find_iter(text))
    }

    pub fn replace_in<'t>(&self, text: &'t str, replacement: impl Replacer) -> Cow<'t, str> {
        let regex = self.regex();
        regex.map_or(text.into(), |regex| regex.replace_all(text, replacement))
    }
}

impl From<String> for Pattern {
    fn from(expression: String) -> Self {
        Self {
            compiled: compiled(&expression).into(),
            ..Self::new("")
        }
    }
}

fn compiled(expression: &str) -> Option<Regex> {
    let regex = Regex::new(expression);
    debug_assert!(regex.is_ok(), "{regex:?}");
    regex.ok()
}
