//! Runs of many consultations: consent once, by the rules of a consultation, what they are expected
//! to cost, and the runtime that drives them.

use serde::Serialize;

use super::consent::{self, GateDecision};
use super::seed;
use crate::benchmark::run::{Arm, ArmTerms};
use crate::commands::runtime::{block_on, cannot_start};
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::Estimate;
use crate::domain::ids::ModelRef;
use crate::domain::money::MicroUsd;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::engine::clock::Clock;
use crate::engine::ports::Confirmation;
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::session::batch::estimate::{BatchEstimate, ModelShare};
use crate::session::batch::{Batch, BatchTerms, RunCeiling};
use crate::session::run::MonthRule;
use crate::setup::plan::Planner;
use crate::setup::plan::template::PlanTemplate;
use crate::terminal::output::format::{amount, cost_range, count, dollars, thousands};
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::ask_run_consent;
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
    estimate: &'a Estimate,
    spending: RunSpending,
    clock: Clock,
}

/// The ceiling of a run, and what counts as spent by its earlier processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSpending {
    /// The name of the ceiling in messages.
    pub(crate) name: &'static str,
    pub(crate) limit: Option<MicroUsd>,
    pub(crate) used: MicroUsd,
}

impl RunSpending {
    fn ceiling(self) -> Option<RunCeiling> {
        let Self { name, limit, used } = self;
        limit.map(|limit| RunCeiling { name, limit, used })
    }
}

/// A run that is approved, and whether its calls may exceed the month's budget.
#[derive(Debug)]
pub(crate) struct ApprovedBatch<'a>(&'a PreparedBatch<'a>, MonthRule);

impl<'a> PreparedBatch<'a> {
    pub(crate) fn new(
        planner: &'a Planner<'a>,
        printer: &'a Printer,
        templates: impl Iterator<Item = &'a PlanTemplate>,
        estimate: &'a Estimate,
        spending: RunSpending,
        clock: Clock,
    ) -> Result<Self, Error> {
        let controls = templates.map(|template| &template.common.control);
        let control = controls.max_by_key(|control| control.consent.month.is_some());
        Ok(Self {
            planner,
            printer,
            control: control.ok_or_else(|| Error::failed("the run asks no model"))?,
            estimate,
            spending,
            clock,
        })
    }

    /// Returns what the cost gate would do, in words.
    pub(crate) fn decision(&self) -> String {
        let left = self.spending.ceiling().map(RunCeiling::left);
        GateDecision::of(&self.control.consent, self.estimate, left).message
    }

    /// Asks for consent if the rule wants it.
    ///
    /// # Errors
    ///
    /// When it is declined, or when there is no person to ask.
    pub(crate) fn agree(&'a self) -> Result<ApprovedBatch<'a>, Error> {
        let (rule, estimate, printer) = (&self.control.consent, self.estimate, self.printer);
        let left = self.spending.ceiling().map(RunCeiling::left);
        let gate = rule.decide(estimate, left);
        let how =
            consent::agree(
                &gate,
                estimate,
                rule,
                self.spending.used,
                "",
                |why| match block_on(ask_run_consent(printer, estimate, why, rule))? {
                    Confirmation::Yes => Ok(()),
                    Confirmation::No | Confirmation::NoPerson => {
                        Err(Error::new(Exit::Declined, "Run cancelled by user"))
                    }
                },
            )?;
        let exceeds_month = |month: Month| month.is_exceeded_by(estimate.cost);
        // Above a ceiling, a part of the run may fit: no consent was given to exceed the month.
        let month_rule = if how.is_some() && rule.month.is_some_and(exceeds_month) {
            MonthRule::MayBeExceeded
        } else {
            MonthRule::Limited
        };
        Ok(ApprovedBatch(self, month_rule))
    }
}

impl<'a> ApprovedBatch<'a> {
    /// Drives the run to its end on a runtime of its own.
    pub(crate) fn drive<K: Send + 'static, T>(
        self,
        driver: impl AsyncFnOnce(Batch<'a, K>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Self(run, month_rule) = self;
        let runtime = host::runtime_for_many().map_err(cannot_start)?;
        let end = runtime.block_on(async {
            let screen = run.printer.clone();
            let interrupts = interrupts::listen_to_two(Exit::Interrupted.code(), move || {
                screen.restore_terminal();
            });
            let batch = Batch::new(BatchTerms {
                home: &run.planner.sources.home,
                clock: run.clock,
                seed: seed(),
                ceiling: run.spending.ceiling(),
                control: run.control,
                month_rule,
                interrupts: interrupts.map_err(cannot_start)?,
                report,
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

/// Describes what a part of a run is expected to cost: `In all: 120 calls, $0.10 – $0.20 – $0.40`.
pub(crate) fn cost_line(name: &str, part: &BatchEstimate) -> String {
    let total = &part.total;
    let cost = cost_range(total.low, total.cost, total.high, dollars);
    format!("{name}: {} calls, {cost}", thousands(part.calls))
}

/// Describes what earlier processes have spent on a run: `≥ $0.0110 spent so far`, and what counts
/// under its ceiling besides.
pub(crate) fn spent_so_far(spend: &ConsultationSpend) -> String {
    let known = format!("{} spent so far", amount(spend.cost));
    if spend.in_doubt.is_zero() {
        return known;
    }
    format!(
        "{known}; calls whose cost is unknown count {} more",
        spend.in_doubt
    )
}

/// Describes what each model of a run is expected to be asked, a line each.
pub(crate) fn model_lines(estimate: &BatchEstimate) -> impl Iterator<Item = String> {
    estimate.by_model.iter().map(|(model, share)| {
        let sum = &share.estimate;
        format!(
            "{model}: {} calls, {} input tokens, ~{} output tokens, {}",
            thousands(share.calls),
            thousands(sum.input_tokens),
            thousands(sum.output_tokens),
            cost_range(sum.low, sum.cost, sum.high, dollars),
        )
    })
}

/// A part of an estimate in JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PartFigures {
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// The lowest with answers of usual length.
    #[cfg_attr(test, schemars(range(min = 0)))]
    low_usd: f64,
    /// What is expected.
    #[cfg_attr(test, schemars(range(min = 0)))]
    cost_usd: f64,
    /// The highest with answers of usual length.
    #[cfg_attr(test, schemars(range(min = 0)))]
    high_usd: f64,
    /// True if a model has no known price.
    cost_is_lower_bound: bool,
}

/// The part of one model in JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ModelFigures<'a> {
    model: &'a ModelRef,
    /// Where the calls go; `None` for the embedded model.
    address: Option<&'a String>,
    #[serde(flatten)]
    figures: PartFigures,
}

/// Returns the part of each model, in alphabetical order.
pub(crate) fn model_figures<'a>(
    estimate: &'a BatchEstimate,
    templates: impl Iterator<Item = &'a PlanTemplate>,
) -> Vec<ModelFigures<'a>> {
    let templates: Vec<&PlanTemplate> = templates.collect();
    let of = |(model, share): (&'a ModelRef, &'a ModelShare)| ModelFigures {
        model,
        address: templates
            .iter()
            .find_map(|template| template.addresses.get(&model.provider)),
        figures: PartFigures::of(share.calls, &share.estimate),
    };
    estimate.by_model.iter().map(of).collect()
}

impl PartFigures {
    pub(crate) fn of(calls: u64, sum: &Estimate) -> Self {
        Self {
            calls,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            low_usd: sum.low.known.usd(),
            cost_usd: sum.cost.known.usd(),
            high_usd: sum.high.known.usd(),
            cost_is_lower_bound: sum.cost.lower_bound,
        }
    }
}
