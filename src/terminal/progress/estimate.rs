//! The estimate by round and seat, for `--verbose`: low, expected and high.

use std::collections::BTreeMap;

use console::{Alignment, pad_str};

use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::domain::money::Cost;
use crate::domain::panel::Panel;

use super::messages::beside_the_panel;
use crate::terminal::output::format::{amount, round_title, seat_name, thousands};
use crate::terminal::output::wrap::widest;

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
    let name_width = widest(estimate.calls.iter().map(name_of));
    let mut rounds: BTreeMap<u8, Vec<&CallEstimate>> = BTreeMap::new();
    for call in &estimate.calls {
        rounds.entry(call.round_number).or_default().push(call);
    }
    for (round, calls) in rounds {
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
            let name = pad_str(&name, name_width, Alignment::Left, None);
            let (input, output) = (thousands(call.input_tokens), thousands(call.output_tokens));
            let cost = range(call.low, call.cost, call.high);
            format!("     {name}  {input} in, ~{output} out, {cost}")
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
