//! Consent to the cost of a run of many consultations, once, by the rules of a consultation.

use crate::consultation::policy::consent::{ConsentRule, Gate, Month};
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::money::{Cost, MicroUsd};
use crate::error::{Error, Exit};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::run::MonthRule;
use crate::terminal::output::format::{cost_range, dollars, thousands};
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::{Confirmation, ask_run_consent};

/// Asks for consent if the rule wants it.
///
/// # Errors
///
/// When it is declined, when there is no person to ask, or when the ceiling allows no call.
pub(crate) fn agree(
    estimate: &Estimate,
    rule: ConsentRule,
    ceiling: Option<MicroUsd>,
    printer: &Printer,
) -> Result<MonthRule, Error> {
    let exceeds_month = |month: Month| month.is_exceeded_by(estimate.cost);
    let month_rule = if rule.month.is_some_and(exceeds_month) {
        MonthRule::MayBeExceeded
    } else {
        MonthRule::Limited
    };
    match rule.decide(estimate, ceiling) {
        Gate::Pass(_) => Ok(month_rule),
        // A part of the run may fit: its calls stop at the ceiling.
        Gate::AboveCeiling => Ok(MonthRule::Limited),
        Gate::Ask(why) => {
            let asked = super::block_on(ask_run_consent(printer, estimate, &why, &rule))?;
            match asked {
                Confirmation::Yes => Ok(month_rule),
                Confirmation::No | Confirmation::NoTerminal => {
                    Err(Error::new(Exit::Declined, "the run was not approved"))
                }
            }
        }
        Gate::Refuse(why) => Err(refused(&why, estimate, &rule)),
    }
}

fn refused(why: &[GateReason], estimate: &Estimate, rule: &ConsentRule) -> Error {
    let error = Error::new(
        Exit::Declined,
        "the cost of the run needs consent, and there is no terminal to ask on",
    )
    .hint(format!(
        "the estimate is {:.2}: approve it with `--yes`, or set a ceiling with `--max-cost USD`",
        estimate.cost
    ));
    match rule
        .month
        .filter(|_| why.contains(&GateReason::MonthlyBudget))
    {
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
