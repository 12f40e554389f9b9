//! Finds the keywords of all rules in one pass over a text, by their first three bytes.
//!
//! An automaton would search long texts no faster, but takes milliseconds to build, for which every
//! consultation would wait before its first request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The lowest bits of a byte, which are the same for a small and a capital letter.
const BITS: u32 = 5;

/// The bytes of a keyword that are looked up.
const LOOKED_UP: usize = 3;

/// The number of different beginnings.
const BEGINNINGS: usize = 1 << (BITS as usize * LOOKED_UP);

#[derive(Debug)]
pub(super) struct Keywords {
    /// For each beginning, one more than the place of its keywords in `begun`; 0 for none.
    places: Vec<u16>,
    /// The keywords that begin alike, in small letters, with the rules of each.
    begun: Vec<Vec<(String, BTreeSet<usize>)>>,
}

impl Keywords {
    /// Takes keywords in small letters, none empty, with the rule of each.
    pub(super) fn new(keywords: impl Iterator<Item = (String, usize)>) -> Self {
        let mut rules: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (keyword, rule) in keywords {
            rules.entry(keyword).or_default().insert(rule);
        }
        let mut by_beginning: BTreeMap<usize, Vec<(String, BTreeSet<usize>)>> = BTreeMap::new();
        for (keyword, rules) in rules {
            let looked_up = keyword.bytes().take(LOOKED_UP);
            // Anything may follow a keyword that is shorter.
            let open = BITS as usize * (LOOKED_UP - looked_up.len());
            let first = looked_up.fold(0, after) << open;
            for beginning in first..first + (1 << open) {
                let begun = by_beginning.entry(beginning).or_default();
                begun.push((keyword.clone(), rules.clone()));
            }
        }
        let mut places = vec![0; BEGINNINGS];
        for (place, beginning) in (1..).zip(by_beginning.keys()) {
            if let Some(of_beginning) = places.get_mut(*beginning) {
                *of_beginning = place;
            }
        }
        Self {
            places,
            begun: by_beginning.into_values().collect(),
        }
    }

    /// Returns the places of keywords in any case, with the rules of each, in the order of their
    /// ends; of those with one end, the longest first.
    pub(super) fn search(&self, text: &[u8]) -> Vec<(&BTreeSet<usize>, Range<usize>)> {
        let mut found = Vec::new();
        let mut beginning = 0;
        // A beginning is known at its last byte; the text may end before.
        let bytes = text.iter().chain(&[0; LOOKED_UP - 1]);
        bytes.enumerate().for_each(|(end, byte)| {
            beginning = after(beginning, *byte);
            let place = self.places.get(beginning).copied().unwrap_or_default();
            if place == 0 {
                return;
            }
            let begun = self.begun.get(usize::from(place) - 1).into_iter().flatten();
            let Some(start) = (end + 1).checked_sub(LOOKED_UP) else {
                return;
            };
            for (keyword, rules) in begun {
                let range = start..start + keyword.len();
                let literal = text.get(range.clone()).unwrap_or_default();
                if literal.eq_ignore_ascii_case(keyword.as_bytes()) {
                    found.push((rules, range));
                }
            }
        });
        found.sort_by_key(|(_, range)| (range.end, range.start));
        found
    }
}

fn after(beginning: usize, byte: u8) -> usize {
    (beginning << BITS | usize::from(byte) & ((1 << BITS) - 1)) % BEGINNINGS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [&str; 9] = [
        "key",
        "token",
        "aws_",
        "ws",
        "sk-",
        ":",
        "y",
        "é",
        "-----begin",
    ];

    /// Returns end, start and number of each keyword in the text, in the order of a search.
    fn one_by_one(text: &str) -> Vec<(usize, usize, usize)> {
        let text = text.to_ascii_lowercase();
        let mut found = Vec::new();
        for (number, keyword) in ALL.iter().enumerate() {
            for start in 0..text.len() {
                if text.as_bytes()[start..].starts_with(keyword.as_bytes()) {
                    found.push((start + keyword.len(), start, number));
                }
            }
        }
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn search_finds_what_each_keyword_by_itself_finds(
            text in "((?i)key|token|aws_|a|sk-|:|=|x{0,2}y|-----begin|[a-zé ]){0,40}",
        ) {
            let keywords = Keywords::new(ALL.map(str::to_owned).into_iter().zip(0..));
            let found = keywords.search(text.as_bytes()).into_iter();
            let found = found.map(|(rules, range)| (range.end, range.start, *rules.first().unwrap()));
            prop_assert_eq!(found.collect::<Vec<_>>(), one_by_one(&text));
        }
    }
}
