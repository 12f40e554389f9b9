//! What a run is expected to cost: the sum over its case runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::benchmark::grading::grading_question;
use crate::benchmark::run::{Arm, CaseRunId};
use crate::consultation::policy::estimate::Estimate;
use crate::error::Error;
use crate::session::batch::estimate::{BatchEstimate, estimate};
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
    let mut run = BatchEstimate::default();
    let mut known: BTreeMap<(Arm, &str), Estimate> = BTreeMap::new();
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
                unknown.insert(estimate_case(&mut run, entry, template, arms.grader())?)
            }
        };
        run.add(estimate);
    }
    Ok(run)
}

fn estimate_case(
    run: &mut BatchEstimate,
    entry: &CaseEntry,
    template: &PlanTemplate,
    grader: Option<&PlanTemplate>,
) -> Result<Estimate, Error> {
    let named = |error: Error| error.hint(format!("leave out case `{}`", entry.case.id));
    let prepared = template.plan(entry.question()?).map_err(named)?;
    let mut case = estimate(&prepared)?;
    run.add_secrets(entry.case.id.as_str(), prepared);
    if entry.key.needs_grader()
        && let Some(grader) = grader
    {
        let expected = entry.case.expected.first().map_or("", String::as_str);
        let question = QuestionRequest {
            question: grading_question(&entry.case, expected),
            ..QuestionRequest::default()
        };
        let grading = estimate(&grader.plan(question)?)?;
        case.calls.extend(grading.calls);
    }
    Ok(case)
}
