//! Measures plain lines and wraps them to the width of a terminal. A command in backticks and a path
//! stay on one line, so that they can be copied.

use console::{measure_text_width, truncate_str};
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};

/// More between two backticks is no command.
const LONGEST_COMMAND: usize = 120;

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
        wrap_options(width, &words)
            .initial_indent(&indent)
            .subsequent_indent(&subsequent),
    )
}

/// Leaves the last column free, and breaks no word at a hyphen, nor a command or a path that is
/// longer than a line.
pub(in crate::terminal) fn wrap_options<'a>(width: usize, text: &str) -> Options<'a> {
    let room = width.saturating_sub(1).max(8);
    let options = options(room, text).word_separator(WordSeparator::Custom(words));
    options.break_words(fits(text, room))
}

/// With all columns, and what is longer than a line is broken.
pub(in crate::terminal) fn options<'a>(room: usize, text: &str) -> Options<'a> {
    let options = Options::new(room).word_splitter(WordSplitter::NoHyphenation);
    if fits(text, room) {
        options.word_separator(WordSeparator::Custom(words))
    } else {
        options
    }
}

/// Returns whether each command and each path has room on a line.
fn fits(text: &str, room: usize) -> bool {
    let is_long = |word: Word<'_>| is_whole(&word) && measure_text_width(&word) > room;
    !text.lines().any(|line| words(line).any(is_long))
}

/// Returns whether it is a command in backticks or a path.
fn is_whole(word: &str) -> bool {
    word.starts_with(['/', '~', '`']) || word.is_ascii() && word.contains(['`', '/'])
}

/// Words as Unicode breaks lines, but with each command and each path in one.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let (mut start, mut end) = (0, 0);
    let rest = |at: usize| line.get(at..).unwrap_or_default();
    let mut words: Vec<Word<'_>> = Vec::new();
    for part in WordSeparator::new().find_words(line) {
        end += part.word.len() + part.whitespace.len();
        let word = line.get(start..end).unwrap_or_default();
        let is_open = word.matches('`').count() % 2 == 1;
        let closes = || rest(end).find('`').is_some_and(|at| at < LONGEST_COMMAND);
        let is_within = is_open && closes() || part.whitespace.is_empty() && is_whole(word);
        if !is_within {
            words.push(Word::from(word));
            start = end;
        }
    }
    words.extend((start < end).then(|| Word::from(rest(start))));
    Box::new(words.into_iter())
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
    fn commands_and_paths_stay_on_one_line() {
        for (line, expected) in [
            (
                "see it with `conclave history show last`, or not",
                "see it with\n  `conclave history show last`,\n  or not",
            ),
            (
                "saved in /a/very/long/path/to/the/record-of-it.json now",
                "saved\n  in /a/very/long/path/to/the/record-of-it.json\n  now",
            ),
            (
                "one`s own, and much more of it",
                "one`s own, and much more of\n  it",
            ),
            (
                "averyveryverylongwordwithoutend",
                "averyveryverylongwordwith\n  outend",
            ),
        ] {
            assert_eq!(fit(line, Some(28)), expected);
        }
    }

    #[test]
    fn the_last_column_stays_free() {
        let line = "  one two";
        assert_eq!(fit(line, Some(line.len() + 1)), line);
        assert_eq!(fit(line, Some(line.len())), "  one\n    two");
        assert_eq!(fit(line, None), line);
    }
}
