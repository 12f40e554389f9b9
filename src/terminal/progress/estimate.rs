//! The estimate by round and seat, for `--verbose`: low, expected and high.

use std::collections::BTreeSet;

use console::measure_text_width;

use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::domain::money::Cost;
use crate::domain::panel::Panel;

use super::messages::beside_the_panel;
use crate::terminal::output::format::{amount, round_title, seat_name, thousands};

pub(in crate::terminal) fn estimate_lines(estimate: &Estimate, panel: &Panel) -> Vec<String> {
    let (input, output) = (
        thousands(estimate.input_tokens),
        thousands(estimate.output_tokens),
    );
    let total = range(estimate.low, estimate.cost, estimate.high);
    let mut lines = vec![format!(
        "   Estimate: {input} input tokens, ~{output} output tokens, {total}"
    )];
    let name_of = |call: &CallEstimate| {
        panel.seat_of(&call.agent_id).map_or_else(
            || beside_the_panel(&call.agent_id).to_owned(),
            |seat| seat_name(panel, seat),
        )
    };
    let widest = estimate
        .calls
        .iter()
        .map(|call| measure_text_width(&name_of(call)))
        .max()
        .unwrap_or(0);
    let rounds: BTreeSet<u8> = estimate
        .calls
        .iter()
        .map(|call| call.round_number)
        .collect();
    for round in rounds {
        let calls: Vec<&CallEstimate> = estimate
            .calls
            .iter()
            .filter(|call| call.round_number == round)
            .collect();
        let sum = |part: fn(&CallEstimate) -> Cost| calls.iter().map(|call| part(call)).sum();
        let subtotal = range(
            sum(|call| call.low),
            sum(|call| call.cost),
            sum(|call| call.high),
        );
        lines.push(format!(
            "   Round {round}, {}: {subtotal}",
            round_title(round)
        ));
        lines.extend(calls.into_iter().map(|call| {
            let name = name_of(call);
            let gap = " ".repeat(widest.saturating_sub(measure_text_width(&name)) + 2);
            let (input, output) = (thousands(call.input_tokens), thousands(call.output_tokens));
            format!(
                "     {name}{gap}{input} in, ~{output} out, {}",
                range(call.low, call.cost, call.high)
            )
        }));
    }
    lines
}

/// `$0.0200 – $0.0375 – $0.0750`, or the one figure if all three are equal.
fn range(low: Cost, expected: Cost, high: Cost) -> String {
    let mut figures = [low, expected, high]
        .map(|cost| amount(Cost::exactly(cost.known)))
        .to_vec();
    figures.dedup();
    let bound = if expected.lower_bound { "≥ " } else { "" };
    format!("{bound}{}", figures.join(" – "))
}
