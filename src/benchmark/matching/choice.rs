//! Reads which option of a choice a text takes.
//!
//! - In a statement, the letter at its beginning decides, in brackets or not: "B", "(B)",
//!   "B) Lyon", "option B because …". Another letter joined to it ("B or C", "A and B") makes it
//!   undecided, and so does a letter with the text of another option.
//! - A statement without a letter at its beginning takes the only option that it names without
//!   denying it ("not B but C"), by letter or by text.
//! - Without a statement, only letters that are marked as letters count ("(B)", "option B", a line
//!   of nothing else): "A" is also a word. Then an option's text at the beginning ("Yes, …"), then
//!   the only option whose whole text occurs.
//! - Two options that are named and not denied are no answer.

use std::collections::BTreeSet;

use crate::domain::word_list::WordList;

use super::negation::{Named, is_denied};
use super::question::LETTERS;
use super::statement::{Extent, final_statement, is_one_of, words};
use super::text::{core, folded, positions_of_words};
use super::words::tables;

/// The options of a choice.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// The folded texts.
    texts: Vec<String>,
    /// The texts in lower case, for options that differ in punctuation alone.
    exact: Vec<String>,
}

/// A letter that a text names.
#[derive(Clone, Copy, Debug)]
struct Letter {
    option: usize,
    start: usize,
    end: usize,
    /// Whether it can only be a letter, and no word.
    is_marked: bool,
}

impl Options {
    pub(super) fn new(options: &[String]) -> Self {
        Self {
            texts: options.iter().map(|option| folded(option)).collect(),
            exact: options
                .iter()
                .map(|option| option.trim().to_lowercase())
                .collect(),
        }
    }

    /// Returns the option with exactly this text, or else the only one that it equals when folded.
    pub(super) fn with_text(&self, text: &str) -> Option<usize> {
        let text = text.trim();
        let lower = text.to_lowercase();
        if let Some(option) = self.exact.iter().position(|option| *option == lower) {
            return Some(option);
        }
        let text = folded(text);
        let mut same = (0..)
            .zip(&self.texts)
            .filter(|(_, option)| **option == text);
        let (option, _) = same.next()?;
        same.next().is_none().then_some(option)
    }

    /// Returns the option of a text that is nothing but a letter.
    pub(super) fn with_letter(&self, text: &str) -> Option<usize> {
        let mut letters = core(text).chars();
        let letter = letters.next()?.to_ascii_uppercase();
        let option = self.position(letter)?;
        letters.next().is_none().then_some(option)
    }

    fn position(&self, letter: char) -> Option<usize> {
        let mut letters = LETTERS.zip(&self.texts);
        letters.position(|(of_option, _)| of_option == letter)
    }

    /// Returns the option that a text takes.
    pub(super) fn taken_by(&self, text: &str) -> Option<usize> {
        match final_statement(text, Extent::Line) {
            Some(statement) => self.stated(statement),
            None => self.named(text),
        }
    }

    /// Returns the option that a statement takes.
    fn stated(&self, statement: &str) -> Option<usize> {
        if let Some(option) = self.with_letter(statement).or(self.with_text(statement)) {
            return Some(option);
        }
        let letters = self.letters(statement);
        if let Some(first) = letters.first()
            && is_lead(statement.get(..first.start).unwrap_or_default())
        {
            return self.led_by(statement, *first, letters.get(1));
        }
        self.beginning(statement)
            .or_else(|| self.only_one(statement, &letters))
    }

    /// Returns the option of the letter that begins a statement.
    fn led_by(&self, statement: &str, first: Letter, second: Option<&Letter>) -> Option<usize> {
        let after = statement.get(first.end..).unwrap_or_default();
        if let Some(second) = second {
            let between = statement.get(first.end..second.start).unwrap_or_default();
            let is_joined = words(between).all(|(_, word)| is_one_of(&JOINTS, word))
                && !is_denied(statement, second.start, second.end, Named::Option);
            if is_joined && second.option != first.option {
                return None;
            }
        }
        // "B) Paris" is undecided if Paris is option A.
        let first_line = after.lines().next().unwrap_or_default();
        let sentence = first_line.split(". ").next().unwrap_or_default();
        let named = [first_line, sentence]
            .into_iter()
            .find_map(|text| self.with_text(text.trim_start_matches(is_delimiter)));
        if named.is_some_and(|named| named != first.option) {
            return None;
        }
        let denied = is_denied(statement, first.start, first.end, Named::Option);
        (!denied).then_some(first.option)
    }

    /// Returns the option that a text names without a statement.
    fn named(&self, text: &str) -> Option<usize> {
        let mut letters = self.letters(text);
        letters.retain(|letter| letter.is_marked);
        self.with_letter(text)
            .or_else(|| self.beginning(text))
            .or_else(|| self.only_one(text, &letters))
    }

    /// Returns the option whose text begins a text, before a mark: "Yes, because …".
    fn beginning(&self, text: &str) -> Option<usize> {
        let end = text.find([',', '.', ';', ':', '!', '\n', '—', '–'])?;
        let text = text.get(..end)?;
        self.with_text(text)
    }

    /// Returns the only option that a text names without denying it.
    fn only_one(&self, text: &str, letters: &[Letter]) -> Option<usize> {
        let mut named = BTreeSet::new();
        let mut denied = BTreeSet::new();
        for letter in letters {
            if is_denied(text, letter.start, letter.end, Named::Option) {
                denied.insert(letter.option);
            } else {
                named.insert(letter.option);
            }
        }
        if letters.is_empty() {
            let text = folded_lines(text);
            for (option, start, end) in self.texts_in(&text) {
                if is_denied(&text, start, end, Named::Option) {
                    denied.insert(option);
                } else {
                    named.insert(option);
                }
            }
        }
        let mut affirmed = named.difference(&denied);
        let only = affirmed.next().copied();
        only.filter(|_| affirmed.next().is_none())
    }

