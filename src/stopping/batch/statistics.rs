//! The counts of a batch and the rates that follow from them, under the names that the
//! specification gives.

use serde::{Deserialize, Serialize};

use super::state::{BatchState, ItemWindow};
use crate::stopping::share;

/// The figures of a batch. The counts and the rates beside them are the subject's: in a comparison,
/// those of the panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BatchStatistics {
    /// All case runs, finished or not.
    pub total_cases: u64,
    /// Those that are finished.
    pub cases_attempted: u64,
    /// Right answers.
    pub cases_approved: u64,
    /// Wrong answers.
    pub cases_rejected: u64,
    /// No answer after all attempts.
    pub cases_failed: u64,
    /// Finished with more than one attempt.
    pub cases_retried: u64,
    /// The share of `cases_retried` in `cases_attempted`; `None` before the first.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub retry_rate: Option<f64>,
    /// The share of `cases_rejected` and `cases_failed` in `cases_attempted`; `None` before the
    /// first.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub reject_rate: Option<f64>,
    /// In a row without a right answer; a resume begins again at 0.
    pub consecutive_fails: u64,
    /// Of the last case runs since the last resume, those of the baseline included, as the stop
    /// condition measures it; `None` before it does.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub window_retry_rate: Option<f64>,
    /// As `window_retry_rate`, of the subject alone.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub window_reject_rate: Option<f64>,
    /// Attempts of all cases, those of the baseline and those without an outcome included, but not
    /// those of `infrastructure_failures`.
    pub attempts: u64,
    /// How often a case got no answer, or no grade, because of its providers: rate limits, server
    /// errors, timeouts, a refused key.
    pub infrastructure_failures: u64,
    /// The counts of the baseline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineStatistics>,
}

/// The counts of what the subject is compared with: the single model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineStatistics {
    pub total_cases: u64,
    pub cases_attempted: u64,
    pub cases_approved: u64,
    pub cases_rejected: u64,
    pub cases_failed: u64,
    pub cases_retried: u64,
    /// In a row without an answer.
    pub consecutive_fails: u64,
}

impl BatchState {
    /// Returns the figures of a batch of these many items of the subject, and of the baseline if
    /// there is one.
    pub fn statistics(&self, subject_items: u64, baseline_items: Option<u64>) -> BatchStatistics {
        let totals = self.totals;
        let subject = totals.subject;
        let finished = subject.finished();
        let windowed = |window: &ItemWindow| {
            let is_measured = window.len() >= self.conditions.min_items;
            share(window.count(), window.len()).filter(|_| is_measured)
        };
        BatchStatistics {
            total_cases: subject_items,
            cases_attempted: finished,
            cases_approved: subject.approved,
            cases_rejected: subject.rejected,
            cases_failed: subject.failed,
            cases_retried: subject.retried,
            retry_rate: share(subject.retried, finished),
            reject_rate: share(subject.rejected + subject.failed, finished),
            consecutive_fails: self.consecutive_fails,
            window_retry_rate: windowed(&self.retries),
            window_reject_rate: windowed(&self.rejects),
            attempts: totals.attempts,
            infrastructure_failures: totals.outages,
            baseline: baseline_items.map(|items| self.baseline_statistics(items)),
        }
    }

    fn baseline_statistics(&self, items: u64) -> BaselineStatistics {
        let baseline = self.totals.baseline;
        BaselineStatistics {
            total_cases: items,
            cases_attempted: baseline.finished(),
            cases_approved: baseline.approved,
            cases_rejected: baseline.rejected,
            cases_failed: baseline.failed,
            cases_retried: baseline.retried,
            consecutive_fails: self.baseline_fails,
        }
    }
}
