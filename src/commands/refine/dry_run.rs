//! `--dry-run`: how the document is read, what would be asked of which vendor and at what cost, and
//! what would change in the document without a call.

use serde_json::{Value, json};

use crate::commands::face::batch::{cost_line, decision, figures, model_lines};
use crate::domain::text::clean;
use crate::error::{Error, Exit};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{RefinementEvent, RefinementEventKind};
use crate::refinement::state::{RefinementLoop, RefinementState};
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::tables::refinement::decision as ended;

use super::files::{display, warnings};
use super::prepare::{Prepared, Starting};
use super::target::LoopEntry;

/// Shows what a run would do. `before` is the document as it stands in its file.
pub(super) fn show(
    starting: &Starting<'_>,
    prepared: &Prepared<'_>,
    before: &SpecDocument,
) -> Result<Exit, Error> {
    let (args, printer) = (starting.args, starting.app.printer);
    let estimate = &prepared.estimate.total.total;
    let gate = prepared.rule.decide(estimate, args.control.max_cost);
    let run = DryRun {
        starting,
        prepared,
        decision: decision(&gate, estimate),
        known: known_text(starting, before)?,
        before,
    };
    if args.output.json.is_json() {
        printer.json(&run.json())?;
    } else {
        let paint = printer.out_traits().paint;
        printer.exact_result(&(run.text() + &run.diff_with_title(paint)))?;
    }
    Ok(Exit::Answer)
}

/// Returns the document with everything that needs no call: what was found and not merged, and the
/// front matter.
fn known_text(starting: &Starting<'_>, document: &SpecDocument) -> Result<String, Error> {
    let merged = |refined: &RefinementLoop| {
        let merge = refined.merge(document, starting.terms.high_from);
        merge.map(|merge| merge.text).map_err(Error::failed)
    };
    if starting.entry == LoopEntry::Ended || starting.missing_end(document)?.is_some() {
        return Ok(document.text().to_owned());
    }
    if let Some(resumed) = starting.resumed() {
        let has_all = resumed.last_written().is_some();
        if has_all && resumed.pending_findings().is_empty() {
            return Ok(document.text().to_owned());
        }
        return merged(resumed);
    }
    let begun = RefinementEventKind::Begun(Box::new(starting.begun()));
    let state = RefinementState::begin(&RefinementEvent::new(starting.clock.now(), begun));
    merged(state.map_err(Error::failed)?.current())
}

struct DryRun<'a> {
    starting: &'a Starting<'a>,
    prepared: &'a Prepared<'a>,
    /// What the cost gate would do.
    decision: &'static str,
    /// The document as it stands in its file.
    before: &'a SpecDocument,
    /// The same with the changes that need no call.
    known: String,
}