    /// Returns where options' texts occur, without those that are a part of a longer one's.
    fn texts_in(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for (option, words) in self.texts.iter().enumerate() {
            let starts = positions_of_words(text, words).into_iter();
            places.extend(starts.map(|start| (option, start, start + words.len())));
        }
        let is_part = |(_, start, end): &(usize, usize, usize)| {
            places
                .iter()
                .any(|(_, from, to)| from <= start && end <= to && end - start < to - from)
        };
        places
            .iter()
            .filter(|place| !is_part(place))
            .copied()
            .collect()
    }

    /// Returns the letters of options in a text that are no words.
    fn letters(&self, text: &str) -> Vec<Letter> {
        let mut letters = Vec::new();
        let words: Vec<(usize, &str)> = words(text).collect();
        for (at, (start, word)) in words.iter().enumerate() {
            let mut letter = word.chars();
            let (Some(c), None) = (letter.next(), letter.next()) else {
                continue;
            };
            let Some(option) = self.position(c.to_ascii_uppercase()) else {
                continue;
            };
            let end = start + word.len();
            let before = text.get(..*start).unwrap_or_default();
            let after = text.get(end..).unwrap_or_default();
            if is_part_of_a_word(before, after) {
                continue;
            }
            let previous = at.checked_sub(1).and_then(|at| words.get(at));
            let is_after = |list: &WordList| {
                previous.is_some_and(|(_, word)| is_one_of(list, word))
                    && !before
                        .trim_end_matches(' ')
                        .ends_with(['.', ',', ';', '!', '?', '\n'])
            };
            let next = words.get(at + 1).map(|(_, word)| *word);
            let is_marked = is_enclosed(before, after)
                || is_on_its_own(before, after)
                || is_after(&tables().option_nouns)
                || is_after(&tables().option_introductions) && !is_article(c, after, next);
            if is_marked || c.is_ascii_uppercase() && !is_article(c, after, next) {
                letters.push(Letter {
                    option,
                    start: *start,
                    end,
                    is_marked,
                });
            }
        }
        letters
    }
}

/// Words that join two letters to an undecided answer.
const JOINTS: [&str; 14] = [
    "or", "and", "oder", "und", "ou", "et", "y", "o", "e", "both", "as", "well", "possibly",
    "maybe",
];

/// Words after a letter that "A" and "I" as words do not have after them.
const CONNECTORS: [&str; 34] = [
    "because", "since", "as", "is", "was", "for", "due", "and", "or", "nor", "but", "not",
    "rather", "instead", "over", "if", "given", "with", "would", "should", "follows", "holds",
    "wins", "weil", "denn", "ist", "oder", "und", "ou", "et", "car", "parce", "porque", "then",
];

/// Whether a letter is a word: "A cat", "I think".
fn is_article(letter: char, after: &str, next: Option<&str>) -> bool {
    let is_word = matches!(
        letter,
        'A' | 'I' | 'a' | 'i' | 'O' | 'o' | 'E' | 'e' | 'Y' | 'y'
    );
    let is_followed = after.starts_with(' ')
        && after
            .get(1..)
            .is_some_and(|after| after.starts_with(char::is_alphanumeric));
    is_word && is_followed && !next.is_some_and(|next| is_one_of(&CONNECTORS, next))
}

/// Whether a letter belongs to "it's", "B-tree", "C++", "C#", "vitamin-C" or "3.B".
fn is_part_of_a_word(before: &str, after: &str) -> bool {
    let next_two = || {
        let mut letters = after.chars();
        (letters.next(), letters.next())
    };
    let joins = |c: char| matches!(c, '\'' | '’' | '-' | '_' | '&' | '@');
    let is_joined_after = match next_two() {
        (Some('+' | '#'), _) => true,
        (Some(c), Some(next)) => (joins(c) || c == '.') && next.is_alphanumeric(),
        _ => false,
    };
    let mut letters = before.chars().rev();
    let is_joined_before = match (letters.next(), letters.next()) {
        (Some(c), Some(previous)) => (joins(c) || c == '.') && previous.is_alphanumeric(),
        _ => false,
    };
    is_joined_after || is_joined_before
}

/// Whether brackets, quotes or emphasis enclose a letter: "(B)", "**B**", "{B}", "B)".
fn is_enclosed(before: &str, after: &str) -> bool {
    let opens = before.ends_with(['(', '[', '{', '*', '`', '"', '“', '„', '«', '$', '\'', '‘']);
    let after = after.strip_prefix(['.', ':']).unwrap_or(after);
    opens && after.starts_with([')', ']', '}', '*', '`', '"', '“', '”', '»', '$', '\'', '’'])
}

/// Whether a letter is a line of its own, or begins one as options are listed: "B) Lyon".
fn is_on_its_own(before: &str, after: &str) -> bool {
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let line_after = after.split('\n').next().unwrap_or_default();
    core(line_before).is_empty()
        && (core(line_after).is_empty()
            || line_after.starts_with([')', '.', ':', ']'])
            || line_after.starts_with("**"))
}

/// Whether a text can stand before the letter that a statement begins with.
fn is_lead(before: &str) -> bool {
    let lists: [&WordList; 3] = [
        &tables().option_leads,
        &tables().option_nouns,
        &tables().option_introductions,
    ];
    words(before).all(|(_, word)| lists.iter().any(|list| is_one_of(list, word)))
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ')' | ']' | '}' | '.' | ':' | '-' | '–' | '—' | '*' | '=' | '('
        )
}

/// Returns the folded lines of a text, so that denials end where they do.
fn folded_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(folded).collect();
    lines.join("\n")
}
