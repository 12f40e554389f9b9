//! The part of an error that is the same when it occurs again.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_loop::signals::LONGEST_UNMASKED;
use crate::agent_loop::text::{TABLES, pattern, rows};
use crate::stopping::exit_check::evidence::ErrorSignature;
use crate::text::byte_pattern::BytePattern;
use crate::text::clean::{shortened, shortened_unmasked};
use crate::text::pattern::Pattern;

/// The longest signature, in characters, and the most words of a line that it is made of.
const LONGEST: usize = 200;
const WORDS: usize = 80;
/// The longest quoted part of a signature, in characters.
const LONGEST_QUOTE: usize = 40;
/// The lines of an output that are looked at.
const LINES: usize = 400;

/// How a line of a program shows an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ErrorForm {
    /// The line begins so.
    Begins,
    /// It is in the line.
    Holds,
    /// It is in the line, which needs no message behind a colon.
    Matches,
    /// The line begins with a name that ends so: `ValueError: …`, `java.io.IOException`.
    Named,
    /// The line begins so, and names what failed, not why: an error if no line names that.
    Outline,
    /// The line begins so, and says only that something failed.
    Summary,
    /// It is in a line that has no such form.
    Mentions,
}

static FORMS: LazyLock<[(ErrorForm, BytePattern); 7]> = LazyLock::new(|| {
    let rows = rows(include_str!("forms.toml"));
    [
        (ErrorForm::Begins, r"(?i)^(?u:[^\pL\pN]*){}"),
        (ErrorForm::Holds, "{}"),
        (ErrorForm::Matches, "{}"),
        (
            ErrorForm::Named,
            r"^(?u:[^\pL\pN]*)(?:[^: (]*[.$])?[A-Z]\w*{}(?:[: (]|$)",
        ),
        (ErrorForm::Outline, "(?i)^{}"),
        (ErrorForm::Summary, "(?i)^{}"),
        (ErrorForm::Mentions, "(?i){}"),
    ]
    .map(|(form, frame)| (form, pattern(&rows, form, frame)))
});

fn has_form(line: &str, forms: &[ErrorForm]) -> bool {
    let mut known = FORMS.iter().filter(|(form, _)| forms.contains(form));
    known.any(|(_, pattern)| pattern.is_in(line))
}

/// At most 2,000 characters; `None` if it says nothing of its own, like `exit code 1`.
pub(super) fn error_line(text: &str) -> Option<String> {
    let line = shortened_unmasked(&headline(text)?, LONGEST_UNMASKED);
    let signature = signature(&line).0;
    let has_words = signature.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    has_words.then_some(line)
}

/// A signature has no numbers, so that the rules for secrets do not recognise what is left of one.
pub fn signature(line: &str) -> ErrorSignature {
    let words = with_short_quotes(line);
    let words = words.split_whitespace().take(WORDS).map(normal_word);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let signature: String = words.join(" ").chars().take(LONGEST).collect();
    ErrorSignature(signature.trim().to_owned())
}

fn headline(text: &str) -> Option<String> {
    if let Some(last) = traceback_end(text) {
        return Some(last.to_owned());
    }
    let lines = both_ends(text).map(without_tags);
    let lines = lines.filter(|line| !line.is_empty() && !is_generic(line));
    let lines: Vec<&str> = lines.collect();
    let names_reason = |line: &&str| is_error_line(line) && !is_outline(line);
    if let Some(at) = lines.iter().position(names_reason) {
        let (line, next) = (lines.get(at)?, lines.get(at + 1));
        // The message of a panic is on the next line.
        return Some(match line.split_once("panicked at") {
            Some((_, place)) => {
                let place = place.trim_end_matches(':').trim();
                format!("panicked at {place} {}", next.unwrap_or(&""))
            }
            None => (*line).to_owned(),
        });
    }
    let outline = lines.iter().find(|line| is_outline(line));
    let mentions = lines
        .iter()
        .find(|line| has_form(line, &[ErrorForm::Mentions]));
    outline
        .or(mentions)
        .or(lines.first())
        .map(|line| (*line).to_owned())
}

/// The message of a failed command is mostly at its end.
fn both_ends(text: &str) -> impl Iterator<Item = &str> {
    let last = text.lines().count().saturating_sub(LINES);
    let lines = text.lines().enumerate();
    lines
        .filter(move |(at, _)| *at < LINES || *at >= last)
        .map(|(_, line)| line)
}

/// Returns the last line of a Python traceback, which names the exception.
fn traceback_end(text: &str) -> Option<&str> {
    let (_, trace) = text.rsplit_once("Traceback (most recent call last)")?;
    let lines = trace.lines().skip(1).take(LINES);
    let mut unindented = lines.filter(|line| !line.starts_with([' ', '\t']));
    unindented
        .find(|line| has_form(line, &[ErrorForm::Named]))
        .map(str::trim)
}

pub(super) fn is_error_line(line: &str) -> bool {
    let forms = [ErrorForm::Begins, ErrorForm::Holds, ErrorForm::Named];
    let first = line.split_whitespace().next().unwrap_or_default();
    has_form(line, &forms) || is_whole(line) || line.contains(" error: ") && TIME.is_in(first)
}

