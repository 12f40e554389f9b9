//! The estimate by round and seat, for `--verbose`: low, expected and high.

use std::collections::BTreeMap;

use console::{Alignment, pad_str};

use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::domain::cost::money::Cost;
use crate::domain::panel::Panel;

use super::messages::beside_the_panel;
use crate::terminal::output::format::{amount, cost_range, round_title, seat_name, thousands};
use crate::terminal::output::wrap::widest;

pub(in crate::terminal) fn estimate_lines(estimate: &Estimate, panel: &Panel) -> Vec<String> {
    let (input, output) = (
        thousands(estimate.input_tokens),
        thousands(estimate.output_tokens),
    );
    let total = cost_range(estimate.low, estimate.cost, estimate.high, amount);
    let mut lines = vec![format!(
        "   Estimate: {input} input tokens, ~{output} output tokens, {total}"
    )];
    let name_of = |call: &CallEstimate| match panel.seat_of(&call.agent_id) {
        Some(seat) => seat_name(panel, seat),
        None => beside_the_panel(&call.agent_id).to_owned(),
    };
    let name_width = widest(estimate.calls.iter().map(name_of));
    let mut rounds: BTreeMap<u8, Vec<&CallEstimate>> = BTreeMap::new();
    for call in &estimate.calls {
        rounds.entry(call.round_number).or_default().push(call);
    }
    for (round, calls) in rounds {
        let sum = |part: fn(&CallEstimate) -> Cost| calls.iter().map(|call| part(call)).sum();
        let [low, cost] = [sum(|call| call.low), sum(|call| call.cost)];
        let subtotal = cost_range(low, cost, sum(|call| call.high), amount);
        let title = round_title(round);
        lines.push(format!("   Round {round}, {title}: {subtotal}"));
        lines.extend(calls.into_iter().map(|call| {
            let name = name_of(call);
            let name = pad_str(&name, name_width, Alignment::Left, None);
            let (input, output) = (thousands(call.input_tokens), thousands(call.output_tokens));
            let cost = cost_range(call.low, call.cost, call.high, amount);
            format!("     {name}  {input} in, ~{output} out, {cost}")
        }));
    }
    lines
}
