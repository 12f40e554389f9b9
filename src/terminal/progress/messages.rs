//! The longer texts of the progress. Pure; `reporter` decides what is printed when.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::consultation::event::{
    CallFinished, HealthUpdate, PanelSelection, Resumed, Started, StateName, Substitution,
    WhySubstituted,
};
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::Rounds;
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::policy::mode::Ending;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::consultation::reading::problem::Problem;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::cost::tokens::{Usage, UsageSource};
use crate::domain::ids::{AgentId, ProviderId};
use crate::domain::panel::{Panel, Seat};
use crate::domain::time::Timestamp;
use crate::stopping::circuit::state::CircuitState;

use crate::terminal::document::{Part, fact, screen};
use crate::terminal::output::format::{
    ONE_FAMILY, cost_range, count, dollars, local_moment, model_address, seat_name, thousands,
    whole_seconds,
};
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::widest;
use crate::text::clean::one_line;

/// A wait of at least this long ends at a time of the day: the seat is out until then.
pub(in crate::terminal) const LONG_WAIT_MS: u64 = 120_000;

pub(in crate::terminal) fn starting(terms: &Started) -> String {
    let debate = terms.plan.as_ref().map(|plan| &plan.debate);
    if let Some(prior) = debate.and_then(|debate| debate.prior_answers.as_ref()) {
        return format!(
            "🔍 Judging {} of {} again...",
            count(prior.independents.len(), "answer"),
            prior.from
        );
    }
    let experts = count(terms.panel.seats.len(), "expert");
    match debate.and_then(|debate| debate.follows_up.as_ref()) {
        Some(prior) => format!("🔍 Following up {} with {experts}...", prior.id),
        None => format!("🔍 Starting consultation with {experts}..."),
    }
}

pub(in crate::terminal) fn panel(terms: &Started, width: Option<usize>) -> Vec<String> {
    let panel = &terms.panel;
    let debate = terms
        .plan
        .as_ref()
        .map(|plan| &plan.debate)
        .filter(|debate| debate.asks_for(AnswerKind::PersonaSelection));
    let mut rows = seat_rows(panel);
    if debate.is_some() {
        // Before the personas are selected, only the models are known.
        for (at, (name, _)) in rows.iter_mut().enumerate() {
            *name = format!("Expert {}", at + 1);
        }
    }
    if let Some((judge, fallbacks)) = panel.judges.split_first() {
        let mut models = model_address(judge);
        for (at, fallback) in fallbacks.iter().enumerate() {
            models += if at == 0 { ", then " } else { ", " };
            models += &fallback.to_string();
        }
        rows.push(("Judge".to_owned(), models));
    }
    if let Some(helper) = debate.and_then(|debate| debate.helper.as_ref()) {
        let model = format!("{}, selects the personas", model_address(helper));
        rows.push(("Helper".to_owned(), model));
    }
    table(&rows, width)
}

pub(in crate::terminal) fn seats(panel: &Panel, width: Option<usize>) -> Vec<String> {
    table(&seat_rows(panel), width)
}

fn seat_rows(panel: &Panel) -> Vec<(String, String)> {
    let row = |seat| (seat_name(panel, seat), model_address(&seat.model));
    panel.seats.iter().map(row).collect()
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
    let seats = selection.panel.seats.iter();
    let names: Vec<&str> = seats.map(Seat::name).collect();
    let (names, task) = (names.join(", "), one_line(&selection.task_type));
    match &selection.chosen_by {
        None => format!("🎭 Default personas:  {names}"),
        Some(_) if task.is_empty() => format!("🎭 Personas selected for this question: {names}"),
        Some(_) => format!("🎭 Personas selected for this question ({task}): {names}"),
    }
}

fn table(rows: &[(String, String)], width: Option<usize>) -> Vec<String> {
    let facts = rows.iter();
    let facts = facts
        .map(|(name, model)| fact(name.clone(), model.clone()))
        .collect();
    let width = width.map(|width| width.saturating_sub(3));
    let text = screen(&[Part::Facts(facts)], width, Paint::PLAIN);
    text.lines().map(|line| format!("   {line}")).collect()
}

/// Returns the widths of the widest name and model of a panel, the judge included.
pub(in crate::terminal) fn columns(panel: &Panel) -> (usize, usize) {
    let names = panel.seats.iter().map(Seat::name).chain(["Judge"]);
    let seats = panel.seats.iter().map(|seat| &seat.model);
    let models = seats.chain(panel.judges.first());
    (widest(names), widest(models.map(|model| &model.model)))
}

