//! The cases to look at: wrong answers and missing ones.

use std::cmp::Ordering;

use super::BenchmarkReport;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::CaseRef;

/// A case run that is not right.
#[derive(Clone, Copy, Debug)]
pub struct Miss<'a> {
    pub result: &'a CaseResult,
    /// `None` if the run does not know the case.
    pub case: Option<&'a CaseRef>,
}

impl<'a> Miss<'a> {
    /// Returns the expected answer; empty if it is unknown.
    pub fn expected(&self) -> &'a str {
        self.case.map_or("", |case| &case.expected)
    }

    /// Returns the given answer, or why there is none.
    pub fn given(&self) -> &'a str {
        let answer = self.result.answer.as_ref();
        answer.map_or_else(
            || self.result.error.as_deref().unwrap_or("no answer"),
            |answer| &answer.text,
        )
    }
}

impl BenchmarkReport {
    /// Returns the wrong answers of the panel, those with the highest stated confidence first, and
    /// its case runs without an answer; then those of the single model.
    pub fn misses(&self) -> Vec<Miss<'_>> {
        let mut misses: Vec<Miss<'_>> = self
            .results
            .iter()
            .filter(|result| matches!(result.outcome, CaseOutcome::Rejected | CaseOutcome::Failed))
            .map(|result| Miss {
                result,
                case: self.case(&result.run.case),
            })
            .collect();
        // The sort is stable: equal ones stay in the order of the suite.
        misses.sort_by(|one, other| worst_first(one.result, other.result));
        misses
    }
}

fn worst_first(one: &CaseResult, other: &CaseResult) -> Ordering {
    let confidence = |result: &CaseResult| result.confidence.unwrap_or(-1.0);
    let by_confidence = || confidence(other).total_cmp(&confidence(one));
    let by_outcome = || one.outcome.cmp(&other.outcome);
    let by_arm = one.run.arm.cmp(&other.run.arm);
    by_arm.then_with(by_outcome).then_with(by_confidence)
}
