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

use super::digits::DecimalMark;
use super::negation::{Named, is_denied};
use super::numeral::{Numeral, Quantity, decimal_mark, numerals, with_plain_digits};
use super::statement::{Extent, final_statement, is_one_of, words};
use super::words::tables;

/// Returns the number that answers and its words. `usual` is the decimal mark of the case.
pub(super) fn answer(text: &str, usual: Option<DecimalMark>) -> Option<(Quantity, String)> {
    let text = with_plain_digits(text);
    let mark = decimal_mark(&text).or(usual);
    let mark = mark.unwrap_or(DecimalMark::Point);
    let (text, numeral) = match final_statement(&text, Extent::Line) {
        Some(statement) => (statement, stated(statement, mark)?),
        None => (text.as_str(), concluded(text.as_str(), mark)?),
    };
    let words = text.get(numeral.start..numeral.end)?;
    Some((numeral.quantity, words.trim().to_owned()))
}

/// Returns the number of a text that is nothing but a number, with or without a unit.
pub(super) fn only_number(text: &str, mark: DecimalMark) -> Option<Quantity> {
    let text = with_plain_digits(text);
    let mut found = numerals(&text, mark).into_iter();
    let only = found.next()?;
    found.next().is_none().then_some(only.quantity)
}

/// Returns the number that a statement gives.
fn stated(statement: &str, mark: DecimalMark) -> Option<Numeral> {
    let mut found = numerals(statement, mark);
    if found.is_empty() {
        return number_word(statement);
    }
    found.retain(|number| !is_denied(statement, number.start, number.end, Named::Number));
    of_clause(statement, &found, First)
}

/// Which number of a clause without a result answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    First,
    Last,
}
use Position::{First, Last};

/// Returns the number that answers in a clause: the result of an equation, else the first or last
/// number unless it belongs to a range, an alternative or an open calculation.
fn of_clause(text: &str, found: &[Numeral], position: Position) -> Option<Numeral> {
    let result = text.rfind(['=', '≈', '≃']).and_then(|sign| {
        let split = found.partition_point(|number| number.start < sign);
        let (left, right) = found.split_at_checked(split)?;
        match right {
            [] => None,
            [only] => Some(only),
            [first, second, ..] if is_joined(text, first, second) => left.last(),
            [first, ..] => Some(first),
        }
    });
    if let Some(result) = result {
        return Some(result.clone());
    }
    let (answer, neighbour) = match (position, found) {
        (_, []) => return None,
        (_, [only]) => (only, None),
        (First, [first, second, ..]) => (first, Some((first, second))),
        (Last, [.., second, last]) => (last, Some((second, last))),
    };
    let is_open = neighbour.is_some_and(|(one, other)| is_joined(text, one, other));
    (!is_open).then(|| answer.clone())
}

/// Whether two numbers are the ends of a range, alternatives or parts of a calculation.
fn is_joined(text: &str, one: &Numeral, other: &Numeral) -> bool {
    const JOINTS: [&str; 18] = [
        "-", "–", "—", "−", "to", "or", "and", "bis", "oder", "und", "ou", "à", "/", "*", "×", "+",
        "^", "..",
    ];
    let between = text.get(one.end..other.start).unwrap_or_default();
    // The units of both: "40 km to 45 km".
    let last = between.split_whitespace().next_back().unwrap_or_default();
    let joint = last.trim_matches(['$', '€', '£', '\\', '(']);
    let is_near = words(between).count() <= 2;
    let is_listed = matches!(joint, "and" | "und") && !text.contains("between ");
    is_near && JOINTS.contains(&joint) && !is_listed
}

/// Returns the number that a text without a statement arrives at.
fn concluded(text: &str, mark: DecimalMark) -> Option<Numeral> {
    let all = numerals(text, mark);
    let mut found: Vec<Numeral> = all
        .iter()
        .filter(|number| !is_denied(text, number.start, number.end, Named::Number))
        .filter(|number| !number.is_list_number && !is_confidence(text, number))
        .cloned()
        .collect();
    if found.is_empty() {
        return if all.is_empty() {
            number_word(text)
        } else {
            None
        };
    }
    // The clause of the last number is its line.
    let last = found.last()?;
    let line_start = text.get(..last.start)?.rfind('\n').map_or(0, |at| at + 1);
    let line_end = text
        .get(last.end..)?
        .find('\n')
        .map_or(text.len(), |at| last.end + at);
    found.retain(|number| number.start >= line_start);
    for number in &mut found {
        number.start -= line_start;
        number.end -= line_start;
    }
    let mut answer = of_clause(text.get(line_start..line_end)?, &found, Last)?;
    answer.start += line_start;
    answer.end += line_start;
    Some(answer)
}

/// Whether a number says how sure the author is.
fn is_confidence(text: &str, number: &Numeral) -> bool {
    let before = text.get(..number.start).unwrap_or_default();
    let line = before.rsplit(['\n', '.', ';']).next().unwrap_or_default();
    let before: Vec<&str> = words(line).map(|(_, word)| word).collect();
    let before = before.iter().rev().take(3);
    let after = text.get(number.end..).unwrap_or_default();
    let after = words(after.split(['\n', '.', ',']).next().unwrap_or_default()).take(2);
    before
        .copied()
        .chain(after.map(|(_, word)| word))
        .any(|word| is_one_of(&tables().sure, word))
}

/// Returns the number that is written out in words, if there is only one.
fn number_word(text: &str) -> Option<Numeral> {
    let place = |list: &[String], word: &str| {
        let lower = word.to_lowercase();
        list.iter().position(|number| *number == lower)
    };
    let mut found: Option<(usize, usize, usize)> = None;
    let mut words = words(text).peekable();
    while let Some((start, word)) = words.next() {
        // "One of them" counts nothing.
        let ones =
            place(&tables().ones, word).filter(|number| *number != 1 || text.trim().len() < 12);
        let tens = place(&tables().tens, word).map(|tens| (tens + 2) * 10);
        let Some(number) = ones.or(tens) else {
            continue;
        };
        let mut end = start + word.len();
        let mut sum = number;
        if tens.is_some()
            && let Some((at, next)) = words.peek().copied()
            && at == end + 1
            && let Some(ones @ 1..10) = place(&tables().ones, next)
        {
            words.next();
            (sum, end) = (number + ones, at + next.len());
        }
        if found.is_some() {
            return None;
        }
        found = Some((sum, start, end));
    }
    let (number, start, end) = found?;
    Some(Numeral {
        quantity: Quantity::whole(number),
        start,
        end,
        is_list_number: false,
        mark: None,
    })
}
