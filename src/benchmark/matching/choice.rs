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
//! - An option that is a number is named by a number phrase, not by digits that occur: 20 is no part
//!   of "20–30".
//! - Two options that are named and not denied are no answer, and neither is a letter with the text
//!   of another option, or a correction ("B, no, C").

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter::zip;

use super::number;
use super::numeral::Quantity;
use super::question::LETTERS;
use super::statement::{Extent, final_statement, is_denied};
use super::text::{core, end_of, folded, positions_of_words, worded};
use super::token::CaseTerms;
use crate::domain::steps;
use crate::text::pattern::Pattern;

/// The options of a choice.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// The folded texts.
    texts: Vec<String>,
    /// The texts in lower case, for options that differ in punctuation alone.
    exact: Vec<String>,
    /// Those that are numbers.
    numbers: Vec<(usize, Quantity)>,
    terms: CaseTerms,
}

/// An option that a text names, by its letter or its text.
#[derive(Clone, Copy, Debug)]
struct Mention {
    option: usize,
    start: usize,
    end: usize,
    /// Whether a letter can be no word.
    is_marked: bool,
}

impl Mention {
    fn is_denied(&self, text: &str) -> bool {
        is_denied(text, self.start, self.end)
    }
}

static WORD: Pattern = worded(r"[\pL\pN]+");

// In the patterns below, `\x00` stands for the letter.

/// A letter of "it's", "B-tree", "C++", "C#", "vitamin-C" or "3.B".
static IN_A_WORD: Pattern = worded(r"[\pL\pN][-'’_&@.]\x00|\x00(?:[+#]|[-'’_&@.][\pL\pN])");

/// A letter in brackets, quotes or emphasis ("(B)", "**B**", "B)"), on a line of its own, as
/// options are listed ("B) Lyon"), or after a noun ("option B").
static MARKED: Pattern = worded(
    r#"(?mx) [(\[\{*`"“„«$'‘] \x00 [.:]? [)\]\}*`"“”»$'’]
    | ^ [^\pL\pN\n]* \x00 (?: [).:\]] | \*\* | [^\pL\pN\n]* $ )
    | \b {option_nouns} [^\pL\pN.,;!?\n]+ \x00"#,
);

/// A letter after a word that introduces it: "go with B".
static INTRODUCED: Pattern = worded(r"\b{option_introductions}[^\pL\pN.,;!?\n]+\x00");

/// A letter that can be a word, "A cat", and one that is none, "A because".
static BEFORE_A_WORD: Pattern = worded(r"\x00 [\pL\pN]");
static BEFORE_A_CONNECTOR: Pattern = worded(r"\x00 {connectors}\b");

/// What can stand before the letter that a statement begins with.
static LEAD: Pattern = worded(
    r"^[^\pL\pN]*(?:(?:{option_leads}|{option_nouns}|{option_introductions})\b[^\pL\pN]*)*$",
);

/// What joins two letters to an undecided answer.
static JOINED: Pattern = worded(r"^[^\pL\pN]*(?:{joints}\b[^\pL\pN]*)*$");

/// What replaces an option by what follows.
static CORRECTION: Pattern = worded(
    r"(?is)(?:\bno\b\s*[.,:;!–—-]|\b{corrections}\b)(?<to>.*)|\bbut\b(?<to_right>.*\b{affirmations}\b.*)",
);

impl Options {
    pub(super) fn new(options: &[String], terms: CaseTerms) -> Self {
        let exact = options.iter().map(|option| option.trim().to_lowercase());
        let numbers = zip(0.., options)
            .filter_map(|(at, option)| Some((at, number::only_number(option, &terms)?)));
        Self {
            texts: options.iter().map(|option| folded(option)).collect(),
            exact: exact.collect(),
            numbers: numbers.collect(),
            terms,
        }
    }

