//! Progress that is stated in numbers: `4 of 16 tasks`, `80% complete`.

use crate::agent_loop::text::tables::tables;
use crate::agent_loop::text::{Token, TokenKind, tokens};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedProgress {
    Part,
    All,
}

/// Words that make the number one of a wish or of a part.
const OTHERS: [&str; 16] = [
    "if", "when", "once", "until", "least", "should", "must", "coverage", "tests", "test", "was",
    "were", "goal", "target", "subtasks", "than",
];

const SMALL_NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// Reads the progress that a sentence in lower case states in numbers.
pub(super) fn progress(sentence: &str) -> Option<StatedProgress> {
    let mut list = Vec::new();
    tokens(sentence, &mut list);
    let has = |words: &[&str]| list.iter().any(|token| words.contains(&token.text));
    if has(&OTHERS) {
        return None;
    }
    (0..list.len())
        .filter_map(|at| list.get(at..))
        .find_map(|rest| fraction(rest).or_else(|| percentage(rest)))
}

fn fraction(tokens: &[Token<'_>]) -> Option<StatedProgress> {
    let (done, rest) = number(tokens)?;
    let (of, rest) = rest.split_first()?;
    let rest = match of.text {
        "/" | "of" | "von" | "sur" | "de" | "из" => rest,
        "out" => rest.split_first().filter(|(of, _)| of.text == "of")?.1,
        _ => return None,
    };
    // `4 of the 16 tasks`
    let rest = match rest.split_first() {
        Some((article, rest)) if matches!(article.text, "the" | "my" | "all" | "den" | "las") => {
            rest
        }
        _ => rest,
    };
    let (all, rest) = number(rest)?;
    let words = rest
        .iter()
        .take_while(|token| token.kind == TokenKind::Word);
    let mut names = words.take(5).map(|token| token.text);
    let has_name = names.clone().take(2).any(|word| tables().counted.has(word));
    let is_done = names.any(|word| tables().counted_done.has(word));
    if all == 0 || done > all || !has_name && !is_done {
        return None;
    }
    match (done == all, is_done) {
        (true, true) => Some(StatedProgress::All),
        (true, false) => None,
        // `Task 2 of 5` numbers a task; `2 of 5 tasks` counts them.
        (false, _) => Some(StatedProgress::Part),
    }
}

fn percentage(tokens: &[Token<'_>]) -> Option<StatedProgress> {
    let (number, rest) = tokens.split_first()?;
    let number: u64 = number.text.strip_suffix('%')?.parse().ok()?;
    let done = rest.first()?;
    if !tables().counted_done.has(done.text) || number > 100 {
        return None;
    }
    // All of what is not said: the coverage, a file, the plan.
    (number < 100).then_some(StatedProgress::Part)
}

fn number<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(u64, &'a [Token<'t>])> {
    let (number, rest) = tokens.split_first()?;
    let value = match number.kind {
        TokenKind::Number => number.text.parse().ok()?,
        TokenKind::Word => SMALL_NUMBERS.iter().position(|word| *word == number.text)? as u64 + 1,
        TokenKind::Mark(_) | TokenKind::Placeholder => return None,
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_count_of_things_or_a_share_that_is_done() {
        for (sentence, expected) in [
            ("4 of 16 tasks complete", Some(StatedProgress::Part)),
            ("4/16 tasks", Some(StatedProgress::Part)),
            ("progress: 4 out of 16 done", Some(StatedProgress::Part)),
            ("completed 3 of the 5 steps", Some(StatedProgress::Part)),
            ("about 80% complete", Some(StatedProgress::Part)),
            ("3 von 7 aufgaben erledigt", Some(StatedProgress::Part)),
            ("16/16 tasks are complete", Some(StatedProgress::All)),
            ("5 of 5 tasks done", Some(StatedProgress::All)),
            ("16/16 tests pass", None),
            ("4 of 16 tests fail", None),
            ("on 2026/11/21 it was done", None),
            ("confidence 7/10", None),
            ("100% complete", None),
            ("if 4 of 5 tasks are done", None),
            ("at least 80% complete", None),
            (
                "two of three tasks are complete",
                Some(StatedProgress::Part),
            ),
            ("one of the tasks is complete", None),
            ("no numbers", None),
        ] {
            assert_eq!(progress(sentence), expected, "{sentence}");
        }
    }
}
