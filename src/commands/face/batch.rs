//! Runs of many consultations: the expected cost, one consent by the rules of a single
//! consultation, and the runtime that drives them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::consent::{ConsentRequest, GateDecision};
use super::preview::Preview;
use super::seed;
use crate::benchmark::run::{Arm, ArmTerms};
use crate::commands::cannot_start;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::Month;
use crate::domain::ids::ProviderId;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::engine::clock::Clock;
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::session::batch::elsewhere::{Elsewhere, Executor, RunHeld};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::batch::{Batch, BatchTerms, RunCeiling};
use crate::session::run::MonthRule;
use crate::session::traces::TraceExporter;
use crate::setup::plan::Planner;
use crate::setup::plan::template::PlanTemplate;
use crate::terminal::output::format::{cost_range, count, dollars, spent, thousands};
use crate::terminal::output::printer::Printer;
use crate::terminal::report::report;

/// What to do when the month's budget has stopped a run.
pub(crate) const RAISE_MONTH: &str =
    "raise `monthly_budget` in config.json, or wait for the next month";

/// What to do when a key was refused or its limit is used up.
pub(crate) const CHECK_KEYS: &str = "check keys and vendors with `conclave doctor`";

/// A run whose plans are prepared; nothing has been sent.
#[derive(Debug)]
pub(crate) struct PreparedBatch<'a> {
    planner: &'a Planner<'a>,
    printer: &'a Printer,
    /// The limits of a plan that costs something, if any does: those have the month's budget.
    control: &'a Control,
    addresses: BTreeMap<ProviderId, String>,
    /// What its plans have in common.
    plans: Vec<&'a Plan>,
    estimate: &'a BatchEstimate,
    ceiling: RunCeiling,
    clock: Clock,
}

/// A run that is approved.
#[derive(Debug)]
pub(crate) struct ApprovedBatch<'a> {
    run: &'a PreparedBatch<'a>,
    /// Whether its calls may exceed the month's budget.
    month_rule: MonthRule,
    /// `None` if this process holds its consultations.
    executor: Option<Arc<dyn Executor>>,
}

impl<'a> PreparedBatch<'a> {
    pub(crate) fn new(
        planner: &'a Planner<'a>,
        printer: &'a Printer,
        templates: impl Iterator<Item = &'a PlanTemplate>,
        estimate: &'a BatchEstimate,
        ceiling: RunCeiling,
        clock: Clock,
    ) -> Result<Self, Error> {
        let templates: Vec<&PlanTemplate> = templates.collect();
        let controls = templates.iter().map(|template| &template.common.control);
        let control = controls.max_by_key(|control| control.consent.month.is_some());
        let addresses = templates
            .iter()
            .flat_map(|template| template.addresses.clone());
        Ok(Self {
            planner,
            printer,
            control: control.ok_or_else(|| Error::failed("the run asks no model"))?,
            addresses: addresses.collect(),
            plans: templates.iter().map(|template| &template.common).collect(),
            estimate,
            ceiling,
            clock,
        })
    }

