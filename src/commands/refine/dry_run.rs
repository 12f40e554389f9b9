//! `--dry-run`: how the document is read, what would be asked of which vendor and at what cost, and
//! what would change in the document without a call.

use serde::Serialize;

use crate::commands::flags::AnswerFormat;
use crate::domain::record::log::Fold as _;
use crate::error::{Error, Exit};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{RefinementEvent, RefinementEventKind};
use crate::refinement::state::{RefinementLoop, RefinementState};
use crate::stopping::convergence::{Criteria, ItemCounts};
use crate::terminal::document::{Line, Part, nested_list, paragraph};
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::report::refinement_summary::decision as ended;

use super::files::{UnlistedQuestion, display, warnings};
use super::prepare::{Prepared, Starting};
use super::target::LoopEntry;

/// `before` is the document in its file.
pub(super) fn show(
    starting: &Starting<'_>,
    prepared: &Prepared<'_>,
    before: &SpecDocument,
    is_over: bool,
) -> Result<Exit, Error> {
    let known = if is_over {
        before.text().to_owned()
    } else {
        known_text(starting, before)?
    };
    let details = LoopDetails::of(starting, prepared, before, known);
    let around = [details.above(starting, prepared), details.below()];
    let batch = prepared.batch(starting)?;
    let mut preview = batch.preview(&[("The next iteration", &prepared.estimate.next)], details);
    preview.around = around;
    let (output, app) = (&starting.args.output, starting.app);
    let format = if output.json.is_json() {
        AnswerFormat::Json
    } else {
        AnswerFormat::Markdown
    };
    preview.show(
        format,
        None,
        &output.pager.pager(app.environment),
        app.printer,
    )?;
    Ok(Exit::Answer)
}

/// With the findings that were not merged, and the front matter.
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
    let begun = RefinementEventKind::Begun(Box::new(starting.begun(None)));
    let state = RefinementState::begin(&RefinementEvent::new(starting.clock.now(), begun));
    merged(state.map_err(Error::failed)?.current())
}

/// What the preview of a loop has of its own. Nothing is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LoopDetails {
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
    /// The changes that need no call, as a unified diff without secrets.
    diff: String,
    /// What the document says and the panel is not asked, by line.
    warnings: Vec<UnlistedQuestion>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlannedConsultation {
    /// Without their secrets.
    questions: Vec<String>,
}

impl LoopDetails {
    fn of(
        starting: &Starting<'_>,
        prepared: &Prepared<'_>,
        before: &SpecDocument,
        mut known: String,
    ) -> Self {
        let (target, estimate) = (&starting.target, &prepared.estimate);
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
        Self {
            document: display(&target.source),
            diff: unified_diff((&file, &old), (&output, &known), Paint::PLAIN),
            output,
            entry: starting.entry,
            criteria: starting.criteria,
            counts: measure.counts,
            open_blockers: measure.open_blockers,
            deferred: measure.deferred,
            assumed_questions: estimate.assumed_questions,
            consultations: consultations.collect(),
            iterations: estimate.iterations,
            warnings: warnings(document),
        }
    }

    fn above(&self, starting: &Starting<'_>, prepared: &Prepared<'_>) -> Vec<Part> {
        let file = display(starting.working_file());
        let mut lines = vec![
            format!("{file}: {}", self.sections()),
            starting.target.to_string(),
        ];
        let state = starting.state.as_ref().map(RefinementState::current);
        match (self.entry, state) {
            (LoopEntry::New, _) | (LoopEntry::Resumed | LoopEntry::Ended, None) => {}
            (LoopEntry::Resumed, Some(resumed)) => lines.push(format!(
                "A loop is resumed: {} done",
                count(resumed.merges().count(), "iteration")
            )),
            (LoopEntry::Ended, Some(last)) => lines.push(format!(
                "The loop has ended, {}; nothing is asked",
                ended(last)
            )),
        }
        if self.entry != LoopEntry::Ended {
            let most = count(self.iterations, "iteration");
            lines.push(self.questions(prepared.estimate.consultations));
            let verb = if self.iterations == 1 { "is" } else { "are" };
            lines.push(format!("There {verb} at most {most} in all."));
        }
        let last = lines.len().saturating_sub(1);
        let paragraphs = lines.into_iter().map(|line| Part::Paragraph(line.into()));
        let mut parts: Vec<Part> = paragraphs.collect();
        let asked = (1..)
            .zip(&self.consultations)
            .map(|(number, asked): (u64, _)| {
                let title = Line::from(format!("Consultation {number}"));
                let questions = asked.questions.iter().map(Line::foreign);
                std::iter::once(title).chain(questions).collect()
            });
        if let Some(asked) = nested_list(asked) {
            parts.insert(last, asked);
        }
        parts
    }

    fn below(&self) -> Vec<Part> {
        if self.diff.is_empty() {
            return Vec::new();
        }
        let title = "Without a call, the document changes like this:";
        vec![paragraph(title, []), Part::Code("diff", self.diff.clone())]
    }

    fn questions(&self, consultations: u64) -> String {
        let consultations = count(consultations, "consultation");
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
    use crate::commands::face::preview::Preview;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<Preview<'_, LoopDetails>>(
            "refine_dry_run",
            "What `conclave refine SPEC --dry-run --json` prints",
        );
    }
}
