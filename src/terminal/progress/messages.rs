//! The words of the progress, line by line. Pure; `reporter` decides what is printed when.

use std::time::Duration;

use console::measure_text_width;

use crate::consultation::event::{
    CallFinished, HealthUpdate, PanelSelection, Resumed, Started, StateName, SubstitutionReason,
    WhySubstituted,
};
use crate::consultation::plan::mode::Ending;
use crate::consultation::plan::options::Rounds;
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, ModelRef, ProviderId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::panel::Panel;
use crate::stopping::circuit::state::CircuitState;

use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{
    ONE_FAMILY, count, dollars, model_address, seat_name, seconds, whole_seconds,
};
use crate::terminal::output::wrap::{fit, wrap_options};

pub(in crate::terminal) fn starting(terms: &Started) -> String {
    let prior = terms
        .plan
        .as_ref()
        .and_then(|plan| plan.debate.prior_answers.as_ref());
    match prior {
        Some(prior) => format!(
            "🔍 Judging {} of {} again...",
            count(prior.independents.len(), "answer"),
            prior.from
        ),
        None => format!(
            "🔍 Starting consultation with {}...",
            count(terms.panel.seats.len(), "expert")
        ),
    }
}

/// Returns the panel in force: seat, provider and model of each, the judge and its fallbacks.
pub(in crate::terminal) fn panel(terms: &Started, width: Option<usize>) -> Vec<String> {
    let panel = &terms.panel;
    let debate = terms
        .plan
        .as_ref()
        .map(|plan| &plan.debate)
        .filter(|debate| debate.asks_for(AnswerKind::PersonaSelection));
    // Before the personas are selected, only the models are known.
    let name = |(at, seat)| {
        if debate.is_some() {
            format!("Expert {}", at + 1)
        } else {
            seat_name(panel, seat)
        }
    };
    let seats = panel.seats.iter().enumerate();
    let mut rows: Vec<(String, String)> = seats
        .map(|(at, seat)| (name((at, seat)), model_address(&seat.model)))
        .collect();
    if let Some((judge, fallbacks)) = panel.judges.split_first() {
        let others: Vec<String> = fallbacks.iter().map(ToString::to_string).collect();
        let then = if others.is_empty() {
            String::new()
        } else {
            format!(", then {}", others.join(", "))
        };
        rows.push((
            "Judge".to_owned(),
            format!("{}{then}", model_address(judge)),
        ));
    }
    let helper = debate.and_then(|debate| debate.helper.as_ref());
    rows.extend(helper.map(|helper| {
        (
            "Helper".to_owned(),
            format!("{}, selects the personas", model_address(helper)),
        )
    }));
    table(&rows, width)
}

/// Returns the seats of a panel alone.
pub(in crate::terminal) fn seats(panel: &Panel, width: Option<usize>) -> Vec<String> {
    let rows: Vec<(String, String)> = panel
        .seats
        .iter()
        .map(|seat| (seat_name(panel, seat), model_address(&seat.model)))
        .collect();
    table(&rows, width)
}

/// Names an agent that has no seat.
pub(in crate::terminal) fn beside_the_panel(agent: &AgentId) -> &'static str {
    match agent {
        AgentId::Helper => "Helper",
        AgentId::SecondJudge => "Judge (second pass)",
        AgentId::Judge | AgentId::Seat(_) => "Judge",
    }
}

/// Names the personas that the helper selected, or the default ones if it selected none.
pub(in crate::terminal) fn personas_selected(selection: &PanelSelection) -> String {
    let names: Vec<&str> = selection
        .panel
        .seats
        .iter()
        .map(crate::domain::panel::Seat::name)
        .collect();
    let (names, task) = (names.join(", "), one_line(&selection.task_type));
    match &selection.chosen_by {
        None => format!("🎭 Default personas:  {names}"),
        Some(_) if task.is_empty() => format!("🎭 Personas selected for this question: {names}"),
        Some(_) => format!("🎭 Personas selected for this question ({task}): {names}"),
    }
}

/// Returns the reason the helper gave.
pub(in crate::terminal) fn selection_reason(selection: &PanelSelection) -> Option<String> {
    let reason = one_line(&selection.reason);
    (selection.chosen_by.is_some() && !reason.is_empty()).then(|| format!("   {reason}"))
}

/// Reports a problem with the selection.
pub(in crate::terminal) fn selection_note(note: &str) -> String {
    format!("   Note: {}", one_line(note))
}

fn table(rows: &[(String, String)], width: Option<usize>) -> Vec<String> {
    let widest = rows
        .iter()
        .map(|(name, _)| measure_text_width(name))
        .max()
        .unwrap_or(0);
    let row = |(name, model): &(String, String)| {
        let head = format!(
            "   {name}{}",
            " ".repeat(widest.saturating_sub(measure_text_width(name)) + 2)
        );
        match width {
            // Models wrap below models, where there is room.
            Some(width) if measure_text_width(&head) + 24 <= width => {
                let under = " ".repeat(measure_text_width(&head));
                textwrap::fill(
                    model,
                    wrap_options(width)
                        .initial_indent(&head)
                        .subsequent_indent(&under),
                )
            }
            Some(_) | None => fit(&format!("{head}{model}"), width),
        }
    };
    rows.iter().map(row).collect()
}

