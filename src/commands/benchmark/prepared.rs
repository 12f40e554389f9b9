//! A run whose arms are prepared, new or resumed: says what is about to happen, or shows it as a
//! preview; then drives the run, here or elsewhere, and shows its report.

use indexmap::IndexMap;
use serde::Serialize;

use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::{Arm, RunTerms};
use crate::benchmark::state::BenchmarkState;
use crate::commands::App;
use crate::commands::face::batch::{ApprovedBatch, PreparedBatch, arm_line, cost_line};
use crate::commands::face::consent::announce;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::short_id;
use crate::error::{Error, Exit};
use crate::records::runs::LockedRun;
use crate::session::batch::RunCeiling;
use crate::session::batch::driver::BatchDriver;
use crate::session::batch::elsewhere::{Elsewhere, RunHeld};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::benchmark::arms::{ArmTemplates, control};
use crate::session::benchmark::cases::CaseBook;
use crate::session::benchmark::driver::BenchmarkDriver;
use crate::setup::panel::SMALL_PANEL;
use crate::setup::plan::Planner;
use crate::terminal::document::{Part, list};
use crate::terminal::output::format::count;
use crate::terminal::progress::benchmark::{BenchmarkProgress, RunCounts};
use crate::text::clean::clean;

use super::flags::ProcessFlags;
use super::stored;

/// A run whose arms are prepared.
#[derive(Debug)]
pub(super) struct PreparedRun<'a> {
    pub(super) shapes: &'a [String],
    pub(super) flags: &'a ProcessFlags,
    pub(super) app: App<'a>,
    pub(super) planner: &'a Planner<'a>,
    pub(super) book: CaseBook,
    pub(super) arms: ArmTemplates,
    pub(super) estimate: BatchEstimate,
    /// Who holds its consultations, if this process does not.
    pub(super) place: Option<&'a dyn Elsewhere>,
}

