//! The difference of two texts as a unified diff, which `patch` and people read.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

use super::style::Paint;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Texts that have little in common are not compared for longer than this: the diff is then
/// correct, but not the shortest one.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the diff from one text to the other, each under its name; nothing if they are the same.
///
/// Line breaks of the texts are kept, so that `patch` changes a file with `\r\n` correctly.
pub fn unified_diff(before: (&str, &str), after: (&str, &str), paint: Paint) -> String {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(TIMEOUT)
        .diff_lines(before.1, after.1);
    let text = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(before.0, after.0)
        .to_string();
    text.split_inclusive('\n')
        .map(|line| painted(line, paint))
        .collect()
}

/// Paints a line by its first characters, its line break left out.
fn painted(line: &str, paint: Paint) -> String {
    let text = line.trim_end_matches(['\r', '\n']);
    let end = line.get(text.len()..).unwrap_or_default();
    let is_name = text.starts_with("--- ") || text.starts_with("+++ ");
    let painted = match text.chars().next() {
        Some('-' | '+') if is_name => paint.bold(text),
        Some('-') => paint.red(text),
        Some('+') => paint.green(text),
        Some('@') => paint.cyan(text),
        Some(_) | None => text.to_owned(),
    };
    painted + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(before: &str, after: &str) -> String {
        unified_diff(
            ("SPEC.md", before),
            ("SPEC.refined.md", after),
            Paint::PLAIN,
        )
    }

    #[test]
    fn changed_lines_stand_in_their_context() {
        let diff = plain("a\nb\nc\nd\ne\n", "a\nb\nc\nD\ne\n");
        assert_eq!(
            diff,
            "--- SPEC.md\n+++ SPEC.refined.md\n@@ -1,5 +1,5 @@\n a\n b\n c\n-d\n+D\n e\n"
        );
    }

    #[test]
    fn same_texts_have_no_diff() {
        assert_eq!(plain("a\n", "a\n"), "");
    }

    #[test]
    fn line_breaks_and_a_missing_last_one_are_kept() {
        let diff = plain("a\r\nb\r\n", "a\r\nc");
        assert!(diff.contains("-b\r\n"), "{diff:?}");
        assert!(
            diff.ends_with("+c\n\\ No newline at end of file\n"),
            "{diff:?}"
        );
    }

    #[test]
    fn added_and_removed_lines_have_colours() {
        let diff = unified_diff(("x", "a\n"), ("y", "b\n"), Paint::COLOUR);
        let lines: Vec<&str> = diff.lines().collect();
        assert_eq!(lines[0], Paint::COLOUR.bold("--- x"));
        assert_eq!(lines[3], Paint::COLOUR.red("-a"));
        assert_eq!(lines[4], Paint::COLOUR.green("+b"));
    }
}
