//! The words of the progress: what is said of each event, line by line. Pure; who says it, and when, is `progress`'s business.

use std::collections::BTreeSet;
use std::time::Duration;

use console::measure_text_width;

use crate::consultation::event::{CallEstimate, CallFinished, Consent, Estimate, Started};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::money::Cost;
use crate::domain::panel::Panel;

use super::escape::one_line;
use super::words::{ONE_FAMILY, amount, count, model_address, round_title, seat_name, seconds, thousands};

pub(super) fn starting(terms: &Started) -> String {
    format!("🔍 Starting consultation with {}...", count(terms.panel.seats.len(), "expert"))
}

/// The panel in force: seat, persona, provider and model of each, the judge and those that stand in for it.
pub(super) fn panel(terms: &Started, width: Option<usize>) -> Vec<String> {
    let panel = &terms.panel;
    let mut rows: Vec<(String, String)> = panel.seats.iter().map(|seat| (seat_name(panel, seat), model_address(&seat.model))).collect();
    if let Some((judge, fallbacks)) = panel.judges.split_first() {
        let others: Vec<String> = fallbacks.iter().map(ToString::to_string).collect();
        let then = if others.is_empty() { String::new() } else { format!(", then {}", others.join(", ")) };
        rows.push(("Judge".to_owned(), format!("{}{then}", model_address(judge))));
    }
    let widest = rows.iter().map(|(name, _)| measure_text_width(name)).max().unwrap_or(0);
    let row = |(name, model): &(String, String)| {
        let head = format!("   {name}{}", " ".repeat(widest.saturating_sub(measure_text_width(name)) + 2));
        match width {
            // Models continue under models, where there is room for them.
            Some(width) if measure_text_width(&head) + 24 <= width => {
                let under = " ".repeat(measure_text_width(&head));
                textwrap::fill(model, options(width).initial_indent(&head).subsequent_indent(&under))
            }
            Some(_) | None => fit(&format!("{head}{model}"), width),
        }
    };
    rows.iter().map(row).collect()
}

/// Widths of the widest name and model of a panel, the judge included.
pub(super) fn columns(panel: &Panel) -> (usize, usize) {
    let names = panel.seats.iter().map(|seat| measure_text_width(seat.name())).chain([measure_text_width("Judge")]);
    let models = panel.seats.iter().map(|seat| &seat.model).chain(panel.judges.first()).map(|model| measure_text_width(&model.model));
    (names.max().unwrap_or(0), models.max().unwrap_or(0))
}

/// What the user is told about the panel: the notices it came with, and what any panel of this kind is told.
pub(super) fn notices(terms: &Started) -> Vec<String> {
    let mut notices: Vec<String> = terms.notices.iter().map(|notice| one_line(notice)).collect();
    if is_one_family(&terms.panel) && !notices.iter().any(|notice| notice.contains(ONE_FAMILY)) {
        notices.push(format!("all experts are of one family: {ONE_FAMILY}"));
    }
    notices.into_iter().map(|notice| format!("   Note: {notice}")).collect()
}

fn is_one_family(panel: &Panel) -> bool {
    panel.seats.len() > 1 && panel.is_one_family()
}

/// What became of the estimate; `None` where the question itself has said it.
pub(super) fn consent(estimate: Option<&Estimate>, approved: bool, how: Consent) -> Option<String> {
    let cost = estimate.map_or(Cost::FREE, |estimate| estimate.cost);
    let verb = match (how, approved) {
        (Consent::AutoApproved, true) => "auto-approved",
        (Consent::Flag, true) => "approved by --yes",
        (Consent::Ceiling, true) => "below --max-cost",
        (Consent::NobodyToAsk, _) => "nobody to ask",
        (Consent::Asked, _) | (Consent::AutoApproved | Consent::Flag | Consent::Ceiling, false) => return None,
    };
    Some(format!("💰 Estimated cost: {cost:.2} ({verb})"))
}

