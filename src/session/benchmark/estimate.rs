//! What a run is expected to cost: the sum over its case runs, from the prompts as they will be
//! sent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::benchmark::grading::grading_question;
use crate::benchmark::run::{Arm, CaseRunId};
use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::context::scrub::Finding;
use crate::domain::context::ScrubbingReport;
use crate::domain::ids::ModelRef;
use crate::error::Error;
use crate::setup::plan::template::{PlanTemplate, PreparedPlan};
use crate::setup::request::QuestionRequest;

use super::arms::ArmTemplates;
use super::cases::{CaseBook, CaseEntry};

/// The estimate of a run, and the secrets in its cases.
#[derive(Debug, Default)]
pub(crate) struct RunEstimate {
    /// Its calls are summed up by agent, answer and model; the context is that of the largest case.
    pub(crate) total: Estimate,
    /// The number of calls.
    pub(crate) calls: u64,
    /// The share of each model.
    pub(crate) by_model: BTreeMap<ModelRef, ModelShare>,
    /// What was masked in all cases together.
    pub(crate) masked: ScrubbingReport,
    /// The places of it, with the ids of the cases.
    pub(crate) findings: Vec<Finding>,
}

/// What one model is expected to be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelShare {
    pub(crate) calls: u64,
    pub(crate) estimate: Estimate,
}

/// The estimate of one case.
#[derive(Debug)]
struct CaseEstimate {
    calls: Vec<CallEstimate>,
    context_tokens: u64,
}

impl RunEstimate {
    /// Estimates one attempt for each of these case runs.
    ///
    /// # Errors
    ///
    /// When a case does not fit the models, or a prompt cannot be rendered.
    pub(crate) fn of<'a>(
        case_runs: impl IntoIterator<Item = &'a CaseRunId>,
        book: &CaseBook,
        arms: &ArmTemplates,
    ) -> Result<Self, Error> {
        let mut run = Self::default();
        let mut known: BTreeMap<(Arm, &str), CaseEstimate> = BTreeMap::new();
        for case_run in case_runs {
            let id = (case_run.arm, case_run.case.as_str());
            let (Some(entry), Some(template)) = (book.get(&case_run.case), arms.of(case_run.arm))
            else {
                continue;
            };
            // Repetitions ask the same.
            let estimate = match known.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    unknown.insert(run.estimate_case(entry, template, arms.grader())?)
                }
            };
            run.add(estimate);
        }
        Ok(run)
    }

    fn estimate_case(
        &mut self,
        entry: &CaseEntry,
        template: &PlanTemplate,
        grader: Option<&PlanTemplate>,
    ) -> Result<CaseEstimate, Error> {
        let named = |error: Error| error.hint(format!("leave out case `{}`", entry.case.id));
        let prepared = template.plan(entry.question()?).map_err(named)?;
        let mut estimate = estimate(&prepared)?;
        self.note_secrets(entry, prepared);
        if entry.key.needs_grader()
            && let Some(grader) = grader
        {
            let expected = entry.case.expected.first().map_or("", String::as_str);
            let question = QuestionRequest {
                question: grading_question(&entry.case, expected),
                ..QuestionRequest::default()
            };
            estimate
                .calls
                .extend(self::estimate(&grader.plan(question)?)?.calls);
        }
        Ok(estimate)
    }

    fn add(&mut self, case: &CaseEstimate) {
        for call in &case.calls {
            self.calls += 1;
            add_call(&mut self.total, call);
            let share = self.by_model.entry(call.model.clone()).or_default();
            share.calls += 1;
            add_call(&mut share.estimate, call);
        }
        self.total.context_tokens = self.total.context_tokens.max(case.context_tokens);
    }

    fn note_secrets(&mut self, entry: &CaseEntry, prepared: PreparedPlan) {
        let report = prepared.plan.scrubbing.as_deref();
        if let Some(report) = report {
            self.masked.add(&entry.case.id.to_string(), report);
        }
        let named = |finding: Finding| Finding {
            source: format!("{} {}", entry.case.id, finding.source),
            ..finding
        };
        self.findings
            .extend(prepared.findings.into_iter().map(named));
    }
}

/// Adds a call to a sum, which keeps one entry for calls that only differ in their case.
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

fn estimate(prepared: &PreparedPlan) -> Result<CaseEstimate, Error> {
    let estimate = prepared.plan.estimate().map_err(|error| {
        Error::usage(error).hint("check the templates in the `prompts` folder of the home")
    })?;
    Ok(CaseEstimate {
        calls: estimate.calls,
        context_tokens: estimate.context_tokens,
    })
}
