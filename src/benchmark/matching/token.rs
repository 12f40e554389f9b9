//! The parts of a text in which numbers are read, and what the case says of its numbers.

use std::collections::BTreeSet;

use regex::Captures;

use super::numeral::{Number, literal};
use super::text::{worded, words};
use crate::text::pattern::Pattern;

/// Numbers, those in names (`CO2`), times, dates and versions, words and single marks.
static TOKEN: Pattern = worded(
    r"(?x)
    [0-9]+ (?: : [0-9]+ )+ | [0-9]+ / [0-9]+ / [0-9]+ | [0-9]{4} - [0-9]{2} - [0-9]{2}
      | 0 [xXbBoO] [0-9A-Fa-f]+
    | \pL [\pL0-9]* _? [0-9] [\pL0-9]* | \p{Lu} [\pL0-9]* [-‑] [0-9]+ | \pL [\pL\pM'’]*
    | (?<digits>
        [1-9] [0-9]{0,2} (?: [\x20'’_] [0-9]{3} )+ \b (?: [.,] [0-9]+ )?
        | [0-9]+ (?: [.,] [0-9]+ )* | \. [0-9]+ )
      (?: [eE] (?<exponent> [-−+]? [0-9]{1,5} ) \b
        | \^ (?<power> [-−+]? [0-9]{1,5} )
        | \s+ (?<top> [0-9]+ ) / (?<bottom> [0-9]+ )
        | \s? / \s? (?<divisor> [0-9]+ ) )?
    | \S",
);

/// What the case says of its numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct CaseTerms {
    /// The decimal mark, if it shows.
    pub(super) mark: Option<char>,
    /// Any word in it can be a unit, "million" too.
    pub(super) words: BTreeSet<String>,
    /// Without white space, for the expressions that it asks for.
    pub(super) text: String,
}

impl CaseTerms {
    pub(super) fn of(text: &str) -> Self {
        let tokens = tokens(text, '.', usize::MAX);
        let mut terms = Self::default();
        let mut after_number = false;
        for token in &tokens {
            // "2 million people" asks for no millions.
            if !(after_number && places("scales", &stem(token.text)).is_some()) {
                terms.words.insert(stem(token.text));
            }
            after_number = token.has_digits();
        }
        terms.mark = decimal_mark(text);
        terms.text = text.split_whitespace().collect();
        terms
    }
}

/// `None` if there is none, or both are used.
pub(super) fn decimal_mark(text: &str) -> Option<char> {
    let tokens = tokens(text, '.', usize::MAX);
    let mut marks = tokens.iter().filter_map(|token| token.literal.as_ref()?.1);
    let first = marks.next()?;
    marks.all(|mark| mark == first).then_some(first)
}

pub(super) fn has_numbers(text: &str) -> bool {
    let tokens = tokens(text, '.', usize::MAX);
    tokens.iter().any(|token| token.literal.is_some())
}

#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// In lower case.
    pub(super) word: String,
    pub(super) start: usize,
    /// Its number, and the decimal mark that it shows.
    pub(super) literal: Option<(Number, Option<char>)>,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// In the singular or the plural.
    pub(super) fn is(&self, word: &str) -> bool {
        let is_plural = word.len() > 2 && self.word.strip_suffix('s') == Some(word);
        is_plural || self.word == word
    }

    /// Also for one that is no number on its own: a time, a date, a version.
    pub(super) fn has_digits(&self) -> bool {
        self.literal.is_some() || self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(char::is_alphabetic)
    }

    /// A variable, or a mark.
    pub(super) fn is_short(&self) -> bool {
        self.text.chars().nth(1).is_none()
    }
}

pub(super) fn tokens(text: &str, mark: char, most: usize) -> Vec<Token<'_>> {
    let token = |found: Captures<'_>| {
        let whole = found.get(0)?;
        Some(Token {
            text: text.get(whole.range())?,
            word: whole.as_str().to_lowercase(),
            start: whole.start(),
            literal: literal(&found, mark),
        })
    };
    TOKEN.all(text).filter_map(token).take(most).collect()
}

/// A word in the singular.
pub(super) fn stem(word: &str) -> String {
    word.to_lowercase().trim_end_matches('s').to_owned()
}

/// The power of ten beside a word in a list.
pub(super) fn places(list: &str, word: &str) -> Option<i64> {
    let mut rows = words(list).iter().filter_map(|row| row.split_once(' '));
    let (places, _) = rows.find(|(_, known)| *known == word)?;
    places.parse().ok()
}
