//! The report of a consultation, finished or not: what is printed when it is answered, and whenever
//! its record is shown.
//!
//! Records of early versions and of the original lack some facts; their lines are left out.

use std::fmt::Write as _;

use crate::domain::artifact::{Severity, Source};
use crate::domain::ids::AgentId;
use crate::domain::outcome::Grade;
use crate::domain::stored_record::{
    Completion, ContextWords, StoredAgent, StoredConcern, StoredModel, StoredRecord,
};
use crate::domain::text::clean;

use super::agents::{name, seat_name};
use super::{rounds, second_verdict, sections};
use crate::terminal::markdown::escape::{block, inline};
use crate::terminal::output::format::{
    LOCAL_QUALITY, amount, calibrated_words, model_address, thousands,
};

/// Writes the report.
pub fn report(record: &StoredRecord) -> String {
    let mut sections = Vec::new();
    sections.extend(status_notice(record));
    sections.push("# Consultation".to_owned());
    sections.push(head(record));
    sections.extend(
        record
            .second_pass()
            .as_ref()
            .and_then(second_verdict::doubt),
    );
    sections.push(answer(record));
    sections.extend(evidence(record));
    sections.extend(dissent(record));
    sections.extend(sections::open_points(&record.points_left_open()));
    sections.extend(positions(record));
    sections.extend(changes(record));
    sections.extend(challenges(record));
    sections.extend(context(record));
    sections.push(cost(record));
    clean(&(sections.join("\n\n") + "\n"))
}

/// The notice above everything else: how the result falls short of the panel.
fn status_notice(record: &StoredRecord) -> Option<String> {
    let is_degraded =
        record.status.as_deref() == Some("degraded") || !record.degradations.is_empty();
    let mut notice = match record.completion() {
        Completion::Completed if !is_degraded => return None,
        Completion::Completed => {
            "> ⚠️ **Degraded result:** this is less than the panel promised.".to_owned()
        }
        Completion::Aborted => aborted(record),
        Completion::Declined => return Some(declined()),
        Completion::Unfinished => {
            let state = inline(record.state.as_deref().unwrap_or_default());
            let state = sections::around(" in ", &state, "");
            format!(
                "> 🛑 **Incomplete:** the log ends{state}; the consultation was interrupted or is \
                 still running."
            )
        }
    };
    if record.completion() != Completion::Completed {
        notice.push_str("\n>\n> The finished part follows. It is not a verdict.");
    }
    if !record.degradations.is_empty() {
        notice.push_str("\n>");
    }
    for degradation in &record.degradations {
        let _ = write!(notice, "\n> - {}", inline(degradation));
    }
    Some(notice)
}

fn aborted(record: &StoredRecord) -> String {
    let during = inline(record.aborted_during.as_deref().unwrap_or_default());
    let during = sections::around(" in ", &during, "");
    let reason = record
        .abort_message
        .as_ref()
        .or(record.abort_reason.as_ref())
        .map_or_else(|| "no reason recorded".to_owned(), |reason| inline(reason));
    format!("> 🛑 **Aborted{during}:** {reason}")
}

/// Only the question follows: nothing was asked or spent.
fn declined() -> String {
    "> **Declined:** the estimated cost was not agreed to. Nothing was asked or spent.".to_owned()
}

