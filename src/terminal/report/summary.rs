//! What is left on the screen when a consultation is over: a selection of its report, with bounds:
//! notices, the answer, what it rests on, who objects, who changed their minds, the cost, and the
//! next commands.

use crate::domain::answer::artifact::Verdict;
use crate::domain::answer::debate_value::PositionChange;
use crate::domain::ids::short_id;
use crate::domain::record::rejudgement::Rejudgement;
use crate::domain::record::stored_record::{Completion, StoredRecord};

use super::consultation::{cost, plans};
use super::{head, rejudge, sections};
use crate::terminal::document::{Fact, Line, Part, fact, paragraph};
use crate::terminal::output::format::amount;

const ANSWER_LINES: usize = 12;

/// The lines of an item of a list, such as one objection.
const ITEM_LINES: usize = 2;

/// The lines of one side's view that the answer leaves standing.
const DISSENT_LINES: usize = 4;

/// The lines of a single fact, such as the confidence with what it rests on.
const FACT_LINES: usize = 4;

const ITEMS: usize = 3;

/// The positions without a verdict.
const POSITIONS: usize = 5;

/// The commands that a summary points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NextSteps {
    /// Nothing is stored, or only the answer was asked for.
    #[default]
    None,
    /// The commands take this name of the consultation, such as `last`.
    Of(String),
}

pub fn summary(record: &StoredRecord, next: &NextSteps) -> Vec<Part> {
    let is_menu = record.verdict().is_some_and(Verdict::is_menu);
    let is_answered = record.recommendation.is_some();
    let mut facts = head::standing(record);
    // Each option has its own confidence.
    if is_menu {
        facts.remove(0);
    }
    let dissent = sections::dissent(record, |_| true);
    let open = open_points(record);
    facts.extend(row("Positions", positions(record), POSITIONS, ITEM_LINES));
    facts.extend(row("Dissent", dissent, ITEMS, DISSENT_LINES));
    facts.extend(if is_answered {
        row("Open", open, ITEMS, ITEM_LINES)
    } else {
        row("They differ on", open, POSITIONS, DISSENT_LINES)
    });
    facts.extend(row("Changes", changes(record), ITEMS, ITEM_LINES));
    let saved = record.cost_saved_in_words().unwrap_or_default();
    facts.extend(cost(record).into_iter().take(1).map(|cost| {
        let spent = Line::joined(cost.values, "");
        let spent = spent.with(" | **Saved by ending after Round 2:** about {}", &saved);
        fact(cost.label, spent)
    }));
    facts.extend(plans(record));
    let mut parts: Vec<Part> = notices(record).into_iter().collect();
    let is_complete = record.completion() == Completion::Completed;
    let title = if is_menu {
        "Options"
    } else {
        sections::answer_title(record)
    };
    let answer = (title, answer(record));
    parts.extend(answered(answer, facts, &record.id, next, is_complete));
    parts
}

pub fn of_rejudgement(rejudgement: &Rejudgement, next: &NextSteps) -> Vec<Part> {
    let answer = rejudge::recommendation(&rejudgement.after);
    let mut facts = rejudge::head(rejudgement);
    facts.extend(rejudgement.cost.map(|cost| fact("Cost", amount(cost))));
    let id = &rejudgement.after.consultation_id;
    answered(("Answer now", answer), facts, id, next, true)
}

