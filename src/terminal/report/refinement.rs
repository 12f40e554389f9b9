//! The changes of a refinement as Markdown, so that a person can follow and undo each.

use crate::domain::answer::confidence::Confidence;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::finding::FindingSource;
use crate::refinement::state::{
    BatchRecord, ConsultationRecord, ConsultationStatus, ExtractionRecord, IterationRecord,
    LoopPhase, RefinementLoop, RefinementState,
};
use crate::terminal::document::{self, Fact, Line, Part, fact, list, paragraph};
use crate::terminal::output::convergence_tree::convergence_tree;
use crate::terminal::output::format::count;

const HOW_TO_UNDO: &str = "Each change shows the item before and after. To undo a change, put the \
    text before in place of the text after. A moved item has left its section: delete the text \
    after, and put the text before back into the section that it comes from. The document as it \
    was when the first loop began is `original.md`; the original of a later loop has a file of its \
    own, such as `original-2.md`.";

/// The last loop first.
pub fn changes_markdown(state: &RefinementState) -> String {
    let source = &state.current().begun.source;
    let mut parts = vec![
        Part::Heading(1, Line::of("Changes of {}", [source])),
        paragraph(HOW_TO_UNDO, []),
    ];
    parts.extend(state.loops().rev().flat_map(of_loop));
    document::markdown(&parts)
}

fn of_loop(refinement: &RefinementLoop) -> Vec<Part> {
    let begun = &refinement.begun;
    let resumes: Vec<String> = refinement.resumes.iter().map(ToString::to_string).collect();
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
    let title = Line::of("Loop of {}", [&refinement.begun_at.to_string()]);
    let mut parts = vec![Part::Heading(2, title), Part::Facts(facts)];
    // What the panel proposes for blockers that are still open.
    let proposals = refinement.blocker_proposals().into_iter().map(|proposal| {
        let (change, source) = (proposal.change, proposal.source);
        let (number, item) = (change.number.to_string(), change.item.as_str());
        let line = Line::of("Change {}, {}: {}", [&number, item, proposal.answer]);
        let source = [source.consultation.as_str(), &confidence(source)];
        line.and(" (`{}`, {})", source)
    });
    let title = "Best proposals for open blockers";
    parts.extend(document::titled(3, title, list(proposals)));
    parts.extend(refinement.extractions.iter().flat_map(of_extraction));
    parts.extend(refinement.iterations.iter().flat_map(of_iteration));
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
    let words = [record.consultation.as_str(), &cost, &result];
    let line = Part::Paragraph(Line::of("`{}`, {}: {}", words));
    [Part::Heading(3, Line::of("Extraction", [])), line]
}

fn without_answer<A, T>(record: &ConsultationRecord<A, T>) -> String {
    match (&record.error, record.status) {
        (Some(error), _) => format!("no answer: {error}"),
        (None, ConsultationStatus::Repeated) => "repeated".to_owned(),
        (None, _) => "not finished".to_owned(),
    }
}

fn of_iteration(iteration: &IterationRecord) -> Vec<Part> {
    let number = iteration.number;
    let title = Line::of("Iteration {}", [&number.to_string()]);
    let mut parts = vec![Part::Heading(3, title)];
    let Some(merge) = iteration.written() else {
        let open = Line::of("Its findings are not in the document yet.", []);
        parts.push(Part::Paragraph(open));
        parts.extend(iteration.batches.iter().flat_map(of_batch));
        return parts;
    };
    let tree = convergence_tree(number, &merge.evaluation).join("\n");
    parts.push(Part::Code("text", tree));
    let measure = &merge.measure;
    parts.extend(measure.counts.map(|counts| {
        Part::Paragraph(Line::foreign(format!(
            "After it: {} of high confidence, {} of medium confidence, {} open ({} deferred, {} \
             blockers).",
            counts.high, counts.medium, counts.open, measure.deferred, measure.open_blockers
        )))
    }));
    parts.extend(iteration.batches.iter().flat_map(of_batch));
    let changes = merge.changes.iter();
    parts.extend(changes.flat_map(|change| of_change(change, iteration)));
    parts
}

fn of_batch(record: &BatchRecord) -> Vec<Part> {
    let heading = Line::of("`{}`", [record.consultation.as_str()]);
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

fn of_change(change: &ItemChange, iteration: &IterationRecord) -> Vec<Part> {
    let number = change.number.to_string();
    let heading = Line::of("Change {}: {}", [&number, &kind(change.kind)]);
    let basis = Part::Facts(basis(change, iteration));
    let mut parts = vec![Part::Heading(4, heading), basis];
    if change.before.is_none() && change.after.is_none() {
        let about = Line::of("About: {}", [change.item.as_str()]);
        parts.push(Part::Paragraph(about));
    }
    for (label, text) in [("Before:", &change.before), ("After:", &change.after)] {
        if let Some(text) = text {
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            parts.push(paragraph(label, []));
            parts.push(Part::Code("markdown", text));
        }
    }
    if change.before.is_some() && change.after.is_none() {
        let unchanged = Line::of("The document is not changed.", []);
        parts.push(Part::Paragraph(unchanged));
    }
    parts
}

fn basis(change: &ItemChange, iteration: &IterationRecord) -> Vec<Fact> {
    let mut lines = vec![Fact::from(Line::foreign(&change.reason))];
    if let Some(source) = &change.source {
        let mut findings = iteration.findings();
        let findings = findings.find(|findings| findings.source.consultation == *source);
        let confidence = findings.map(|findings| confidence(&findings.source));
        let source = Line::of("Source: `{}`", [source.as_str()]);
        lines.push(source.with(", {}", &confidence.unwrap_or_default()).into());
        let dissent = findings.and_then(|findings| findings.dissent(&change.item));
        lines.extend(dissent.map(|dissent| Line::of("Dissent: {}", [dissent]).into()));
    }
    lines
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