pub(in crate::terminal) fn notices(terms: &Started) -> Vec<String> {
    let note = |notice: &String| format!("   Note: {}", one_line(notice));
    let mut notices: Vec<String> = terms.notices.iter().map(note).collect();
    if terms.panel.seats.len() > 1
        && terms.panel.is_one_family()
        && !notices.iter().any(|notice| notice.contains(ONE_FAMILY))
    {
        notices.push(format!(
            "   Note: all experts are of one family: {ONE_FAMILY}"
        ));
    }
    notices
}

/// `$0.21 – $0.45 – $0.90 and up to 6 calls of your plan`.
fn estimate_in_words(estimate: &Estimate) -> String {
    let (billed, plan_calls) = (estimate.cost.billed(), estimate.plan_calls());
    let range = || cost_range(estimate.low, billed, estimate.high, dollars);
    let of_plan = || format!("up to {} of your plan", count(plan_calls, "call"));
    match (plan_calls, estimate.high.is_unbilled()) {
        (0, _) => range(),
        (_, true) => of_plan(),
        (_, false) => format!("{} and {}", range(), of_plan()),
    }
}

/// `None` where the question was answered by a person.
pub(in crate::terminal) fn consent(
    estimate: Option<&Estimate>,
    (ceiling, max_calls): (Option<MicroUsd>, u32),
    approved: bool,
    how: Consent,
) -> Option<String> {
    let at_most = |most: Option<MicroUsd>| {
        most.filter(|most| estimate.is_some_and(|sum| *most < sum.high.known))
            .map_or_else(String::new, |most| format!("; your ceiling is {most:.2}"))
    };
    let verb = match (how, approved, ceiling) {
        (Consent::AutoApproved, true, most) => format!("auto-approved{}", at_most(most)),
        (Consent::Flag, true, most) => format!("approved by --yes{}", at_most(most)),
        (Consent::Ceiling, true, None) => "within your ceiling".to_owned(),
        (Consent::Ceiling, true, Some(most)) => format!("within your ceiling of {most:.2}"),
        (Consent::NobodyToAsk, ..) => "no terminal to ask on".to_owned(),
        (Consent::Asked, ..)
        | (Consent::AutoApproved | Consent::Flag | Consent::Ceiling, false, _) => {
            return None;
        }
    };
    let cost = estimate.map_or_else(|| dollars(Cost::FREE), estimate_in_words);
    let by_plan = estimate.is_some_and(|estimate| estimate.cost.by_plan);
    let limit = match (by_plan, ceiling) {
        (false, _) => String::new(),
        (true, None) => format!("; --max-calls stops at {max_calls}"),
        (true, Some(_)) => {
            format!("; no ceiling holds calls of a plan, --max-calls stops at {max_calls}")
        }
    };
    Some(format!("💰 Estimated cost: {cost} ({verb}{limit})"))
}

pub(in crate::terminal) fn substituted(name: &str, substitution: &Substitution) -> String {
    let Substitution {
        original,
        substitute,
        reason,
        message,
        ..
    } = substitution;
    match reason {
        WhySubstituted::Hedge => {
            format!("🔀 {name}: answered by {substitute} (hedged); {original} was slower")
        }
        WhySubstituted::Timeout | WhySubstituted::Failure | WhySubstituted::HealthCheck => {
            let reason = one_line(&reason.in_words(message));
            format!(
                "⚠️ {original} is unavailable ({}). {substitute} takes over as {name}.",
                reason.trim_end_matches('.')
            )
        }
    }
}

/// `None` without any.
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

pub(in crate::terminal) fn modes(plan: &Plan) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if let Ending::AlwaysWhole(words) = plan.debate.mode.strategy().ending
        && plan.debate.rounds == Rounds::ALL
        && plan.debate.prior_answers.is_none()
    {
        lines.push(words);
    }
    if plan.material == PromptMaterial::Whole {
        lines.push("🔍 Verbose mode: using full debate artifacts");
    }
    lines
}

pub(in crate::terminal) fn no_hedge(reason: NoHedge) -> &'static str {
    match reason {
        NoHedge::NoBackup => "no other vendor can take over",
        NoHedge::NoHealthyBackup => "no healthy fallback model",
        NoHedge::QuotaUsed => "a quarter of the calls are hedged already",
        NoHedge::Ceiling => "the cost ceiling does not allow it",
        NoHedge::BackupBusy => "the fallback model is busy",
    }
}

/// For `--verbose`.
pub(in crate::terminal) fn health(update: &HealthUpdate) -> String {
    let status = match update.status {
        HealthStatus::Unknown => "not known",
        HealthStatus::Healthy => "healthy",
        HealthStatus::Degraded => "degraded",
        HealthStatus::Unhealthy => "unhealthy",
    };
    let mut facts = Vec::new();
    if let Some(ms) = update.latency_ms {
        facts.push(format!("answered in {}", millis(ms)));
    }
    if update.consecutive_failures > 0 {
        let failures = count(update.consecutive_failures as usize, "failure");
        facts.push(format!("{failures} in a row"));
    }
    let line = format!("   `{}` is {status}", update.provider);
    if facts.is_empty() {
        line
    } else {
        format!("{line} ({})", facts.join(", "))
    }
}