fn answered(
    (title, answer): (&'static str, Vec<Part>),
    mut facts: Vec<Fact>,
    id: &str,
    next: &NextSteps,
    is_complete: bool,
) -> Vec<Part> {
    for fact in &mut facts {
        fact.most_lines.get_or_insert(FACT_LINES);
    }
    let (mut rest, mut steps) = (String::new(), Vec::new());
    if let NextSteps::Of(name) = next {
        facts.push(fact("Saved as", short_id(id).to_owned()));
        rest = format!(": conclave history show {name}");
        let mut step = |command: String, what: &str| steps.push((command, what.to_owned()));
        step(format!("conclave history show {name}"), "the whole report");
        if is_complete {
            let export = format!("conclave history export {name} --open");
            let of = if name == "last" {
                String::new()
            } else {
                format!(" {name}")
            };
            let follow_up = format!("conclave consult --follow-up \"…\"{of}");
            step(export, "as a page in the browser");
            step(follow_up, "ask further");
        }
    }
    vec![
        Part::Heading(1, Line::from(title)),
        Part::Beginning {
            parts: answer,
            most_lines: ANSWER_LINES,
            rest,
        },
        Part::Facts(facts),
        Part::Next(steps),
    ]
}

/// How the result falls short: of a verdict, of the panel, of a judge that decides the same twice.
fn notices(record: &StoredRecord) -> Option<Part> {
    // The error below the summary has the reason of an abort.
    let mut parts: Vec<Part> = head::status_notice(record, "").into_iter().collect();
    let hedges = record.hedge_notices().join("; ");
    if !hedges.is_empty() {
        parts.push(paragraph("🔀 {}", [&hedges]));
    }
    let passes = record.judge_passes.as_ref();
    if passes.is_some_and(|passes| passes.other_verdict().is_some()) {
        let order = "⚠️ The verdict depends on the order of the experts";
        parts.push(paragraph(order, []));
    }
    if record.agents.iter().any(|agent| agent.demonstration) {
        let local = "⚠️ A local model took part; its answers are of demonstration quality";
        parts.push(paragraph(local, []));
    }
    (!parts.is_empty()).then_some(Part::Notice(parts))
}

fn answer(record: &StoredRecord) -> Vec<Part> {
    if let Some(verdict) = record.verdict() {
        let options = (1..).zip(&verdict.recommendations).map(|(number, choice)| {
            let number: u32 = number;
            let confidence = choice.confidence.map(|confidence| confidence.to_string());
            let line = Line::of("{}. **{}**", [&number.to_string(), &choice.option])
                .with(" ({})", &confidence.unwrap_or_default())
                .with(", best when {}", &choice.best_when);
            line.into()
        });
        let options: Vec<Fact> = options.collect();
        let mut parts = Vec::new();
        let has_lead = options.is_empty() || !verdict.recommendation.trim().is_empty();
        if !options.is_empty() {
            parts.push(Part::Facts(options));
        }
        parts.extend(has_lead.then(|| Part::Foreign(verdict.recommendation.clone())));
        return parts;
    }
    sections::without_verdict_parts(record)
}

fn positions(record: &StoredRecord) -> Vec<Line> {
    if record.recommendation.is_some() || record.synthesis().is_some() {
        return Vec::new();
    }
    let position = record.independents().map(|held| {
        let seat = record.agent(&held.agent_id);
        let name = seat.map(|seat| sections::seat_name(record, seat));
        let confidence = held.confidence.map(|confidence| confidence.to_string());
        Line::of("**{}**", [&name.unwrap_or(held.agent_id.to_string())])
            .with(" ({})", &confidence.unwrap_or_default())
            .and(": {}", [&held.position])
    });
    position.collect()
}

/// The open points of an answer without a judge's verdict, which would have weighed them.
fn open_points(record: &StoredRecord) -> Vec<Line> {
    if record.verdict().is_some() || record.synthesis().is_none() {
        return Vec::new();
    }
    let line = |point: Vec<Line>| {
        let mut point = point.into_iter();
        let topic = point.next().unwrap_or_default();
        match point.len() {
            0 => topic,
            _ => topic.and(" — ", []).then(Line::joined(point, "; ")),
        }
    };
    sections::open_points(record)
        .into_iter()
        .map(line)
        .collect()
}

/// The experts that changed their minds come first, those that refined their positions in one line.
fn changes(record: &StoredRecord) -> Vec<Line> {
    let changes = record.position_changes();
    let line = |expert| {
        let change = std::iter::once(sections::change_line(record, expert));
        Line::joined(change.chain(sections::reasons(record, expert)), ", ")
    };
    let moved = changes.of(Some(PositionChange::Changed));
    let mut lines: Vec<Line> = moved.map(line).collect();
    let refined = changes.of(Some(PositionChange::Refined));
    let refined = refined.map(|expert| sections::name(record, expert.revision.agent_id.as_str()));
    let refined: Vec<&str> = refined.collect();
    lines.extend(match refined.as_slice() {
        [] => None,
        [one] => Some(Line::of("**{}** refined its position", [one])),
        many => Some(Line::of(
            "**{}** refined their positions",
            [&many.join(", ")],
        )),
    });
    // That nothing is known is no news.
    let is_known = changes.of(None).count() < changes.experts.len();
    if lines.is_empty() && is_known {
        lines.extend(changes.headline().map(Line::foreign));
    }
    lines
}

/// Nothing without items.
fn row(label: &'static str, mut items: Vec<Line>, most: usize, most_lines: usize) -> Option<Fact> {
    let left_out = items.len().saturating_sub(most);
    if left_out > 0 {
        items.truncate(most);
        items.push(Line::of("… {} more", [&left_out.to_string()]));
    }
    (!items.is_empty()).then_some(Fact {
        label: label.into(),
        values: items,
        most_lines: Some(most_lines),
    })
}
