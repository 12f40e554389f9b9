//! Figures by model: a table where its columns fit, else two lines for each model.

use console::measure_text_width;

use super::charset::Charset;
use super::line::{StyledLine, Tone, name, section, together};
use super::numbers::{money, precise, thousands_of, time};
use crate::domain::money::Cost;
use crate::domain::statistics::ModelNumbers;
use crate::terminal::output::format::thousands;

/// Blanks between columns.
const GAP: usize = 2;

/// Returns `None` without a call.
pub(super) fn models(
    models: &[ModelNumbers],
    room: usize,
    charset: Charset,
) -> Option<Vec<StyledLine>> {
    if models.is_empty() {
        return None;
    }
    let columns: Vec<Column> = COLUMNS
        .into_iter()
        .filter(|column| column.is_of_interest(models))
        .collect();
    // Amounts in one column have the same number of decimals.
    let has_fractions_of_cents = models
        .iter()
        .any(|model| (1..10_000).contains(&model.cost.known.0));
    let amount = if has_fractions_of_cents {
        precise
    } else {
        money
    };
    let row = |of: &dyn Fn(Column) -> String| {
        columns.iter().map(|column| of(*column)).collect::<Vec<_>>()
    };
    let head = row(&|column| column.title().to_owned());
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(
            models
                .iter()
                .map(|model| row(&|column| column.cell(model, amount))),
        )
        .collect();
    let cell_width = |text: &str| measure_text_width(&charset.text(text));
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell_width(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let needed = widths.iter().sum::<usize>()
        + columns.len().saturating_sub(1) * GAP
        + StyledLine::ROW_INDENT;
    if needed > room {
        return Some(section(
            "Models (p50, p95: to the first token)",
            models.iter().flat_map(stacked),
        ));
    }
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let blanks = " ".repeat(width.saturating_sub(cell_width(cell)));
                // Names to the left, figures to the right.
                if column == 0 {
                    format!("{cell}{blanks}")
                } else {
                    format!("{blanks}{cell}")
                }
            });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP))
    };
    let (head, body) = rows.split_first()?;
    let lines = std::iter::once(StyledLine::row(line(head), Tone::Quiet)).chain(
        body.iter()
            .map(|row| StyledLine::row(line(row), Tone::Plain)),
    );
    let hedges = if columns.contains(&Column::HedgesWon) {
        "; hedges: won"
    } else {
        ""
    };
    Some(section(
        &format!("Models (p50, p95: to the first token{hedges})"),
        lines,
    ))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Model,
    Calls,
    Median,
    Slow,
    Failed,
    HedgesWon,
    Cost,
}

const COLUMNS: [Column; 7] = [
    Column::Model,
    Column::Calls,
    Column::Median,
    Column::Slow,
    Column::Failed,
    Column::HedgesWon,
    Column::Cost,
];

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Model => "Model",
            Self::Calls => "Calls",
            Self::Median => "p50",
            Self::Slow => "p95",
            Self::Failed => "Failed",
            Self::HedgesWon => "Hedges",
            Self::Cost => "Cost",
        }
    }

    fn cell(self, model: &ModelNumbers, amount: fn(Cost) -> String) -> String {
        let known = |ms: Option<u64>| ms.map_or_else(|| "n/a".to_owned(), time);
        match self {
            Self::Model => name(&model.model.to_string()),
            Self::Calls => thousands(model.calls),
            Self::Median => known(model.first_token_p50),
            Self::Slow => known(model.first_token_p95),
            Self::Failed => thousands(model.failures),
            Self::HedgesWon => thousands(model.hedges_won),
            Self::Cost => amount(model.cost),
        }
    }

    /// A column without any figure is dropped.
    fn is_of_interest(self, models: &[ModelNumbers]) -> bool {
        match self {
            Self::Failed => models.iter().any(|model| model.failures > 0),
            Self::HedgesWon => models.iter().any(|model| model.hedges_won > 0),
            Self::Model | Self::Calls | Self::Median | Self::Slow | Self::Cost => true,
        }
    }
}

/// Returns the same figures in two lines.
fn stacked(model: &ModelNumbers) -> [StyledLine; 2] {
    let hedges =
        (model.hedges_won > 0).then(|| format!("{} won", thousands_of(model.hedges_won, "hedge")));
    let known = |name: &str, ms: Option<u64>| ms.map(|ms| format!("{name} {}", time(ms)));
    let facts = [
        Some(thousands_of(model.calls, "call")),
        known("p50", model.first_token_p50),
        known("p95", model.first_token_p95),
        (model.failures > 0).then(|| format!("{} failed", thousands(model.failures))),
        hedges,
        Some(money(model.cost)),
    ];
    let facts: Vec<String> = facts
        .into_iter()
        .flatten()
        .map(|fact| together(&fact))
        .collect();
    [
        StyledLine::bulleted(name(&model.model.to_string())),
        StyledLine::row(facts.join(", "), Tone::Plain),
    ]
}
