//! The changes of a refinement: as Markdown, so that a person can follow and undo each, and as a
//! page, with what each iteration did to the document and why the loop went on or ended.

use super::consultation::moment;
use super::refinement_summary::{decision, items_by_iteration, iterations};
use crate::domain::answer::confidence::Confidence;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::finding::FindingSource;
use crate::refinement::state::{
    BatchRecord, ConsultationRecord, ConsultationStatus, ExtractionRecord, IterationRecord,
    LoopPhase, RefinementLoop, RefinementState,
};
use crate::stopping::evaluation::Evaluation;
use crate::terminal::document::plot::Plot;
use crate::terminal::document::{self, Fact, Line, Part, Table, fact, list, paragraph};
use crate::terminal::output::convergence_tree::convergence_tree;
use crate::terminal::output::format::{amount, count};
use crate::terminal::output::style::Paint;
use crate::terminal::output::unified_diff::unified_diff;
use crate::text::clean::capitalised;

const HOW_TO_UNDO: &str = "Each change shows the item before and after. To undo a change, put the \
    text before in place of the text after. A moved item has left its section: delete the text \
    after, and put the text before back into the section that it comes from. The document as it \
    was when the first loop began is `original.md`; the original of a later loop has a file of its \
    own, such as `original-2.md`.";

/// A document of this home, for the list of refinements.
#[derive(Debug)]
pub struct RefinedDocument {
    /// The address of its page.
    pub path: String,
    pub document: String,
    /// A process works on it.
    pub is_running: bool,
    /// The reason why its log cannot be read.
    pub state: Result<RefinementState, String>,
}

/// How a change is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeForm {
    /// The item before and after, to undo it by hand.
    BeforeAndAfter,
    /// With what was decided, unless the loop still runs.
    Diff { is_running: bool },
}

/// The documents that loops of this home have refined, the last one first.
pub fn list_of_documents(documents: &[RefinedDocument]) -> Vec<Part> {
    let row = |document: &RefinedDocument| {
        let name = Line::link(document.path.clone(), Line::foreign(&document.document));
        match &document.state {
            Err(why) => vec![name, Line::foreign(why), "-".into(), "-".into(), "-".into()],
            Ok(state) => {
                let last = state.current();
                let counts = last.measures().last().and_then(|measure| measure.counts);
                let open = counts.map_or("-".to_owned(), |counts| counts.open.to_string());
                vec![
                    name,
                    Line::foreign(standing(last, document.is_running)),
                    moment(last.begun_at).into(),
                    open.into(),
                    amount(last.spend().cost).into(),
                ]
            }
        }
    };
    let heads = ["Document", "Its last loop", "Begun", "Open items", "Cost"];
    let table = Table::of(3, &heads, documents.iter().map(row));
    let none = || paragraph("No document was refined yet: `conclave refine SPEC.md`", []);
    vec![
        Part::Heading(1, "Refinements".into()),
        table.unwrap_or_else(none),
    ]
}

/// The loops over a document, the last one first.
pub fn page_parts(document: &str, state: &RefinementState, is_running: bool) -> Vec<Part> {
    let loops = count(state.loops().count(), "loop");
    let facts = [Line::foreign(document).into(), Line::from(loops).into()];
    let title = Line::of("Refinement of {}", [&state.current().begun.source]);
    let mut parts = vec![Part::Heading(1, title), Part::Facts(facts.to_vec())];
    let running = std::iter::once(is_running).chain(std::iter::repeat(false));
    let loops = state.loops().rev().zip(running);
    parts.extend(loops.flat_map(|(one, is_running)| of_loop(one, ChangeForm::Diff { is_running })));
    parts
}

fn standing(refinement: &RefinementLoop, is_running: bool) -> String {
    match refinement.phase {
        LoopPhase::Open if is_running => "Running".to_owned(),
        _ => capitalised(&decision(refinement)),
    }
}

/// The last loop first.
pub fn changes_markdown(state: &RefinementState) -> String {
    let source = &state.current().begun.source;
    let mut parts = vec![
        Part::Heading(1, Line::of("Changes of {}", [source])),
        paragraph(HOW_TO_UNDO, []),
    ];
    let loops = state.loops().rev();
    parts.extend(loops.flat_map(|one| of_loop(one, ChangeForm::BeforeAndAfter)));
    document::markdown(&parts)
}

