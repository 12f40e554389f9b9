//! Lines, line endings and columns of Markdown source. A tab reaches to the next multiple of four
//! columns, and a carriage return alone ends a line too.

pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let is_in_ending = text.get(at..).is_some_and(|rest| rest.starts_with('\n'));
    let before = match before.strip_suffix('\r') {
        Some(line) if is_in_ending => line,
        Some(_) | None => before,
    };
    before.rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// With its line ending.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let Some(end) = rest.find(['\n', '\r']) else {
        return text.len();
    };
    let ending = rest.get(end..).unwrap_or_default();
    at + end + if ending.starts_with("\r\n") { 2 } else { 1 }
}

/// Each with its ending.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = line_end(text, at);
        let line = text.get(at..end).filter(|line| !line.is_empty());
        at = end;
        line
    })
}

pub(super) fn without_ending(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}

/// Returns true if the position is at the end of the text, or the line there is blank.
pub(super) fn is_blank_at(text: &str, at: usize) -> bool {
    is_blank(text.get(at..line_end(text, at)).unwrap_or_default())
}

/// Returns true if the position, the beginning of a line, follows a blank line or begins the text.
pub(super) fn is_blank_before(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    if before == BYTE_ORDER_MARK {
        return true;
    }
    let line = before
        .strip_suffix("\r\n")
        .or_else(|| before.strip_suffix(['\n', '\r']))
        .unwrap_or(before);
    is_blank(line.get(line_start(line, line.len())..).unwrap_or_default())
}

/// Returns the end of the last line of a range that is not blank, with its ending.
pub(super) fn end_without_blank_lines(text: &str, start: usize, end: usize) -> usize {
    let range = text.get(start..end).unwrap_or_default();
    let solid = range.trim_end_matches([' ', '\t', '\n', '\r']);
    line_end(text, start + solid.len())
}

/// The ending of the first line.
pub(super) fn line_ending(text: &str) -> &'static str {
    let first = text.get(..line_end(text, 0)).unwrap_or_default();
    if first.ends_with("\r\n") {
        "\r\n"
    } else if first.ends_with('\r') {
        "\r"
    } else {
        "\n"
    }
}

/// Returns the column after white space that begins at a column, and its length in bytes.
pub(super) fn white_space(text: &str, column: usize) -> (usize, usize) {
    let (mut at, mut length) = (column, 0);
    for c in text.chars() {
        match c {
            ' ' => at += 1,
            '\t' => at += 4 - at % 4,
            _ => break,
        }
        length += 1;
    }
    (at, length)
}

/// In columns.
pub(super) fn indentation(line: &str) -> usize {
    white_space(line, 0).0
}

/// The rest of a tab becomes spaces. `None` if there are fewer columns.
pub(super) fn without_columns(text: &str, column: usize, columns: usize) -> Option<String> {
    let goal = column + columns;
    let (mut at, mut rest) = (column, text);
    while at < goal {
        let (next, after) = match rest.strip_prefix(' ') {
            Some(after) => (at + 1, after),
            None => (at + 4 - at % 4, rest.strip_prefix('\t')?),
        };
        (at, rest) = (next, after);
    }
    Some(format!("{}{rest}", " ".repeat(at - goal)))
}
