//! Decides whether a text names something only to deny it: "not B", "rather than B", "B is wrong".

use super::pattern::worded;
use crate::domain::steps;
use crate::text::pattern::Pattern;

/// What is denied: a name, or a number, to which only a word directly before it belongs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Option,
    Number,
}

/// The end of a clause, or of a denial in it: "not B but C".
static CLAUSE_END: Pattern = worded(r"[.,;:!?\n—。，；：]|\b{contrasts}\b");

/// A denial at the end of a clause, of the name that follows it.
static OPTION_DENIAL: Pattern =
    worded(r"(?:\b(?:{denials}|{comparisons})\b|n['’]t\b)[^\pL\pN]+(?:[\pL\pN]+[^\pL\pN]+){0,2}$");
static NUMBER_DENIAL: Pattern = worded(r"(?:\b{denials}\b|n['’]t\b)[^\pL\pN]+$");

/// A denial of what stands before a text: "is wrong", "cannot be".
static REFUTATION: Pattern = worded(
    r"(?ix) ^ [^\pL\pN.,;:!?\n—。，；：]*
    (?: \b (?: cannot | can['’]t ) \b | \b {verbs} n['’]t \b
      | \b {verbs} \b \s+ (?: [\pL\pN]+ \s+ ){0,2} {refutations} \b )",
);

/// The characters before a name that can deny it.
const REACH: usize = 200;

/// Whether the part of a text from `start` to `end` is denied there.
pub(super) fn is_denied(text: &str, start: usize, end: usize, named: Named) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let near = before.char_indices().rev().nth(REACH);
    let before = before
        .get(near.map_or(0, |(at, _)| at)..)
        .unwrap_or_default();
    steps::count(before.len());
    let after = text.get(end..).unwrap_or_default();
    let clause_end = CLAUSE_END.all(before).last().and_then(|found| found.get(0));
    let clause_start = clause_end.map_or(0, |mark| mark.end());
    let clause = before.get(clause_start..).unwrap_or_default();
    let denial = match named {
        Named::Option => &OPTION_DENIAL,
        Named::Number => &NUMBER_DENIAL,
    };
    denial.is_in(clause) || REFUTATION.is_in(after)
}
