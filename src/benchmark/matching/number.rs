//! Finds the number that answers in a text.
//!
//! - A statement is a number phrase as a whole, or no answer.
//! - Without one the last clause with a number answers, since reasons come first. One that denies
//!   its number ("not 41"), the numbers of a list and a stated confidence are passed over. A number
//!   in words counts if there are no digits and no other such clause.
//! - `1,234` alone can be read in two ways: the other numbers of the text decide, then those of the
//!   case, then English usage.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::numeral::{Quantity, in_digits, plain};
use super::phrase::{PhraseReading, phrase};
use super::statement::{Extent, final_statement};
use super::text::{with_words, without_emphasis, worded, words};
use super::token::{CaseTerms, decimal_mark, has_numbers};
use crate::text::pattern::Pattern;

/// The characters of a text in which "one" can only be a number.
const SHORT: usize = 12;

static LIST_ITEM: Pattern = worded(r"(?m)^[\s#*>-]*\d+[.)] \s*(\pL)");

static CLAUSE_END: Pattern =
    worded(r"(?i)[.;:!?](?:\s+|$)|,\s+(?:(?:and|but|so|then)\b)?|\s[-–]\s|—|\bso\b");

/// A clause that denies its number.
static DENIAL: Pattern = worded(r"\b(?:{denials}|{refutations})\b|n['’]t\b");

static REWRITES: LazyLock<Vec<(Pattern, &str)>> = LazyLock::new(|| {
    let rows = words("rewrites")
        .iter()
        .filter_map(|row| row.split_once(" => "));
    rows.map(|(form, plain)| (Pattern::from(with_words(form)), plain))
        .collect()
});

/// Returns the answer with the words that it is read from.
pub(super) fn answer(text: &str, terms: &CaseTerms) -> Option<(Quantity, String)> {
    let text = plain(text);
    let mark = decimal_mark(&text).or(terms.mark).unwrap_or('.');
    if let Some(statement) = final_statement(&text, Extent::Line) {
        let statement = untypeset(&in_digits(&statement, false));
        return phrase(&statement, mark, terms, PhraseReading::Statement);
    }
    let in_words = !has_numbers(&text);
    let spelled = if in_words {
        in_digits(&text, text.len() > SHORT)
    } else {
        text
    };
    let text = untypeset(&LIST_ITEM.replace_in(&spelled, "$1"));
    let clauses = CLAUSE_END.replace_in(&text, "$0\n");
    let mut stating = clauses.lines().rev().filter(|clause| has_numbers(clause));
    let answer =
        stating.find_map(
            |clause| match phrase(clause, mark, terms, PhraseReading::Clause) {
                None if DENIAL.is_in(clause) => None,
                phrase => Some(phrase),
            },
        )?;
    let is_only = !in_words || stating.next().is_none();
    answer.filter(|_| is_only)
}

/// Returns the number of a text that is nothing but a number phrase.
pub(super) fn only_number(text: &str, terms: &CaseTerms) -> Option<Quantity> {
    let text = untypeset(&in_digits(&plain(text), false));
    let mark = terms.mark.unwrap_or('.');
    Some(phrase(&text, mark, terms, PhraseReading::Statement)?.0)
}

pub(super) fn case_terms(text: &str) -> CaseTerms {
    CaseTerms::of(&untypeset(&plain(text)))
}

/// Returns the text without Markdown, HTML and LaTeX, as far as it only sets a number.
fn untypeset(text: &str) -> String {
    let mut text = text.to_owned();
    // A box can hold another one.
    for (form, plain) in REWRITES.iter().chain(&*REWRITES) {
        if let Cow::Owned(rewritten) = form.replace_in(&text, *plain) {
            text = rewritten;
        }
    }
    without_emphasis(&text)
}
