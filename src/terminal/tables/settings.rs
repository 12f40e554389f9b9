//! The settings as `conclave config show` lists them: what each is, where it comes from, and what
//! it does.

use console::{Alignment, pad_str};

use super::columns::{columns, hanging};
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::widest;

/// Values of more columns do not widen those of the others.
const WIDEST_VALUE: usize = 24;

/// An explanation gets a column of its own if it has this much room.
const NARROWEST_HELP: usize = 48;

/// A setting, or a part of one.
#[derive(Clone, Debug)]
pub struct SettingRow {
    pub name: String,
    pub value: String,
    pub origin: String,
    /// What it does; only the first part of a setting has it.
    pub help: Option<&'static str>,
}

/// Returns the screen for a terminal of this width; `None` does not wrap. Explanations stand behind
/// the settings where there is room, else beneath them. A setting that is too long for the columns
/// continues beneath its name.
pub fn screen(rows: &[SettingRow], width: Option<usize>, paint: Paint) -> String {
    let short = |row: &&SettingRow| row.value.chars().count() <= WIDEST_VALUE;
    let cells = |row: &SettingRow| [row.name.clone(), row.value.clone(), row.origin.clone()];
    let short_cells: Vec<[String; 3]> = rows.iter().filter(short).map(cells).collect();
    let mut lines = columns(&short_cells, 0..0);
    let table = widest(&lines);
    lines.reverse();
    let has_help_column = width.is_none_or(|width| table + 2 + NARROWEST_HELP <= width);
    let mut text = String::new();
    for row in rows {
        let line = if short(&row) { lines.pop() } else { None };
        let help = paint.dim(row.help.unwrap_or_default());
        match line.filter(|_| width.is_none_or(|width| table <= width)) {
            Some(line) if has_help_column && row.help.is_some() => {
                let line = pad_str(&line, table + 2, Alignment::Left, None);
                text.push_str(&hanging(&line, &help, table + 2, width));
                continue;
            }
            Some(line) => text.extend([line.as_str(), "\n"]),
            None => {
                text.extend([row.name.as_str(), "\n"]);
                let value = format!("{}  {}", row.value, row.origin);
                text.push_str(&hanging("  ", &value, 2, width));
            }
        }
        if row.help.is_some() {
            text.push_str(&hanging("  ", &help, 2, width));
        }
    }
    text
}
