//! The changes of a refinement as a Markdown document, so that a person can follow and undo each.
//! Pure. Text of documents and models goes through `escape`, or stands in a fence.

use crate::domain::confidence::Confidence;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::refinement::state::{
    BatchRecord, ConsultationProgress, ExtractionRecord, IterationRecord, LoopPhase,
    RefinementLoop, RefinementState,
};
use crate::stopping::convergence::DocumentMeasure;
use crate::terminal::markdown::escape::{fenced, inline};
use crate::terminal::output::convergence_tree::convergence_tree;
use crate::terminal::output::format::count;

/// Writes the document: the last loop first.
pub fn changes_markdown(state: &RefinementState) -> String {
    let source = &state.current().begun.source;
    let mut sections = vec![
        format!("# Changes of {}", inline(source)),
        "Each change shows the item before and after. To undo a change, put the text before in \
         place of the text after. A moved item has left its section: delete the text after, and \
         put the text before back into the section that it comes from. The document as it was \
         when the first loop began is `original.md`; another text that a loop changed first \
         has a file of its own, such as `original-2.md`."
            .to_owned(),
    ];
    for refinement in state.loops().rev() {
        sections.extend(of_loop(refinement));
    }
    sections.join("\n\n") + "\n"
}

fn of_loop(refinement: &RefinementLoop) -> Vec<String> {
    let begun = &refinement.begun;
    let mut lines = vec![
        format!("**Reads:** {}", inline(&begun.source)),
        format!("**Writes:** {}", inline(&begun.output)),
        format!("**Status:** {}", inline(&status(refinement))),
        format!("**Cost:** {}", refinement.spend().cost),
    ];
    if !refinement.resumes.is_empty() {
        let resumes: Vec<String> = refinement.resumes.iter().map(ToString::to_string).collect();
        lines.push(format!("**Resumed:** {}", resumes.join(", ")));
    }
    let mut sections = vec![
        format!("## Loop of {}", refinement.begun_at),
        lines.join("  \n"),
    ];
    sections.extend(proposals(refinement));
    sections.extend(refinement.extractions.iter().map(of_extraction));
    for iteration in &refinement.iterations {
        sections.extend(of_iteration(iteration));
    }
    sections
}

/// Lists what the panel proposes for blockers that are still open.
fn proposals(refinement: &RefinementLoop) -> Option<String> {
    let proposals = refinement.blocker_proposals();
    let lines: Vec<String> = proposals
        .iter()
        .map(|proposal| {
            format!(
                "- Change {}, {}: {} (`{}`, {})",
                proposal.change.number,
                inline(proposal.change.item.as_str()),
                inline(proposal.answer),
                proposal.source.consultation,
                confidence(proposal.source)
            )
        })
        .collect();
    let heading = "### Best proposals for open blockers";
    (!lines.is_empty()).then(|| format!("{heading}\n\n{}", lines.join("\n")))
}

fn status(refinement: &RefinementLoop) -> String {
    match &refinement.phase {
        LoopPhase::Open => "not finished".to_owned(),
        LoopPhase::Stopped { message, .. } => format!("stopped: {message}"),
        LoopPhase::Ended => "ended".to_owned(),
    }
}

fn of_extraction(record: &ExtractionRecord) -> String {
    let result = match &record.progress {
        ConsultationProgress::Answered(found) => format!(
            "{}, {}, {}",
            count(found.high.len(), "settled claim"),
            count(found.medium.len(), "doubtful claim"),
            count(found.open.len(), "question")
        ),
        ConsultationProgress::InFlight | ConsultationProgress::LeftOver(None) => {
            "not finished".to_owned()
        }
        ConsultationProgress::NoAnswer(error)
        | ConsultationProgress::LeftOver(Some(error))
        | ConsultationProgress::Repeated(Some(error)) => format!("no answer: {error}"),
        ConsultationProgress::Repeated(None) => "repeated".to_owned(),
    };
    format!(
        "### Extraction\n\n`{}`, {}: {}",
        record.consultation,
        record.spend.cost,
        inline(&result)
    )
}

fn of_iteration(iteration: &IterationRecord) -> Vec<String> {
    let number = iteration.number;
    let mut sections = vec![format!("### Iteration {number}")];
    match iteration.written() {
        None => sections.push("Its findings are not in the document yet.".to_owned()),
        Some(merge) => {
            let tree = convergence_tree(number, &merge.evaluation).join("\n");
            sections.push(fenced(&tree, "text"));
            sections.extend(counts(&merge.measure));
        }
    }
    sections.extend(iteration.batches.iter().map(of_batch));
    let changes = iteration.written().map(|merge| &merge.changes);
    for change in changes.into_iter().flatten() {
        sections.push(of_change(change, iteration));
    }
    sections
}