/// The estimate by stage and seat, for `--verbose`.
pub(super) fn estimate_detail(estimate: &Estimate, panel: &Panel) -> Vec<String> {
    let (input, output) = (thousands(estimate.input_tokens), thousands(estimate.output_tokens));
    let mut lines = vec![format!("   Estimate: {input} input tokens, ~{output} output tokens, {}", amount(estimate.cost))];
    let who = |call: &CallEstimate| panel.seat(&call.agent_id).map_or_else(|| "Judge".to_owned(), |seat| seat_name(panel, seat));
    let widest = estimate.calls.iter().map(|call| measure_text_width(&who(call))).max().unwrap_or(0);
    let rounds: BTreeSet<u8> = estimate.calls.iter().map(|call| call.round_number).collect();
    for round in rounds {
        let calls: Vec<&CallEstimate> = estimate.calls.iter().filter(|call| call.round_number == round).collect();
        let subtotal: Cost = calls.iter().map(|call| call.cost).sum();
        lines.push(format!("   Round {round}, {}: {}", round_title(round), amount(subtotal)));
        lines.extend(calls.into_iter().map(|call| {
            let name = who(call);
            let gap = " ".repeat(widest.saturating_sub(measure_text_width(&name)) + 2);
            let (input, output) = (thousands(call.input_tokens), thousands(call.output_tokens));
            format!("     {name}{gap}{input} in, ~{output} out, {}", amount(call.cost))
        }));
    }
    lines
}

pub(super) fn thinking(name: &str) -> String {
    format!("⚡ {name} thinking...")
}

pub(super) fn completed(name: &str, duration_ms: u64) -> String {
    format!("✅ {name} completed ({})", seconds(Duration::from_millis(duration_ms)))
}

pub(super) fn failed(name: &str, reason: &str) -> String {
    format!("⚠️ Agent {name} failed: {}", one_line(reason))
}

pub(super) fn substituted(name: &str, original: &ModelRef, substitute: &ModelRef, reason: &str) -> String {
    format!("⚠️ {original} is unavailable ({}). {substitute} takes over as {name}.", one_line(reason))
}

pub(super) fn round_complete(round: u8) -> String {
    format!("📋 Round {round} complete")
}

pub(super) fn complete() -> String {
    "✨ Consultation complete".to_owned()
}

pub(super) fn retried(name: &str, wait_ms: u64, reason: &str) -> String {
    format!("   {name}: trying again in {}: {}", seconds(Duration::from_millis(wait_ms)), one_line(reason))
}

pub(super) fn served(name: &str, asked: &ModelRef, served: &str) -> String {
    format!("   {name}: asked for `{asked}`, answered by `{}`", one_line(served))
}

pub(super) fn held(provider: &ProviderId, wait_ms: u64, reason: &str) -> String {
    format!("⏳ `{provider}` asks to wait {}: {}", seconds(Duration::from_millis(wait_ms)), one_line(reason))
}

/// What was wrong with an answer, one line a problem, for `--verbose`.
pub(super) fn problems(name: &str, call: &CallFinished) -> Vec<String> {
    let line = |problem: &crate::consultation::problem::Problem| {
        let field = if problem.field.is_empty() { String::new() } else { format!("`{}`: ", problem.field) };
        format!("   {name}: {field}{}", one_line(&problem.what))
    };
    call.problems.iter().map(line).collect()
}

/// The line in as many lines as a terminal of this width needs, continued under its text.
pub(super) fn fit(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| measure_text_width(line) >= *width) else { return line.to_owned() };
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let subsequent = format!("{indent}  ");
    // Runs of blanks align columns, which there is no room for here.
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    textwrap::fill(&words, options(width).initial_indent(&indent).subsequent_indent(&subsequent))
}

/// A last column is left free; names of models are not broken at their hyphens.
fn options<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width.saturating_sub(1).max(8)).word_splitter(textwrap::WordSplitter::NoHyphenation)
}
