//! The beginning of a long text, for places where the whole would push everything else away.

use super::printer::Printer;
use super::wrap::wrap_options;
use crate::terminal::output::format::count;

const MAX_LINES: usize = 3;

/// The first lines and the number of the rest.
fn excerpt(text: &str, width: usize) -> String {
    let lines = textwrap::wrap(text.trim(), wrap_options(width, text));
    let rest = lines.len().saturating_sub(MAX_LINES);
    let mut shown = lines;
    shown.truncate(MAX_LINES);
    if rest > 0 {
        shown.push(format!("… {} more", count(rest, "line")).into());
    }
    shown.join("\n")
}

/// Prints on a terminal how a question begins that is not on its screen yet.
pub fn print_question(question: &str, printer: &Printer) {
    let screen = printer.err_traits();
    if screen.is_terminal {
        // A note continues two columns from the left.
        let width = screen.width.saturating_sub(2).max(1);
        printer.note(&excerpt(&format!("Question: {question}"), width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lines_are_shown_whole() {
        assert_eq!(excerpt("one\ntwo\nthree\n", 80), "one\ntwo\nthree");
    }

    #[test]
    fn lines_beyond_the_third_are_counted() {
        assert_eq!(excerpt("1\n2\n3\n4", 80), "1\n2\n3\n… 1 line more");
        assert_eq!(excerpt("1\n2\n3\n4\n5", 80), "1\n2\n3\n… 2 lines more");
    }

    #[test]
    fn long_lines_count_as_the_terminal_shows_them() {
        let words = "word ".repeat(40);
        let shown = excerpt(&words, 21);
        assert_eq!(shown.lines().count(), 4);
        assert_eq!(shown.lines().last(), Some("… 7 lines more"));
    }
}
