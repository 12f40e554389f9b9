//! Consent to the cost of a run, before it begins: the gate's decision in words, the question, and
//! what allows a cost when no person can be asked.

use std::cmp::Reverse;

use serde::Serialize;

use crate::commands::block_on;
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::{ConsentRule, Gate, Month, refusal};
use crate::consultation::policy::estimate::{Consent, Estimate, GateReason};
use crate::domain::context::ScrubbingReport;
use crate::domain::cost::money::MicroUsd;
use crate::domain::words::secret_type;
use crate::engine::ports::Confirmation;
use crate::error::{Error, Exit};
use crate::scrub::Finding;
use crate::session::batch::RunCeiling;
use crate::terminal::output::format::{cost_range, dollars};
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::ask_run_consent;
use crate::text::clean::one_line;

/// What consent is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConsentRequest<'a> {
    pub(crate) estimate: &'a Estimate,
    /// `None` where no setting allows the cost in advance.
    pub(crate) rule: Option<&'a ConsentRule>,
    pub(crate) ceiling: RunCeiling,
    /// What `--yes` is added to, with a blank.
    pub(crate) command: &'a str,
    /// The error if the person declines.
    pub(crate) declined: &'static str,
}

impl ConsentRequest<'_> {
    /// Carries out what the gate has decided, and returns how consent was given; `None` above a
    /// ceiling, where the run stops by itself.
    pub(crate) fn agree(self, gate: &Gate, printer: &Printer) -> Result<Option<Consent>, Error> {
        match gate {
            Gate::Pass(how) => Ok(Some(*how)),
            Gate::AboveCeiling => Ok(None),
            Gate::Ask(why) => {
                let asked =
                    ask_run_consent(printer, self.estimate, why, self.rule, self.ceiling.left());
                match block_on(asked)? {
                    Confirmation::Yes => Ok(Some(Consent::Asked)),
                    Confirmation::No | Confirmation::NoPerson => {
                        Err(Error::declined(self.declined))
                    }
                }
            }
            Gate::Refuse(_) => {
                let error = refusal(self.estimate, self.ceiling.left());
                Err(self.allow(Error::new(Exit::Declined, error)))
            }
        }
    }

    /// Adds what lets an estimate pass without a question.
    pub(crate) fn allow(self, error: Error) -> Error {
        let Self {
            estimate,
            rule,
            ceiling,
            command,
            ..
        } = self;
        let (cost, high) = (estimate.cost, estimate.high);
        let is_above = ceiling.left().is_some_and(|left| left < cost.known);
        let figure = match (cost.is_unknown(), cost.is_unbilled() && !high.is_unbilled()) {
            (true, _) => String::new(),
            (false, true) => format!("the estimate is at most {high:.2}: "),
            (false, false) => {
                let range = cost_range(estimate.low, cost, high, dollars);
                format!("the estimate is {range}: ")
            }
        };
        let error = error.hint(if is_above {
            format!("go on below the ceiling, with less than is expected, with `{command}--yes`")
        } else {
            format!("{figure}agree to it with `{command}--yes`")
        });
        let Some(rule) = rule else {
            return error;
        };
        if let Some(remedy) = remedy(estimate, rule) {
            return error.hint(format!("or {remedy}"));
        }
        let high = (estimate.high.known + ceiling.used).up_to_cents();
        let high = format!("{high:.2}");
        let error = error.hint(format!(
            "or allow the high estimate with `--max-cost {}`",
            high.trim_start_matches('$')
        ));
        // A large context needs consent at any cost.
        let is_helped = !is_above && cost.known >= rule.always_allow_under;
        error.hint_if(is_helped.then_some("or raise `always_allow_under` in config.json"))
    }
}

/// What allows a cost in advance where no ceiling does.
pub(crate) fn remedy(estimate: &Estimate, rule: &ConsentRule) -> Option<String> {
    let month = rule.month;
    if let Some(Month { budget, spent }) = month.filter(|it| it.is_exceeded_by(estimate.cost)) {
        return Some(format!(
            "raise `monthly_budget` in config.json: {:.2} of {budget:.2} has been spent this month",
            spent.known
        ));
    }
    // No limit is above an unknown cost.
    let unknown = "give the models a price in models.json, or `free: true` to an endpoint that \
                   costs nothing";
    estimate.high.lower_bound.then(|| unknown.to_owned())
}