impl PreparedRun<'_> {
    pub(super) fn announce(&self, terms: &RunTerms) {
        let printer = self.app.printer;
        let part = terms
            .partition
            .map(|partition| format!(", part {partition}"));
        let repeated = match terms.repetitions {
            1 => String::new(),
            times => format!(", {times} times each"),
        };
        printer.note(&format!(
            "Benchmark {}{}: {}{repeated}{}",
            clean(&terms.suite.name),
            self.shape(),
            count(terms.cases.len(), "case"),
            part.unwrap_or_default(),
        ));
        printer.note(&format!("  compared: {}", self.compared()));
        for arm in &terms.arms {
            printer.note(&format!("  {}", arm_line(arm)));
        }
        self.announce_arms();
        printer.note(&cost_line("Estimate", &self.estimate));
    }

    /// ` (GSM8K)`.
    fn shape(&self) -> String {
        match self.shapes {
            [] => String::new(),
            shapes => format!(" ({})", shapes.join(", ")),
        }
    }

    /// `20 numeric, 2 transcriptions`.
    fn compared(&self) -> String {
        let compared = self.book.compared();
        let words = compared.iter().map(|(kind, number)| match *kind {
            "transcription" => count(number, kind),
            "all" => format!("{number} all of several patterns"),
            kind => format!("{number} {kind}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn announce_arms(&self) {
        let mut notices: Vec<&String> = Vec::new();
        let panel = self.arms.of(Arm::Panel).map(|template| &template.common);
        for notice in self.arms.templates().flat_map(|it| &it.common.notices) {
            // A model that answers or grades alone is no small panel.
            let is_meant = !notice.ends_with(SMALL_PANEL)
                || panel.is_some_and(|panel| panel.notices.contains(notice));
            if is_meant && !notices.contains(&notice) {
                notices.push(notice);
            }
        }
        for notice in notices {
            self.app.printer.note(&format!("  {notice}"));
        }
        let BatchEstimate {
            masked, findings, ..
        } = &self.estimate;
        announce(masked.as_ref(), findings, self.app.printer);
    }

    /// `used` is what counts as spent by its earlier processes.
    pub(super) fn batch(
        &self,
        limit: Option<MicroUsd>,
        used: MicroUsd,
    ) -> Result<PreparedBatch<'_>, Error> {
        let name = "ceiling of the run";
        let ceiling = RunCeiling { name, limit, used };
        let (planner, printer) = (self.planner, self.app.printer);
        let (templates, estimate) = (self.arms.templates(), &self.estimate);
        PreparedBatch::new(
            planner,
            printer,
            templates,
            estimate,
            ceiling,
            self.app.clock,
        )
    }

    /// Shows what would be asked: one attempt of each case run, and its grading. `which` says of
    /// the cases why it is these.
    pub(super) fn preview(
        &self,
        batch: &PreparedBatch<'_>,
        terms: &RunTerms,
        which: &str,
    ) -> Result<Exit, Error> {
        let (all, selected) = (terms.suite.cases, terms.cases.len());
        let suite = format!(
            "The suite {}{} is correct: {selected} of {} {} {which}. Answers are compared: {}.",
            terms.suite.name,
            self.shape(),
            count(all, "case"),
            if selected == 1 { "is" } else { "are" },
            self.compared(),
        );
        let arms = list(terms.arms.iter().map(|arm| arm_line(arm).into()));
        let mut preview = batch.preview(
            &[],
            RunDetails {
                shapes: self.shapes,
                compared: self.book.compared(),
                terms,
            },
        );
        let above = std::iter::once(Part::Paragraph(suite.into())).chain(arms);
        preview.around = [above.collect(), Vec::new()];
        let flags = &self.flags.output;
        let pager = flags.pager.pager(self.app.environment);
        preview.show(
            flags.format(),
            flags.output.as_deref(),
            &pager,
            self.app.printer,
        )?;
        Ok(Exit::Answer)
    }

    pub(super) fn drive(
        &self,
        run: LockedRun,
        mut approved: ApprovedBatch<'_>,
        jobs: Option<u32>,
    ) -> Result<Exit, Error> {
        let printer = self.app.printer;
        let id = run.state().begun.run.clone();
        let terms = &run.state().begun.terms;
        let options = terms.options.clone();
        let arms: Vec<Arm> = terms.arms.iter().map(|arm| arm.arm).collect();
        let counts = counts(run.state());
        let held = RunHeld {
            id: id.to_string(),
            name: terms.suite.name.clone(),
            total: counts.total,
            log: Some(run.files.log.clone()),
        };
        if let Some(place) = self.place {
            approved = approved.held_by(place, &held)?;
        }
        let progress = BenchmarkProgress::new(printer, counts, &arms);
        let driver = BenchmarkDriver {
            run,
            book: &self.book,
            arms: &self.arms,
            batch: BatchDriver {
                planner: self.planner,
                control: control(&options, ConsentMode::PreApproved),
                jobs: self.flags.jobs(jobs, self.place),
                clock: self.app.clock,
            },
            progress: &progress,
        };
        let end = approved.drive(async |batch| Box::pin(driver.drive(batch)).await);
        let run = end.map_err(|error| stored::resumable(error, &id))?;
        if let Some(stale) = run.stale_file() {
            printer.warning(&format!("the state of the run is out of date: {stale}"));
        }
        let state = run.state().clone();
        let report = BenchmarkReport::of(&state, state.view(state.status()));
        drop(run);
        if let Some(place) = self.place {
            place.end(&held, Some(&state.begun), state.is_complete())?;
        }
        stored::show(&report, &self.flags.output, self.app).map_err(|error| {
            let id = short_id(id.as_str());
            error.hint(format!("print it with `conclave benchmark report {id}`"))
        })?;
        let elsewhere = self.place.map(|_| "add `--fleet URL`, on any machine");
        stored::exit(&report, &self.flags.output).map_err(|error| error.hint_if(elsewhere))
    }
}

fn counts(state: &BenchmarkState) -> RunCounts {
    let done = state.results.len() as u64;
    let is_measured =
        |result: &&CaseResult| !state.begun.terms.is_comparison() || result.run.arm == Arm::Panel;
    let answered = || state.results.iter().filter(is_measured);
    let is_right = |result: &&CaseResult| result.outcome == CaseOutcome::Approved;
    RunCounts {
        total: state.workload().remaining + done,
        done,
        answered: answered().count() as u64,
        right: answered().filter(is_right).count() as u64,
        cost: state.spend().cost,
        done_before: done,
        running: 0,
        is_ending: false,
    }
}

/// What the preview of a run has of its own.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunDetails<'a> {
    /// What the forms of the suite's files were recognised as.
    shapes: &'a [String],
    /// How many of the cases are compared in each way.
    compared: IndexMap<&'static str, u64>,
    terms: &'a RunTerms,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::face::preview::Preview;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<Preview<'_, RunDetails<'_>>>(
            "benchmark_dry_run",
            "What `conclave benchmark SUITE --dry-run --json` prints",
        );
    }
}
