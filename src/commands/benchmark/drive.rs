//! Drives a run that was approved, with its progress on standard error, and shows its report.

use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::Arm;
use crate::benchmark::state::BenchmarkState;
use crate::commands::face::{cannot_start, seed};
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::{ConsentMode, ConsentRule};
use crate::domain::money::MicroUsd;
use crate::engine::clock::Clock;
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::records::runs::LockedRun;
use crate::session::batch::{Batch, BatchTerms};
use crate::session::benchmark::arms::{ArmTemplates, control};
use crate::session::benchmark::cases::CaseBook;
use crate::session::benchmark::driver::BenchmarkDriver;
use crate::session::run::MonthRule;
use crate::setup::plan::Planner;
use crate::terminal::progress::benchmark::{BenchmarkProgress, RunCounts};
use crate::terminal::report::report;

use super::{Command, outcome};

/// The name of the ceiling over a run, in messages.
const CEILING: &str = "ceiling of the run";

/// An approved run.
#[derive(Debug)]
pub(super) struct Drive<'a> {
    pub(super) command: &'a Command<'a>,
    pub(super) planner: &'a Planner<'a>,
    pub(super) book: &'a CaseBook,
    pub(super) arms: &'a ArmTemplates,
    pub(super) jobs: usize,
    pub(super) ceiling: Option<MicroUsd>,
    pub(super) month_rule: MonthRule,
    pub(super) clock: Clock,
}

impl Drive<'_> {
    /// Drives the run, prints its report, and returns the exit code.
    pub(super) fn to_end(&self, run: LockedRun) -> Result<Exit, Error> {
        let Command {
            args,
            environment,
            printer,
        } = *self.command;
        let id = run.state().run().clone();
        let runtime = host::runtime().map_err(cannot_start)?;
        let driven = runtime.block_on(self.drive(run));
        // The end must not wait for a model that still decodes.
        runtime.shutdown_background();
        let run = driven.map_err(|error| outcome::resumable(error, &id))?;
        if let Some(stale) = run.stale_file() {
            printer.warning(&format!("the state of the run is out of date: {stale}"));
        }
        let state = run.state();
        let report = BenchmarkReport::of(state, state.view(state.status()));
        drop(run);
        outcome::show(&report, &args.output, environment, printer).map_err(|error| {
            error.hint(format!("print it with `conclave benchmark report {id}`"))
        })?;
        outcome::exit(&report, &args.output)
    }

    async fn drive(&self, run: LockedRun) -> Result<LockedRun, Error> {
        let printer = self.command.printer;
        let terms = run.state().terms();
        let options = terms.options.clone();
        let arms: Vec<Arm> = terms.arms.iter().map(|arm| arm.arm).collect();
        let progress = BenchmarkProgress::new(printer, counts(run.state()), &arms);
        let screen = printer.clone();
        let interrupts = interrupts::listen_to_two(Exit::Interrupted.code(), move || {
            screen.restore_terminal();
        });
        let batch = Batch::new(BatchTerms {
            home: &self.planner.sources().home,
            clock: self.clock,
            seed: seed(),
            ceiling: self.ceiling.map(|ceiling| (CEILING, ceiling)),
            control: limits(self.arms)?,
            month_rule: self.month_rule,
            interrupts: interrupts.map_err(cannot_start)?,
            report,
        })?;
        let driver = BenchmarkDriver {
            run,
            book: self.book,
            arms: self.arms,
            planner: self.planner,
            control: control(&options, ConsentMode::PreApproved),
            jobs: self.jobs,
            clock: self.clock,
            progress: &progress,
            printer,
        };
        Box::pin(driver.drive(batch)).await
    }
}

/// Returns the limits that have the month's budget: those of a plan that costs something, if any
/// does.
fn limits(arms: &ArmTemplates) -> Result<&Control, Error> {
    let mut plans: Vec<&Plan> = arms.plans().collect();
    plans.sort_by_key(|plan| plan.control.consent.month.is_none());
    let first = plans.first().map(|plan| &plan.control);
    first.ok_or_else(|| Error::failed("the run has no arms"))
}

/// Returns the rule of consent to a run.
pub(super) fn consent_rule(
    arms: &ArmTemplates,
    consent_mode: ConsentMode,
) -> Result<ConsentRule, Error> {
    Ok(ConsentRule {
        consent_mode,
        ..limits(arms)?.consent
    })
}

fn counts(state: &BenchmarkState) -> RunCounts {
    let workload = state.workload();
    let done = state.results().len() as u64;
    let measured = |arm: Arm| !state.terms().is_comparison() || arm == Arm::Panel;
    let answered = || {
        let results = state.results().iter();
        results.filter(|result| measured(result.run.arm))
    };
    let is_right = |result: &&CaseResult| result.outcome == CaseOutcome::Approved;
    RunCounts {
        total: workload.remaining + done,
        done,
        answered: answered().count() as u64,
        right: answered().filter(is_right).count() as u64,
        cost: state.spend().cost,
        done_before: done,
        running: 0,
        is_ending: false,
    }
}
