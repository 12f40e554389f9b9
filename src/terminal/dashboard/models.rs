//! How each model did: a table where its columns fit, else a line or two a model.

use console::measure_text_width;

use super::charset::Charset;
use super::line::{Line, Tone, name};
use super::numbers::{money, thousands_of, time};
use super::section;
use crate::domain::statistics::ModelNumbers;
use crate::terminal::words::thousands;

/// Blanks between columns.
const GAP: usize = 2;

/// `None` without a call.
pub(super) fn models(models: &[ModelNumbers], room: usize, charset: Charset) -> Option<Vec<Line>> {
    if models.is_empty() {
        return None;
    }
    let heading = "Models (p50, p95: time to the first token)";
    let rows: Vec<Vec<String>> = std::iter::once(head()).chain(models.iter().map(row)).collect();
    let cell_width = |text: &str| measure_text_width(&charset.text(text));
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell_width(cell)).max().unwrap_or(0)).collect();
    let needed = widths.iter().sum::<usize>() + columns.saturating_sub(1) * GAP + Line::ROW_INDENT;
    if needed > room {
        return Some(section(heading, models.iter().flat_map(told)));
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let blanks = " ".repeat(width.saturating_sub(cell_width(cell)));
            // Names to the left, figures to the right.
            if column == 0 { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP))
    };
    let (head, body) = rows.split_first()?;
    let lines = std::iter::once(Line::row(line(head), Tone::Quiet)).chain(body.iter().map(|row| Line::row(line(row), Tone::Plain)));
    Some(section(heading, lines))
}

fn head() -> Vec<String> {
    ["Model", "Calls", "p50", "p95", "Failed", "Hedges won", "Cost"].map(ToOwned::to_owned).to_vec()
}

fn row(model: &ModelNumbers) -> Vec<String> {
    let known = |ms: Option<u64>| ms.map_or_else(|| "n/a".to_owned(), time);
    vec![
        name(&model.model.to_string()),
        thousands(model.calls),
        known(model.first_token_p50),
        known(model.first_token_p95),
        thousands(model.failures),
        thousands(model.hedges_won),
        money(model.cost),
    ]
}

/// The same in words.
fn told(model: &ModelNumbers) -> [Line; 2] {
    let hedges = (model.hedges_won > 0).then(|| format!("{} won", thousands_of(model.hedges_won, "hedge")));
    let known = |name: &str, ms: Option<u64>| ms.map(|ms| format!("{name} {}", time(ms)));
    let facts = [
        Some(thousands_of(model.calls, "call")),
        known("p50", model.first_token_p50),
        known("p95", model.first_token_p95),
        (model.failures > 0).then(|| format!("{} failed", thousands(model.failures))),
        hedges,
        Some(money(model.cost)),
    ];
    [Line::bulleted(name(&model.model.to_string())), Line::row(facts.into_iter().flatten().collect::<Vec<_>>().join(", "), Tone::Plain)]
}
