//! Errors that a message reports as present: in a line, in a sentence with inline code, or in the
//! code after a sentence that something fails.

use super::signature::{is_error_line, signature};
use crate::agent_loop::text::{Block, BlockKind, Message};
use crate::stopping::exit_check::evidence::ErrorSignature;

/// Words that say that an error is over, is expected, or is the subject of the work.
const OVER: [&str; 44] = [
    "fixed",
    "fixes",
    "fix",
    "resolved",
    "resolves",
    "solved",
    "solves",
    "corrected",
    "handled",
    "handles",
    "handling",
    "gone",
    "was",
    "were",
    "had",
    "longer",
    "previously",
    "earlier",
    "before",
    "originally",
    "initially",
    "expected",
    "expects",
    "no",
    "not",
    "without",
    "never",
    "if",
    "when",
    "would",
    "could",
    "should",
    "returns",
    "return",
    "returned",
    "throws",
    "raises",
    "reports",
    "now",
    "passes",
    "avoid",
    "avoids",
    "prevent",
    "behoben",
];

/// Words that say that something fails now.
const FAILS: [&str; 22] = [
    "fails",
    "fail",
    "failing",
    "failed",
    "crashes",
    "crashed",
    "panics",
    "error",
    "errors",
    "broken",
    "cannot",
    "can't",
    "exits",
    "aborts",
    "stuck",
    "blocked",
    "schlägt",
    "fehler",
    "échoue",
    "falla",
    "falha",
    "ошибка",
];

pub(super) fn reported(message: &Message) -> Vec<ErrorSignature> {
    let mut signatures = Vec::new();
    let mut before: Option<&Block> = None;
    for block in &message.blocks {
        if block.is_prose() {
            if !before.is_some_and(is_over_label) {
                signatures.extend(lines(message, block));
                signatures.extend(inline_code(message, block));
            }
        } else if block.kind == BlockKind::Code
            && before.is_some_and(|before| introduces_error(&before.prose))
        {
            signatures.extend(signature(message.source(block.range.clone())).filter(|_| {
                let code = message.source(block.range.clone());
                code.lines().any(is_error_line)
            }));
        }
        // A label stands over all items of its list.
        if block.is_prose() && !matches!(block.kind, BlockKind::Item(_) | BlockKind::ItemParagraph)
        {
            before = Some(block);
        } else if block.kind == BlockKind::Code {
            before = None;
        }
    }
    signatures
}

/// Errors in lines of their own: `Error: cannot find module`.
fn lines(message: &Message, block: &Block) -> Vec<ErrorSignature> {
    let source = message.visible.get(block.range.clone()).unwrap_or_default();
    let lines = source.lines().map(|line| line.replace("**", ""));
    let errors = lines.filter(|line| {
        let line = line.trim_matches(['#', '-', ' ']);
        let content = line
            .split_once(':')
            .map_or("", |(_, content)| content.trim());
        is_error_line(line) && !content.is_empty() && !is_over(line) && !is_none(content)
    });
    errors
        .filter_map(|line| signature(line.trim_matches(['#', '-', '*', ' '])))
        .collect()
}

/// Errors in inline code after words that something fails: ``the build fails with `E0432` ``.
fn inline_code(message: &Message, block: &Block) -> Vec<ErrorSignature> {
    let mut signatures = Vec::new();
    let start = message
        .inline_code
        .partition_point(|range| range.start < block.range.start);
    for range in message.inline_code.iter().skip(start) {
        if range.start >= block.range.end {
            break;
        }
        let before = message.source(block.range.start..range.start);
        let sentence = before
            .rsplit(['.', '!', '?', '\n'])
            .next()
            .unwrap_or_default();
        let after = message.source(range.end..block.range.end.max(range.end));
        let after = after
            .split(['.', '!', '?', '\n'])
            .next()
            .unwrap_or_default();
        let leads = sentence.trim_end().trim_end_matches(':').to_lowercase();
        let is_lead = [
            "with",
            "error",
            "says",
            "saying",
            "because of",
            "mit",
            "avec",
            "con",
            "com",
        ]
        .iter()
        .any(|word| leads.ends_with(word))
            || sentence.trim_end().ends_with(':');
        if is_lead && fails(sentence) && !is_over(sentence) && !is_over(after) {
            let code = message.source(range.clone());
            signatures.extend(signature(code.trim_matches('`')));
        }
    }
    signatures
}

/// Whether the last sentence of a paragraph says that something fails now.
fn introduces_error(prose: &str) -> bool {
    let last = prose.trim().trim_end_matches([':', '.', '*']);
    let last = last
        .rsplit(['.', '!', '?', '\n'])
        .next()
        .unwrap_or_default();
    fails(last) && !is_over(last)
}

fn is_over_label(block: &Block) -> bool {
    let is_label = matches!(block.kind, BlockKind::Heading(_))
        || block.prose.trim_end().ends_with([':', '：']);
    is_label && is_over(&block.prose)
}

fn fails(text: &str) -> bool {
    has_word(text, &FAILS)
}

fn is_over(text: &str) -> bool {
    has_word(text, &OVER)
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| words.contains(&word))
}

fn is_none(content: &str) -> bool {
    let first = content
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty());
    first.is_none_or(|word| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "none" | "0" | "nil" | "n" | "zero"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(message: &str) -> Vec<String> {
        let signatures = reported(&Message::read(message, None));
        signatures
            .into_iter()
            .map(|signature| signature.0)
            .collect()
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