    /// Returns the option with exactly this text, or else the only one that it equals when folded.
    pub(super) fn with_text(&self, text: &str) -> Option<usize> {
        let (lower, text) = (text.trim().to_lowercase(), folded(text));
        let exact = self.exact.iter().position(|option| *option == lower);
        let mut same = zip(0.., &self.texts).filter(|(_, option)| **option == text);
        let only = same.next().filter(|_| same.next().is_none());
        exact.or(only.map(|(option, _)| option))
    }

    /// Returns the option of a text that is nothing but a letter.
    pub(super) fn with_letter(&self, text: &str) -> Option<usize> {
        self.position(core(text))
    }

    /// Returns the only option that is this number.
    fn with_number(&self, number: impl Fn(&CaseTerms) -> Option<Quantity>) -> Option<usize> {
        self.numbers.first()?;
        let number = number(&self.terms)?;
        let is_same = |(_, option): &&(usize, Quantity)| number.is(option, 0.0, 0.0);
        let mut same = self.numbers.iter().filter(is_same);
        let (only, _) = same.next()?;
        same.next().is_none().then_some(*only)
    }

    fn is_number(&self, option: usize) -> bool {
        self.numbers.iter().any(|(number, _)| *number == option)
    }

    fn position(&self, letter: &str) -> Option<usize> {
        let mut letters = zip(LETTERS, &self.texts);
        letters.position(|(of_option, _)| {
            letter.eq_ignore_ascii_case(of_option.encode_utf8(&mut [0; 4]))
        })
    }

    pub(super) fn taken_by(&self, whole: &str) -> Option<usize> {
        let statement = final_statement(whole, Extent::Line);
        let text = statement.as_deref().unwrap_or(whole);
        let mut letters = self.letters(text);
        let is_lead = |first: &&Mention| LEAD.is_in(text.get(..first.start).unwrap_or_default());
        if statement.is_none() {
            letters.retain(|letter| letter.is_marked);
        } else if let Some(option) = self.with_letter(text).or_else(|| self.with_text(text)) {
            return Some(option);
        } else if let Some(first) = letters.first().filter(is_lead) {
            return self.led_by(text, first, letters.get(1));
        }
        let letter = only_one(text, &letters);
        let is_open = letters.is_empty() || statement.is_some() && letter.is_some();
        let number = |terms: &CaseTerms| Some(number::answer(whole, terms)?.0);
        let word = self.only_text(text).filter(|at| !self.is_number(*at));
        let other = word.or_else(|| self.with_number(number));
        let named = self.beginning(text).or(other.filter(|_| is_open));
        let both = letter.zip(named);
        let option = letter.or(named);
        option.filter(|_| both.is_none_or(|(letter, named)| letter == named))
    }

    fn led_by(&self, statement: &str, first: &Mention, second: Option<&Mention>) -> Option<usize> {
        let is_undecided = second.is_some_and(|second| {
            let between = statement.get(first.end..second.start).unwrap_or_default();
            let is_other = second.option != first.option && JOINED.is_in(between);
            is_other && !second.is_denied(statement)
        });
        // "B) Paris" is undecided if Paris is option A.
        let rest = statement.get(first.end..).unwrap_or_default();
        let is_mark = |c: char| !c.is_alphanumeric();
        let number = rest.trim_start_matches(|c| is_mark(c) && !"-−√±".contains(c));
        let after = number.trim_start_matches(is_mark);
        let texts = self.texts_in(&folded(after));
        let beginning = texts.first().filter(|text| text.start == 0);
        let named = self.with_number(|terms| number::only_number(number, terms));
        let named = named.or_else(|| self.with_text(after));
        let named = named.or(beginning.map(|text| text.option));
        let is_contradicted = named.is_some_and(|named| named != first.option);
        let is_taken = !is_undecided && !is_contradicted && !first.is_denied(statement);
        let option = is_taken.then_some(first.option);
        option.filter(|option| !self.is_corrected(*option, rest))
    }