/// Returns the widths of the widest name and model of a panel, the judge included.
pub(in crate::terminal) fn columns(panel: &Panel) -> (usize, usize) {
    let names = panel
        .seats
        .iter()
        .map(|seat| measure_text_width(seat.name()))
        .chain([measure_text_width("Judge")]);
    let models = panel
        .seats
        .iter()
        .map(|seat| &seat.model)
        .chain(panel.judges.first())
        .map(|model| measure_text_width(&model.model));
    (names.max().unwrap_or(0), models.max().unwrap_or(0))
}

/// Returns the notices of this panel, and those that hold for every panel of its kind.
pub(in crate::terminal) fn notices(terms: &Started) -> Vec<String> {
    let mut notices: Vec<String> = terms
        .notices
        .iter()
        .map(|notice| one_line(notice))
        .collect();
    if is_one_family(&terms.panel) && !notices.iter().any(|notice| notice.contains(ONE_FAMILY)) {
        notices.push(format!("all experts are of one family: {ONE_FAMILY}"));
    }
    notices
        .into_iter()
        .map(|notice| format!("   Note: {notice}"))
        .collect()
}

fn is_one_family(panel: &Panel) -> bool {
    panel.seats.len() > 1 && panel.is_one_family()
}

/// Describes the outcome of the cost gate; `None` where the question was answered by a person.
pub(in crate::terminal) fn consent(
    estimate: Option<&Estimate>,
    approved: bool,
    how: Consent,
) -> Option<String> {
    let cost = estimate.map_or(Cost::FREE, |estimate| estimate.cost);
    let verb = match (how, approved) {
        (Consent::AutoApproved, true) => "auto-approved",
        (Consent::Flag, true) => "approved by --yes",
        (Consent::Ceiling, true) => "below --max-cost",
        (Consent::NobodyToAsk, _) => "no terminal to ask on",
        (Consent::Asked, _) | (Consent::AutoApproved | Consent::Flag | Consent::Ceiling, false) => {
            return None;
        }
    };
    let bound = if cost.lower_bound { "≥ " } else { "" };
    Some(format!(
        "💰 Estimated cost: {bound}{} ({verb})",
        dollars(cost.known)
    ))
}

pub(in crate::terminal) fn thinking(name: &str) -> String {
    format!("⚡ {name} thinking...")
}

pub(in crate::terminal) fn completed(name: &str, duration_ms: u64) -> String {
    format!(
        "✅ {name} completed ({})",
        seconds(Duration::from_millis(duration_ms))
    )
}

pub(in crate::terminal) fn failed(name: &str, reason: &str) -> String {
    format!("⚠️ Agent {name} failed: {}", one_line(reason))
}

/// Reports that another model takes over: this one failed, or the other one was faster.
pub(in crate::terminal) fn substituted(
    name: &str,
    original: &ModelRef,
    substitute: &ModelRef,
    reason: &SubstitutionReason,
    message: &str,
) -> String {
    match reason {
        SubstitutionReason::Known(WhySubstituted::Hedge) => {
            format!("🔀 {name}: {substitute} was faster than {original} and takes over.")
        }
        SubstitutionReason::Known(
            WhySubstituted::Timeout | WhySubstituted::Failure | WhySubstituted::HealthCheck,
        )
        | SubstitutionReason::Words(_) => {
            let reason = one_line(&reason.in_words(message));
            format!(
                "⚠️ {original} is unavailable ({}). {substitute} takes over as {name}.",
                reason.trim_end_matches('.')
            )
        }
    }
}

/// Reports the calls that were open when the consultation was interrupted; `None` without any.
pub(in crate::terminal) fn repeated_calls(resumed: &Resumed) -> Option<String> {
    match resumed.lost_calls.len() {
        0 => None,
        1 => Some("   1 call was interrupted and is repeated".to_owned()),
        lost => Some(format!("   {lost} calls were interrupted and are repeated")),
    }
}

pub(in crate::terminal) fn round_of(state: StateName) -> Option<u8> {
    match state {
        StateName::Independent => Some(1),
        StateName::Synthesis => Some(2),
        StateName::CrossExam => Some(3),
        StateName::Verdict => Some(4),
        StateName::Idle
        | StateName::Estimating
        | StateName::AwaitingConsent
        | StateName::Complete
        | StateName::Aborted => None,
    }
}

/// Announces a mode that always runs all rounds.
pub(in crate::terminal) fn mode(terms: &Started) -> Option<&'static str> {
    let debate = &terms.plan.as_ref()?.debate;
    match debate.mode.strategy().ending {
        Ending::AlwaysWhole(words)
            if debate.rounds == Rounds::ALL && debate.prior_answers.is_none() =>
        {
            Some(words)
        }
        Ending::AlwaysWhole(_) | Ending::MayBeEarly => None,
    }
}

