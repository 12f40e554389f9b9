//! The state of a run as scripts read it: under the names that the specification gives.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::record::log::SCHEMA_VERSION;
use crate::domain::time::Timestamp;
use crate::stopping::batch::reason::BatchStopReason;
use crate::stopping::batch::statistics::BatchStatistics;

use super::super::case::CaseId;
use super::super::run::{CaseRunId, RunId};
use super::BenchmarkState;

/// What a run does, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BenchmarkStatus {
    Running,
    /// A stop condition fired. It is no failure: the run can be resumed.
    Stopped,
    /// Every case run has a result.
    Complete,
    /// Its process ended without a word.
    Interrupted,
}

impl BenchmarkStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns whether a resume is possible and does anything.
    pub fn is_resumable(self) -> bool {
        match self {
            Self::Stopped | Self::Interrupted => true,
            Self::Running | Self::Complete => false,
        }
    }
}

/// The contents of `state.json`, in which a run whose process was killed is still `running`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkStateView {
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    pub schema_version: u32,
    pub run_id: RunId,
    pub run_status: BenchmarkStatus,
    /// Set exactly if the status is `stopped`.
    pub stop_reason: Option<BatchStopReason>,
    pub resumable: bool,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// The ids of the cases that have a case run without a result, in the order of the suite.
    pub remaining: Vec<CaseId>,
    pub in_flight: Vec<CaseRunId>,
    pub statistics: BatchStatistics,
}

impl BenchmarkState {
    /// The status is an argument: only the process that runs a run, or a look at its lock,
    /// separates a running one from an interrupted one.
    pub fn view(&self, run_status: BenchmarkStatus) -> BenchmarkStateView {
        let open: BTreeSet<&CaseId> = self.remaining().into_iter().map(|run| &run.case).collect();
        let cases = self.begun.terms.cases.iter().map(|case| &case.id);
        let remaining = cases.filter(|case| open.contains(case)).cloned().collect();
        let in_flight = self.in_flight().iter();
        BenchmarkStateView {
            schema_version: SCHEMA_VERSION,
            run_id: self.begun.run.clone(),
            run_status,
            stop_reason: self.stop_reason().cloned(),
            // The parts of a merged run are resumed instead, each on its machine.
            resumable: run_status.is_resumable() && self.merged_from.is_empty(),
            started_at: self.begun_at,
            updated_at: self.updated_at,
            remaining,
            in_flight: in_flight.map(|pending| pending.run.clone()).collect(),
            statistics: self.statistics(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<BenchmarkStateView>(
            "benchmark_state",
            "`runs/<run_id>/state.json`: where a benchmark's run is",
        );
    }
}
