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
        let terms = &self.terms;
        let partition = terms.partition.map(|partition| {
            format!(
                "Part {} of {} of the suite: {} of {} cases.",
                partition.index,
                partition.count,
                terms.cases.len(),
                terms.suite.cases
            )
        });
        let repetitions = terms.repetitions;
        let repeated = (repetitions > 1).then(|| {
            format!(
                "Each case is answered {repetitions} times; intervals and p count each case once."
            )
        });
        let unpriced =
            "Costs marked ≥ are at least as high: the cost of some calls is not known.".to_owned();
        let unreported = "Some token counts are estimates: a provider reports none.".to_owned();
        let demonstration = format!(
            "A {LOCAL_QUALITY}, took part; the confidence that it states is not calibrated."
        );
        let remarks = [
            partition,
            repeated,
            self.spend.cost.lower_bound.then_some(unpriced),
            self.spend.estimated.then_some(unreported),
            self.has_demonstration().then_some(demonstration),
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
        let sentence =
            |label: &str, text: &str| format!("{label}: {}.", text.trim_end_matches('.'));
        let reason = self.stop_reason.as_ref();
        let text = [
            reason.map(|reason| sentence("Stopped", &reason.message)),
            self.stop_error
                .as_ref()
                .map(|error| sentence("The last error", error)),
            self.missing(),
        ];
        let text = text.into_iter().flatten().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| ReportNotice {
            text,
            command: self
                .resumable
                .then(|| format!("conclave benchmark --resume {}", self.run_id)),
        })
    }

    fn missing(&self) -> Option<String> {
        let total: u64 = self.arms.iter().map(|arm| arm.counts.total).sum();
        let interrupted: u64 = self.arms.iter().map(|arm| arm.counts.interrupted).sum();
        let attempted = match interrupted {
            0 => String::new(),
            number => format!(" ({number} of them were attempted)"),
        };
        let missing = self.not_done.len();
        (!self.is_complete())
            .then(|| format!("{missing} of {total} case runs have no result{attempted}."))
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

    fn has_demonstration(&self) -> bool {
        self.results.iter().any(|result| {
            let mut experts = result.experts.iter();
            result.demonstration || experts.any(|expert| expert.model.is_demonstration())
        })
    }
}
