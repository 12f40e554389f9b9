//! Figures by model: a table where its columns fit, else two lines for each model.

use super::charset::Charset;
use super::line::{StyledLine, Tone, section, together};
use super::numbers::{money, precise, thousands_of, time};
use crate::domain::statistics::ModelNumbers;
use crate::terminal::output::format::{LOCAL_QUALITY, thousands};
use crate::terminal::output::wrap::widest;
use crate::terminal::tables::columns::columns;
use crate::text::clean::one_line;

const HEADS: [&str; 7] = ["Model", "Calls", "p50", "p95", "Failed", "Hedges", "Cost"];

/// Returns `None` without a call.
pub(super) fn models(
    models: &[ModelNumbers],
    room: usize,
    charset: Charset,
) -> Option<Vec<StyledLine>> {
    if models.is_empty() {
        return None;
    }
    let has_failures = models.iter().any(|model| model.failures > 0);
    let has_hedges = models.iter().any(|model| model.hedges_won > 0);
    // Amounts in one column have the same number of decimals.
    let has_fractions_of_cents = models
        .iter()
        .any(|model| (1..10_000).contains(&model.cost.known.0));
    let amount = if has_fractions_of_cents {
        precise
    } else {
        money
    };
    let known = |ms: Option<u64>| ms.map_or_else(|| "n/a".to_owned(), time);
    let mut rows = vec![HEADS.map(ToOwned::to_owned)];
    for model in models {
        rows.push([
            charset.text(&one_line(&model.model.to_string())),
            thousands(model.calls),
            known(model.first_token_p50_ms),
            known(model.first_token_p95_ms),
            thousands(model.failures),
            thousands(model.hedges_won),
            charset.text(&amount(model.cost)),
        ]);
    }
    // A column without any figure is dropped.
    let is_shown = [true, true, true, true, has_failures, has_hedges, true];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            row.into_iter()
                .zip(is_shown)
                .filter_map(|(cell, is_shown)| is_shown.then_some(cell))
                .collect()
        })
        .collect();
    let local = models.iter().filter(|model| model.demonstration);
    let local = local.map(|model| {
        let name = one_line(&model.model.to_string());
        StyledLine::row(format!("{name}: {LOCAL_QUALITY}"), Tone::Quiet)
    });
    let lines = columns(&rows, 1..);
    if widest(&lines) + StyledLine::ROW_INDENT > room {
        return Some(section(
            "Models (p50, p95: to the first token)",
            models.iter().flat_map(stacked).chain(local),
        ));
    }
    let hedges = if has_hedges { "; hedges: won" } else { "" };
    let rows = lines.into_iter().enumerate().map(|(number, line)| {
        let tone = if number == 0 {
            Tone::Quiet
        } else {
            Tone::Plain
        };
        StyledLine::row(line, tone)
    });
    let rows = rows.chain(local);
    Some(section(
        &format!("Models (p50, p95: to the first token{hedges})"),
        rows,
    ))
}

/// Returns the same figures in two lines.
fn stacked(model: &ModelNumbers) -> [StyledLine; 2] {
    let hedges =
        (model.hedges_won > 0).then(|| format!("{} won", thousands_of(model.hedges_won, "hedge")));
    let known = |name: &str, ms: Option<u64>| ms.map(|ms| format!("{name} {}", time(ms)));
    let facts = [
        Some(thousands_of(model.calls, "call")),
        known("p50", model.first_token_p50_ms),
        known("p95", model.first_token_p95_ms),
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
        StyledLine::bulleted(one_line(&model.model.to_string())),
        StyledLine::row(facts.join(", "), Tone::Plain),
    ]
}
