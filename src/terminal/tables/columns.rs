//! The layout that the screens share: cells in columns, and text that continues beneath itself.
//!
//! Each screen decides what to do where its columns do not fit. Widths are those on a terminal:
//! colours have none, and some characters take two columns. `console` measures and pads like that
//! already; table crates need a second terminal library for coloured cells.

use std::iter;
use std::ops::RangeBounds;

use console::{Alignment, measure_text_width, pad_str};
use textwrap::{Options, WordSplitter};

use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::widest;

/// Blanks between columns.
const GAP: &str = "  ";

/// Returns one line for each row, with the columns in `figures` aligned to the right. Nothing pads
/// the end of a line.
pub(super) fn columns<R: AsRef<[String]>>(
    rows: &[R],
    figures: impl RangeBounds<usize>,
) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    let mut lines = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            cells.push(if figures.contains(&column) {
                pad_str(cell, *width, Alignment::Right, None)
            } else if column + 1 < widths.len() {
                pad_str(cell, *width, Alignment::Left, None)
            } else {
                cell.into()
            });
        }
        lines.push(cells.join(GAP).trim_end().to_owned());
    }
    lines
}

/// Returns a table of figures, whose rows begin with a name; nothing without rows.
///
/// Names stand beside their figures; above them where both do not fit on a line; and where the
/// figures alone do not fit, they stand behind their heads in running text.
pub(super) fn figures_table(
    heads: &[&str],
    rows: &[Vec<String>],
    width: usize,
    paint: Paint,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heads = iter::once("").chain(heads.iter().copied());
    let heads: Vec<String> = heads.map(ToOwned::to_owned).collect();
    let with_heads: Vec<&[String]> = iter::once(&heads).chain(rows).map(Vec::as_slice).collect();
    let lines = columns(&with_heads, 1..);
    if widest(&lines) <= width {
        return beneath_heads(lines.into_iter().map(|line| (None, line)), "", paint);
    }
    let figures: Vec<&[String]> = with_heads
        .iter()
        .map(|row| row.get(1..).unwrap_or_default())
        .collect();
    let lines = columns(&figures, ..);
    let names = iter::once(None).chain(rows.iter().map(|row| row.first()));
    let names = names.map(|name| name.map(|name| hanging("", name, 0, Some(width))));
    if widest(&lines) + NAME_INDENT.len() <= width {
        return beneath_heads(names.zip(lines), NAME_INDENT, paint);
    }
    let mut text = String::new();
    for row in rows {
        let mut cells = heads.iter().zip(row);
        if let Some((_, name)) = cells.next() {
            text.push_str(&hanging("", name, 0, Some(width)));
        }
        let cells: Vec<String> = cells
            .filter(|(_, cell)| !cell.is_empty())
            .map(|(head, cell)| format!("{head} {cell}"))
            .collect();
        let indent = NAME_INDENT.len();
        text.push_str(&hanging(
            NAME_INDENT,
            &cells.join(", "),
            indent,
            Some(width),
        ));
    }
    text
}

/// The indent of figures beneath their name.
const NAME_INDENT: &str = "  ";

/// Joins lines, each beneath its name if it has one; the first one has the heads.
fn beneath_heads(
    lines: impl Iterator<Item = (Option<String>, String)>,
    indent: &str,
    paint: Paint,
) -> String {
    let mut text = String::new();
    for (row, (name, line)) in lines.enumerate() {
        text.push_str(&name.unwrap_or_default());
        let line = if row == 0 { paint.dim(&line) } else { line };
        text.extend([indent, &line, "\n"]);
    }
    text
}

/// Returns a text behind its head, wrapped to the width of the terminal and continued `indent`
/// columns from the left. `None` does not wrap.
pub(super) fn hanging(head: &str, text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return format!("{head}{text}\n");
    };
    let beneath = " ".repeat(indent);
    let options = Options::new(width.max(indent + 8))
        .initial_indent(head)
        .subsequent_indent(&beneath)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_width_on_the_terminal() {
        let red = Paint::Colour.red("b");
        let rows = [
            ["id", "cost", "name"],
            ["模型", "$1.00", "x y"],
            [&red, "", ""],
        ];
        let lines = columns(&rows.map(|row| row.map(ToOwned::to_owned)), 1..2);
        assert_eq!(lines[0], "id     cost  name");
        assert_eq!(lines[1], "模型  $1.00  x y");
        assert_eq!(lines[2], red);
        assert_eq!(widest(&lines), 17);
    }

    #[test]
    fn text_hangs_beneath_itself_on_a_terminal_only() {
        assert_eq!(hanging("a  ", "b c", 4, None), "a  b c\n");
        assert_eq!(
            hanging("a  ", "some more words", 3, Some(14)),
            "a  some more\n   words\n"
        );
    }
}
