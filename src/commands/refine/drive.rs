//! Drives a loop that was approved, with its progress on standard error, and shows how it ended.

use crate::commands::face::{cannot_start, seed};
use crate::domain::money::MicroUsd;
use crate::engine::clock::Clock;
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::records::refinements::LockedRefinement;
use crate::session::batch::{Batch, BatchTerms};
use crate::session::refinement::driver::RefinementDriver;
use crate::session::run::MonthRule;
use crate::terminal::progress::refinement::RefinementProgress;
use crate::terminal::report::report;

use super::prepare::{Prepared, Starting};
use super::{RefineCommand, outcome};

/// The name of the ceiling over a loop, in messages.
const CEILING: &str = "ceiling of the loop";

/// An approved loop.
#[derive(Debug)]
pub(super) struct Drive<'a> {
    pub(super) command: &'a RefineCommand<'a>,
    pub(super) starting: &'a Starting,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) ceiling: Option<MicroUsd>,
    pub(super) month_rule: MonthRule,
    pub(super) clock: Clock,
}

impl Drive<'_> {
    /// Drives the loop, shows its end, and returns the exit code.
    pub(super) fn to_end(&self, refinement: LockedRefinement) -> Result<Exit, Error> {
        let runtime = host::runtime().map_err(cannot_start)?;
        let driven = runtime.block_on(self.drive(refinement));
        // The end must not wait for a model that still decodes.
        runtime.shutdown_background();
        let refinement = driven.map_err(|error| {
            if self.starting.store.files().log.exists() {
                outcome::resumable(error)
            } else {
                error.hint("read what was answered with `conclave history`; a new loop asks again")
            }
        })?;
        outcome::show(self.command, self.starting, refinement.state())?;
        outcome::exit(self.command, self.starting, refinement.state())
    }

    async fn drive(&self, refinement: LockedRefinement) -> Result<LockedRefinement, Error> {
        let printer = self.command.printer;
        let Prepared {
            planner, templates, ..
        } = self.prepared;
        let target = &self.starting.target;
        let progress = RefinementProgress::new(printer);
        let screen = printer.clone();
        let interrupts = interrupts::listen_to_two(Exit::Interrupted.code(), move || {
            screen.restore_terminal();
        });
        let batch = Batch::new(BatchTerms {
            home: &planner.sources().home,
            clock: self.clock,
            seed: seed(),
            ceiling: self.ceiling.map(|ceiling| (CEILING, ceiling)),
            control: templates.limits(),
            month_rule: self.month_rule,
            interrupts: interrupts.map_err(cannot_start)?,
            report,
        })?;
        let driver = RefinementDriver {
            refinement,
            source: target.source.clone(),
            output: target.output.clone(),
            templates,
            planner,
            terms: self.starting.terms,
            jobs: self.command.args.jobs(),
            clock: self.clock,
            progress: &progress,
            printer,
        };
        Box::pin(driver.drive(batch)).await
    }
}
