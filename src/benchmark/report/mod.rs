//! The report of a run: every figure that follows from its terms and results. The same results give
//! the same report, in whatever order they finished.
//!
//! `arm` has the figures of one arm, which `accuracy`, `spend`, `calibration`, `debate` and
//! `experts` compute; `comparison` sets the arms against each other. `misses` lists the cases to
//! look at, `notices` what a reader must know before the figures, `words` formats both. Each face
//! (terminal, Markdown, page, JUnit) renders a [`BenchmarkReport`] and computes nothing.

pub mod arm;
pub mod accuracy;
pub mod spend;
pub mod calibration;
pub mod debate;
pub mod comparison;
pub mod notices;
pub mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use self::arm::{ArmReport, TagFigures};
use self::comparison::ArmComparison;
use self::spend::SpendFigures;
use super::case::CaseId;
use super::result::CaseResult;
use super::run::{Arm, ArmTerms, CaseRef, CaseRunId, RunId, RunTerms};
use super::state::{BenchmarkState, BenchmarkStateView, BenchmarkStatus, PendingCaseRun};
use crate::domain::time::Timestamp;
use crate::stopping::batch::reason::BatchStopReason;
use crate::stopping::batch::statistics::BatchStatistics;

/// The report of a run, and all its results. Unknown values are `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    pub run_id: RunId,
    pub run_status: BenchmarkStatus,
    /// Set exactly if the run is stopped.
    pub stop_reason: Option<BatchStopReason>,
    /// The error of the last attempt, if the run stopped because attempts had no answer.
    pub stop_error: Option<String>,
    pub resumable: bool,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// The runs that this one was merged from.
    pub merged_from: Vec<RunId>,
    /// The ids of the cases that have a case run without a result, in the order of the suite.
    pub remaining: Vec<CaseId>,
    pub statistics: BatchStatistics,
    pub terms: RunTerms,
    /// The panel first.
    pub arms: Vec<ArmReport>,
    /// `None` unless the run has both arms.
    pub comparison: Option<ArmComparison>,
    /// The spend of everything, unfinished case runs included.
    pub spend: SpendFigures,
    /// Case runs without a result, in the order of the suite.
    pub not_done: Vec<CaseRunId>,
    /// The results in the order of the suite, then by arm and repetition.
    pub results: Vec<CaseResult>,
}

impl BenchmarkReport {
    /// The view is that of the store, which knows whether the run's process still lives.
    pub fn of(state: &BenchmarkState, view: BenchmarkStateView) -> Self {
        let terms = &state.begun.terms;
        let order = order(terms);
        let mut results = state.results.clone();
        results.sort_by_cached_key(|result| order(&result.run));
        let mut unfinished: Vec<&PendingCaseRun> = state.without_result().collect();
        unfinished.sort_by_cached_key(|pending| order(&pending.run));
        let arm_report = |arm: &&ArmTerms| {
            let is_own = |run: &CaseRunId| run.arm == arm.arm;
            let own: Vec<_> = results.iter().filter(|one| is_own(&one.run)).collect();
            let mut open = unfinished.clone();
            open.retain(|pending| is_own(&pending.run));
            ArmReport::of(arm, terms, &own, &open)
        };
        let mut arms: Vec<&ArmTerms> = terms.arms.iter().collect();
        arms.sort_by_key(|arm| arm.arm);
        Self {
            schema_version: "1.0",
            run_id: view.run_id,
            run_status: view.run_status,
            stop_reason: view.stop_reason,
            stop_error: state.stop_error().map(str::to_owned),
            resumable: view.resumable,
            started_at: view.started_at,
            updated_at: view.updated_at,
            merged_from: state.merged_from.clone(),
            remaining: view.remaining,
            statistics: view.statistics,
            arms: arms.iter().map(arm_report).collect(),
            comparison: terms.is_comparison().then(|| ArmComparison::of(&results)),
            spend: SpendFigures::of(&results, &unfinished),
            not_done: unfinished.iter().map(|one| one.run.clone()).collect(),
            terms: terms.clone(),
            results,
        }
    }

    pub fn case(&self, id: &CaseId) -> Option<&CaseRef> {
        self.terms.cases.iter().find(|case| case.id == *id)
    }

    /// Empty if the run does not know the case.
    pub fn expected(&self, result: &CaseResult) -> &str {
        let case = self.case(&result.run.case);
        case.map_or("", |case| &case.expected)
    }

    /// Returns the figures by tag, those of all arms next to each other, and those without a tag
    /// last.
    pub fn figures_by_tag(&self) -> Vec<(Arm, &TagFigures)> {
        let mut figures: Vec<(Arm, &TagFigures)> = Vec::new();
        for arm in &self.arms {
            figures.extend(arm.tags.iter().map(|figures| (arm.arm, figures)));
        }
        figures.sort_by_key(|(arm, figures)| (figures.tag.is_none(), &figures.tag, *arm));
        figures
    }

    pub fn is_complete(&self) -> bool {
        self.not_done.is_empty()
    }
}

/// In the order of the suite, then by id.
fn order(terms: &RunTerms) -> impl Fn(&CaseRunId) -> (usize, CaseRunId) {
    let cases = terms.cases.iter().zip(0..);
    let positions: BTreeMap<&CaseId, usize> = cases.map(|(case, at)| (&case.id, at)).collect();
    move |run| {
        let position = positions.get(&run.case).copied();
        (position.unwrap_or(usize::MAX), run.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<BenchmarkReport>("benchmark", "conclave benchmark --json");
    }
}
