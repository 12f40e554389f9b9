//! Finds secrets in one text: it is searched for the keywords of all rules, and the places that have
//! one are looked at more closely.

use std::collections::BTreeSet;

use regex::bytes::RegexSet;

use super::compiled_rule::CompiledRule;
use super::keywords::Keywords;
use super::overlap::{SecretSpan, Specificity, join};
use super::place::KeywordPlace;
use super::rules::{RuleError, UserRules, built_in, byte_set};

/// A keyword's rule looks no further than to this many of its keywords before and behind it. The
/// one next to a secret always sees all of it.
const NEIGHBOURS: usize = 4;

#[derive(Debug)]
pub(super) struct Detector {
    pub(super) rules: Vec<CompiledRule>,
    keywords: Keywords,
    allowed_values: BTreeSet<String>,
    allowed_patterns: RegexSet,
}

/// A keyword in a text.
#[derive(Clone, Copy, Debug)]
struct FoundKeyword {
    rule: usize,
    range: (usize, usize),
    /// Its number among those of the rule that do not overlap.
    group: usize,
}

impl Detector {
    pub(super) fn new(user: &UserRules) -> Result<Self, RuleError> {
        let mut rules: Vec<_> = built_in().map(CompiledRule::built_in).collect();
        let mut ids = BTreeSet::new();
        for (number, rule) in (1..).zip(&user.rules) {
            let is_of_id = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte)
            };
            let is_id = !rule.id.is_empty() && rule.id.bytes().all(is_of_id);
            if !is_id || !ids.insert(&rule.id) {
                return Err(RuleError::Id(number));
            }
            rules.push(CompiledRule::checked(rule.clone())?);
        }
        let of_rule = |(index, rule): (usize, &'_ CompiledRule)| {
            rule.keywords
                .clone()
                .into_iter()
                .map(move |keyword| (keyword, index))
        };
        let keywords = rules.iter().enumerate().flat_map(of_rule);
        let keywords = Keywords::new(keywords);
        let allowed_patterns = byte_set(&user.allow.patterns)
            .map_err(|error| RuleError::AllowedPattern(Box::new(error)))?;
        Ok(Self {
            rules,
            keywords,
            allowed_values: user.allow.values.iter().cloned().collect(),
            allowed_patterns,
        })
    }

    /// In order, without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<SecretSpan> {
        let (keywords, groups) = self.keywords(text);
        let mut spans = Vec::new();
        // What is inside of a known form, such as a private key, is not looked at.
        let mut covered = (0, 0);
        for found in keywords {
            let (start, end) = found.range;
            if covered.0 < start && start < covered.1 {
                continue;
            }
            let (Some(rule), Some(groups)) = (self.rules.get(found.rule), groups.get(found.rule))
            else {
                continue;
            };
            let group = |number: Option<usize>| Some(groups.get(number?)?.0);
            let before = group(found.group.checked_sub(NEIGHBOURS)).unwrap_or(0);
            let behind = group(Some(found.group + NEIGHBOURS)).unwrap_or(text.len());
            let place = KeywordPlace {
                text,
                start,
                end,
                reach: (before, behind),
            };
            for span in rule.find(place, Some(found.rule)) {
                if self.is_allowed(text, span.start, span.end) {
                    continue;
                }
                if span.specificity == Specificity::Form && span.end > covered.1 {
                    covered = (span.start, span.end);
                }
                spans.push(span);
            }
        }
        join(spans)
    }

    /// Returns the keywords of a text in order, and for each rule where its keywords are: those
    /// that overlap are in one group.
    fn keywords(&self, text: &str) -> (Vec<FoundKeyword>, Vec<Vec<(usize, usize)>>) {
        let mut keywords = Vec::new();
        let mut groups: Vec<Vec<(usize, usize)>> = Vec::new();
        for (rule, range) in self.keywords.search(text.as_bytes()) {
            let literal = text.as_bytes().get(range.clone()).unwrap_or_default();
            let is_other = |rule: &CompiledRule| !rule.takes(literal);
            if self.rules.get(rule).is_none_or(is_other) {
                continue;
            }
            groups.resize(self.rules.len(), Vec::new());
            let Some(groups) = groups.get_mut(rule) else {
                continue;
            };
            let range = (range.start, range.end);
            match groups.last_mut() {
                Some(last) if range.0 < last.1 => *last = (last.0.min(range.0), range.1),
                Some(_) | None => groups.push(range),
            }
            keywords.push(FoundKeyword {
                rule,
                range,
                group: groups.len() - 1,
            });
        }
        (keywords, groups)
    }

    fn is_allowed(&self, text: &str, start: usize, end: usize) -> bool {
        let value = text.get(start..end).unwrap_or_default();
        value.is_empty()
            || self.allowed_values.contains(value)
            || self.allowed_patterns.is_match(value.as_bytes())
    }
}
