//! Finds secrets in one text: it is searched for the keywords of all rules, and the places that have
//! one are looked at more closely.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};
use indexmap::IndexMap;
use memchr::memmem::Finder;
use regex::bytes::RegexSet;

use super::compiled_rule::CompiledRule;
use super::overlap::{SecretSpan, Specificity, join};
use super::place::KeywordPlace;
use super::rules::{RuleError, UserRules, built_in, byte_set};

/// A keyword's rule looks no further than to this many of its keywords before and behind it. The
/// one next to a secret always sees all of it.
const NEIGHBOURS: usize = 4;

/// While fewer bytes were searched in all, each keyword is searched by itself: that takes less time
/// than to build a prefilter, for which a consultation would wait before its first request.
const FEW_BYTES: usize = 16_000;

/// What the search for each keyword by itself costs beside the bytes of a text, in bytes.
const EACH_TEXT: usize = 500;

/// After this many bytes, a prefilter that searches faster is worth the time that it takes to
/// build.
const MANY_BYTES: usize = 500_000;

#[derive(Debug)]
pub(super) struct Detector {
    pub(super) rules: Vec<CompiledRule>,
    /// In small letters, with the rules of each.
    keywords: IndexMap<String, BTreeSet<usize>>,
    searched_bytes: AtomicUsize,
    /// `None` if it cannot be built, as the next.
    prefilter: OnceLock<Option<AhoCorasick>>,
    fast_prefilter: OnceLock<Option<AhoCorasick>>,
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
        let mut rules = Vec::new();
        for rule in built_in()? {
            rules.push(CompiledRule::new(rule)?);
        }
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
        let mut keywords: IndexMap<String, BTreeSet<usize>> = IndexMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in &rule.rule.keywords {
                let of_rules = keywords.entry(keyword.to_ascii_lowercase());
                of_rules.or_default().insert(index);
            }
        }
        let allowed_patterns = byte_set(&user.allow.patterns)
            .map_err(|error| RuleError::AllowedPattern(Box::new(error)))?;
        Ok(Self {
            rules,
            keywords,
            searched_bytes: AtomicUsize::new(0),
            prefilter: OnceLock::new(),
            fast_prefilter: OnceLock::new(),
            allowed_values: user.allow.values.iter().cloned().collect(),
            allowed_patterns,
        })
    }

    /// Returns the secrets of a text in order, without overlaps.
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
        for (keyword, range) in self.search(text) {
            let literal = text.as_bytes().get(range.clone()).unwrap_or_default();
            let keyword = self.keywords.get_index(keyword);
            for rule in keyword.into_iter().flat_map(|(_, rules)| rules) {
                let is_other = |rule: &CompiledRule| !rule.takes(literal);
                if self.rules.get(*rule).is_none_or(is_other) {
                    continue;
                }
                groups.resize(self.rules.len(), Vec::new());
                let Some(groups) = groups.get_mut(*rule) else {
                    continue;
                };
                let range = (range.start, range.end);
                match groups.last_mut() {
                    Some(last) if range.0 < last.1 => *last = (last.0.min(range.0), range.1),
                    Some(_) | None => groups.push(range),
                }
                keywords.push(FoundKeyword {
                    rule: *rule,
                    range,
                    group: groups.len() - 1,
                });
            }
        }
        (keywords, groups)
    }

    /// Returns the numbers and places of the keywords in a text, in the order of their ends.
    fn search<'t>(&'t self, text: &'t str) -> Box<dyn Iterator<Item = (usize, Range<usize>)> + 't> {
        let Some(prefilter) = self.prefilter(text) else {
            return Box::new(self.search_each(text).into_iter());
        };
        let found = prefilter.find_overlapping_iter(text);
        Box::new(found.map(|found| (found.pattern().as_usize(), found.range())))
    }

    fn prefilter(&self, text: &str) -> Option<&AhoCorasick> {
        let bytes = text.len() + EACH_TEXT;
        let before = self.searched_bytes.fetch_add(bytes, Ordering::Relaxed);
        let (prefilter, kind) = match before + bytes {
            ..FEW_BYTES => return None,
            FEW_BYTES..MANY_BYTES => (&self.prefilter, AhoCorasickKind::ContiguousNFA),
            MANY_BYTES.. => (&self.fast_prefilter, AhoCorasickKind::DFA),
        };
        let prefilter = prefilter.get_or_init(|| finder(self.keywords.keys(), kind).ok());
        prefilter.as_ref()
    }

    /// Searches the text for each keyword by itself.
    fn search_each(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let text = text.to_ascii_lowercase();
        let mut found = Vec::new();
        for (number, keyword) in self.keywords.keys().enumerate() {
            let finder = Finder::new(keyword);
            let mut from = 0;
            while let Some(at) = text
                .as_bytes()
                .get(from..)
                .and_then(|rest| finder.find(rest))
            {
                let start = from + at;
                found.push((number, start..start + keyword.len()));
                from = start + 1;
            }
        }
        found.sort_by_key(|(_, range)| (range.end, range.start));
        found
    }

    fn is_allowed(&self, text: &str, start: usize, end: usize) -> bool {
        let value = text.get(start..end).unwrap_or_default();
        value.is_empty()
            || self.allowed_values.contains(value)
            || self.allowed_patterns.is_match(value.as_bytes())
    }
}

fn finder<'k>(
    keywords: impl Iterator<Item = &'k String>,
    kind: AhoCorasickKind,
) -> Result<AhoCorasick, BuildError> {
    AhoCorasick::builder()
        .kind(Some(kind))
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(keywords)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keywords_are_found_in_the_same_order_one_by_one(
            text in "((?i)key|token|aws_|ghp_|sk-|:|=|\"|password|-----begin|[a-zé ]){0,40}",
        ) {
            let detector = Detector::new(&UserRules::default()).unwrap();
            let one_by_one = detector.search_each(&text);
            detector.searched_bytes.store(FEW_BYTES, Ordering::Relaxed);
            prop_assert_eq!(one_by_one, detector.search(&text).collect::<Vec<_>>());
        }
    }
}
