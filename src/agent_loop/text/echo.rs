//! Finds the prompt where a message repeats it.
//!
//! A prompt asks the agent to print `<promise>DONE</promise>` or a status block, so a single line
//! that is also in the prompt may be the agent's own. A repetition is a run of lines from the
//! prompt with at least one line of prose.

use std::collections::HashMap;
use std::ops::Range;

/// A line of prose has at least this many words; a shorter one may be repeated by chance.
const PROSE_WORDS: usize = 5;
/// The places in the prompt that are tried for one line.
const PLACES: usize = 8;

pub(super) fn echoes(text: &str, prompt: &str) -> Vec<Range<usize>> {
    let prompt: Vec<&str> = lines(prompt).map(|(_, line)| line).collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, line) in prompt.iter().enumerate() {
        places.entry(line).or_default().push(place);
    }
    let text: Vec<(Range<usize>, &str)> = lines(text).collect();
    let mut echoes = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = longest_run(rest, &prompt, &places);
        let run = rest.get(..length).unwrap_or_default();
        if run.iter().any(|(_, line)| is_prose(line)) {
            echoes.extend(run.iter().map(|(range, _)| range.clone()));
            at += length;
        } else {
            at += length.max(1);
        }
    }
    echoes
}

/// Returns how many lines at the beginning of `text` follow each other in the prompt.
fn longest_run(
    text: &[(Range<usize>, &str)],
    prompt: &[&str],
    places: &HashMap<&str, Vec<usize>>,
) -> usize {
    let Some((_, first)) = text.first() else {
        return 0;
    };
    // A label may stand before the first line, as in `Task: Write the parser`.
    let starts = places.get(first).or_else(|| {
        let (_, unlabelled) = first.split_once(": ")?;
        places.get(unlabelled.trim())
    });
    let Some(starts) = starts else { return 0 };
    let run_at = |start: &usize| {
        let following = prompt.get(start + 1..).unwrap_or_default();
        let same = text.iter().skip(1).zip(following);
        1 + same.take_while(|((_, line), other)| line == *other).count()
    };
    starts.iter().take(PLACES).map(run_at).max().unwrap_or(0)
}

/// Returns the lines that are not blank, without blanks and marks of quotes around them.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        let line = line.trim().trim_start_matches(['>', ' ']);
        (!line.is_empty()).then_some((range, line))
    })
}

fn is_prose(line: &str) -> bool {
    line.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic))
        .count()
        >= PROSE_WORDS
        || line
            .chars()
            .filter(|c| !c.is_ascii() && c.is_alphabetic())
            .count()
            >= 3 * PROSE_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Work through fix_plan.md, one task at a time.\n\n\
        When every task is complete, output this tag:\n\n\
        <promise>DONE</promise>\n\nEXIT_SIGNAL: true\n";

    fn without_echo(text: &str) -> String {
        let mut left = text.to_owned();
        for range in echoes(text, PROMPT).into_iter().rev() {
            left.replace_range(range, "");
        }
        left.trim().to_owned()
    }

    #[test]
    fn repeated_lines_of_prose_and_what_follows_them_are_an_echo() {
        for (text, left) in [
            (PROMPT.to_owned(), ""),
            (format!("{PROMPT}\nI began."), "I began."),
            (
                PROMPT.replace("Work", "> Work").replace("When", "> When"),
                "",
            ),
            (
                "Task: Work through fix_plan.md, one task at a time.\nok".to_owned(),
                "ok",
            ),
            // What the prompt asks for is not an echo of it.
            (
                "Finished.\n\n<promise>DONE</promise>".to_owned(),
                "Finished.\n\n<promise>DONE</promise>",
            ),
            (
                "<promise>DONE</promise>\nEXIT_SIGNAL: true".to_owned(),
                "<promise>DONE</promise>\nEXIT_SIGNAL: true",
            ),
            (String::new(), ""),
        ] {
            assert_eq!(without_echo(&text), left, "{text}");
        }
        assert!(echoes("a", "").is_empty());
    }
}