/// Warns that no provider is healthy, if these can still answer.
pub(in crate::terminal) fn degraded(providers: &[&ProviderId]) -> Option<String> {
    let names: Vec<String> = providers.iter().map(|id| format!("`{id}`")).collect();
    let (last, others) = names.split_last()?;
    let subject = match others {
        [] => format!("{last} is"),
        others => format!("{} and {last} are", others.join(", ")),
    };
    Some(format!(
        "⚠️ {subject} degraded. The consultation may be slower than usual."
    ))
}

pub(in crate::terminal) fn provider_wait(
    provider: &ProviderId,
    wait_ms: u64,
    reason: &str,
    now: Timestamp,
) -> String {
    let wait = Duration::from_millis(wait_ms);
    if wait_ms >= LONG_WAIT_MS {
        let until = local_moment(now.after(wait), now, &TimeZone::system());
        return format!("⏳ `{provider}`: {}, resets {until}", one_line(reason));
    }
    // Tenths of a second do not matter in minutes.
    let wait = if wait_ms < 60_000 {
        millis(wait_ms)
    } else {
        whole_seconds(wait)
    };
    format!("⏳ `{provider}` asks to wait {wait}: {}", one_line(reason))
}

/// For `--verbose`.
pub(in crate::terminal) fn circuit(
    provider: &ProviderId,
    circuit: CircuitState,
    wait_ms: Option<u64>,
) -> String {
    match (circuit, wait_ms) {
        (CircuitState::Closed, _) => format!("`{provider}` answers again"),
        (CircuitState::Open { .. }, Some(wait_ms)) => format!(
            "`{provider}` keeps failing: no new calls for {}",
            millis(wait_ms)
        ),
        (CircuitState::Open { .. } | CircuitState::HalfOpen { .. }, _) => {
            format!("`{provider}` kept failing; testing it with one call")
        }
    }
}

/// For `--verbose`.
pub(in crate::terminal) fn problems(name: &str, call: &CallFinished) -> Vec<String> {
    let line = |problem: &Problem| match (problem.field.as_str(), one_line(&problem.what)) {
        ("", what) => format!("   {name}: {what}"),
        (field, what) => format!("   {name}: `{field}`: {what}"),
    };
    call.problems.iter().map(line).collect()
}

/// For `--verbose`; `None` if no use of a cache was reported.
pub(in crate::terminal) fn cache_use(name: &str, usage: &Usage) -> Option<String> {
    let is_used = usage.cache_read > 0 || usage.cache_write > 0;
    let is_reported = usage.source == UsageSource::Reported;
    (is_used && is_reported).then(|| {
        let [all, read, written] =
            [usage.prompt(), usage.cache_read, usage.cache_write].map(thousands);
        format!(
            "   {name}: of {all} prompt tokens, {read} read from the cache and {written} written \
             to it"
        )
    })
}

/// In seconds, for a sentence: `8.2 s`.
pub(in crate::terminal) fn millis(ms: u64) -> String {
    format!("{:.1} s", Duration::from_millis(ms).as_secs_f64())
}

/// Returns the part of an agent's time that belongs to a run that has lasted this long: an agent
/// may have begun before an interruption.
pub(in crate::terminal) fn time_in_run(duration_ms: u64, elapsed: Duration) -> Duration {
    Duration::from_millis(duration_ms).min(elapsed)
}

/// Returns the cause of a failure in a few words: its status where it has one.
pub(in crate::terminal) fn cause(reason: &str, class: Option<FailureClass>) -> String {
    if let Some(status) = http_status(reason) {
        return format!("HTTP {status}");
    }
    let words = match class {
        Some(FailureClass::RateLimit) => "rate limit",
        Some(FailureClass::Overload) => "overloaded",
        Some(FailureClass::Transport) => "no connection",
        Some(FailureClass::Timeout) => "no answer in time",
        Some(FailureClass::Empty) => "empty answer",
        Some(FailureClass::Unsupported) => "asked in a simpler form",
        Some(_) | None => "failed",
    };
    words.to_owned()
}

/// Returns the status in a provider's message: `… (HTTP 529)`, or `HTTP 529 …` without an
/// explanation.
fn http_status(reason: &str) -> Option<u16> {
    let (_, rest) = reason
        .rsplit_once("(HTTP ")
        .or_else(|| Some(("", reason.strip_prefix("HTTP ")?)))?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
