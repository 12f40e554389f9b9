//! Values that are no secrets: those that a rule or the user excepts.

use std::collections::BTreeSet;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::rules::AllowedValues;

/// Exact values and patterns.
#[derive(Debug)]
pub(super) struct Allowlist {
    values: BTreeSet<String>,
    patterns: RegexSet,
}

impl Allowlist {
    pub(super) fn new(allowed: &AllowedValues) -> Result<Self, regex::Error> {
        Ok(Self {
            values: allowed.values.iter().cloned().collect(),
            patterns: byte_set(&allowed.patterns)?,
        })
    }

    pub(super) fn contains(&self, value: &str) -> bool {
        self.values.contains(value) || self.patterns.is_match(value.as_bytes())
    }
}

/// Compiles patterns that match bytes.
pub(super) fn byte_set(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(patterns).unicode(false).build()
}
