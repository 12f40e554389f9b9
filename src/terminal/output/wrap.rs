//! Measures plain lines and wraps them to the width of a terminal.

use console::{measure_text_width, truncate_str};

/// A cut text loses this much of a word, and no more.
const LONGEST_WORD: usize = 24;

/// `None` does not wrap.
pub(in crate::terminal) fn fit(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| measure_text_width(line) >= *width) else {
        return line.to_owned();
    };
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let subsequent = format!("{indent}  ");
    // Runs of blanks align columns, and there is no room for columns here.
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    textwrap::fill(
        &words,
        wrap_options(width)
            .initial_indent(&indent)
            .subsequent_indent(&subsequent),
    )
}

/// Leaves the last column free and does not break model names at their hyphens.
pub(in crate::terminal) fn wrap_options<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width.saturating_sub(1).max(8))
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

pub(in crate::terminal) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    let texts = texts.into_iter();
    let widths = texts.map(|text| measure_text_width(text.as_ref()));
    widths.max().unwrap_or(0)
}

/// Cuts a line to a width after a word, or within a very long one, and marks the cut.
pub(in crate::terminal) fn cut_line(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    match cut.rsplit_once(' ') {
        Some((words, rest)) if cut != text && rest.chars().count() <= LONGEST_WORD => {
            words.trim_end_matches([' ', ',', ';', ':']).to_owned() + "…"
        }
        Some(_) | None => cut.into_owned(),
    }
}

/// Joins as many segments of a row as fit, the first ones first.
pub(in crate::terminal) fn fitted_row(segments: &[String], width: usize) -> String {
    let mut row = String::new();
    for segment in segments {
        let separator = if row.is_empty() { "" } else { " · " };
        if !row.is_empty() && measure_text_width(&row) + 3 + measure_text_width(segment) > width {
            continue;
        }
        row.extend([separator, segment]);
    }
    truncate_str(&row, width, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_stays_free() {
        let line = "  one two";
        assert_eq!(fit(line, Some(line.len() + 1)), line);
        assert_eq!(fit(line, Some(line.len())), "  one\n    two");
        assert_eq!(fit(line, None), line);
    }
}
