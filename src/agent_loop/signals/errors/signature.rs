//! The part of an error that is the same when it occurs again.

use crate::agent_loop::signals::LONGEST_UNMASKED;
use crate::agent_loop::text::tables::tables;
use crate::stopping::exit_check::evidence::ErrorSignature;

/// The longest signature, in characters.
const LONGEST: usize = 200;
/// The longest quoted part of a signature, in characters.
const LONGEST_QUOTE: usize = 40;
/// The lines of an output that are looked at, at each end.
const LINES: usize = 400;

/// An error of a turn: its signature, and the line that it was made of.
///
/// Secrets have to be masked in the line: a signature has no numbers, so that the rules for secrets
/// do not recognise what is left of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorText {
    signature: ErrorSignature,
    line: String,
}

impl ErrorText {
    /// Reads the error that a text reports; `None` if it says nothing of its own, like
    /// `exit code 1`.
    pub(in crate::agent_loop::signals) fn read(text: &str) -> Option<Self> {
        let line = headline(text)?;
        let signature = signature(&line);
        let has_words = signature.0.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        has_words.then(|| Self {
            signature,
            line: line.chars().take(LONGEST_UNMASKED).collect(),
        })
    }

    /// Returns the signature of the line as it was written: it may hold parts of a secret.
    pub fn signature(&self) -> &ErrorSignature {
        &self.signature
    }

    /// Returns the line as it was written, at most 2,000 characters of it.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns the signature of the error when its line, without secrets, is this one.
    pub fn with_line(self, masked: &str) -> ErrorSignature {
        if masked == self.line {
            self.signature
        } else {
            signature(masked)
        }
    }
}

fn signature(line: &str) -> ErrorSignature {
    let signature: String = normalised(line).chars().take(LONGEST).collect();
    ErrorSignature(signature.trim().to_owned())
}

/// Returns the line that says what the error is.
fn headline(text: &str) -> Option<String> {
    let lines: Vec<&str> = text
        .lines()
        .map(without_tags)
        .filter(|line| !line.is_empty() && !is_generic(line))
        .take(LINES)
        .collect();
    if let Some(last) = traceback_end(text) {
        return Some(last.to_owned());
    }
    for (at, line) in lines.iter().enumerate() {
        // The message of a panic is on the next line.
        if line.contains("panicked at") {
            let message = lines.get(at + 1).copied().unwrap_or_default();
            let place = line
                .split_once("panicked at")
                .map_or(*line, |(_, place)| place);
            return Some(format!(
                "panicked at {} {message}",
                place.trim_end_matches(':').trim()
            ));
        }
        if is_error_line(line) {
            return Some((*line).to_owned());
        }
    }
    lines
        .iter()
        .find(|line| mentions_error(line))
        .or_else(|| lines.first())
        .map(|line| (*line).to_owned())
}

/// Returns the last line of a Python traceback, which names the exception.
fn traceback_end(text: &str) -> Option<&str> {
    let (_, trace) = text.rsplit_once("Traceback (most recent call last)")?;
    let lines = trace.lines().skip(1).take(LINES);
    let unindented = lines.filter(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty());
    unindented.map(str::trim).find(|line| names_exception(line))
}

/// Whether a line begins like `ValueError: …` or `java.io.IOException`.
fn names_exception(line: &str) -> bool {
    let name = line.split([':', ' ', '(']).next().unwrap_or_default();
    let last = name.rsplit(['.', '$']).next().unwrap_or_default();
    let is_name = last.starts_with(|c: char| c.is_ascii_uppercase())
        && last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name
        && [
            "Error",
            "Exception",
            "Warning",
            "Interrupt",
            "Exit",
            "Failure",
            "Fault",
        ]
        .iter()
        .any(|end| last.ends_with(end) && last.len() > end.len())
}

