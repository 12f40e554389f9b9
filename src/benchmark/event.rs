//! The events of a run's log. The log is the truth: [`super::state::BenchmarkState`] is the fold of
//! it.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConsultationId;
use crate::domain::record::log::LogEvent;
use crate::stopping::batch::conditions::StopConditions;
use crate::stopping::batch::reason::BatchStopReason;
use crate::stopping::batch::state::StopRequest;
use crate::stopping::evaluation::Evaluation;

use super::result::CaseResult;
use super::run::{CaseRunId, RunId, RunTerms};
use crate::domain::record::stored_record::spend::ConsultationSpend;

/// One line of the log.
pub type BenchmarkEvent = LogEvent<BenchmarkEventKind>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum BenchmarkEventKind {
    /// The first event of every log, and of no other place.
    Begun(Box<RunBegun>),
    /// The results that follow are those of other runs.
    Merged {
        runs: Vec<RunId>,
    },
    /// An attempt for a case run begins. Written before its first call.
    CaseRunStarted {
        #[serde(flatten)]
        run: CaseRunId,
        /// From 1. A consultation that is resumed continues its attempt.
        attempt: u32,
        consultation: ConsultationId,
    },
    /// A model begins to grade the answer of a case run. Written before its first call.
    GradingStarted {
        #[serde(flatten)]
        run: CaseRunId,
        /// The grader's.
        consultation: ConsultationId,
    },
    CaseRunFinished {
        result: Box<CaseResult>,
    },
    /// An attempt ended without an outcome: the case run remains to be done.
    CaseRunDeferred(Box<CaseRunDeferred>),
    /// Something other than a case run asks for a stop.
    StopRequested(StopRequest),
    /// A stop condition fired: nothing starts, and what is in flight finishes.
    Halted {
        reason: BatchStopReason,
        evaluation: Evaluation,
    },
    /// The run continues in another process. The counters of its stop conditions begin again.
    Resumed {
        conditions: StopConditions,
    },
    /// Nothing is in flight, and nothing starts.
    Ended,
}

/// The beginning of a run: all that a resume needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunBegun {
    pub run: RunId,
    pub terms: RunTerms,
    pub conditions: StopConditions,
    /// The fleet that holds its consultations; `None` if its process does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// The end of an attempt that gave no outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRunDeferred {
    #[serde(flatten)]
    pub run: CaseRunId,
    pub cause: DeferralCause,
    /// What the case run has cost so far: all its attempts and gradings.
    #[serde(default)]
    pub spend: ConsultationSpend,
    /// The failure, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why a case run remains to be done after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeferralCause {
    /// Its providers, or those of its grader, failed: rate limits, server errors, timeouts, a
    /// refused key. It is tried again after the others.
    Infrastructure,
    /// The run stops before another attempt, or the attempt was cancelled or refused its cost.
    Stop,
}
