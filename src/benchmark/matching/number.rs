//! Finds the number that answers in a text.
//!
//! - In a statement the first number answers, or the result of the last `=`. A range, "40 or 42"
//!   and an open calculation are undecided; a denied number ("not 41") is passed over.
//! - Without a statement the last number answers, since reasons come first. The numbers of a list
//!   and a stated confidence are passed over.
//! - A number in words counts if there are no digits and no other such word. English only: the
//!   question asks for digits.
//! - `1,234` alone can be read in two ways: the other numbers of the text decide, then those of the
//!   case, then English usage.

use super::numeral::{Numeral, Quantity, decimal_mark, numerals, plain};
use super::statement::{Extent, final_statement};
use super::statement::{NUMBER_DENIAL, is_denied};
use super::text::{worded, words};
use crate::text::pattern::Pattern;

/// What is no answer where reasons and answer stand together: the number of an item, and how sure
/// the author is.
static ASIDE: Pattern = worded(
    r"(?mx) ^ [\s\#*>-]* \d+ [.)] \x20 \s* ( \pL )
    | \b {sure} \b \W{0,4} (?: \w+ \W+ ){0,2} \d+ (?: [.,/] \d+ )* (?: \s* % )?
    | \d+ (?: [.,] \d+ )? \s* (?: % | {percent} ) \W+ (?: \w+ \W+ )? {sure} \b",
);

/// What stands between the ends of a range, alternatives or parts of a calculation, with the unit
/// of the first one: "40 km to 45".
static JOINT: Pattern = worded(
    r"(?x) ^ [^\pL\pN]* (?: \pL+ [^\pL\pN]+ )?? (?: \b {range_words} | [-–—−/*×+^] | \.\. )
    [\s$€£\\(]* $",
);

static NUMBER_WORD: Pattern =
    worded(r"\b(?:(?<tens>{tens})(?:[ -](?<unit>{ones}))?|(?<ones>{ones}))\b");

/// `usual` is the decimal mark of the case.
pub(super) fn answer(text: &str, usual: Option<char>) -> Option<(Quantity, String)> {
    let text = plain(text);
    let mark = decimal_mark(&text).or(usual).unwrap_or('.');
    let statement = final_statement(&text, Extent::Line);
    let (clause, position) = match &statement {
        Some(statement) => (statement.into(), Position::First),
        None => (ASIDE.replace_in(&text, "$1"), Position::Last),
    };
    // The clause of the last number is its line.
    for line in clause.lines().rev() {
        let mut found = numerals(line, mark);
        found.retain(|number| !is_denied(line, number.start, number.end, &NUMBER_DENIAL));
        if !found.is_empty() {
            let answer = of_clause(line, &found, position)?;
            let words = line.get(answer.start..answer.end)?;
            return Some((answer.quantity, words.trim().to_owned()));
        }
    }
    let text = statement.as_ref().unwrap_or(&text);
    if numerals(text, mark).is_empty() {
        number_word(text)
    } else {
        None
    }
}

/// Returns the number of a text that is nothing but a number, with or without a unit.
pub(super) fn only_number(text: &str, mark: char) -> Option<Quantity> {
    let mut found = numerals(&plain(text), mark).into_iter();
    let only = found.next()?;
    found.next().is_none().then_some(only.quantity)
}

/// Which number of a clause without a result answers.
#[derive(Clone, Copy)]
enum Position {
    First,
    Last,
}

/// The result of an equation, else the first or last number unless it belongs to a range, an
/// alternative or an open calculation.
fn of_clause(text: &str, found: &[Numeral], position: Position) -> Option<Numeral> {
    let result = text.rfind(['=', '≈', '≃']).and_then(|sign| {
        let split = found.partition_point(|number| number.start < sign);
        let (left, right) = found.split_at_checked(split)?;
        match right {
            [first, second, ..] if is_joined(text, first, second) => left.last(),
            right => right.first(),
        }
    });
    if let Some(result) = result {
        return Some(result.clone());
    }
    let (answer, is_open) = match (position, found) {
        (_, []) => return None,
        (_, [only]) => (only, false),
        (Position::First, [first, second, ..]) => (first, is_joined(text, first, second)),
        (Position::Last, [.., second, last]) => (last, is_joined(text, second, last)),
    };
    (!is_open).then(|| answer.clone())
}

fn is_joined(text: &str, one: &Numeral, other: &Numeral) -> bool {
    let between = text.get(one.end..other.start).unwrap_or_default();
    JOINT.is_in(between) || text.contains("between ") && between.contains(" and ")
}

/// Returns the number that is written out in words, if there is only one.
fn number_word(text: &str) -> Option<(Quantity, String)> {
    // "One of them" counts nothing.
    let is_short = text.trim().len() < 12;
    let mut found = NUMBER_WORD
        .all(text)
        .filter(|found| is_short || !found[0].eq_ignore_ascii_case("one"));
    let only = found.next()?;
    let place = |group: &str, list: &str| {
        let word = only.name(group)?.as_str().to_lowercase();
        words(list).iter().position(|known| *known == word)
    };
    let tens = place("tens", "tens").map_or(0, |tens| (tens + 2) * 10);
    let ones = place("unit", "ones").or(place("ones", "ones")).unwrap_or(0);
    let number = Quantity::whole(tens + ones);
    found.next().is_none().then(|| (number, only[0].to_owned()))
}
