//! `--dry-run`: how the document is read, what would be asked of which vendor and at what cost, and
//! what would change in the document without a call.

use serde::Serialize;

use crate::commands::face::batch::{
    ModelFigures, PartFigures, cost_line, model_figures, model_lines,
};
use crate::domain::log::Fold as _;
use crate::error::{Error, Exit};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{RefinementEvent, RefinementEventKind};
use crate::refinement::state::{RefinementLoop, RefinementState};
use crate::session::refinement::estimate::LoopEstimate;
use crate::stopping::convergence::{Criteria, ItemCounts};
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::report::refinement_summary::decision as ended;
use crate::text::clean::clean;

use super::files::{UnlistedQuestion, display, warnings};
use super::prepare::{Prepared, Starting};
use super::target::LoopEntry;

/// Shows what a run would do. `before` is the document as it stands in its file.
pub(super) fn show(
    starting: &Starting<'_>,
    prepared: &Prepared<'_>,
    before: &SpecDocument,
    is_over: bool,
) -> Result<Exit, Error> {
    let (printer, is_json) = (starting.app.printer, starting.args.output.json.is_json());
    let paint = if is_json {
        Paint::Plain
    } else {
        printer.out_traits().paint
    };
    let known = if is_over {
        before.text().to_owned()
    } else {
        known_text(starting, before)?
    };
    let run = DryRun::of(starting, prepared, before, known, paint)?;
    if is_json {
        printer.json(&run)?;
    } else {
        printer.exact_result(&(run.text() + &run.diff_with_title()))?;
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

/// What a run would do. Nothing is sent or written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DryRun<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    /// The document that is read.
    document: String,
    /// The document that is written; the same for a change in place.
    output: String,
    #[serde(rename = "loop")]
    entry: LoopEntry,
    criteria: Criteria,
    /// The items of each section; `None` if the document has none of the sections.
    counts: Option<ItemCounts>,
    /// Open questions that are marked as blockers.
    open_blockers: u64,
    /// Open questions that wait for a person; they are not asked.
    deferred: u64,
    /// The number of questions that the estimate takes a plain document to have; `None` for a
    /// document with sections.
    assumed_questions: Option<u64>,
    /// Those of the next iteration; none for a plain document, whose questions are not known.
    consultations: Vec<PlannedConsultation>,
    /// The most iterations that are left.
    iterations: u64,
    next_iteration: PartFigures,
    whole_loop: PartFigures,
    by_model: Vec<ModelFigures<'a>>,
    /// What the cost gate would do with a run, in words.
    decision: String,
    /// The changes that need no call, as a unified diff without secrets.
    diff: String,
    /// What the document says and the panel is not asked, by line.
    warnings: Vec<UnlistedQuestion>,
    #[serde(skip)]
    starting: &'a Starting<'a>,
    #[serde(skip)]
    estimate: &'a LoopEstimate,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlannedConsultation {
    /// Without their secrets.
    questions: Vec<String>,
}

impl<'a> DryRun<'a> {
    fn of(
        starting: &'a Starting<'a>,
        prepared: &'a Prepared<'a>,
        before: &SpecDocument,
        mut known: String,
        paint: Paint,
    ) -> Result<Self, Error> {
        let (target, estimate) = (&starting.target, &prepared.estimate);
        let total = &estimate.total.total;
        let document = prepared.ahead.document;
        let measure = document.measure();
        let consultations = prepared.ahead.next.iter().map(|batch| {
            let questions = batch.questions.iter();
            let mut questions: Vec<String> = questions.map(|(_, text)| text.clone()).collect();
            before.mask(questions.iter_mut().collect());
            PlannedConsultation { questions }
        });
        let file = display(starting.working_file());
        let output = display(&target.output);
        let mut old = before.text().to_owned();
        before.mask(vec![&mut old, &mut known]);
        Ok(Self {
            schema_version: "1.0",
            document: display(&target.source),
            diff: unified_diff((&file, &old), (&output, &known), paint),
            output,
            entry: starting.entry,
            criteria: starting.criteria,
            counts: measure.counts,
            open_blockers: measure.open_blockers,
            deferred: measure.deferred,
            assumed_questions: estimate.assumed_questions,
            consultations: consultations.collect(),
            iterations: estimate.iterations,
            next_iteration: PartFigures::of(estimate.next.calls, &estimate.next.total),
            whole_loop: PartFigures::of(estimate.total.calls, total),
            by_model: model_figures(&estimate.total, prepared.templates.templates()),
            decision: prepared.batch(starting)?.decision(),
            warnings: warnings(document),
            starting,
            estimate,
        })
    }

    fn text(&self) -> String {
        let (starting, estimate) = (self.starting, self.estimate);
        let file = display(starting.working_file());
        let mut lines = vec![
            format!("{file}: {}", self.sections()),
            starting.target.to_string(),
        ];
        lines.extend(self.entry());
        if self.entry == LoopEntry::Ended {
            return clean(&lines.join("\n")) + "\n";
        }
        lines.push(String::new());
        lines.push(self.questions());
        for (number, asked) in (1..).zip(&self.consultations) {
            lines.push(format!("{number}. {}", asked.questions.join("\n   ")));
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
        match (self.entry, self.starting.resumed()) {
            (LoopEntry::New, _) | (LoopEntry::Resumed, None) => None,
            (LoopEntry::Resumed, Some(resumed)) => Some(format!(
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
        let consultations = count(self.estimate.consultations, "consultation");
        match self.assumed_questions {
            Some(assumed) => format!(
                "A model would first extract claims and questions; the estimate expects {assumed} \
                 questions in {consultations}"
            ),
            None if self.consultations.is_empty() => "The next iteration asks nothing".to_owned(),
            None => {
                let asked = self.consultations.iter().map(|one| one.questions.len());
                format!(
                    "The next iteration asks {} in {consultations}:",
                    count(asked.sum::<usize>(), "question")
                )
            }
        }
    }

    fn diff_with_title(&self) -> String {
        match self.diff.as_str() {
            "" => String::new(),
            diff => format!("\nWithout a call, the document changes like this:\n\n{diff}"),
        }
    }

    /// `3 of high and 2 of medium confidence, 7 open questions (1 blocker, 2 deferred)`.
    fn sections(&self) -> String {
        let Some(counts) = self.counts else {
            return "no sections yet".to_owned();
        };
        let (blockers, deferred) = (self.open_blockers, self.deferred);
        let blockers = (blockers > 0).then(|| count(blockers, "blocker"));
        let deferred = (deferred > 0).then(|| format!("{deferred} deferred"));
        let tags: Vec<String> = blockers.into_iter().chain(deferred).collect();
        let tags = match tags.join(", ") {
            none if none.is_empty() => none,
            tags => format!(" ({tags})"),
        };
        format!(
            "{} of high and {} of medium confidence, {}{tags}",
            counts.high,
            counts.medium,
            count(counts.open, "open question"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<DryRun<'_>>(
            "refine_dry_run",
            "What `conclave refine SPEC --dry-run --json` prints",
        );
    }
}
