//! `--dry-run`: how the document is read, what would be asked of which vendor and at what cost, and
//! what would change in the document without a call.

use serde_json::{Value, json};

use crate::commands::face::run_consent::{decision, model_lines};
use crate::consultation::policy::estimate::Estimate;
use crate::domain::text::clean;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::document::SpecDocument;
use crate::session::batch::estimate::BatchEstimate;
use crate::terminal::output::format::{cost_range, count, dollars, thousands};
use crate::terminal::output::style::Paint;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::tables::refinement::decision as ended;

use super::RefineCommand;
use super::files::{display, warnings};
use super::flags::RefineFormat;
use super::prepare::{Prepared, Starting};
use super::target::LoopEntry;

/// Shows what a run would do.
pub(super) fn show(
    command: &RefineCommand<'_>,
    starting: &Starting,
    prepared: &Prepared<'_>,
    clock: Clock,
) -> Result<Exit, Error> {
    let RefineCommand { args, printer, .. } = *command;
    let gate = prepared
        .rule
        .decide(&prepared.estimate.total.total, args.control.max_cost);
    let run = DryRun {
        starting,
        prepared,
        decision: decision(&gate, &prepared.estimate.total.total),
        before: starting.read_document()?,
        known: starting.known_text(clock)?,
    };
    let printed = match args.output.format() {
        RefineFormat::Json => printer.json(&run.json()),
        RefineFormat::Text => {
            let traits = printer.out_traits();
            printer.exact_result(&format!(
                "{}{}",
                run.text(),
                run.diff_with_title(traits.paint)
            ))
        }
    };
    printed.map_err(Error::failed).map(|()| Exit::Answer)
}

struct DryRun<'a> {
    starting: &'a Starting,
    prepared: &'a Prepared<'a>,
    /// What the cost gate would do.
    decision: &'static str,
    /// The document as it stands in its file.
    before: SpecDocument,
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
        let iterations = usize::try_from(estimate.iterations).unwrap_or(usize::MAX);
        let all = format!("In all: at most {}", count(iterations, "iteration"));
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
                let state = self.starting.state.as_ref();
                let ended = state.map(|state| ended(state.current()));
                ended.map(|ended| format!("The loop has ended, {ended}; nothing is asked"))
            }
        }
    }

    fn questions(&self) -> String {
        let estimate = &self.prepared.estimate;
        let consultations = count(
            usize::try_from(estimate.consultations).unwrap_or(usize::MAX),
            "consultation",
        );
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
        let diff = self.diff(paint);
        if diff.is_empty() {
            return diff;
        }
        format!("\nWithout a call, the document changes like this:\n\n{diff}")
    }

    fn json(&self) -> Value {
        let target = &self.starting.target;
        let estimate = &self.prepared.estimate;
        let templates = &self.prepared.templates;
        let vendors = estimate.total.by_model.iter().map(|(model, share)| {
            let mut addresses = [Some(&templates.panel), templates.extraction.as_ref()]
                .into_iter()
                .flatten();
            let address = addresses.find_map(|template| template.addresses().get(&model.provider));
            let mut figures = figures(share.calls, &share.estimate);
            if let Value::Object(fields) = &mut figures {
                fields.insert("model".to_owned(), json!(model));
                fields.insert("address".to_owned(), json!(address));
            }
            figures
        });
        let consultations = self
            .batches()
            .iter()
            .map(|batch| json!({"questions": questions(batch)}));
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
            "by_model": vendors.collect::<Vec<_>>(),
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
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut tags = Vec::new();
    if measure.open_blockers > 0 {
        tags.push(count(number(measure.open_blockers), "blocker"));
    }
    if measure.deferred > 0 {
        tags.push(format!("{} deferred", measure.deferred));
    }
    let tags = if tags.is_empty() {
        String::new()
    } else {
        format!(" ({})", tags.join(", "))
    };
    format!(
        "{} of high and {} of medium confidence, {}{tags}",
        counts.high,
        counts.medium,
        count(number(counts.open), "open question"),
    )
}

fn questions(batch: &QuestionBatch) -> Vec<&str> {
    let questions = batch.questions.iter();
    questions.map(|(_, text)| text.as_str()).collect()
}

fn cost_line(name: &str, part: &BatchEstimate) -> String {
    let total = &part.total;
    format!(
        "{name}: {} calls, {}",
        thousands(part.calls),
        cost_range(total.low, total.cost, total.high, dollars)
    )
}

fn figures(calls: u64, sum: &Estimate) -> Value {
    json!({
        "calls": calls,
        "input_tokens": sum.input_tokens,
        "output_tokens": sum.output_tokens,
        "low_usd": sum.low.known.usd(),
        "cost_usd": sum.cost.known.usd(),
        "high_usd": sum.high.known.usd(),
        "cost_is_lower_bound": sum.cost.lower_bound,
    })
}
