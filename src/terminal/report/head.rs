//! What stands above the answer: notices, and a line for each fact on which it rests.

use crate::domain::answer::artifact::Magnitude;
use crate::domain::answer::second_pass::Held;
use crate::domain::ids::AgentId;
use crate::domain::record::stored_record::{
    Completion, StoredAgent, StoredModel, StoredPersonaSelection, StoredRecord,
};

use super::sections::{confidence, in_short, seat_name};
use crate::terminal::document::{Fact, Line, Part, fact, list_of, paragraph};
use crate::terminal::output::format::{LOCAL_QUALITY, model_address};

/// Without a reason, an abort is only named.
pub(super) fn status_notice(record: &StoredRecord, abort_reason: &str) -> Option<Part> {
    let is_degraded =
        record.status.as_deref() == Some("degraded") || !record.degradations.is_empty();
    let line = match record.completion() {
        Completion::Completed if !is_degraded => return None,
        Completion::Completed => Line::of(
            "⚠️ **Degraded result:** this is less than the panel promised.",
            [],
        ),
        Completion::Aborted => aborted(record, abort_reason),
        // Only the question follows: nothing was asked or spent.
        Completion::Declined => {
            let line = "**Declined:** the estimated cost was not agreed to. Nothing was asked or \
                        spent.";
            return Some(Part::Notice(vec![paragraph(line, [])]));
        }
        Completion::Unfinished | Completion::Running => {
            Line::of("🛑 **Incomplete:** the log ends", [])
                .with(" in {}", record.state.as_deref().unwrap_or_default())
                .and(
                    "; the consultation was interrupted or is still running.",
                    [],
                )
        }
    };
    let mut parts = vec![Part::Paragraph(line)];
    if record.completion() != Completion::Completed {
        let rest = Line::of("The finished part follows. It is not a verdict.", []);
        parts.push(Part::Paragraph(rest));
    }
    parts.extend(list_of(&record.degradations));
    Some(Part::Notice(parts))
}

fn aborted(record: &StoredRecord, reason: &str) -> Line {
    let during = record.aborted_during.as_deref().unwrap_or_default();
    let line = Line::of("🛑 **Aborted", []).with(" in {}", during);
    match reason {
        "" => line.and("**", []),
        reason => line.and(":** {}", [reason]),
    }
}

pub(super) fn abort_reason(record: &StoredRecord) -> &str {
    let reason = record.abort_message.as_ref();
    let reason = reason.or(record.abort_reason.as_ref());
    reason.map_or("no reason recorded", String::as_str)
}

pub(super) fn follows_up(record: &StoredRecord) -> Option<Fact> {
    let earlier = record.follow_up_of.as_ref()?;
    let question = record.follow_up_question.as_deref().unwrap_or_default();
    let earlier = Line::default().consultations([earlier]);
    Some(fact("Follows up", earlier.with(": {}", question)))
}

pub(super) fn followed_up_by(record: &StoredRecord) -> Option<Fact> {
    let ids = Line::default().consultations(&record.follow_ups);
    (!record.follow_ups.is_empty()).then(|| fact("Followed up by", ids))
}

/// How sure the answer is: stated, graded, judged twice, and judged again.
pub(super) fn standing(record: &StoredRecord) -> Vec<Fact> {
    // Without an answer, no figure is missing.
    let answered = record.recommendation.iter();
    let stated = answered.map(|_| fact("Confidence", confidence(record)));
    let mut facts: Vec<Fact> = stated.collect();
    let given = record.provisional_answer().map(|(_, given)| given);
    let change = given.map(|given| &given.would_change_it);
    let change = change.filter(|change| !change.trim().is_empty());
    facts.extend(change.map(|change| fact("Would change it", Line::foreign(change))));
    facts.extend(record.grade.as_ref().map(|grade| {
        let note = grade.note.as_deref().unwrap_or_default();
        let outcome = Line::of(grade.outcome.name(), []).with(": {}", note);
        fact("Outcome", outcome)
    }));
    facts.extend(record.judge_passes.as_ref().map(|passes| {
        let description = passes.description(record.judge().as_ref());
        fact("Judged twice", Line::foreign(description))
    }));
    let from = record.rejudged_from.as_ref();
    facts.extend(from.map(|from| fact("Judged again", rejudged(from, record.held()))));
    facts
}