    pub(crate) fn preview<D: Serialize>(
        &self,
        parts: &[(&str, &BatchEstimate)],
        details: D,
    ) -> Preview<'a, D> {
        let control = &self.control;
        let mut decision = GateDecision::of(control, &self.estimate.total, self.ceiling.left());
        if let Some(refusal) = self.refusal() {
            decision.message = format!("is refused: {refusal}");
        }
        Preview::new(self.estimate, parts, &self.addresses, decision, details)
    }

    /// Says why the ceiling of a new run is refused: no item could be finished under it.
    fn refusal(&self) -> Option<String> {
        let RunCeiling { limit, used, .. } = self.ceiling;
        let limits = limit.into_iter().chain(self.control.max_cost).min();
        let (limit, least) = limits.filter(|_| used.is_zero()).zip(self.estimate.least)?;
        let what = "any part of this run";
        (least.short > limit).then(|| least.refusal(limit, what))
    }

    /// Asks for consent if the rule wants it.
    ///
    /// # Errors
    ///
    /// When it is declined, when there is no person to ask, or when the ceiling is too low.
    pub(crate) fn agree(&'a self) -> Result<ApprovedBatch<'a>, Error> {
        if let Some(refusal) = self.refusal() {
            return Err(Error::new(Exit::Ceiling, refusal).hint("raise it with `--max-cost USD`"));
        }
        let (rule, estimate) = (&self.control.consent, &self.estimate.total);
        let gate = rule.decide(estimate, self.ceiling.left());
        let request = ConsentRequest {
            estimate,
            rule: Some(rule),
            ceiling: self.ceiling,
            command: "",
            declined: "Run cancelled by user",
        };
        let how = request.agree(&gate, self.printer)?;
        let exceeds_month = |month: Month| month.is_exceeded_by(estimate.cost);
        // Above a ceiling, a part of the run may fit: no consent was given to exceed the month.
        let month_rule = if how.is_some() && rule.month.is_some_and(exceeds_month) {
            MonthRule::MayBeExceeded
        } else {
            MonthRule::Limited
        };
        Ok(ApprovedBatch {
            run: self,
            month_rule,
            executor: None,
        })
    }
}

impl<'a> ApprovedBatch<'a> {
    /// Has its consultations held elsewhere.
    pub(crate) fn held_by(mut self, place: &dyn Elsewhere, held: &RunHeld) -> Result<Self, Error> {
        let PreparedBatch {
            plans,
            ceiling,
            control,
            ..
        } = self.run;
        let month = control.consent.month;
        let month = month.filter(|_| self.month_rule == MonthRule::Limited);
        let mut plans = plans.iter().copied();
        self.executor = Some(place.executor(held, &mut plans, *ceiling, month)?);
        Ok(self)
    }

    /// On a runtime of its own.
    pub(crate) fn drive<K: Send + 'static, T>(
        self,
        driver: impl AsyncFnOnce(Batch<'a, K>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Self {
            run,
            month_rule,
            executor,
        } = self;
        let runtime = host::runtime_for_many().map_err(cannot_start)?;
        let end = runtime.block_on(async {
            let screen = run.printer.clone();
            let interrupts = interrupts::listen(2, Exit::Interrupted.code(), move || {
                screen.restore_terminal();
            });
            let sources = run.planner.resume_sources();
            let traces = TraceExporter::open(sources.home, sources.environment, sources.face);
            let batch = Batch::new(BatchTerms {
                home: &run.planner.sources.home,
                clock: run.clock,
                seed: seed(),
                ceiling: run.ceiling,
                control: run.control,
                month_rule,
                traces,
                interrupts: interrupts.map_err(cannot_start)?,
                report,
                executor,
            })?;
            driver(batch).await
        });
        // The end must not wait for a model that still decodes.
        runtime.shutdown_background();
        end
    }
}

/// `panel: security=openai:m, …; judge openai:m; 4 rounds`.
pub(crate) fn arm_line(arm: &ArmTerms) -> String {
    let mut line = format!("{}: {}", arm.arm.name(), arm.seats.join(", "));
    if let Some(judge) = &arm.judge {
        line.extend(["; judge ", judge]);
    }
    if arm.arm == Arm::Panel {
        line.extend(["; ", &count(arm.rounds, "round")]);
    }
    line
}

/// `In all: 120 calls, $0.10 – $0.20 – $0.40`.
pub(crate) fn cost_line(name: &str, part: &BatchEstimate) -> String {
    let total = &part.total;
    let cost = cost_range(total.low, total.cost, total.high, dollars);
    format!("{name}: {} calls, {cost}", thousands(part.calls))
}

/// `≥ $0.0110 spent so far`, and what counts under its ceiling besides.
pub(crate) fn spent_so_far(spend: &ConsultationSpend) -> String {
    let known = format!("{} spent so far", spent(spend.cost));
    if spend.in_doubt.is_zero() {
        return known;
    }
    format!(
        "{known}; calls whose cost is unknown count {} more",
        spend.in_doubt
    )
}
