//! What a reader must know before the figures: why a run stopped, what is missing, what the figures
//! leave out.

use super::BenchmarkReport;
use crate::domain::words::LOCAL_QUALITY;

/// A remark on a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportNotice {
    pub text: String,
    /// The command that helps, if there is one.
    pub command: Option<String>,
}

impl BenchmarkReport {
    /// Returns the remarks, the most important first.
    pub fn notices(&self) -> Vec<ReportNotice> {
        let remarks = [
            self.partition(),
            self.repetitions(),
            self.unpriced(),
            self.unreported_tokens(),
            self.demonstration(),
            self.uncompared(),
        ];
        let remarks = remarks.into_iter().flatten().map(|text| ReportNotice {
            text,
            command: None,
        });
        self.interruption().into_iter().chain(remarks).collect()
    }

    /// Says why the run stopped and what is missing, with the command that resumes it.
    fn interruption(&self) -> Option<ReportNotice> {
        let stopped = self
            .stop_reason
            .as_ref()
            .map(|reason| format!("Stopped: {}.", reason.message.trim_end_matches('.')));
        let error = self
            .stop_error
            .as_ref()
            .map(|error| format!("The last error: {}.", error.trim_end_matches('.')));
        let missing = self.missing();
        let text = [stopped, error, missing].into_iter().flatten();
        let text = text.collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| ReportNotice {
            text,
            command: self
                .resumable
                .then(|| format!("conclave benchmark --resume {}", self.run_id)),
        })
    }

    fn missing(&self) -> Option<String> {
        if self.is_complete() {
            return None;
        }
        let (mut total, mut interrupted) = (0, 0);
        for arm in &self.arms {
            total += arm.counts.total;
            interrupted += arm.counts.interrupted;
        }
        let attempted = match interrupted {
            0 => String::new(),
            number => format!(" ({number} of them were attempted)"),
        };
        Some(format!(
            "{} of {total} case runs have no result{attempted}.",
            self.not_done.len()
        ))
    }

    fn partition(&self) -> Option<String> {
        let partition = self.terms.partition?;
        Some(format!(
            "Part {} of {} of the suite: {} of {} cases.",
            partition.index,
            partition.count,
            self.terms.cases.len(),
            self.terms.suite.cases
        ))
    }

    fn repetitions(&self) -> Option<String> {
        (self.terms.repetitions > 1).then(|| {
            format!(
                "Each case is answered {} times; intervals and p count each case once.",
                self.terms.repetitions
            )
        })
    }

    fn unpriced(&self) -> Option<String> {
        self.spend.cost.lower_bound.then(|| {
            "Costs marked ≥ are at least as high: the cost of some calls is not known.".to_owned()
        })
    }

    fn unreported_tokens(&self) -> Option<String> {
        self.spend
            .estimated
            .then(|| "Some token counts are estimates: a provider reports none.".to_owned())
    }

    fn uncompared(&self) -> Option<String> {
        let arms = self.arms.iter();
        let uncompared: u64 = arms.map(|arm| arm.calibration.uncompared).sum();
        let probabilities = match uncompared {
            0 => return None,
            1 => "1 calibrated probability is".to_owned(),
            number => format!("{number} calibrated probabilities are"),
        };
        Some(format!(
            "{probabilities} left out: the leading point of Round 2 states no answer to compare."
        ))
    }

    fn demonstration(&self) -> Option<String> {
        let models = self.results.iter().flat_map(|result| &result.experts);
        let is_demonstration = self.results.iter().any(|result| result.demonstration)
            || models
                .into_iter()
                .any(|expert| expert.model.is_demonstration());
        is_demonstration.then(|| {
            format!(
                "A {LOCAL_QUALITY}, took part; the confidence that it states is not calibrated."
            )
        })
    }
}