/// Announces that later rounds receive all of the earlier ones.
pub(in crate::terminal) fn material(terms: &Started) -> Option<&'static str> {
    match terms.plan.as_ref().map(|plan| plan.material) {
        Some(PromptMaterial::Whole) => Some("🔍 Verbose mode: using full debate artifacts"),
        Some(PromptMaterial::Filtered) | None => None,
    }
}

pub(in crate::terminal) fn hedged(
    name: &str,
    model: &ModelRef,
    backup: &ModelRef,
    after_ms: u64,
) -> String {
    let after = seconds(Duration::from_millis(after_ms));
    format!("🔀 {name}: no sign of an answer from {model} for {after}; hedged to {backup}")
}

pub(in crate::terminal) fn not_hedged(name: &str, reason: NoHedge) -> String {
    let why = match reason {
        NoHedge::NoBackup => "no other vendor can take over",
        NoHedge::NoHealthyBackup => "no healthy fallback model",
        NoHedge::QuotaUsed => "a quarter of the calls are hedged already",
        NoHedge::Ceiling => "the cost ceiling does not allow it",
        NoHedge::BackupBusy => "the fallback model is busy",
    };
    format!("   {name}: slow; not hedged: {why}")
}

/// Reports the slower one of two hedged calls.
pub(in crate::terminal) fn slower(name: &str, model: &ModelRef) -> String {
    format!("   {name}: {model} was slower and was cancelled")
}

pub(in crate::terminal) fn ceiling_reached(max_cost: MicroUsd) -> String {
    format!(
        "⚠️ Cost ceiling of {} reached. Ending with the answers so far.",
        dollars(max_cost)
    )
}

pub(in crate::terminal) const COST_EXCEEDED: &str =
    "⚠️ Cost exceeded estimate. Aborting consultation.";

pub(in crate::terminal) const ALL_DEGRADED: &str =
    "⚠️ All providers degraded. Consultation may be slower than usual.";

/// Describes the health of a provider, for `--verbose`.
pub(in crate::terminal) fn health(update: &HealthUpdate) -> String {
    let status = match update.status {
        HealthStatus::Unknown => "not known",
        HealthStatus::Healthy => "healthy",
        HealthStatus::Degraded => "degraded",
        HealthStatus::Unhealthy => "unhealthy",
    };
    let latency = update
        .latency_ms
        .map(|ms| format!("answered in {}", seconds(Duration::from_millis(ms))));
    let failures = (update.consecutive_failures > 0).then(|| {
        format!(
            "{} in a row",
            count(update.consecutive_failures as usize, "failure")
        )
    });
    let facts: Vec<String> = latency.into_iter().chain(failures).collect();
    let facts = if facts.is_empty() {
        String::new()
    } else {
        format!(" ({})", facts.join(", "))
    };
    format!("   `{}` is {status}{facts}", update.provider)
}

pub(in crate::terminal) fn round_complete(round: u8) -> String {
    format!("📋 Round {round} complete")
}

pub(in crate::terminal) fn complete() -> String {
    "✨ Consultation complete".to_owned()
}

pub(in crate::terminal) fn retried(name: &str, wait_ms: u64, reason: &str) -> String {
    format!(
        "   {name}: retrying in {}: {}",
        seconds(Duration::from_millis(wait_ms)),
        one_line(reason)
    )
}

pub(in crate::terminal) fn served(name: &str, asked: &ModelRef, served: &str) -> String {
    format!(
        "   {name}: asked for `{asked}`, answered by `{}`",
        one_line(served)
    )
}

pub(in crate::terminal) fn provider_wait(
    provider: &ProviderId,
    wait_ms: u64,
    reason: &str,
) -> String {
    let wait = Duration::from_millis(wait_ms);
    // Tenths of a second do not matter in minutes.
    let wait = if wait < Duration::from_secs(60) {
        seconds(wait)
    } else {
        whole_seconds(wait)
    };
    format!("⏳ `{provider}` asks to wait {wait}: {}", one_line(reason))
}

/// Reports a circuit that has opened, is being probed, or has closed, for `--verbose`.
pub(in crate::terminal) fn circuit(
    provider: &ProviderId,
    circuit: CircuitState,
    wait_ms: Option<u64>,
) -> String {
    match (circuit, wait_ms) {
        (CircuitState::Closed, _) => format!("`{provider}` answers again"),
        (CircuitState::Open { .. }, Some(wait_ms)) => format!(
            "`{provider}` keeps failing: no new calls for {}",
            seconds(Duration::from_millis(wait_ms))
        ),
        (CircuitState::Open { .. } | CircuitState::HalfOpen { .. }, _) => {
            format!("`{provider}` kept failing; testing it with one call")
        }
    }
}

/// Lists the problems of an answer, for `--verbose`.
pub(in crate::terminal) fn problems(name: &str, call: &CallFinished) -> Vec<String> {
    let line = |problem: &crate::consultation::reading::problem::Problem| {
        let field = if problem.field.is_empty() {
            String::new()
        } else {
            format!("`{}`: ", problem.field)
        };
        format!("   {name}: {field}{}", one_line(&problem.what))
    };
    call.problems.iter().map(line).collect()
}