fn of_loop(refinement: &RefinementLoop, form: ChangeForm) -> Vec<Part> {
    let begun = &refinement.begun;
    let resumes = refinement.resumes.iter().map(|at| moment(*at));
    let resumes: Vec<String> = resumes.collect();
    let facts = [
        ("Reads", begun.source.clone()),
        ("Writes", begun.output.clone()),
        ("Status", status(refinement)),
        ("Cost", refinement.spend().cost.to_string()),
        ("Resumed", resumes.join(", ")),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let facts = facts
        .map(|(label, value)| fact(label, Line::foreign(value)))
        .collect();
    let title = Line::of("Loop of {}", [&moment(refinement.begun_at)]);
    let mut parts = vec![Part::Heading(2, title), Part::Facts(facts)];
    if let ChangeForm::Diff { is_running } = form {
        parts.push(paragraph("**{}.**", [&standing(refinement, is_running)]));
        parts.extend(items_by_iteration(refinement));
        parts.extend(iterations(refinement));
    }
    // What the panel proposes for blockers that are still open.
    let proposals = refinement.blocker_proposals().into_iter().map(|proposal| {
        let (change, source) = (proposal.change, proposal.source);
        let (number, item) = (change.number.to_string(), change.item.as_str());
        let line = Line::of("Change {}, {}: {}", [&number, item, proposal.answer]);
        let line = line.and(" (", []).consultations([&source.consultation]);
        line.and(", {})", [&confidence(source)])
    });
    let title = "Best proposals for open blockers";
    parts.extend(document::titled(3, title, list(proposals)));
    parts.extend(refinement.extractions.iter().flat_map(of_extraction));
    let iterations = refinement.iterations.iter();
    parts.extend(iterations.flat_map(|iteration| of_iteration(iteration, form)));
    parts
}

fn status(refinement: &RefinementLoop) -> String {
    match &refinement.phase {
        LoopPhase::Open => "not finished".to_owned(),
        LoopPhase::Stopped { message, .. } => format!("stopped: {message}"),
        LoopPhase::Ended => "ended".to_owned(),
    }
}

fn of_extraction(record: &ExtractionRecord) -> [Part; 2] {
    let result = match &record.answer {
        Some(found) => format!(
            "{}, {}, {}",
            count(found.high.len(), "settled claim"),
            count(found.medium.len(), "doubtful claim"),
            count(found.open.len(), "question")
        ),
        None => without_answer(record),
    };
    let cost = record.spend.cost.to_string();
    let line = Line::default().consultations([&record.consultation]);
    let line = Part::Paragraph(line.and(", {}: {}", [&cost, &result]));
    [Part::Heading(3, Line::of("Extraction", [])), line]
}

fn without_answer<A, T>(record: &ConsultationRecord<A, T>) -> String {
    match (&record.error, record.status) {
        (Some(error), _) => format!("no answer: {error}"),
        (None, ConsultationStatus::Repeated) => "repeated".to_owned(),
        (None, _) => "not finished".to_owned(),
    }
}

fn of_iteration(iteration: &IterationRecord, form: ChangeForm) -> Vec<Part> {
    let number = iteration.number;
    let title = Line::of("Iteration {}", [&number.to_string()]);
    let mut parts = vec![Part::Heading(3, title)];
    let batches = iteration.batches.iter().flat_map(of_batch);
    let Some(merge) = iteration.written() else {
        let open = Line::of("Its findings are not in the document yet.", []);
        parts.push(Part::Paragraph(open));
        parts.extend(batches);
        return parts;
    };
    let measure = &merge.measure;
    let after = measure.counts.map(|counts| {
        Part::Paragraph(Line::foreign(format!(
            "After it: {} of high confidence, {} of medium confidence, {} open ({} deferred, {} \
             blockers).",
            counts.high, counts.medium, counts.open, measure.deferred, measure.open_blockers
        )))
    });
    let tree = of_evaluation(number, &merge.evaluation, form);
    let changes = merge.changes.iter();
    let changes = changes.map(|change| of_change(change, iteration, form));
    let evaluation = tree.into_iter().chain(after).collect();
    let cards = [evaluation, batches.collect()].into_iter().chain(changes);
    let cards = cards.filter(|card: &Vec<Part>| !card.is_empty());
    parts.push(Part::Articles(cards.collect()));
    parts
}

/// Its tree; on a page with a table of the same.
fn of_evaluation(iteration: u64, evaluation: &Evaluation, form: ChangeForm) -> Vec<Part> {
    let tree = convergence_tree(iteration, evaluation);
    let rows = tree.branches.iter().map(|branch| {
        let (rule, outcome) = branch.text.split_once(": ").unwrap_or_default();
        let detail = branch.detail.clone().unwrap_or_default();
        vec![rule.to_owned(), outcome.to_owned(), detail]
    });
    let table = Table::of(3, &["Rule", "Outcome", "Detail"], rows);
    let table = table.filter(|_| form != ChangeForm::BeforeAndAfter);
    let table = table.map(|table| Part::Folded("The rules in a table".into(), vec![table]));
    std::iter::once(Part::Plot(Plot::Tree(tree)))
        .chain(table)
        .collect()
}

fn of_batch(record: &BatchRecord) -> Vec<Part> {
    let heading = Line::default().consultations([&record.consultation]);
    let cost = record.spend.cost.to_string();
    let outcome = Line::of("{}, {}", [&outcome(record), &cost]);
    let mut questions = Line::default();
    for (number, (_, text)) in (1..).zip(&record.about.questions) {
        let own = if number == 1 { "{}. {}" } else { "\n{}. {}" };
        questions = questions.and(own, [&number.to_string(), text]);
    }
    let mut parts = vec![
        Part::Heading(4, heading),
        Part::Paragraph(outcome),
        Part::Paragraph(questions),
    ];
    if let Some(findings) = &record.answer {
        let of = |label, texts: &[String]| -> Vec<Line> {
            texts.iter().map(|text| Line::of(label, [text])).collect()
        };
        let mut lines = of("Dissent: {}", &findings.source.dissent);
        lines.extend(of("Degraded: {}", &findings.source.degradations));
        let questions = record.about.questions.iter();
        let unread = questions.filter(|(key, _)| findings.unread.contains(key));
        lines.extend(unread.map(|(_, text)| Line::of("No readable answer: {}", [text])));
        parts.extend(list(lines));
    }
    parts
}

fn outcome(record: &BatchRecord) -> String {
    match (&record.answer, record.status, &record.error) {
        (Some(findings), ..) => confidence(&findings.source),
        (None, ConsultationStatus::Repeated, None) => "its questions were asked again".to_owned(),
        (None, ConsultationStatus::Repeated, Some(error)) => {
            format!("no answer: {error}; its questions were asked again")
        }
        (None, ..) => without_answer(record),
    }
}

fn confidence(source: &FindingSource) -> String {
    match source.confidence.and_then(Confidence::new) {
        None => "confidence unknown".to_owned(),
        Some(known) if source.calibrated => format!("confidence {known}, calibrated"),
        Some(known) => format!("confidence {known}, as stated"),
    }
}

fn of_change(change: &ItemChange, iteration: &IterationRecord, form: ChangeForm) -> Vec<Part> {
    let number = change.number.to_string();
    let heading = Line::of("Change {}: {}", [&number, &kind(change.kind)]);
    let basis = Part::Facts(basis(change, iteration));
    let mut parts = vec![Part::Heading(4, heading), basis];
    if change.before.is_none() && change.after.is_none() {
        let about = Line::of("About: {}", [change.item.as_str()]);
        parts.push(Part::Paragraph(about));
    }
    if form == ChangeForm::BeforeAndAfter {
        for (label, text) in [("Before:", &change.before), ("After:", &change.after)] {
            let Some(text) = text else { continue };
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            parts.push(paragraph(label, []));
            parts.push(Part::Code("markdown", text));
        }
    } else {
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let (before, after) = (text(before), text(after.or(before)));
        let diff = unified_diff(("", &before), ("", &after), Paint::PLAIN);
        let lines = diff.lines().skip(2).filter(|line| !line.starts_with("@@"));
        let lines = lines.collect::<Vec<_>>().join("\n");
        parts.extend((!lines.is_empty()).then_some(Part::Code("diff", lines)));
    }
    if change.before.is_some() && change.after.is_none() {
        let unchanged = Line::of("The document is not changed.", []);
        parts.push(Part::Paragraph(unchanged));
    }
    parts
}

fn basis(change: &ItemChange, iteration: &IterationRecord) -> Vec<Fact> {
    let mut facts = vec![Fact::from(Line::foreign(&change.reason))];
    if let Some(source) = &change.source {
        let mut findings = iteration.findings();
        let findings = findings.find(|findings| findings.source.consultation == *source);
        let confidence = findings.map(|findings| confidence(&findings.source));
        let source = Line::default().consultations([source]);
        let source = source.with(", {}", &confidence.unwrap_or_default());
        facts.push(fact("Source", source));
        let dissent = findings.and_then(|findings| findings.dissent(&change.item));
        facts.extend(dissent.map(|dissent| fact("Dissent", Line::foreign(dissent))));
    }
    facts
}

fn kind(kind: ChangeKind) -> String {
    match kind {
        ChangeKind::Moved { from, to } => {
            format!("moved from {} to {}", from.heading(), to.heading())
        }
        ChangeKind::Added { to } => format!("added to {}", to.heading()),
        ChangeKind::Deferred => "deferred: a person must decide".to_owned(),
        ChangeKind::Kept => "stays where it is".to_owned(),
        ChangeKind::Dropped => "not used: the item has changed or is gone".to_owned(),
    }
}
