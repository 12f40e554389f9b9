//! What a reader must know before the figures: why a run stopped, what is missing, what the figures
//! leave out; and the cases to look at.

use std::cmp::Ordering;

use super::BenchmarkReport;
use crate::benchmark::result::CaseResult;
use crate::benchmark::run::Partition;
use crate::domain::ids::short_id;
use crate::domain::words::LOCAL_QUALITY;

/// A remark on a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportNotice {
    pub text: String,
    /// The command that helps, if there is one.
    pub command: Option<String>,
}

impl BenchmarkReport {
    /// The most important first.
    pub fn notices(&self) -> Vec<ReportNotice> {
        let terms = &self.terms;
        let (cases, all) = (terms.cases.len() as u64, terms.selected.cases);
        let part = match terms.partition {
            Some(Partition { index, count }) => Some(format!("Part {index} of {count}")),
            None => (cases < all).then(|| "Parts".to_owned()),
        };
        let part = part.map(|part| format!("{part} of the suite: {cases} of {all} cases."));
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
            part,
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

    fn interruption(&self) -> Option<ReportNotice> {
        let sentence =
            |label: &str, text: &str| format!("{label}: {}.", text.trim_end_matches('.'));
        let reason = self.stop_reason.as_ref();
        let error = self.stop_error.as_ref();
        let text = [
            reason.map(|reason| sentence("Stopped", &reason.message)),
            error.map(|error| sentence("The last error", error)),
            self.missing(),
        ];
        let text = text.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let run = short_id(self.run_id.as_str());
        let resume = || format!("conclave benchmark --resume {run}");
        let command = self.resumable.then(resume);
        (!text.is_empty()).then_some(ReportNotice { text, command })
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

impl BenchmarkReport {
    /// Returns the wrong answers of the panel, those with the highest stated confidence first, and
    /// its case runs without an answer; then those of the single model.
    pub fn misses(&self) -> Vec<&CaseResult> {
        let results = self.results.iter();
        let mut misses: Vec<&CaseResult> = results.filter(|result| !result.is_right()).collect();
        // The sort is stable: equal ones stay in the order of the suite.
        misses.sort_by(|one, other| worst_first(one, other));
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