/// The question, and a line for each fact that stands above the answer.
fn head(record: &StoredRecord) -> String {
    let stated = sections::confidence_of(record.verdict(), record.confidence);
    let rejudged = record.rejudged_from.as_ref();
    let second = record.second_pass();
    let earlier = record.follow_up_of.as_ref();
    let lines = [
        earlier.map(|earlier| format!("**Follows up:** {}", inline(earlier))),
        Some(format!("**Confidence:** {stated}")),
        record.grade.as_ref().map(outcome),
        calibrated(record),
        second.map(|second| second_verdict::line(&second, record.judge().as_ref())),
        rejudged.map(|from| second_verdict::rejudged_line(from, record.held().as_ref())),
        Some(format!("**Judge:** {}", inline(&judge(record)))),
        panel(record),
        record.persona_selection.as_ref().map(sections::personas),
        served(record),
        hedged(record),
        follow_ups(record),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    format!(
        "{}\n{}",
        sections::question(&record.question),
        lines.join("  \n")
    )
}

/// The consultations that follow this one up.
fn follow_ups(record: &StoredRecord) -> Option<String> {
    let ids: Vec<String> = record.follow_ups.iter().map(|id| inline(id)).collect();
    (!ids.is_empty()).then(|| format!("**Followed up by:** {}", ids.join(", ")))
}

/// The grade of the answer, with the user's note.
fn outcome(grade: &Grade) -> String {
    let note = inline(grade.note.as_deref().unwrap_or_default());
    let note = sections::around(": ", &note, "");
    format!("**Outcome:** {}{note}", grade.outcome.name())
}

/// The calibrated probability of an answer composed from the synthesis. A verdict of the judge has
/// none.
fn calibrated(record: &StoredRecord) -> Option<String> {
    record
        .verdict()
        .filter(|verdict| verdict.composed_from == Some(Source::Synthesis))?;
    let words = calibrated_words(&record.calibrated()?);
    Some(format!("**Calibrated:** {words}"))
}

/// Names the judge, or says why there is no verdict.
fn judge(record: &StoredRecord) -> String {
    let Some(judge) = record.judge() else {
        return "none".to_owned();
    };
    let calls = || {
        record
            .agent_rounds()
            .filter(|(_, work)| work.agent_id == AgentId::Judge)
            .flat_map(|(_, work)| &work.attempts)
    };
    let first = record.panel.judges.first().and_then(StoredModel::model_ref);
    let judge_name = model_address(&judge);
    if calls().next().is_none() {
        format!("{judge_name} (was not asked)")
    } else if calls().all(|call| call.error.is_some()) {
        format!("{judge_name} (gave no answer)")
    } else if let Some(first) = first.filter(|first| *first != judge) {
        format!("{judge_name}, taking over from {first}")
    } else {
        judge_name
    }
}

fn panel(record: &StoredRecord) -> Option<String> {
    let seat = |agent: &StoredAgent| {
        let model = record
            .model_of(agent)
            .map(|model| format!(" ({model})"))
            .unwrap_or_default();
        format!("{}{model}", seat_name(record, agent))
    };
    let seats: Vec<String> = record.agents.iter().map(seat).collect();
    let quality = if record.agents.iter().any(|agent| agent.demonstration) {
        format!(" — {LOCAL_QUALITY}")
    } else {
        String::new()
    };
    (!seats.is_empty()).then(|| format!("**Panel:** {}{quality}", inline(&seats.join(", "))))
}

/// Names the agents that another model answered for, because theirs was slow.
fn hedged(record: &StoredRecord) -> Option<String> {
    let hedged = record.hedge_notices();
    (!hedged.is_empty()).then(|| format!("**Hedged:** {}", inline(&hedged.join("; "))))
}

/// Lists the models that other models answered for.
fn served(record: &StoredRecord) -> Option<String> {
    let items: Vec<String> = record
        .served_otherwise
        .iter()
        .map(|pair| format!("{} was answered by {}", pair.model, pair.served))
        .collect();
    (!items.is_empty()).then(|| format!("**Served:** {}", inline(&items.join(", "))))
}

fn answer(record: &StoredRecord) -> String {
    if let Some(verdict) = record.verdict() {
        return sections::verdict(verdict);
    }
    let text = match &record.recommendation {
        Some(recommendation) => sections::answer(
            recommendation,
            record.summary.as_deref().unwrap_or_default(),
        ),
        None => without_verdict(record),
    };
    format!("## Answer\n\n{text}")
}

/// Returns what is shown without a verdict: the points of agreement, or a pointer to the positions.
fn without_verdict(record: &StoredRecord) -> String {
    let why = match record.completion() {
        Completion::Completed => "No verdict was asked for",
        Completion::Declined => "Nothing was asked",
        Completion::Aborted | Completion::Unfinished => "No verdict was reached",
    };
    let Some(synthesis) = record.synthesis() else {
        return match &record.partial_consensus {
            Some(points) => format!("_{why}. Points of agreement so far:_\n\n{}", block(points)),
            None if record.independents().next().is_some() => {
                format!("_{why}: the positions stand side by side below._")
            }
            None => format!("_{why}, and no expert has answered._"),
        };
    };
    let mut text = format!("_{why}. The judge's points of agreement from Round 2:_");
    if !synthesis.prose_excerpt.trim().is_empty() {
        let _ = write!(text, "\n\n{}", block(&synthesis.prose_excerpt));
    }
    let mut separator = "\n\n";
    for point in &synthesis.consensus_points {
        let stated = point
            .confidence
            .map(|confidence| format!(" ({confidence})"))
            .unwrap_or_default();
        let _ = write!(text, "{separator}- {}{stated}", inline(&point.point));
        separator = "\n";
    }
    text
}

fn evidence(record: &StoredRecord) -> Option<String> {
    sections::evidence(&record.verdict()?.evidence, &|agent| name(record, agent))
}

fn positions(record: &StoredRecord) -> Option<String> {
    let positions = rounds::positions(record, None);
    sections::titled("## Positions", "\n\n", positions)
}

fn changes(record: &StoredRecord) -> Option<String> {
    sections::changes(
        &record.position_changes(),
        record.debate_value().as_ref(),
        &|agent| name(record, agent),
    )
}

/// The objections of Round 3. What the judge itself left unresolved is an open point.
fn challenges(record: &StoredRecord) -> Option<String> {
    let raised = record.concerns_detail.iter();
    let raised = raised.filter(|concern| concern.raised_by.is_some());
    let items: Vec<String> = raised.map(concern).collect();
    sections::titled("## Challenges", "\n", items)
}

fn concern(concern: &StoredConcern) -> String {
    let by = concern.raised_by.as_deref().map(inline).unwrap_or_default();
    let by = sections::around("**", &by, "** ");
    let severity = concern.severity.map(Severity::name).unwrap_or_default();
    let severity = sections::around("(", severity, "): ");
    format!("- {by}{severity}{}", inline(&concern.text))
}

fn dissent(record: &StoredRecord) -> Option<String> {
    sections::dissent(record.verdict()?.objections(), &|agent| name(record, agent))
}

/// The sources of the context with their tokens, the project, and what was masked.
fn context(record: &StoredRecord) -> Option<String> {
    let ContextWords {
        sources,
        others,
        facts,
    } = record.context_in_words()?;
    let sources = sources
        .iter()
        .map(|(name, tokens)| format!("- {} ({tokens})", inline(name)));
    let sources: Vec<String> = sources
        .chain(others.map(|others| format!("- {others}")))
        .collect();
    let facts: Vec<String> = facts
        .iter()
        .map(|(label, value)| format!("**{label}:** {}", inline(value)))
        .collect();
    let parts = [sources.join("\n"), facts.join("  \n")];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    sections::titled("## Context", "\n\n", parts)
}

/// The totals, the savings and the id.
fn cost(record: &StoredRecord) -> String {
    let totals = sections::foot(
        record.total_cost(),
        record.duration(),
        record.total_tokens(),
    );
    let calls = record.cost.as_ref().and_then(|cost| cost.calls);
    let calls = calls
        .map(|calls| format!(" | **Calls:** {}", thousands(calls)))
        .unwrap_or_default();
    let by_filtering = saved(record).unwrap_or_default();
    let lines = [
        Some(format!("{totals}{by_filtering}{calls}")),
        record
            .caching()
            .map(|caching| format!("**Prompt caching:** {}", caching.in_words())),
        saved_by_early_end(record),
        Some(format!("**Consultation:** {}", inline(&record.id))),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    format!("## Cost\n\n{}", lines.join("  \n"))
}

/// What the early end after Round 2 saved.
fn saved_by_early_end(record: &StoredRecord) -> Option<String> {
    let saved = record.cost_saved()?;
    Some(format!(
        "**Saved by ending after Round 2:** about {}",
        amount(saved)
    ))
}

/// Names the tokens that filtering saved.
fn saved(record: &StoredRecord) -> Option<String> {
    let stats = record.token_efficiency_stats.as_ref()?;
    let saved = stats
        .tokens_saved_via_filtering
        .filter(|saved| *saved > 0)?;
    let share = stats.efficiency_percentage?;
    Some(format!(
        " (about {} more, {share}%, saved by filtering)",
        thousands(saved)
    ))
}
