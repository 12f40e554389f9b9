//! Renders artifacts as text for prompts: agents by their labels, one line for each item, so that
//! no item can look like two.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::plan::mode::Headings;
use crate::consultation::reading::problem::Problem;
use crate::domain::artifact::{Challenge, CrossExam, Independent, Revision, Severity, Synthesis};
use crate::domain::confidence::Confidence;

/// The most characters of an unusable answer that its model is shown.
const SHOWN: usize = 24_000;

pub(super) fn independent(said: &Independent, headings: &Headings) -> String {
    let prose_only =
        said.key_points.is_empty() && said.rationale.is_empty() && said.confidence.is_none();
    if prose_only {
        return said.position.clone();
    }
    let mut text = format!(
        "Position: {}\nConfidence: {}\n",
        said.position,
        confidence(said.confidence)
    );
    list(
        &mut text,
        headings.key_points,
        said.key_points.iter().cloned(),
    );
    if !said.rationale.is_empty() {
        text.push_str("Rationale: ");
        text.push_str(&said.rationale);
        text.push('\n');
    }
    text
}

pub(super) fn synthesis(found: &Synthesis, labels: &Labels, headings: &Headings) -> String {
    let mut text = prose(&found.prose_excerpt);
    let holders = |agents: &[String]| {
        agents
            .iter()
            .map(|agent| labels.shown(agent))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let points = found.consensus_points.iter();
    let points = points.map(|point| {
        format!(
            "{} [{}; confidence {}]",
            point.point,
            holders(&point.supporting_agents),
            confidence(point.confidence)
        )
    });
    if text.is_empty() || !found.consensus_points.is_empty() {
        list(&mut text, headings.consensus_points, points);
    }
    if text.is_empty() || !found.tensions.is_empty() {
        list(
            &mut text,
            headings.tensions,
            found.tensions.iter().map(|tension| {
                let views = tension
                    .viewpoints
                    .iter()
                    .map(|view| format!("{}: {}", labels.shown(&view.agent), view.viewpoint));
                format!(
                    "{} [severity {}] {}",
                    tension.topic,
                    severity(tension.severity),
                    views.collect::<Vec<_>>().join(" | ")
                )
            }),
        );
    }
    if !found.priority_order.is_empty() {
        list(
            &mut text,
            headings.priority_order,
            found.priority_order.iter().cloned(),
        );
    }
    text
}

pub(super) fn revision(said: &Revision, labels: &Labels, headings: &Headings) -> String {
    let changed = changed(said).map_or_else(String::new, |changed| format!(" ({changed})"));
    let mut text = format!(
        "Position now{changed}: {}\nConfidence now: {}\n",
        said.revised_position,
        confidence(said.revised_confidence)
    );
    if !said.because_of.is_empty() {
        let reasons = said
            .because_of
            .iter()
            .map(|reason| format!("{}: {}", labels.shown(&reason.agent), reason.argument));
        list(&mut text, headings.because_of, reasons);
    }
    if !said.challenges.is_empty() {
        list(
            &mut text,
            headings.challenges,
            said.challenges
                .iter()
                .map(|raised| format!("to {}", challenge(raised, labels))),
        );
    }
    if !said.rebuttals.is_empty() {
        let answers = said
            .rebuttals
            .iter()
            .map(|answer| format!("to {}: {}", labels.shown(&answer.agent), answer.rebuttal));
        list(&mut text, headings.rebuttals, answers);
    }
    text
}

pub(super) fn cross_exam(record: &CrossExam, labels: &Labels, headings: &Headings) -> String {
    let mut text = prose(&record.prose_excerpt);
    let prose_only = !text.is_empty();
    if !prose_only || !record.challenges.is_empty() {
        let raised = record.challenges.iter();
        list(
            &mut text,
            headings.challenges,
            raised.map(|raised| {
                format!(
                    "{} to {}",
                    labels.shown(&raised.challenger),
                    challenge(raised, labels)
                )
            }),
        );
    }
    if !prose_only || !record.rebuttals.is_empty() {
        list(
            &mut text,
            headings.rebuttals,
            record
                .rebuttals
                .iter()
                .map(|answer| format!("{}: {}", labels.shown(&answer.agent), answer.rebuttal)),
        );
    }
    if !prose_only || !record.unresolved.is_empty() {
        list(
            &mut text,
            headings.unresolved,
            record.unresolved.iter().cloned(),
        );
    }
    if !record.positions.is_empty() {
        let mut positions: Vec<&Revision> = record.positions.iter().collect();
        positions.sort_by_key(|said| labels.rank(&said.agent_id));
        list(
            &mut text,
            headings.positions,
            positions.into_iter().map(|said| {
                let changed =
                    changed(said).map_or_else(String::new, |changed| format!("{changed}; "));
                let label = labels.label(&said.agent_id);
                format!(
                    "{label} [{changed}confidence {}]: {}",
                    confidence(said.revised_confidence),
                    said.revised_position
                )
            }),
        );
    }
    text
}

/// Describes an expert's own statement on its position; `None` if it made none.
fn changed(said: &Revision) -> Option<&'static str> {
    said.changed
        .map(|changed| if changed { "changed" } else { "not changed" })
}

/// Describes a problem to the model that caused it.
pub(super) fn problem(problem: &Problem) -> String {
    if problem.field.is_empty() {
        one_line(&problem.what)
    } else {
        one_line(&format!("{}: {}", problem.field, problem.what))
    }
}

/// Returns an answer for its author: whole up to a bound, else cut with a note.
pub(super) fn bounded(answer: &str) -> String {
    match answer.char_indices().nth(SHOWN) {
        None => answer.to_owned(),
        Some((end, _)) => format!(
            "{}\n[the rest is left out here]",
            answer.get(..end).unwrap_or_default()
        ),
    }
}

fn challenge(raised: &Challenge, labels: &Labels) -> String {
    let evidence = match raised.evidence.as_slice() {
        [] => String::new(),
        evidence => format!(" Evidence: {}", evidence.join(" | ")),
    };
    format!(
        "{} [severity {}]: {}{evidence}",
        labels.shown(&raised.target_agent),
        severity(raised.severity),
        raised.challenge
    )
}

fn list(text: &mut String, heading: &str, items: impl Iterator<Item = String>) {
    text.push_str(heading);
    text.push_str(":\n");
    let before = text.len();
    for item in items {
        text.push_str("- ");
        text.push_str(&one_line(&item));
        text.push('\n');
    }
    if text.len() == before {
        text.push_str("- none\n");
    }
}

fn prose(excerpt: &str) -> String {
    if excerpt.is_empty() {
        String::new()
    } else {
        format!("{excerpt}\n")
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn confidence(stated: Option<Confidence>) -> String {
    stated.map_or_else(
        || "not stated".to_owned(),
        |stated| format!("{:.2}", stated.value()),
    )
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
    }
}
