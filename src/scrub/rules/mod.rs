//! Rules as data: the form of `rules.toml` and of the user's own file, and the errors in it.

#[cfg(test)]
mod tests;

use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

const BUILT_IN: &str = include_str!("rules.toml");

/// One rule, as written. It has either a `regex` or `names`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScrubRule {
    pub id: String,
    /// The type of the secret, as the report names it; in capitals, the placeholder.
    pub kind: String,
    pub description: String,
    /// Literals of which one is in every match. Their case counts unless `ignore_case` is set.
    pub keywords: Vec<String>,
    /// Matches bytes from a keyword on; its group `secret` or `quoted`, or all of it, is masked.
    pub regex: Option<String>,
    /// A literal that the searched text has too. Without it, the regex is not even compiled.
    pub needs: Option<String>,
    /// Starts the search this many bytes before the keyword instead of at it.
    pub before: Option<usize>,
    /// Ends the search this many bytes after the keyword.
    pub after: Option<usize>,
    pub ignore_case: bool,
    /// The lowest Shannon entropy of a secret, in bits per byte.
    pub entropy: Option<f64>,
    /// What is read from the match of the regex on, instead of the match.
    pub block: Option<SecretBlock>,
    /// How a value assigned to a name with one of the keywords is judged.
    pub names: Option<NamePolicy>,
    /// Regexes of values that are no secrets.
    pub allow: Vec<String>,
}

/// Which values of a secret-named variable are secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamePolicy {
    /// Weak values too, such as `hunter2`.
    Password,
    /// Values that look random.
    Random,
    /// Long values that look random, of names that mostly say by what a value is found: `key`.
    Key,
}

/// A secret of several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretBlock {
    /// The lines of a key behind its first line.
    KeyBehind,
    /// The lines of a key before its last line.
    KeyBefore,
    /// The data of a manifest in the lines around its kind.
    ManifestLines,
    /// The values of pairs in braces.
    ManifestObject,
}

/// The user's own rules and exceptions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UserRules {
    #[serde(rename = "rule")]
    pub rules: Vec<ScrubRule>,
    pub allow: AllowedValues,
}

/// Values that are never masked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AllowedValues {
    /// Whole values.
    pub values: Vec<String>,
    /// Regexes, found anywhere in the value.
    pub patterns: Vec<String>,
}

impl UserRules {
    pub(super) fn is_empty(&self) -> bool {
        let AllowedValues { values, patterns } = &self.allow;
        self.rules.is_empty() && values.is_empty() && patterns.is_empty()
    }

    pub fn parse(text: &str) -> Result<Self, RuleError> {
        toml::from_str(text).map_err(|error| RuleError::Toml(Box::new(error)))
    }
}

/// Returns the built-in rules as TOML, one by one: few of them are ever read.
pub(super) fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.split("\n[[rule]]\n").skip(1)
}

/// Returns the keywords of a built-in rule, which have no escapes, without reading the rest of it.
pub(super) fn keywords(rule: &str) -> Vec<String> {
    let (_, mut rest) = rule.split_once("\nkeywords = [").unwrap_or_default();
    let mut keywords = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\n', ',']);
        let quote = rest.get(..1).filter(|sign| matches!(*sign, "\"" | "'"));
        let keyword = quote.and_then(|quote| rest.get(1..)?.split_once(quote));
        let Some((keyword, after)) = keyword else {
            return keywords;
        };
        keywords.push(keyword.to_owned());
        rest = after;
    }
}

/// A rule that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    #[error("rules that are no valid TOML")]
    Toml(#[source] Box<toml::de::Error>),
    #[error("rule `{rule}` has an invalid regex")]
    Regex {
        rule: String,
        #[source]
        source: Box<regex::Error>,
    },
    #[error("an allowed pattern is an invalid regex")]
    AllowedPattern(#[source] Box<regex::Error>),
    /// By its number in the file, from 1.
    #[error(
        "rule {0} needs an `id` that no other rule of the file has: lowercase letters, digits, `-` and `_`"
    )]
    Id(usize),
    #[error("the regex of rule `{0}` matches the empty text")]
    EmptyMatch(String),
    #[error("rule `{0}` has no `keywords`, or an empty one")]
    NoKeywords(String),
    #[error("rule `{0}` has both or none of `regex` and `names`")]
    Matcher(String),
    #[error("rule `{rule}` has an invalid `kind` `{kind}`: use lowercase letters, digits and `_`")]
    Kind { rule: String, kind: String },
}

/// Compiles patterns that match bytes.
pub(super) fn byte_set(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(patterns).unicode(false).build()
}