fn rejudged(from: &str, held: Option<&Held>) -> Line {
    let line = Line::of("the answers of {}", [from]);
    match held.and_then(|held| held.consistent) {
        Some(true) => line.and("; its verdict held", []),
        Some(false) => {
            let because = held.map(Held::because).unwrap_or_default();
            line.and("{}", [&format!("; its verdict did NOT hold{because}")])
        }
        None => line,
    }
}

pub(super) fn doubt(record: &StoredRecord) -> Option<Part> {
    let passes = record.judge_passes.as_ref()?;
    let other = passes.other_verdict()?;
    let how_far = passes.held.magnitude.map(Magnitude::in_words);
    let lead = Line::of(
        "⚠️ **The verdict depends on the order of the experts.**",
        [],
    )
    .with(
        " The two verdicts are {} apart.",
        how_far.unwrap_or_default(),
    )
    .and(" With the order reversed, the judge recommends:", []);
    let options = other.recommendations.iter().map(|choice| &choice.option);
    let options: Vec<&String> = options.collect();
    let mut parts = vec![Part::Paragraph(lead)];
    parts.extend(in_short(&options, &other.recommendation));
    Some(Part::Notice(parts))
}

pub(super) fn panel(record: &StoredRecord) -> Vec<Fact> {
    let mut facts = vec![fact("Judge", judge(record))];
    let seats = record.agents.iter().map(|agent| seat(record, agent));
    let seats = seats.collect::<Vec<_>>().join(", ");
    if !seats.is_empty() {
        let demonstration = record.agents.iter().any(|agent| agent.demonstration);
        let quality = if demonstration { LOCAL_QUALITY } else { "" };
        facts.push(fact("Panel", Line::foreign(seats).with(" — {}", quality)));
    }
    let selection = record.persona_selection.as_ref();
    facts.extend(selection.map(|selection| fact("Personas", personas(selection))));
    let served = record.served_otherwise.iter();
    let served = served.map(|pair| format!("{} was answered by {}", pair.model, pair.served));
    let served = served.collect::<Vec<_>>().join(", ");
    let hedged = record.hedge_notices().join("; ");
    let taken_over = [("Served", served), ("Hedged", hedged)];
    let taken_over = taken_over.into_iter().filter(|(_, who)| !who.is_empty());
    facts.extend(taken_over.map(|(label, who)| fact(label, Line::foreign(who))));
    facts
}

fn seat(record: &StoredRecord, agent: &StoredAgent) -> String {
    let name = seat_name(record, agent);
    match record.model_of(agent) {
        Some(model) => format!("{name} ({model})"),
        None => name,
    }
}

fn judge(record: &StoredRecord) -> String {
    let Some(judge) = record.judge() else {
        return "none".to_owned();
    };
    let calls = || {
        let work = record.agent_rounds().map(|(_, work)| work);
        let work = work.filter(|work| work.agent_id == AgentId::Judge);
        work.flat_map(|work| &work.attempts)
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

fn personas(selection: &StoredPersonaSelection) -> Line {
    let line = match &selection.chosen_by {
        None => Line::from("the default ones"),
        Some(helper) => {
            let task = match selection.task_type.as_str() {
                "" => "this question",
                task => task,
            };
            Line::of(
                "selected by the helper model, {}, for {}",
                [&helper.to_string(), task],
            )
            .with(": {}", &selection.reason)
        }
    };
    line.with(" ({})", &selection.notes.join("; "))
}
