//! Renders artifacts as text for prompts: agents by their labels, one line for each item, so that
//! no item can look like two.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::policy::mode::Headings;
use crate::consultation::prompt::prior_consultation::PriorConsultation;
use crate::consultation::reading::fields::without_provisional_answer;
use crate::consultation::reading::problem::Problem;
use crate::domain::answer::artifact::{
    Challenge, CrossExam, Findings, Independent, Revision, Synthesis,
};
use crate::domain::answer::confidence::Confidence;
use crate::domain::names::stored_name;
use crate::text::clean::one_line;

use super::Size;

/// The most characters of an unusable answer that its model is shown.
const SHOWN: usize = 24_000;

/// The most characters of each text of an earlier consultation that is quoted: those of its
/// question, its answer, and every other text.
struct QuoteLimits {
    question: usize,
    answer: usize,
    other: usize,
}

impl QuoteLimits {
    /// A small model has room for a sentence or two of each.
    fn of(size: Size) -> Self {
        match size {
            Size::Full => Self {
                question: 4_000,
                answer: 8_000,
                other: 2_000,
            },
            Size::Small => Self {
                question: 400,
                answer: 600,
                other: 200,
            },
        }
    }
}

/// Most objections and most options of an earlier answer that are quoted.
const QUOTED_ITEMS: usize = 8;

/// What a list without items becomes.
#[derive(Clone, Copy)]
enum EmptyList {
    /// Its heading and `none`.
    None,
    Nothing,
}

pub(super) fn independent(said: &Independent, headings: &Headings) -> String {
    let prose_only = said.key_points.is_empty()
        && said.rationale.is_empty()
        && said.confidence.is_none()
        && said.findings.is_none();
    if prose_only {
        return said.position.clone();
    }
    let mut text = format!(
        "Position: {}\nConfidence: {}\n",
        said.position,
        confidence(said.confidence)
    );
    let points = said.key_points.iter().cloned();
    list(&mut text, headings.key_points, EmptyList::None, points);
    if !said.rationale.is_empty() {
        text.push_str("Rationale: ");
        text.push_str(&said.rationale);
        text.push('\n');
    }
    findings(&mut text, said.findings.as_deref());
    text
}

pub(super) fn synthesis(found: &Synthesis, labels: &Labels, headings: &Headings) -> String {
    let (mut text, empty) = prose(&found.prose_excerpt);
    let points = found.consensus_points.iter().map(|point| {
        let holders = point.supporting_agents.iter();
        let holders: Vec<_> = holders.map(|agent| labels.shown(agent)).collect();
        format!(
            "{} [{}; confidence {}]",
            point.point,
            holders.join(", "),
            confidence(point.confidence)
        )
    });
    list(&mut text, headings.consensus_points, empty, points);
    let tensions = found.tensions.iter().map(|tension| {
        let views = tension.viewpoints.iter();
        let views = views.map(|view| format!("{}: {}", labels.shown(&view.agent), view.viewpoint));
        format!(
            "{} [severity {}] {}",
            tension.topic,
            tension.severity.name(),
            views.collect::<Vec<_>>().join(" | ")
        )
    });
    list(&mut text, headings.tensions, EmptyList::Nothing, tensions);
    let order = found.priority_order.iter().cloned();
    list(
        &mut text,
        headings.priority_order,
        EmptyList::Nothing,
        order,
    );
    findings(&mut text, found.findings.as_deref());
    text
}

fn findings(text: &mut String, found: Option<&Findings>) {
    let Some(found) = found else {
        return;
    };
    let answers = found.answers.iter().map(|(label, answer)| {
        let dissent = match answer.dissent.as_str() {
            "" => String::new(),
            dissent => format!(" Dissent: {dissent}"),
        };
        format!(
            "{label} {}: {}{dissent}",
            stored_name(&answer.outcome),
            answer.text
        )
    });
    list(text, "Questions", EmptyList::Nothing, answers);
    let wrong = found.contradicted.iter();
    let wrong = wrong.map(|wrong| format!("{}: {}", wrong.claim, wrong.reason));
    list(text, "Contradicted claims", EmptyList::Nothing, wrong);
    let new = found.new_questions.iter();
    let new = new.map(|new| {
        let blocker = if new.blocker { " (blocker)" } else { "" };
        new.text.clone() + blocker
    });
    list(text, "New questions", EmptyList::Nothing, new);
}

pub(super) fn revision(said: &Revision, labels: &Labels, headings: &Headings) -> String {
    let changed = changed(said).map_or_else(String::new, |changed| format!(" ({changed})"));
    let mut text = format!(
        "Position now{changed}: {}\nConfidence now: {}\n",
        said.revised_position,
        confidence(said.revised_confidence)
    );
    let empty = EmptyList::Nothing;
    let reasons = said.because_of.iter();
    let reasons =
        reasons.map(|reason| format!("{}: {}", labels.shown(&reason.agent), reason.argument));
    list(&mut text, headings.because_of, empty, reasons);
    let raised = said.challenges.iter();
    let raised = raised.map(|raised| format!("to {}", challenge(raised, labels)));
    list(&mut text, headings.challenges, empty, raised);
    let answers = said.rebuttals.iter();
    let answers =
        answers.map(|answer| format!("to {}: {}", labels.shown(&answer.agent), answer.rebuttal));
    list(&mut text, headings.rebuttals, empty, answers);
    text
}

