//! Runs of many consultations: consent once, by the rules of a consultation, what they are expected
//! to cost, and the runtime that drives them.

use serde::Serialize;

use super::seed;
use crate::commands::runtime::{block_on, cannot_start};
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::{ConsentRule, Gate, Month};
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::ids::ModelRef;
use crate::domain::money::Cost;
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
use crate::terminal::output::format::{amount, cost_range, dollars, thousands};
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::ask_run_consent;
use crate::terminal::report::report;

/// What to do when the month's budget has stopped a run.
pub(crate) const RAISE_MONTH: &str =
    "raise `monthly_budget` in config.json, or wait for the next month";

/// What to do when a key was refused or its limit is used up.
pub(crate) const CHECK_KEYS: &str = "check keys and vendors with `conclave doctor`";

/// An approved run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApprovedRun<'a> {
    pub(crate) planner: &'a Planner<'a>,
    pub(crate) printer: &'a Printer,
    pub(crate) ceiling: Option<RunCeiling>,
    pub(crate) control: &'a Control,
    pub(crate) month_rule: MonthRule,
    pub(crate) clock: Clock,
}

impl<'a> ApprovedRun<'a> {
    /// Drives the run to its end on a runtime of its own.
    pub(crate) fn drive<K: 'a, T>(
        self,
        driver: impl AsyncFnOnce(Batch<'a, K>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let runtime = host::runtime().map_err(cannot_start)?;
        let end = runtime.block_on(async {
            let screen = self.printer.clone();
            let interrupts = interrupts::listen_to_two(Exit::Interrupted.code(), move || {
                screen.restore_terminal();
            });
            let batch = Batch::new(BatchTerms {
                home: &self.planner.sources.home,
                clock: self.clock,
                seed: seed(),
                ceiling: self.ceiling,
                control: self.control,
                month_rule: self.month_rule,
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

/// Asks for consent if the rule wants it.
///
/// # Errors
///
/// When it is declined, when there is no person to ask, or when the ceiling allows no call.
pub(crate) fn agree(
    estimate: &Estimate,
    rule: ConsentRule,
    ceiling: Option<RunCeiling>,
    printer: &Printer,
) -> Result<MonthRule, Error> {
    let exceeds_month = |month: Month| month.is_exceeded_by(estimate.cost);
    let month_rule = if rule.month.is_some_and(exceeds_month) {
        MonthRule::MayBeExceeded
    } else {
        MonthRule::Limited
    };
    match rule.decide(estimate, ceiling.map(RunCeiling::left)) {
        Gate::Pass(_) => Ok(month_rule),
        // A part of the run may fit: its calls stop at the ceiling.
        Gate::AboveCeiling => Ok(MonthRule::Limited),
        Gate::Ask(why) => match block_on(ask_run_consent(printer, estimate, &why, &rule))? {
            Confirmation::Yes => Ok(month_rule),
            Confirmation::No | Confirmation::NoPerson => {
                Err(Error::new(Exit::Declined, "the run was not approved"))
            }
        },
        Gate::Refuse(why) => {
            let error = "the cost of the run needs consent, and there is no terminal to ask on";
            let approval = format!(
                "the estimate is {:.2}: approve it with `--yes`, or set a ceiling with \
                 `--max-cost USD`",
                estimate.cost
            );
            Err(refused(error, &approval, rule, &why))
        }
    }
}

/// Returns the error for a cost that needs consent where no person can be asked.
pub(crate) fn refused(
    error: &'static str,
    approval: &str,
    rule: ConsentRule,
    why: &[GateReason],
) -> Error {
    let is_month = why.contains(&GateReason::MonthlyBudget);
    let error = Error::new(Exit::Declined, error).hint(approval);
    raise_month(error, rule.month.filter(|_| is_month))
}

/// Adds what would allow a cost that exceeds the month's budget.
pub(crate) fn raise_month(error: Error, month: Option<Month>) -> Error {
    match month {
        Some(Month { budget, spent }) => error.hint(format!(
            "or raise `monthly_budget` in config.json: {spent:.2} of {budget:.2} has been spent \
             this month"
        )),
        None => error,
    }
}

/// Returns what the cost gate would do with a run, for its dry run: `begins without asking`.
pub(crate) fn decision(gate: &Gate, estimate: &Estimate) -> &'static str {
    match gate {
        Gate::Pass(_) if estimate.high == Cost::FREE => "begins at once: its models are free",
        Gate::Pass(_) => "begins without asking",
        Gate::Ask(_) => "asks for consent to the cost first",
        Gate::Refuse(_) => "needs `--yes` or `--max-cost`: there is no terminal to ask on",
        Gate::AboveCeiling => "stops at its ceiling before it is complete",
    }
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