impl DryRun<'_> {
    fn document(&self) -> &SpecDocument {
        self.prepared.ahead.document
    }

    fn batches(&self) -> &[QuestionBatch] {
        &self.prepared.ahead.next
    }

    fn text(&self) -> String {
        let target = &self.starting.target;
        let estimate = &self.prepared.estimate;
        let file = target.working_file(self.starting.resumed());
        let mut lines = vec![
            format!("{}: {}", display(file), sections(self.document())),
            target.to_string(),
        ];
        lines.extend(self.entry());
        if self.starting.entry == LoopEntry::Ended {
            return clean(&lines.join("\n")) + "\n";
        }
        lines.push(String::new());
        lines.push(self.questions());
        for (number, batch) in (1..).zip(self.batches()) {
            lines.push(format!("{number}. {}", questions(batch).join("\n   ")));
        }
        lines.push(String::new());
        lines.extend(model_lines(&estimate.total));
        lines.push(cost_line("The next iteration", &estimate.next));
        let all = format!(
            "In all: at most {}",
            count(estimate.iterations, "iteration")
        );
        lines.push(cost_line(&all, &estimate.total));
        lines.push(String::new());
        lines.push(format!("A run {}.", self.decision));
        clean(&lines.join("\n")) + "\n"
    }

    fn entry(&self) -> Option<String> {
        match (self.starting.entry, self.starting.resumed()) {
            (LoopEntry::New, _) | (LoopEntry::Resume, None) => None,
            (LoopEntry::Resume, Some(resumed)) => Some(format!(
                "A loop is resumed: {} done",
                count(resumed.merges().count(), "iteration")
            )),
            (LoopEntry::Ended, _) => {
                let ended = ended(self.starting.state.as_ref()?.current());
                Some(format!("The loop has ended, {ended}; nothing is asked"))
            }
        }
    }

    fn questions(&self) -> String {
        let estimate = &self.prepared.estimate;
        let consultations = count(estimate.consultations, "consultation");
        match estimate.assumed_questions {
            Some(assumed) => format!(
                "A model would first extract claims and questions; the estimate expects {assumed} \
                 questions in {consultations}"
            ),
            None if self.batches().is_empty() => "The next iteration asks nothing".to_owned(),
            None => {
                let asked = self.batches().iter().map(|batch| batch.questions.len());
                format!(
                    "The next iteration asks {} in {consultations}:",
                    count(asked.sum::<usize>(), "question")
                )
            }
        }
    }

    fn diff(&self, paint: Paint) -> String {
        let target = &self.starting.target;
        let file = display(target.working_file(self.starting.resumed()));
        let output = display(&target.output);
        let before = self.before.text();
        unified_diff((&file, before), (&output, &self.known), paint)
    }

    fn diff_with_title(&self, paint: Paint) -> String {
        match self.diff(paint) {
            none if none.is_empty() => none,
            diff => format!("\nWithout a call, the document changes like this:\n\n{diff}"),
        }
    }

    fn json(&self) -> Value {
        let target = &self.starting.target;
        let estimate = &self.prepared.estimate;
        let templates = &self.prepared.templates;
        let by_model = estimate.total.by_model.iter().map(|(model, share)| {
            let mut both = [Some(&templates.panel), templates.extraction.as_ref()]
                .into_iter()
                .flatten();
            let address = both.find_map(|template| template.addresses().get(&model.provider));
            let mut fields = figures(share.calls, &share.estimate);
            fields.insert("model".to_owned(), json!(model));
            fields.insert("address".to_owned(), json!(address));
            fields
        });
        let consultations = self.batches().iter();
        let consultations = consultations.map(|batch| json!({"questions": questions(batch)}));
        let measure = self.document().measure();
        json!({
            "schema_version": "1.0",
            "document": display(&target.source),
            "output": display(&target.output),
            "loop": match self.starting.entry {
                LoopEntry::New => "new",
                LoopEntry::Resume => "resumed",
                LoopEntry::Ended => "ended",
            },
            "criteria": self.starting.criteria,
            "counts": measure.counts,
            "open_blockers": measure.open_blockers,
            "deferred": measure.deferred,
            "assumed_questions": estimate.assumed_questions,
            "consultations": consultations.collect::<Vec<_>>(),
            "iterations": estimate.iterations,
            "next_iteration": figures(estimate.next.calls, &estimate.next.total),
            "whole_loop": figures(estimate.total.calls, &estimate.total.total),
            "by_model": by_model.collect::<Vec<_>>(),
            "decision": self.decision,
            "diff": self.diff(Paint::Plain),
            "warnings": warnings(self.document()),
        })
    }
}

/// `3 of high and 2 of medium confidence, 7 open questions (1 blocker, 2 deferred)`.
fn sections(document: &SpecDocument) -> String {
    let measure = document.measure();
    let Some(counts) = measure.counts else {
        return "no sections yet".to_owned();
    };
    let (blockers, deferred) = (measure.open_blockers, measure.deferred);
    let tags = match (blockers, deferred) {
        (0, 0) => String::new(),
        (0, _) => format!(" ({deferred} deferred)"),
        (_, 0) => format!(" ({})", count(blockers, "blocker")),
        (_, _) => format!(" ({}, {deferred} deferred)", count(blockers, "blocker")),
    };
    format!(
        "{} of high and {} of medium confidence, {}{tags}",
        counts.high,
        counts.medium,
        count(counts.open, "open question"),
    )
}

fn questions(batch: &QuestionBatch) -> Vec<&str> {
    let questions = batch.questions.iter();
    questions.map(|(_, text)| text.as_str()).collect()
}
