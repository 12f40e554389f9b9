//! What a run is expected to cost: the sum over its case runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::benchmark::grading::grading_question;
use crate::benchmark::run::{Arm, CaseRunId};
use crate::consultation::policy::estimate::Estimate;
use crate::engine::host::in_parallel;
use crate::error::Error;
use crate::session::batch::estimate::BatchEstimate;
use crate::setup::context::outgoing::MaskingOutcome;
use crate::setup::plan::template::PlanTemplate;
use crate::setup::request::QuestionRequest;

use super::arms::ArmTemplates;
use super::cases::{CaseBook, CaseEntry};

/// Estimates one attempt for each of these case runs.
///
/// # Errors
///
/// When a case does not fit the models, or a prompt cannot be rendered.
pub fn estimate_run<'a>(
    case_runs: impl IntoIterator<Item = &'a CaseRunId>,
    book: &CaseBook,
    arms: &ArmTemplates,
) -> Result<BatchEstimate, Error> {
    let known = |run: &'a CaseRunId| Some((run, book.get(&run.case)?, arms.of(run.arm)?));
    let case_runs: Vec<_> = case_runs.into_iter().filter_map(known).collect();
    let mut seen = BTreeSet::new();
    // Repetitions ask the same.
    let is_new = |(run, ..): &&(&'a CaseRunId, _, _)| seen.insert((run.arm, run.case.as_str()));
    let distinct: Vec<_> = case_runs.iter().filter(is_new).collect();
    let estimates = in_parallel(&distinct, |(_, entry, template)| {
        let estimated = estimate_case(entry, template, arms.grader());
        estimated.map_err(|error| error.hint(format!("leave out case `{}`", entry.case.id)))
    });
    let mut sum = BatchEstimate::default();
    let mut by_case: BTreeMap<(Arm, &str), Vec<Estimate>> = BTreeMap::new();
    for ((run, ..), estimated) in distinct.into_iter().zip(estimates) {
        let (consultations, masked) = estimated?;
        sum.add_secrets(run.case.as_str(), masked);
        sum.note_item(&consultations);
        by_case.insert((run.arm, run.case.as_str()), consultations);
    }
    for (run, ..) in &case_runs {
        let consultations = by_case.get(&(run.arm, run.case.as_str()));
        consultations
            .into_iter()
            .flatten()
            .for_each(|estimate| sum.add(estimate));
    }
    Ok(sum)
}

/// Returns the consultation of a case, and that of its grading.
fn estimate_case(
    entry: &CaseEntry,
    template: &PlanTemplate,
    grader: Option<&PlanTemplate>,
) -> Result<(Vec<Estimate>, MaskingOutcome), Error> {
    let prepared = template.plan(entry.question()?)?;
    let mut consultations = vec![prepared.plan.estimate()?];
    let masked = MaskingOutcome {
        report: prepared
            .plan
            .scrubbing
            .map_or_else(Default::default, |report| *report),
        findings: prepared.findings,
    };
    if entry.key.needs_grader()
        && let Some(grader) = grader
    {
        let expected = entry.case.expected.first().map_or("", String::as_str);
        let question = QuestionRequest {
            question: grading_question(&entry.case, expected),
            ..QuestionRequest::default()
        };
        consultations.push(grader.plan(question)?.plan.estimate()?);
    }
    Ok((consultations, masked))
}
