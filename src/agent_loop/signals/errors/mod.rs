//! The errors of a turn, by signature: of tools, of the program, and those that the message reports
//! as present.
//!
//! A tool that failed while the agent worked is not an error of the turn: agents try things, and
//! run tests that fail before they pass. A failure counts if the turn ends with it: without a
//! message, with an error of the program, or with a message that reports the failure.
//!
//! A count of failed tests is no signature: it would be the same while fewer fail each turn.
//! Neither is an exit code alone, which says nothing about what failed.

mod signature;

use std::ops::Range;

use self::signature::{error_line, is_error_line, is_outline, is_whole};
use super::obstacle::is_program_failure;
use super::words;
use crate::agent_loop::response::{AgentResponse, ProgramErrorKind};
use crate::agent_loop::text::{Block, BlockKind, Message, TABLES, has_word, normal, sentences};
use crate::stopping::exit_check::evidence::{Obstacle, TurnEvidence};
use crate::text::clean;

pub use signature::signature;

/// An obstacle does not count as an error too.
pub(super) fn read(
    response: &AgentResponse,
    message: &Message,
    obstacle: Option<&Obstacle>,
) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let reported = reported(message);
    let ends_in_failure = message.text.trim().is_empty()
        || response.program_error.is_some()
        || !reported.is_empty()
        || says_failure(message);
    if ends_in_failure {
        for text in &response.tool_errors {
            errors.extend(error_line(&normal(text)));
        }
    }
    if obstacle.is_none() {
        errors.extend(program_error(response));
        for denial in &response.denials {
            errors.extend(error_line(&format!("permission denied: {}", denial.tool)));
        }
        errors.extend(reported);
        if is_program_failure(message) {
            errors.extend(error_line(message.text.trim()));
        }
    }
    errors.sort_by_cached_key(|line| signature(line));
    errors.dedup_by_key(|line| signature(line));
    errors.truncate(TurnEvidence::MAX_ERRORS);
    errors
}

/// The program's own error; that the allowed turns or money were used up is none.
fn program_error(response: &AgentResponse) -> Option<String> {
    let error = response.program_error.as_ref();
    let error = error.filter(|error| error.kind != ProgramErrorKind::RunLimit)?;
    error_line(&normal(&error.message)).or_else(|| error_line(error.code.as_deref()?))
}

/// The blocks at the end of a message that say how the turn ends.
const ENDING_BLOCKS: usize = 12;

fn says_failure(message: &Message) -> bool {
    let start = message.blocks.len().saturating_sub(ENDING_BLOCKS);
    let ending = message.blocks.get(start..).unwrap_or_default();
    ending.iter().filter(|block| block.is_prose()).any(|block| {
        let sentences = sentences(&block.prose);
        let mut sentences = sentences.iter().map(|sentence| sentence.text);
        sentences.any(|sentence| has_word(sentence, TABLES.list("fails")) && !is_past(sentence))
    })
}

fn reported(message: &Message) -> Vec<String> {
    let mut errors = Vec::new();
    let mut before: Option<&Block> = None;
    let fails = says_failure(message);
    for block in &message.blocks {
        let is_item = matches!(block.kind, BlockKind::Item(_) | BlockKind::ItemParagraph);
        if block.is_prose() {
            if !before.is_some_and(is_over_label) {
                errors.extend(lines(message, block));
                errors.extend(inline_code(message, block));
            }
            // A label stands over all items of its list.
            if !is_item {
                before = Some(block);
            }
        } else if block.kind == BlockKind::Code {
            let prose = before.take().map_or("", |block| block.prose.trim());
            let lead = last_sentence(prose.trim_end_matches([':', '.', '*']));
            let is_last = block.range.end >= message.text.trim_end().len();
            let is_own = fails || is_last || has_word(lead, TABLES.list("error_reports"));
            let is_present = is_own && !is_past(lead) && !words::is_of_others(lead)
                || has_word(lead, TABLES.list("persists"));
            let source = message.source(block.range.clone());
            let shows = || {
                let names_error = || source.lines().any(is_error_line) && !lead.is_empty();
                words::shows_failure(source) || names_error()
            };
            if introduces(lead) || is_present && shows() {
                errors.extend(in_code(source));
            }
        }
    }
    errors
}

/// `Error: cannot find module`.
fn lines(message: &Message, block: &Block) -> Vec<String> {
    let source = message.visible.get(block.range.clone()).unwrap_or_default();
    let lines = source
        .lines()
        .map(|line| line.trim_matches(['#', '-', '*', '!', ' ']));
    let errors = lines.filter(|line| {
        let content = line.split_once(':').map_or("", |(_, content)| content);
        let is_error = is_error_line(line) && (!is_none(content) || is_whole(line));
        (is_error || states_failure(line)) && !has_word(line, TABLES.list("resolved"))
    });
    errors
        .filter_map(|line| error_line(&line.replace("**", "")))
        .collect()
}

/// Whether a line is a sentence of a program about a failure: `The patch failed to apply`. A count
/// of failed tests is none.
fn states_failure(line: &str) -> bool {
    line.len() <= 160
        && line.contains(" failed to ")
        && !has_word(line, TABLES.list("not_present"))
        && !has_word(line, &["i", "we", "test", "tests", "it"])
}