/// Whether a line begins as errors do.
pub(super) fn is_error_line(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |mark: &String| {
        line.get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    tables().error_marks.iter().any(begins)
        || names_exception(line)
        || line.contains(": error:")
        || line.contains(": error TS")
        || line.contains(": error[")
        || line.contains(" error: ") && begins_with_time(line)
        || line.contains(" panicked at ")
}

fn begins_with_time(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(is_time)
}

fn mentions_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    [
        "error",
        "exception",
        "failed",
        "not found",
        "denied",
        "cannot",
        "no such file",
        "unable",
        "invalid",
        "refused",
        "timed out",
        "undefined",
        "unexpected",
        "has not been",
    ]
    .iter()
    .any(|mark| lower.contains(mark))
}

/// Whether a line says only that something failed.
fn is_generic(line: &str) -> bool {
    let lower = line.to_lowercase();
    if tables()
        .error_summaries
        .iter()
        .any(|summary| lower.starts_with(summary))
    {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    let generic = [
        "exit", "code", "exited", "with", "status", "error", "errors", "command", "process", "the",
        "failed", "failure", "stderr", "stdout", "output", "non", "zero", "returned", "a", "fail",
        "failing", "passed", "tests", "test", "total", "result", "ok", "skipped", "ignored", "s",
        "in", "is", "are", "ms", "suites", "pass", "measured", "filtered", "out", "time",
        "finished", "warnings", "warning", "and", "to", "run",
    ];
    words.iter().all(|word| generic.contains(word))
}

/// Removes `<tool_use_error>` and the like around a line.
fn without_tags(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = line.strip_prefix('<') {
        let Some((tag, after)) = rest.split_once('>') else {
            break;
        };
        let is_tag = tag
            .chars()
            .all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '/'));
        if !is_tag {
            break;
        }
        line = after.trim_start();
    }
    line.split("</").next().unwrap_or_default().trim()
}

/// Removes what differs from one occurrence to the next.
fn normalised(line: &str) -> String {
    let line = with_short_quotes(line);
    let mut result = String::with_capacity(line.len());
    for word in line.split_whitespace().take(80) {
        let word = normalised_word(word);
        if word.is_empty() {
            continue;
        }
        if !result.is_empty() {
            result.push(' ');
        }
        result.push_str(&word);
    }
    result
}

fn normalised_word(word: &str) -> String {
    let core =
        word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '~'));
    if is_time(core) {
        return String::new();
    }
    if is_address(core) {
        return word.replace(core, "#");
    }
    if core.contains("://") {
        return word.replace(core, "URL");
    }
    let path = without_folders(core);
    let path = if is_code_of_error(path) {
        path.to_owned()
    } else {
        without_numbers(path)
    };
    if core.is_empty() {
        return without_numbers(word);
    }
    let word = word.replacen(core, &path, 1);
    // The line of `a.ts(10,5)` went with its opening bracket.
    if word.contains('(') {
        word
    } else {
        word.replace(')', "")
    }
}

/// `2026-11-21T10:00:00Z`, `10:00:00`, `[12.3s]`
fn is_time(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_made = word
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | 'T' | 'Z' | '+' | ','));
    digits >= 4 && is_made && word.contains(['-', ':']) && word.matches('.').count() <= 1
}

/// A pointer, a commit, a UUID.
fn is_address(word: &str) -> bool {
    if let Some(hex) = word.strip_prefix("0x") {
        return !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit());
    }
    let hex = word.chars().filter(|c| *c != '-');
    word.len() >= 7
        && word.contains(|c: char| c.is_ascii_digit())
        && hex.clone().all(|c| c.is_ascii_hexdigit())
}

/// `E0308`, `TS2345`: they name an error.
fn is_code_of_error(word: &str) -> bool {
    let word = word
        .trim_start_matches("error[")
        .trim_end_matches([']', ':']);
    let letters = word.chars().take_while(char::is_ascii_uppercase).count();
    let digits = word
        .chars()
        .skip(letters)
        .filter(char::is_ascii_digit)
        .count();
    (1..=4).contains(&letters) && (2..=5).contains(&digits) && letters + digits == word.len()
}

/// Returns the last part of a path, without line and column.
fn without_folders(word: &str) -> &str {
    let last = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let last = if last.is_empty() { word } else { last };
    let cut = last
        .match_indices([':', '('])
        .find(|(at, _)| {
            let after = last.get(at + 1..).unwrap_or_default();
            *at > 0 && after.starts_with(|c: char| c.is_ascii_digit())
        })
        .map_or(last.len(), |(at, _)| at);
    last.get(..cut).unwrap_or(last)
}