    /// Whether what follows an option takes another one instead.
    fn is_corrected(&self, option: usize, rest: &str) -> bool {
        let correction = CORRECTION.all(rest).next();
        let other = correction.and_then(|found| {
            let other = found.name("to").or(found.name("to_right"))?.as_str();
            let letter = only_one(other, &self.letters(other));
            letter.or_else(|| self.only_text(other))
        });
        other.is_some_and(|other| other != option)
    }

    /// Returns the option whose text begins a text, before a mark: "Yes, because …".
    fn beginning(&self, text: &str) -> Option<usize> {
        let (beginning, rest) =
            text.split_once([',', '.', ';', ':', '!', '\n', '—', '–', '(', ')'])?;
        let option = self.with_text(beginning)?;
        (!self.is_number(option) && !self.is_corrected(option, rest)).then_some(option)
    }

    /// Returns the only option whose text occurs in a text that does not deny it.
    fn only_text(&self, text: &str) -> Option<usize> {
        // Lines are kept, so that denials end where they do.
        let lines: Vec<String> = text.lines().map(folded).collect();
        let text = lines.join("\n");
        only_one(&text, &self.texts_in(&text))
    }

    /// Returns where options' texts occur, without those that are a part of a longer one's.
    fn texts_in(&self, text: &str) -> Vec<Mention> {
        let mut mentions = Vec::new();
        for (option, words) in self.texts.iter().enumerate() {
            let starts = positions_of_words(text, words).into_iter();
            mentions.extend(starts.map(|start| Mention {
                option,
                start,
                end: start + words.len(),
                is_marked: true,
            }));
        }
        mentions.sort_by_key(|mention| (mention.start, Reverse(mention.end)));
        // The last end so far, and where the first mention that reaches it begins.
        let mut whole = (0, 0);
        mentions.retain(|part| {
            steps::count(1);
            let is_part = part.end < whole.1 || part.end == whole.1 && whole.0 < part.start;
            if part.end > whole.1 {
                whole = (part.start, part.end);
            }
            !is_part
        });
        mentions
    }

    fn letters(&self, text: &str) -> Vec<Mention> {
        let mut letters = Vec::new();
        for word in WORD.all(text).filter_map(|found| found.get(0)) {
            let Some(option) = self.position(word.as_str()) else {
                continue;
            };
            let around = around(text, word.start(), word.end());
            let can_be_word = "AEIOYaeioy".contains(word.as_str())
                && BEFORE_A_WORD.is_in(&around)
                && !BEFORE_A_CONNECTOR.is_in(&around);
            let is_marked = MARKED.is_in(&around) || INTRODUCED.is_in(&around) && !can_be_word;
            let is_capital = word.as_str() < "a";
            if (is_marked || is_capital && !can_be_word) && !IN_A_WORD.is_in(&around) {
                letters.push(Mention {
                    option,
                    start: word.start(),
                    end: word.end(),
                    is_marked,
                });
            }
        }
        letters
    }
}

/// Returns the only option that a text names by these mentions without denying it.
fn only_one(text: &str, mentions: &[Mention]) -> Option<usize> {
    let (denied, named): (Vec<Mention>, Vec<Mention>) =
        mentions.iter().partition(|mention| mention.is_denied(text));
    let denied: BTreeSet<usize> = denied.iter().map(|mention| mention.option).collect();
    let named: BTreeSet<usize> = named.iter().map(|mention| mention.option).collect();
    let mut affirmed = named.difference(&denied);
    let only = affirmed.next().copied();
    only.filter(|_| affirmed.next().is_none())
}

/// With `\0` in its place.
fn around(text: &str, start: usize, end: usize) -> String {
    const REACH: usize = 60;
    let before = end_of(text.get(..start).unwrap_or_default(), REACH);
    let after = text.get(end..).unwrap_or_default();
    let after: String = after.chars().take(REACH).collect();
    format!("{before}\0{after}")
}
