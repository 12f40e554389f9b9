//! Finds the keywords of all rules in one pass over a text, by their first three bytes.
//!
//! An automaton would search long texts no faster, but takes milliseconds to build, for which every
//! consultation would wait before its first request.

use std::ops::Range;

/// The lowest bits of a byte, which are the same for a small and a capital letter.
const BITS: u32 = 5;

/// The bytes of a keyword that are looked up.
const LOOKED_UP: usize = 3;

/// The number of different beginnings.
const BEGINNINGS: usize = 1 << (BITS as usize * LOOKED_UP);

#[derive(Debug)]
pub(super) struct Keywords {
    /// For each beginning, one more than the place of its first keyword; 0 for none.
    places: Vec<u16>,
    /// In the order of their beginnings.
    keywords: Vec<Keyword>,
}

#[derive(Clone, Debug)]
struct Keyword {
    beginning: usize,
    literal: String,
    rule: usize,
}

impl Keywords {
    /// Takes keywords, none empty, with the rule of each.
    pub(super) fn new(literals: impl Iterator<Item = (String, usize)>) -> Self {
        let mut keywords = Vec::new();
        for (literal, rule) in literals {
            let looked_up = literal.bytes().take(LOOKED_UP);
            // Anything may follow a keyword that is shorter.
            let open = BITS as usize * (LOOKED_UP - looked_up.len());
            let first = looked_up.fold(0, after) << open;
            keywords.extend((first..first + (1 << open)).map(|beginning| Keyword {
                beginning,
                literal: literal.clone(),
                rule,
            }));
        }
        keywords.sort_by_key(|keyword| keyword.beginning);
        let mut places = vec![0; BEGINNINGS];
        for (place, keyword) in (1..).zip(&keywords) {
            if let Some(first @ 0) = places.get_mut(keyword.beginning) {
                *first = place;
            }
        }
        Self { places, keywords }
    }

    /// Returns the places of keywords in any case, with the rule of each, in the order of their
    /// ends; of those with one end, the longest first.
    pub(super) fn search(&self, text: &[u8]) -> Vec<(usize, Range<usize>)> {
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
            let Some(start) = (end + 1).checked_sub(LOOKED_UP) else {
                return;
            };
            let begun = self.keywords.iter().skip(usize::from(place) - 1);
            for keyword in begun.take_while(|keyword| keyword.beginning == beginning) {
                let range = start..start + keyword.literal.len();
                let literal = text.get(range.clone()).unwrap_or_default();
                if literal.eq_ignore_ascii_case(keyword.literal.as_bytes()) {
                    found.push((keyword.rule, range));
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
            let found = found.map(|(rule, range)| (range.end, range.start, rule));
            prop_assert_eq!(found.collect::<Vec<_>>(), one_by_one(&text));
        }
    }
}