pub(super) fn cross_exam(record: &CrossExam, labels: &Labels, headings: &Headings) -> String {
    let (mut text, empty) = prose(&record.prose_excerpt);
    let raised = record.challenges.iter().map(|raised| {
        let challenger = labels.shown(&raised.challenger);
        format!("{challenger} to {}", challenge(raised, labels))
    });
    list(&mut text, headings.challenges, empty, raised);
    let answers = record.rebuttals.iter();
    let answers =
        answers.map(|answer| format!("{}: {}", labels.shown(&answer.agent), answer.rebuttal));
    list(&mut text, headings.rebuttals, empty, answers);
    let unresolved = record.unresolved.iter().cloned();
    list(&mut text, headings.unresolved, empty, unresolved);
    let mut positions: Vec<&Revision> = record.positions.iter().collect();
    positions.sort_by_key(|said| labels.rank(&said.agent_id));
    let positions = positions.into_iter().map(|said| {
        let changed = changed(said).map_or_else(String::new, |changed| format!("{changed}; "));
        format!(
            "{} [{changed}confidence {}]: {}",
            labels.label(&said.agent_id),
            confidence(said.revised_confidence),
            said.revised_position
        )
    });
    list(&mut text, headings.positions, EmptyList::Nothing, positions);
    text
}

/// The answer stands last, because it may have several lines.
pub(super) fn prior(prior: &PriorConsultation, labels: &Labels, size: Size) -> String {
    let limits = QuoteLimits::of(size);
    let relabelling = Relabelling {
        from: &prior.labels,
        into: labels,
    };
    let quote = |text: &str, most: usize| shortened(&relabelling.text(text), most);
    let mut text = format!(
        "Question: {}\n",
        one_line(&shortened(&prior.question, limits.question))
    );
    let mut positions: Vec<_> = prior.positions.iter().collect();
    positions.sort_by_key(|held| labels.rank(&held.agent_id));
    let positions = positions.into_iter().map(|held| {
        let (label, stated) = (labels.label(&held.agent_id), confidence(held.confidence));
        let position = quote(&held.position, limits.other);
        format!("{label} [confidence {stated}]: {position}")
    });
    list(
        &mut text,
        "Positions at the end",
        EmptyList::Nothing,
        positions,
    );
    let Some(verdict) = &prior.verdict else {
        text.push_str("There was no answer.\n");
        return text;
    };
    let objections = verdict.dissent.iter().take(QUOTED_ITEMS).map(|dissent| {
        let seat = prior.labels.resolve(&dissent.agent);
        let holder = seat.map_or_else(|| dissent.agent.clone(), |seat| labels.label(&seat));
        let concern = quote(&dissent.concern, limits.other);
        match (holder.as_str(), dissent.severity.name()) {
            ("", severity) => format!("[severity {severity}] {concern}"),
            (holder, severity) => format!("{holder} [severity {severity}]: {concern}"),
        }
    });
    list(
        &mut text,
        "Objections that remained",
        EmptyList::None,
        objections,
    );
    let options = verdict.recommendations.iter().take(QUOTED_ITEMS);
    let options = options.map(|choice| {
        format!(
            "{} [confidence {}]: {} Best when: {}",
            quote(&choice.option, limits.other),
            confidence(choice.confidence),
            quote(&choice.description, limits.other),
            quote(&choice.best_when, limits.other)
        )
    });
    list(&mut text, "Options", EmptyList::Nothing, options);
    text.push_str("Answer [confidence ");
    text.push_str(&confidence(verdict.confidence));
    text.push_str("]:\n");
    text.push_str(&quote(&verdict.recommendation, limits.answer));
    text.push('\n');
    text
}

/// With a mark where it is cut.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} […]", text.get(..end).unwrap_or_default().trim_end()),
    }
}

/// `None` if it made none.
fn changed(said: &Revision) -> Option<&'static str> {
    said.changed
        .map(|changed| if changed { "changed" } else { "not changed" })
}

pub(super) fn problem(problem: &Problem) -> String {
    if problem.field.is_empty() {
        one_line(&problem.what)
    } else {
        one_line(&format!("{}: {}", problem.field, problem.what))
    }
}

/// Whole up to a bound, else cut with a note.
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
        raised.severity.name(),
        raised.challenge
    )
}

fn list(
    text: &mut String,
    heading: &str,
    empty: EmptyList,
    items: impl ExactSizeIterator<Item = String>,
) {
    if let (EmptyList::Nothing, 0) = (empty, items.len()) {
        return;
    }
    text.push_str(heading);
    text.push_str(":\n");
    if items.len() == 0 {
        text.push_str("- none\n");
    }
    for item in items {
        text.push_str("- ");
        text.push_str(&one_line(&item));
        text.push('\n');
    }
}

/// Returns a judge's prose as the beginning of a text. Where there is prose, lists may be missing.
/// It is often an answer in broken JSON.
fn prose(excerpt: &str) -> (String, EmptyList) {
    let excerpt = without_provisional_answer(excerpt);
    let excerpt = excerpt.trim_end_matches([' ', '\n', ',']);
    if excerpt.contains(char::is_alphabetic) {
        (format!("{excerpt}\n"), EmptyList::Nothing)
    } else {
        (String::new(), EmptyList::None)
    }
}

fn confidence(stated: Option<Confidence>) -> String {
    stated.map_or_else(
        || "not stated".to_owned(),
        |stated| format!("{:.2}", stated.value()),
    )
}
