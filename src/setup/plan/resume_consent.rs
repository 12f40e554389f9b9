//! Consent to what remains of an interrupted consultation, at today's prices and limits.
//!
//! What a person agreed to, by answer or by flag, covers the rest as long as spending and the rest
//! stay within the estimate that was shown. Everything else is decided on today's terms: a journal
//! may be old, or of someone else.

use crate::consultation::plan::Plan;
use crate::consultation::plan::resume_terms::ResumeTerms;
use crate::consultation::policy::consent::Gate;
use crate::consultation::policy::estimate::{CallEstimate, Consent, Estimate};
use crate::consultation::prompt::PromptError;
use crate::consultation::transcript::Transcript;
use crate::domain::money::{Cost, MicroUsd};

/// The cost of what remains, and the decision on it.
#[derive(Debug)]
pub(crate) struct ResumeConsent {
    /// The calls that remain.
    pub(crate) remaining: Estimate,
    /// `None` if the earlier consent covers them, or the machine itself asks or stops.
    pub(crate) gate: Option<Gate>,
    /// What was spent and what remains, if that is more than was agreed to.
    estimate: Option<Estimate>,
    /// The rest would exceed the monthly budget.
    exceeds_month: bool,
}

impl ResumeConsent {
    /// Decides on the rest of a consultation under a plan with today's prices and limits.
    ///
    /// # Errors
    ///
    /// When a prompt cannot be rendered.
    pub(super) fn new(plan: &Plan, transcript: &Transcript) -> Result<Self, PromptError> {
        let whole = plan.estimate()?;
        let Some((_, how)) = transcript.consent else {
            // The machine asks, as it would have done.
            return Ok(Self {
                gate: None,
                // The one that was shown is another.
                estimate: (transcript.estimate.is_some()
                    && transcript.estimate.as_ref() != Some(&whole))
                .then(|| whole.clone()),
                exceeds_month: false,
                remaining: whole,
            });
        };
        let remaining = remaining(whole, transcript);
        let spent = Cost::exactly(transcript.total().cost.known);
        let total = Estimate {
            cost: spent + remaining.cost,
            low: spent + remaining.low,
            high: spent + remaining.high,
            ..remaining.clone()
        };
        let is_within = transcript.estimate.as_ref().is_some_and(|agreed| {
            total.cost.known <= agreed.high.known
                && (agreed.high.lower_bound || !total.cost.lower_bound)
        });
        let by_person = matches!(how, Consent::Flag | Consent::Asked);
        let control = &plan.control;
        let month = control.consent.month;
        let exceeds_month = month.is_some_and(|month| month.is_exceeded_by(remaining.cost));
        let counted = spent.known + transcript.in_doubt();
        let left = |ceiling: MicroUsd| MicroUsd(ceiling.0.saturating_sub(counted.0));
        let gate = if is_within && by_person && !exceeds_month {
            None
        } else {
            let gate = control
                .consent
                .decide(&remaining, control.max_cost.map(left));
            // Where no call fits, the machine stops at the ceiling.
            Some(gate).filter(|gate| *gate != Gate::AboveCeiling)
        };
        Ok(Self {
            estimate: Some(total).filter(|_| !is_within && gate.is_some()),
            remaining,
            gate,
            exceeds_month,
        })
    }

    /// Adds the consent to the terms.
    pub(crate) fn give(self, how: Option<Consent>, terms: &mut ResumeTerms) {
        terms.beyond_month = self.exceeds_month && how.is_some();
        // Approval by the same threshold as before is no news.
        terms.consent = how.filter(|how| *how != Consent::AutoApproved || self.estimate.is_some());
        terms.estimate = self.estimate;
    }
}

/// Returns the estimate of the calls that are still to be made.
fn remaining(whole: Estimate, transcript: &Transcript) -> Estimate {
    let completed = transcript.completed_rounds();
    let is_open = |call: &CallEstimate| {
        let is_answered = transcript.calls.iter().any(|done| {
            done.error.is_none() && done.agent_id == call.agent_id && done.answer == call.answer
        });
        !is_answered && !completed.contains(&call.round_number)
    };
    let mut rest = Estimate {
        context_tokens: whole.context_tokens,
        ..Estimate::default()
    };
    for call in whole.calls.into_iter().filter(is_open) {
        rest.cost += call.cost;
        rest.low += call.low;
        rest.high += call.high;
        rest.input_tokens += call.input_tokens;
        rest.output_tokens += call.output_tokens;
        rest.calls.push(call);
    }
    rest
}
