//! What a person is told of a consultation that ended without an answer: what happened, and what to do about it.

use crate::consultation::event::{AbortReason, Consent};
use crate::consultation::policy::consent::Month;
use crate::consultation::transcript::{Abort, Ceiling, Transcript};
use crate::domain::ids::ConsultationId;
use crate::error::{Error, Exit};
use crate::terminal::words::amount;

/// The end as an error, with the way on. `kept` is what can be gone on with.
pub(super) fn aborted(abort: &Abort, transcript: &Transcript, kept: Option<&ConsultationId>) -> Error {
    let error = Error::new(exit(abort.reason), abort.message.clone());
    let again = kept.map(|id| format!("conclave resume {id}"));
    let go_on = |error: Error, with: &str| match &again {
        Some(command) => error.hint(format!("go on with it: {command}{with}")),
        None => error,
    };
    match abort.reason {
        AbortReason::Declined => declined(error, transcript),
        AbortReason::Interrupted | AbortReason::UserCancelled => go_on(error, ""),
        AbortReason::Timeout => go_on(error, " --max-wait SECONDS"),
        AbortReason::CostCeiling => go_on(ceiling(error, transcript), " --max-cost USD"),
        AbortReason::CostExceededEstimate => {
            let estimated = transcript.estimate.as_ref().map(|estimate| format!(", and {} at most was expected", amount(estimate.high)));
            let error = error.hint(format!("{} was spent{}", amount(transcript.total().cost), estimated.unwrap_or_default()));
            go_on(error, " --yes --max-cost USD")
        }
        AbortReason::Strict => go_on(error.hint("without --strict, a lesser result counts"), ""),
        AbortReason::AgentFailed => go_on(error, " --on-failure substitute"),
        AbortReason::AllAgentsFailed | AbortReason::JudgeFailed => go_on(error, ""),
        AbortReason::Prompt => error.hint("check the templates in the `prompts` folder of the home"),
    }
}

fn exit(reason: AbortReason) -> Exit {
    match reason {
        AbortReason::Declined | AbortReason::UserCancelled => Exit::Declined,
        AbortReason::Interrupted => Exit::Interrupted,
        AbortReason::CostCeiling | AbortReason::CostExceededEstimate => Exit::Ceiling,
        AbortReason::Strict => Exit::Quorum,
        AbortReason::AllAgentsFailed | AbortReason::JudgeFailed | AbortReason::Timeout | AbortReason::AgentFailed => Exit::Failed,
        AbortReason::Prompt => Exit::Usage,
    }
}

fn declined(error: Error, transcript: &Transcript) -> Error {
    match (transcript.consent, &transcript.estimate) {
        (Some((_, Consent::NobodyToAsk)), Some(estimate)) => {
            let error = error.hint(format!("the estimate is {:.2}: agree to it with --yes", estimate.cost));
            let rule = transcript.terms.plan.as_ref().map(|plan| plan.control.consent);
            let month = rule.and_then(|rule| rule.month).filter(|month| month.is_exceeded_by(estimate.cost));
            if let Some(Month { budget, spent }) = month {
                return error
                    .hint(format!("or raise `monthly_budget` in config.json: {spent:.2} of {budget:.2} has been spent this month"));
            }
            // No limit is above what is not known.
            if estimate.high.lower_bound {
                return error.hint("or give the models a price in models.json, or their endpoint `free: true` where they cost nothing");
            }
            let cents = estimate.high.known.0.div_ceil(10_000);
            let error = error.hint(format!("or let it cost the high estimate at most: --max-cost {}.{:02}", cents / 100, cents % 100));
            // A large context is asked about whatever it costs.
            let is_dear = rule.is_none_or(|rule| estimate.cost.known >= rule.always_allow_under);
            if is_dear { error.hint("or raise `always_allow_under` in config.json") } else { error }
        }
        (_, _) => error,
    }
}

/// What was spent, what the next call could have cost, and what would let it be made.
fn ceiling(error: Error, transcript: &Transcript) -> Error {
    let Some(Ceiling { max_cost, spent, agent_id, model, worst_case }) = &transcript.ceiling else {
        // It was clear before any call was made.
        return match &transcript.estimate {
            Some(estimate) => error.hint(format!("the estimate is {:.2}, and {:.2} at least", estimate.cost, estimate.low)),
            None => error,
        };
    };
    let who = if agent_id.is_judge() { "the judge" } else { transcript.agent_name(agent_id.as_str()) };
    if worst_case.lower_bound {
        return error
            .hint(format!("the price of {model} is not known, so that no ceiling can be kept to"))
            .hint("give it a price in models.json, or go on without a ceiling");
    }
    error.hint(format!(
        "of {max_cost}, {} is spent; the next call ({who}, {model}) could have cost {}",
        amount(*spent),
        amount(*worst_case)
    ))
}