/// What the cost gate would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GateDecision {
    /// `auto_approved`: below the threshold. `flag`: because of `--yes`. `ceiling`: the estimate is
    /// within it. `ask`: on the terminal. `refuse`: without a terminal (exit code 3).
    /// `above_ceiling`: it does not pay for the shortest answers (exit code 4). `agreed`: an earlier
    /// consent covers what is left.
    #[cfg_attr(test, schemars(extend("enum" = [
        "auto_approved", "flag", "ceiling", "ask", "refuse", "above_ceiling", "agreed",
    ])))]
    decision: &'static str,
    /// The reasons why the estimate needs consent.
    why: Vec<GateReason>,
    /// The decision in words.
    pub(crate) message: String,
}

impl GateDecision {
    /// `ceiling` is what is left under it.
    pub(crate) fn of(control: &Control, estimate: &Estimate, ceiling: Option<MicroUsd>) -> Self {
        let rule = &control.consent;
        let (threshold, limit) = (rule.always_allow_under, ceiling.unwrap_or_default());
        let (decision, message, why) = match rule.decide(estimate, ceiling) {
            Gate::Pass(Consent::AutoApproved) if estimate.high.is_unbilled() => {
                let message = if estimate.cost.by_plan {
                    "goes ahead: a plan pays for it".to_owned()
                } else {
                    "goes ahead: the models are free".to_owned()
                };
                ("auto_approved", message, Vec::new())
            }
            Gate::Pass(Consent::AutoApproved) => {
                let why = format!("below always_allow_under, {threshold:.2}");
                let message = format!("goes ahead without asking: {why}");
                ("auto_approved", message, Vec::new())
            }
            Gate::Pass(Consent::Ceiling) => {
                let why = format!("the estimate is within the {limit:.2} that the ceiling leaves");
                let message = format!("goes ahead without asking: {why}");
                ("ceiling", message, Vec::new())
            }
            Gate::Pass(Consent::Flag | Consent::Asked | Consent::NobodyToAsk) => {
                let message = "goes ahead: approved by --yes".to_owned();
                ("flag", message, Vec::new())
            }
            Gate::Ask(why) => ("ask", format!("asks first: {}", reasons(&why)), why),
            Gate::Refuse(why) => {
                let is_above = ceiling.is_some_and(|limit| limit < estimate.cost.known);
                let more = if is_above { " or a higher ceiling" } else { "" };
                let no_terminal = "because there is no terminal to ask on";
                let message = format!("needs --yes{more}, {no_terminal}: {}", reasons(&why));
                ("refuse", message, why)
            }
            Gate::AboveCeiling => {
                let why =
                    format!("the ceiling leaves {limit:.2}, less than the least that it takes");
                let message = format!("ends at its ceiling: {why}");
                ("above_ceiling", message, Vec::new())
            }
        };
        let of_plan = estimate.cost.by_plan.then(|| {
            format!(
                "; at most {} calls of a plan (--max-calls), which no ceiling in dollars holds",
                control.max_calls
            )
        });
        Self {
            decision,
            why,
            message: message + &of_plan.unwrap_or_default(),
        }
    }
}

impl Default for GateDecision {
    /// Nothing is asked.
    fn default() -> Self {
        Self {
            decision: "agreed",
            why: Vec::new(),
            message: "goes ahead: an earlier consent covers it".to_owned(),
        }
    }
}

fn reasons(why: &[GateReason]) -> String {
    let words = |reason: &GateReason| match reason {
        GateReason::Cost => "it is not below always_allow_under",
        GateReason::Unpriced => "a model has no price",
        GateReason::MonthlyBudget => "it would exceed the monthly budget",
        GateReason::LargeContext => "the context is large",
        GateReason::FirstCost => "nothing has been spent here so far",
    };
    why.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// With `--verbose` also by which rule and where. Warns when none was looked for.
pub(crate) fn announce(report: Option<&ScrubbingReport>, findings: &[Finding], printer: &Printer) {
    let Some(report) = report else {
        return;
    };
    if !report.sensitive_data_scrubbed {
        printer.warning("⚠️ WARNING: Sensitive data scrubbing disabled.");
        printer.warning("Ensure your context contains no secrets!");
        return;
    }
    let number = report.patterns_matched;
    if number > 0 {
        let values = if number == 1 { "value" } else { "values" };
        printer.note(&format!(
            "🔒 Security: {number} sensitive {values} detected and masked in context:"
        ));
    }
    // The most frequent type first.
    let mut types: Vec<_> = report.by_type.iter().collect();
    types.sort_by_key(|(_, number)| Reverse(**number));
    for (id, number) in types {
        printer.note(&format!("- {number} {}", secret_type(id, *number)));
    }
    for finding in findings {
        let source = one_line(&finding.source);
        printer.detail(&format!("   {} in {source}:{}", finding.rule, finding.line));
    }
}
