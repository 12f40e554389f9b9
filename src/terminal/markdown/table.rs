//! Tables on a terminal: columns where they fit, else one line for each cell.

use console::{Alignment, pad_str};

use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::widest;

/// At most `room` columns wide, as far as its words allow.
pub(super) fn table_lines(rows: &[Vec<String>], room: usize, paint: Paint) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column| widest(rows.iter().filter_map(|row| row.get(column)));
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let Some((head, body)) = rows.split_first() else {
        return Vec::new();
    };
    if widths.iter().sum::<usize>() + columns.saturating_sub(1) * 2 > room {
        return stacked(head, body, room, paint);
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<_> = cells
            .map(|(cell, width)| pad_str(cell, *width, Alignment::Left, None))
            .collect();
        cells.join("  ")
    };
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut lines = vec![paint.bold(&line(head)), paint.dim(&rule.join("  "))];
    lines.extend(body.iter().map(line));
    lines
}

fn stacked(head: &[String], body: &[Vec<String>], room: usize, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, row) in body.iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        for (title, cell) in head.iter().zip(row) {
            let line = format!("{} {cell}", paint.bold(&format!("{title}:")));
            let options = textwrap::Options::new(room).subsequent_indent("  ");
            lines.extend(textwrap::wrap(&line, options).into_iter().map(String::from));
        }
    }
    lines
}