fn counts(measure: &DocumentMeasure) -> Option<String> {
    let counts = measure.counts?;
    Some(format!(
        "After it: {} of high confidence, {} of medium confidence, {} open ({} deferred, {} \
         blockers).",
        counts.high, counts.medium, counts.open, measure.deferred, measure.open_blockers
    ))
}

fn of_batch(record: &BatchRecord) -> String {
    let mut parts = vec![format!(
        "#### `{}`\n\n{}, {}",
        record.consultation,
        outcome(&record.progress),
        record.spend.cost
    )];
    let questions = (1..).zip(&record.about.questions);
    let questions: Vec<String> = questions
        .map(|(number, (_, text))| format!("{number}. {}", inline(text)))
        .collect();
    parts.push(questions.join("\n"));
    if let Some(findings) = record.progress.answer() {
        let dissent = &findings.source.dissent;
        let dissent: Vec<String> = dissent
            .iter()
            .map(|line| format!("- Dissent: {}", inline(line)))
            .collect();
        let unread = record.about.questions.iter().filter_map(|(key, text)| {
            let is_unread = findings.unread.contains(key);
            is_unread.then(|| format!("- No readable answer: {}", inline(text)))
        });
        let degradations = findings.source.degradations.iter();
        let degradations = degradations.map(|reason| format!("- Degraded: {}", inline(reason)));
        let lines: Vec<String> = dissent
            .into_iter()
            .chain(degradations)
            .chain(unread)
            .collect();
        if !lines.is_empty() {
            parts.push(lines.join("\n"));
        }
    }
    parts.join("\n\n")
}

fn outcome(progress: &ConsultationProgress<BatchFindings>) -> String {
    match progress {
        ConsultationProgress::Answered(findings) => confidence(&findings.source),
        ConsultationProgress::InFlight | ConsultationProgress::LeftOver(None) => {
            "not finished".to_owned()
        }
        ConsultationProgress::NoAnswer(error) | ConsultationProgress::LeftOver(Some(error)) => {
            inline(&format!("no answer: {error}"))
        }
        ConsultationProgress::Repeated(Some(error)) => inline(&format!(
            "no answer: {error}; its questions were asked again"
        )),
        ConsultationProgress::Repeated(None) => "its questions were asked again".to_owned(),
    }
}

fn confidence(source: &FindingSource) -> String {
    match source.confidence.and_then(Confidence::new) {
        None => "confidence unknown".to_owned(),
        Some(known) if source.calibrated => format!("confidence {known}, calibrated"),
        Some(known) => format!("confidence {known}, as stated"),
    }
}

fn of_change(change: &ItemChange, iteration: &IterationRecord) -> String {
    let mut parts = vec![
        format!("#### Change {}: {}", change.number, kind(change.kind)),
        basis(change, iteration),
    ];
    if change.before.is_none() && change.after.is_none() {
        parts.push(format!("About: {}", inline(change.item.as_str())));
    }
    for (label, text) in [("Before", &change.before), ("After", &change.after)] {
        if let Some(text) = text {
            let text = text.trim_end_matches(['\n', '\r']);
            parts.push(format!("{label}:\n\n{}", fenced(text, "markdown")));
        }
    }
    if change.before.is_some() && change.after.is_none() {
        parts.push("The document is not changed.".to_owned());
    }
    parts.join("\n\n")
}

/// Returns what a change rests on: the panel's words, the consultation, and who disagrees.
fn basis(change: &ItemChange, iteration: &IterationRecord) -> String {
    let mut lines = vec![inline(&change.reason)];
    if let Some(source) = &change.source {
        let findings = iteration
            .findings()
            .find(|findings| findings.source.consultation == *source);
        let confidence = findings.map(|findings| format!(", {}", confidence(&findings.source)));
        let confidence = confidence.unwrap_or_default();
        lines.push(format!("Source: `{source}`{confidence}"));
        let dissent = findings.and_then(|findings| dissent(findings, change));
        if let Some(dissent) = dissent {
            lines.push(format!("Dissent: {}", inline(dissent)));
        }
    }
    lines.join("  \n")
}

fn dissent<'f>(findings: &'f BatchFindings, change: &ItemChange) -> Option<&'f str> {
    findings.findings.iter().find_map(|finding| match finding {
        PanelFinding::Answered {
            question, dissent, ..
        } if *question == change.item => dissent.as_deref(),
        PanelFinding::Answered { .. }
        | PanelFinding::StillOpen { .. }
        | PanelFinding::Deferred { .. }
        | PanelFinding::Contradicted { .. }
        | PanelFinding::NewQuestion { .. } => None,
    })
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