/// Replaces each number by `#`, with the points and colons inside.
fn without_numbers(word: &str) -> String {
    let mut result = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(c) = letters.next() {
        if !c.is_ascii_digit() {
            result.push(c);
            continue;
        }
        result.push('#');
        while let Some(inner) =
            letters.next_if(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':'))
        {
            let is_end =
                !inner.is_ascii_digit() && !letters.peek().is_some_and(char::is_ascii_digit);
            if is_end {
                result.push(inner);
                break;
            }
        }
    }
    result
}

/// Cuts quoted parts that are long: they are data.
fn with_short_quotes(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at(at);
        result.push_str(before);
        let mark = quoted.chars().next().unwrap_or('"');
        let inner = quoted.get(1..).unwrap_or_default();
        let Some(end) = inner.find(mark) else {
            result.push_str(quoted);
            return result;
        };
        let content = inner.get(..end).unwrap_or_default();
        result.push(mark);
        if content.chars().count() > LONGEST_QUOTE {
            result.extend(content.chars().take(LONGEST_QUOTE));
            result.push('…');
        } else {
            result.push_str(content);
        }
        result.push(mark);
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: &str) -> Option<String> {
        ErrorText::read(error).map(|error| error.signature.0)
    }

    #[test]
    fn signature_is_the_line_that_names_the_error_without_what_varies() {
        for (error, expected) in [
            (
                "error[E0308]: mismatched types\n --> src/main.rs:10:5\n",
                Some("error[E0308]: mismatched types"),
            ),
            (
                "Exit code 101\n   Compiling a v0.1.0 (/tmp/a)\nerror[E0432]: unresolved import `foo`\n",
                Some("error[E0432]: unresolved import `foo`"),
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n    x\nValueError: bad value 17",
                Some("ValueError: bad value #"),
            ),
            (
                "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3",
                Some("panicked at main.rs index out of bounds: the len is #"),
            ),
            (
                "2026-11-21T10:00:00Z error: connect to 10.0.0.1:5432 failed",
                Some("error: connect to # failed"),
            ),
            (
                "Error: ENOENT: no such file or directory, open '/home/me/x/config.json'",
                Some("Error: ENOENT: no such file or directory, open 'config.json'"),
            ),
            (
                "<tool_use_error>File has not been read yet.</tool_use_error>",
                Some("File has not been read yet."),
            ),
            (
                "src/a.ts(10,5): error TS2345: Argument is wrong",
                Some("a.ts: error TS2345: Argument is wrong"),
            ),
            ("fatal: bad object 3f2a9bc01d", Some("fatal: bad object #")),
            ("panic: address 0x7ffe12", Some("panic: address #")),
            (
                "FAILED tests/test_a.py::test_b - AssertionError",
                Some("FAILED test_a.py::test_b - AssertionError"),
            ),
            ("Exit code 1", None),
            ("Command failed with exit code 127", None),
            ("3 failed, 5 passed in 1.2s", None),
            ("", None),
        ] {
            assert_eq!(text(error).as_deref(), expected, "{error}");
        }
    }

    #[test]
    fn occurrences_of_one_error_have_one_signature() {
        let first =
            text("Error: connect ECONNREFUSED 127.0.0.1:5432 (attempt 1, /tmp/a1/x.js:3:9)");
        let second =
            text("Error: connect ECONNREFUSED 127.0.0.1:5433 (attempt 22, /var/b/x.js:88:1)");
        assert_eq!(first, second);
        assert_ne!(
            text("error[E0308]: mismatched types"),
            text("error[E0432]: unresolved import")
        );
    }

    #[test]
    fn long_errors_are_cut() {
        let long = text(&format!("error: {}", "word ".repeat(500))).unwrap();
        assert_eq!(long.chars().count(), 200);
        let quoted = text(&format!("error: \"{}\" is wrong", "x".repeat(500))).unwrap();
        assert!(quoted.ends_with("…\" is wrong"), "{quoted}");
    }
}