/// Whether a line is known by all of it, and needs no message behind a colon.
pub(super) fn is_whole(line: &str) -> bool {
    has_form(line, &[ErrorForm::Matches]) || is_outline(line)
}

pub(super) fn is_outline(line: &str) -> bool {
    has_form(line, &[ErrorForm::Outline]) && !has_form(line, &[ErrorForm::Summary])
}

fn is_generic(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    has_form(line, &[ErrorForm::Summary]) && !is_whole(line)
        || words.all(|word| word.is_empty() || TABLES.list("error_fillers").has(word))
}

fn without_tags(line: &str) -> &str {
    static TAGS: Pattern = Pattern::new(r"^\s*(?:<[a-z_/]*>\s*)*");
    let tags = TAGS.all(line).find_map(|tags| Some(tags.get(0)?.end()));
    let line = line.get(tags.unwrap_or_default()..).unwrap_or_default();
    line.split("</").next().unwrap_or_default().trim()
}

/// `2026-11-21T10:00:00Z`, `10:00:00`
static TIME: Pattern = Pattern::new(r"^[\[(]?\d+(?:[-:T]\d+)+(?:[.,]\d+)?Z?[\])]?:?$");
/// A pointer, a commit, a UUID.
static ADDRESS: Pattern = Pattern::new(r"^(?:0x[0-9a-fA-F]+|[0-9a-fA-F-]*[0-9][0-9a-fA-F-]*)$");
/// The folders of a path, and the line and column behind it.
static FOLDERS: Pattern = Pattern::new(r"^.*[/\\]([^/\\])");
static PLACE: Pattern = Pattern::new(r"^(.+?)[:(][0-9].*$");
/// `E0308`, `TS2345`: they name an error.
static CODE: Pattern = Pattern::new(r"^(?:error\[)?[A-Z]{1,4}[0-9]{2,5}$");
static NUMBER: Pattern = Pattern::new(r"[0-9]+(?:[.,:]+[0-9]+)*");

/// Times, addresses, folders, places in files, numbers.
fn normal_word(word: &str) -> String {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '~');
    let core = word.trim_matches(is_edge);
    if core.len() > 4 && TIME.is_in(core) {
        return String::new();
    }
    let normal = if ADDRESS.is_in(core) && (core.len() > 6 || core.starts_with("0x")) {
        "#".to_owned()
    } else if core.contains("://") {
        "URL".to_owned()
    } else {
        let name = FOLDERS.replace_in(core, "$1");
        let name = PLACE.replace_in(&name, "$1");
        if CODE.is_in(&name) {
            name.into_owned()
        } else {
            NUMBER.replace_in(&name, "#").into_owned()
        }
    };
    let word = word.replacen(core, &normal, 1);
    // The line of `a.ts(10,5)` went with its opening bracket.
    if word.contains('(') {
        word
    } else {
        word.replace(')', "")
    }
}

fn with_short_quotes(line: &str) -> String {
    static QUOTE: Pattern = Pattern::new(r#""[^"]*"|'[^']*'|`[^`]*`"#);
    let cut = |quote: &regex::Captures<'_>| {
        let quote = quote.get(0).map_or("", |quote| quote.as_str());
        let (mark, content) = quote.split_at(1);
        let content = content.strip_suffix(mark).unwrap_or_default();
        format!("{mark}{}{mark}", shortened(content, LONGEST_QUOTE))
    };
    QUOTE.replace_in(line, cut).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: &str) -> Option<String> {
        error_line(error).map(|line| signature(&line).0)
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
    fn every_form_matches_its_example() {
        for row in rows::<ErrorForm>(include_str!("forms.toml")) {
            assert!(has_form(&row.example, &[row.means]), "{row:?}");
            let reports = matches!(
                row.means,
                ErrorForm::Begins | ErrorForm::Holds | ErrorForm::Named | ErrorForm::Matches
            );
            assert!(is_error_line(&row.example) || !reports, "{row:?}");
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
    fn message_at_the_end_of_a_long_output_is_found() {
        let lines = |line: &str| format!("{line}\n").repeat(700);
        for (before, error, expected) in [
            (
                "   Compiling serde v1.0.0",
                "error[E0308]: mismatched types",
                "mismatched types",
            ),
            (
                "test one ... ok",
                "thread 'a' panicked at src/a.rs:3:5:\nboom",
                "boom",
            ),
            (
                "npm http fetch GET 200",
                "npm ERR! code ERESOLVE",
                "ERESOLVE",
            ),
        ] {
            let found = text(&(lines(before) + error)).unwrap();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn long_errors_are_cut() {
        let long = text(&format!("error: {}", "word ".repeat(500))).unwrap();
        assert_eq!(long.chars().count(), 200);
        let quoted = text(&format!("error: \"{}\" is wrong", "x".repeat(500))).unwrap();
        assert!(quoted.ends_with("…\" is wrong"), "{quoted}");
    }
}