/// All errors in a block of code, or what it says as a whole.
fn in_code(code: &str) -> Vec<String> {
    let is_error = |line: &&str| is_error_line(line) && !is_outline(line);
    let errors: Vec<&str> = code.lines().filter(is_error).collect();
    match errors.len() {
        0 if !code.lines().any(is_outline) => Vec::new(),
        // Its message may be on another line.
        0 | 1 => error_line(code).into_iter().collect(),
        _ => errors.into_iter().filter_map(error_line).collect(),
    }
}

/// Errors in inline code after words that something fails: ``the build fails with `E0432` ``.
fn inline_code(message: &Message, block: &Block) -> Vec<String> {
    let from = |range: &Range<usize>| range.start < block.range.start;
    let start = message.inline_code.partition_point(from);
    let codes = message.inline_code.iter().skip(start);
    let codes = codes.take_while(|code| code.start < block.range.end);
    let errors = codes.filter(|code| {
        let sentence = last_sentence(message.source(block.range.start..code.start)).trim_end();
        let after = message.source(code.end..block.range.end.max(code.end));
        let after = after.split(ENDS).next().unwrap_or_default();
        let last = clean::words(sentence).next_back().unwrap_or_default();
        let leads = sentence.ends_with(':') || TABLES.list("error_leads").has(&last.to_lowercase());
        // `Result:` stands over an error as it came.
        let shows =
            || sentence.ends_with(':') && is_error_line(message.source(code.start + 1..code.end));
        let is_other = is_past(sentence) || words::is_of_others(sentence);
        leads && (introduces(sentence) || shows() && !is_other) && !is_past(after)
    });
    errors
        .filter_map(|code| error_line(message.source(code.clone()).trim_matches('`')))
        .collect()
}

/// The marks that end a sentence before code.
const ENDS: [char; 4] = ['.', '!', '?', '\n'];

fn last_sentence(text: &str) -> &str {
    text.rsplit(ENDS).next().unwrap_or_default()
}

fn introduces(sentence: &str) -> bool {
    let names_failure =
        has_word(sentence, TABLES.list("fails")) || has_word(sentence, TABLES.list("error_names"));
    names_failure && !is_past(sentence) || words::fails(sentence)
}

/// Whether the errors below a label are over: `Fixed:`
fn is_over_label(block: &Block) -> bool {
    let is_label = matches!(block.kind, BlockKind::Heading(_))
        || block.prose.trim_end().ends_with([':', '：']);
    is_label && has_word(&block.prose, TABLES.list("resolved"))
}

fn is_past(sentence: &str) -> bool {
    has_word(sentence, TABLES.list("resolved")) || has_word(sentence, TABLES.list("not_present"))
}

fn is_none(content: &str) -> bool {
    let first = clean::words(content).next();
    first.is_none_or(|word| TABLES.list("error_nothings").has(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(message: &str) -> Vec<String> {
        let errors = reported(&Message::read(message, None));
        errors.iter().map(|line| signature(line).0).collect()
    }

    #[test]
    fn present_failures_are_reported() {
        for (message, expected) in [
            (
                "Error: cannot find module 'foo'",
                "Error: cannot find module 'foo'",
            ),
            (
                "- **Error:** cannot find module `foo`",
                "Error: cannot find module `foo`",
            ),
            (
                "error[E0308]: mismatched types",
                "error[E0308]: mismatched types",
            ),
            (
                "The build still fails with `error[E0432]: unresolved import foo`.",
                "error[E0432]: unresolved import foo",
            ),
            (
                "The tests fail:\n\n```\nrunning 3 tests\nthread 'a' panicked at src/a.rs:1:1:\nboom\n```",
                "panicked at a.rs boom",
            ),
            ("ValueError: bad value", "ValueError: bad value"),
            (
                "error: linker `cc` not found",
                "error: linker `cc` not found",
            ),
            (
                "FAILED tests/a.py::test_b - AssertionError: expected 1",
                "FAILED a.py::test_b - AssertionError: expected #",
            ),
            (
                "# The SEARCH block failed to match!",
                "The SEARCH block failed to match",
            ),
        ] {
            let message = errors(message);
            assert_eq!(message, [expected]);
        }
    }

    #[test]
    fn errors_that_are_over_or_discussed_are_not_reported() {
        for message in [
            "",
            "Task 1 done. All 42 tests pass.",
            "0 errors, no exceptions, nothing failed. Fixed the bug from issue #12; no problems or mistakes remain.",
            "I fixed `error[E0432]: unresolved import`.",
            "The build failed with `error[E0432]`, which is fixed now.",
            "Errors: 0",
            "Error: none",
            "Error handling is done.",
            "## Fixed\n\n- Error: cannot find module 'foo'",
            "The parser returns `Error: bad input` for bad input.",
            "3 tests are still failing.",
            "3 tests failed to pass.",
            "- fixed error E0432: unresolved import",
            "```\nError: cannot find module 'foo'\n```",
            "> Error: cannot find module 'foo'",
            "The output was:\n\n```\nerror: old\n```",
            "The function returns an error:\n\n```rust\nErr(Error::new())\n```",
            "\"is_error\": false",
        ] {
            assert_eq!(errors(message), [""; 0], "{message}");
        }
    }
}
