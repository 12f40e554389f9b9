//! What a batch is expected to cost: the sum over its consultations, from the prompts as they will
//! be sent.

use std::collections::BTreeMap;

use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::policy::fitting::SmallestCeilings;
use crate::domain::context::ScrubbingReport;
use crate::domain::ids::ModelRef;
use crate::scrub::Finding;
use crate::setup::context::outgoing::MaskingOutcome;

/// The estimate of a batch, and the secrets in its questions and their context.
#[derive(Clone, Debug, Default)]
pub struct BatchEstimate {
    /// Its calls are summed up by agent, answer and model; the context is that of the largest
    /// consultation.
    pub total: Estimate,
    pub calls: u64,
    /// What a ceiling must pay for at least: the consultations of the cheapest item.
    pub least: Option<SmallestCeilings>,
    pub by_model: BTreeMap<ModelRef, ModelShare>,
    /// What was masked in all consultations together; `None` if nothing was looked through.
    pub masked: Option<ScrubbingReport>,
    /// The places of it, each with the name of its consultation.
    pub findings: Vec<Finding>,
}

/// What one model is expected to be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelShare {
    pub calls: u64,
    pub estimate: Estimate,
}

impl BatchEstimate {
    pub fn add(&mut self, plan: &Estimate) {
        for call in &plan.calls {
            self.calls += 1;
            add_call(&mut self.total, call);
            let share = self.by_model.entry(call.model.clone()).or_default();
            share.calls += 1;
            add_call(&mut share.estimate, call);
        }
        self.total.context_tokens = self.total.context_tokens.max(plan.context_tokens);
    }

    /// Notes an item, whose consultations go out one after the other.
    pub fn note_item<'e>(&mut self, consultations: impl IntoIterator<Item = &'e Estimate>) {
        let item = SmallestCeilings::of(consultations);
        self.least = self.least.into_iter().chain([item]).min();
    }

    pub fn add_secrets(&mut self, name: &str, masked: MaskingOutcome) {
        self.masked
            .get_or_insert_default()
            .add(name, &masked.report);
        let named = |finding: Finding| Finding {
            source: format!("{name} {}", finding.source),
            ..finding
        };
        self.findings.extend(masked.findings.into_iter().map(named));
    }
}

fn add_call(sum: &mut Estimate, call: &CallEstimate) {
    sum.cost += call.cost;
    sum.low += call.low;
    sum.high += call.high;
    sum.input_tokens = sum.input_tokens.saturating_add(call.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(call.output_tokens);
    let is_same = |other: &&mut CallEstimate| {
        other.agent_id == call.agent_id
            && other.answer == call.answer
            && other.model == call.model
            && other.round_number == call.round_number
    };
    match sum.calls.iter_mut().find(is_same) {
        Some(known) => {
            known.cost += call.cost;
            known.low += call.low;
            known.high += call.high;
            known.input_tokens = known.input_tokens.saturating_add(call.input_tokens);
            known.output_tokens = known.output_tokens.saturating_add(call.output_tokens);
        }
        None => sum.calls.push(call.clone()),
    }
}
