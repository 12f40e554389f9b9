//! The figures of one arm.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::benchmark::case::{CaseId, ErrorRate};
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::{Arm, ArmTerms, CaseRef, RunTerms};
use crate::benchmark::state::PendingCaseRun;
use crate::benchmark::statistics::{median, number};

use super::accuracy::{Accuracy, Consistency};
use super::calibration::ArmCalibration;
use super::debate::{DebateFigures, EarlyStopFigures};
use super::debate::{ExpertFigures, experts};
use super::spend::{SpendFigures, TimeFigures};

/// The figures of one arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmReport {
    pub arm: Arm,
    /// `persona=provider:model` for each seat.
    pub seats: Vec<String>,
    pub judge: Option<String>,
    pub counts: OutcomeCounts,
    /// Right answers among all case runs with a result; those without an answer count as not
    /// right. `None` without any.
    pub accuracy: Option<Accuracy>,
    /// Right answers among answers.
    pub accuracy_of_answered: Option<Accuracy>,
    /// `None` unless cases are repeated.
    pub consistency: Option<Consistency>,
    pub spend: SpendFigures,
    pub time: Option<TimeFigures>,
    /// Tags in alphabetical order, then the cases without a tag. Empty if no case has one.
    pub tags: Vec<TagFigures>,
    pub calibration: ArmCalibration,
    /// `None` for an arm without a debate.
    pub early_stops: Option<EarlyStopFigures>,
    /// `None` for an arm without a debate.
    pub debate: Option<DebateFigures>,
    /// Each expert on its own, by its answers of Round 1. Empty for an arm of one seat.
    pub experts: Vec<ExpertFigures>,
    /// Error rates of transcriptions by measure.
    pub error_rates: Vec<ErrorRateFigures>,
}

impl ArmReport {
    /// Computes the figures from the results and the unfinished case runs of this arm, in the order
    /// of the suite.
    pub(super) fn of(
        arm: &ArmTerms,
        terms: &RunTerms,
        results: &[&CaseResult],
        unfinished: &[&PendingCaseRun],
    ) -> Self {
        let all = || results.iter().copied();
        let answered = all().filter(|result| result.outcome != CaseOutcome::Failed);
        let has_debate = arm.rounds > 1;
        Self {
            arm: arm.arm,
            seats: arm.seats.clone(),
            judge: arm.judge.clone(),
            counts: OutcomeCounts::of(results, unfinished),
            accuracy: Accuracy::of(all()),
            accuracy_of_answered: Accuracy::of(answered),
            consistency: Consistency::of(all()),
            spend: SpendFigures::of(all(), unfinished),
            time: TimeFigures::of(all()),
            tags: tags(&terms.cases, results),
            calibration: ArmCalibration::of(results),
            early_stops: has_debate.then(|| EarlyStopFigures::of(results)),
            debate: has_debate.then(|| DebateFigures::of(results, arm.rounds)),
            experts: if arm.seats.len() > 1 {
                experts(results)
            } else {
                Vec::new()
            },
            error_rates: error_rates(&terms.cases, results),
        }
    }
}

/// Case runs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutcomeCounts {
    /// Case runs of the whole run.
    pub total: u64,
    /// Right answers.
    pub approved: u64,
    /// Wrong answers.
    pub rejected: u64,
    /// No answer after all attempts.
    pub failed: u64,
    /// Case runs without a result.
    pub not_done: u64,
    /// Those of them that were attempted: their providers did not answer, or the run was stopped.
    pub interrupted: u64,
    /// Case runs that took more than one attempt.
    pub retried: u64,
}

impl OutcomeCounts {
    fn of(results: &[&CaseResult], unfinished: &[&PendingCaseRun]) -> Self {
        let mut counts = Self::default();
        for result in results {
            let count = match result.outcome {
                CaseOutcome::Approved => &mut counts.approved,
                CaseOutcome::Rejected => &mut counts.rejected,
                CaseOutcome::Failed => &mut counts.failed,
            };
            *count += 1;
            counts.retried += u64::from(result.attempts > 1);
        }
        for pending in unfinished {
            counts.not_done += 1;
            counts.interrupted += u64::from(!pending.consultations.is_empty());
        }
        counts.total = results.len() as u64 + counts.not_done;
        counts
    }
}

/// The figures of the cases with one tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TagFigures {
    /// `None` for cases without a tag.
    pub tag: Option<String>,
    pub accuracy: Accuracy,
    pub spend: SpendFigures,
}

/// A case with two tags counts for both.
fn tags(cases: &[CaseRef], results: &[&CaseResult]) -> Vec<TagFigures> {
    let tags_of = cases.iter().map(|case| (&case.id, case.tags.as_slice()));
    let tags_of: BTreeMap<&CaseId, &[String]> = tags_of.collect();
    let mut tagged: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    let mut untagged = Vec::new();
    for result in results {
        let tags = tags_of.get(&result.run.case).copied().unwrap_or_default();
        if tags.is_empty() {
            untagged.push(*result);
        }
        // A tag that a case names twice counts once.
        for tag in tags.iter().collect::<BTreeSet<_>>() {
            tagged.entry(tag).or_default().push(result);
        }
    }
    if tagged.is_empty() {
        return Vec::new();
    }
    let figures = |tag: Option<&str>, results: Vec<&CaseResult>| {
        Some(TagFigures {
            tag: tag.map(str::to_owned),
            accuracy: Accuracy::of(results.iter().copied())?,
            spend: SpendFigures::of(results, &[]),
        })
    };
    let named = tagged.into_iter();
    let named = named.filter_map(|(tag, results)| figures(Some(tag), results));
    named.chain(figures(None, untagged)).collect()
}

/// The error rates of transcriptions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorRateFigures {
    pub measure: ErrorRate,
    /// Transcriptions with an error rate.
    pub count: u64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub mean: f64,
    /// By nearest rank.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub median: f64,
}

fn error_rates(cases: &[CaseRef], results: &[&CaseResult]) -> Vec<ErrorRateFigures> {
    let measures = cases.iter().map(|case| (&case.id, case.measure));
    let measures: BTreeMap<&CaseId, Option<ErrorRate>> = measures.collect();
    let figures = [ErrorRate::Cer, ErrorRate::Wer].map(|measure| {
        let is_meant = |id: &CaseId| measures.get(id) == Some(&Some(measure));
        let rates = results.iter().filter(|result| is_meant(&result.run.case));
        let rates = rates.filter_map(|result| result.answer.as_ref()?.error_rate);
        let mut rates: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
        rates.sort_by(f64::total_cmp);
        let count = rates.len() as u64;
        Some(ErrorRateFigures {
            measure,
            count,
            mean: rates.iter().sum::<f64>() / number(count),
            median: median(&rates)?,
        })
    });
    figures.into_iter().flatten().collect()
}
