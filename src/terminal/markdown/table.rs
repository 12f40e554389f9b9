//! Tables on a terminal: columns where they fit, else one line for each cell.

use console::measure_text_width;

use crate::terminal::output::style::Paint;

/// A table; the first row is its head.
#[derive(Debug, Default)]
pub(in crate::terminal) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::terminal) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(in crate::terminal) fn cell(&mut self, text: String) {
        if let Some(row) = self.rows.last_mut() {
            row.push(text);
        }
    }

    /// Returns the table in lines of at most `room` columns, as far as its words allow.
    pub(in crate::terminal) fn lines(&self, room: usize, paint: Paint) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| measure_text_width(cell))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let Some((head, body)) = self.rows.split_first() else {
            return Vec::new();
        };
        if widths.iter().sum::<usize>() + columns.saturating_sub(1) * 2 > room {
            return stacked(head, body, room, paint);
        }
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                format!(
                    "{cell}{}",
                    " ".repeat(width.saturating_sub(measure_text_width(cell)))
                )
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        let rule = widths
            .iter()
            .map(|width| "─".repeat(*width))
            .collect::<Vec<_>>()
            .join("  ");
        [paint.bold(&line(head)), paint.dim(&rule)]
            .into_iter()
            .chain(body.iter().map(line))
            .collect()
    }
}

/// Returns each row as lines `head: cell`, with an empty line between rows.
fn stacked(head: &[String], body: &[Vec<String>], room: usize, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, row) in body.iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        for (title, cell) in head.iter().zip(row) {
            let line = format!("{} {cell}", paint.bold(&format!("{title}:")));
            lines.extend(
                textwrap::wrap(&line, textwrap::Options::new(room).subsequent_indent("  "))
                    .into_iter()
                    .map(String::from),
            );
        }
    }
    lines
}
