//! The settings as `conclave config show` lists them: what each is, where it comes from, and what
//! it does.

use crate::terminal::document::{self, Line, Table, Tail};
use crate::terminal::output::style::{Paint, Tone};

/// A setting, or a part of one.
#[derive(Clone, Debug)]
pub struct SettingRow {
    pub name: String,
    pub value: String,
    pub origin: String,
    /// What it does; only the first part of a setting has it.
    pub help: Option<&'static str>,
}

/// Returns the screen for a terminal of this width; `None` does not wrap.
pub fn screen(rows: &[SettingRow], width: Option<usize>, paint: Paint) -> String {
    let rows = rows.iter().map(|row| {
        let mut cells = [&row.name, &row.value, &row.origin]
            .map(|cell| cell.clone().into())
            .to_vec();
        cells.push(Line::toned(Tone::Quiet, row.help.unwrap_or_default()));
        cells
    });
    let table = Table::with_tail(Tail::Wrapped, 3, &[""; 4], rows);
    document::screen(table.as_slice(), width, paint)
}
