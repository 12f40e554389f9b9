//! `consultation:…`, `cost:…`, `state:…` and `round:…`: a consultation's terms, its way through the
//! protocol, its overall decisions and its end.

use serde::{Deserialize, Serialize};

use super::Substitution;
use crate::consultation::plan::{Plan, ResumeTerms};
use crate::consultation::policy::estimate::{Consent, Estimate, GateReason};
use crate::consultation::prompt::PromptUsed;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::answer::artifact::Artifact;
use crate::domain::answer::confidence::{Calibrated, Confidence};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{AgentId, CallId, ModelRef, SeatId};
use crate::domain::panel::Panel;
use crate::stopping::evaluation::Evaluation;

/// Event of the consultation as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum ConsultationEvent {
    /// A consultation begins on these terms: the first event of every log.
    #[serde(rename = "consultation:started")]
    Started(Box<Started>),
    /// The estimated calls, tokens and cost.
    #[serde(rename = "consultation:cost_estimated")]
    CostEstimated(Estimate),
    /// The estimate was approved or declined.
    #[serde(rename = "consultation:user_consent")]
    UserConsent { approved: bool, how: Consent },
    /// An answer has become an artifact of a round, for later rounds and the record.
    #[serde(rename = "consultation:round_artifact")]
    RoundArtifact { artifact: Box<Artifact> },
    /// Another model takes over an agent's work.
    #[serde(rename = "consultation:provider_substituted")]
    ProviderSubstituted(Substitution),
    /// The person is asked whether another model may take over.
    #[serde(rename = "consultation:substitution_offered")]
    SubstitutionOffered(Substitution),
    /// An interrupted consultation is resumed.
    #[serde(rename = "consultation:resumed")]
    Resumed(Box<Resumed>),
    /// The person is asked whether to end here, because the experts agree.
    #[serde(rename = "consultation:early_termination_offered")]
    EarlyTerminationOffered(Box<EarlyTermination>),
    /// The decision whether to end here because the experts agree.
    #[serde(rename = "consultation:early_termination_decided")]
    EarlyTerminationDecided(Box<EarlyTerminationDecision>),
    /// The consultation has ended with a result.
    #[serde(rename = "consultation:completed")]
    Completed {
        /// Rounds held, 1 to 4.
        rounds: u8,
        /// Milliseconds since the consultation began, without pauses.
        duration_ms: u64,
    },
    /// The consultation has ended without a verdict.
    #[serde(rename = "consultation:aborted")]
    Aborted(Abort),
}

/// The consultation's terms, fixed before anything is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub question: String,
    pub mode: String,
    pub panel: Panel,
    /// The seed for the order and labels of the experts.
    pub seed: u64,
    /// The seats in the order of their labels `Expert A`, `Expert B`, …
    pub expert_order: Vec<SeatId>,
    pub prompts: Vec<PromptUsed>,
    pub tool_version: String,
    /// Notes on the panel that the user saw before anything was spent.
    pub notices: Vec<String>,
    /// The whole plan, so that an interrupted consultation resumes on the same terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
}

/// The terms on which an interrupted consultation is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The state in which it is resumed.
    pub state: StateName,
    /// Calls that were in flight at the stop and are made again.
    pub lost_calls: Vec<CallId>,
    #[serde(flatten)]
    pub terms: ResumeTerms,
    pub tool_version: String,
}

/// The end of a consultation without a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abort {
    pub reason: AbortReason,
    /// The cause, for people.
    pub message: String,
    /// The state in which it ended.
    pub during: StateName,
    /// Milliseconds since the consultation began, without pauses.
    pub duration_ms: u64,
}

/// Reasons for ending a consultation without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    /// The user declined the estimate.
    Declined,
    /// Ctrl-C, or a signal to end the process.
    Interrupted,
    /// The user chose to stop.
    UserCancelled,
    /// A round exceeded the user's maximum wait.
    Timeout,
    /// The next call could have exceeded the user's ceiling.
    CostCeiling,
    /// All calls that plans may pay for in a consultation have been made.
    CallCeiling,
    /// Spending exceeded one and a half times the high estimate.
    CostExceededEstimate,
    /// An agent failed, and the user's setting ends the consultation in that case.
    AgentFailed,
    /// The result would have been degraded, which `--strict` refuses.
    Strict,
    /// No expert answered in Round 1.
    AllAgentsFailed,
    /// Neither the judge nor any of its fallbacks answered.
    JudgeFailed,
    /// A prompt could not be rendered from its template.
    Prompt,
    /// A defect of the program: it asked for a transition that is not in the protocol.
    Internal,
}

impl AbortReason {
    /// Returns whether an available answer is still given, because the abort only limits waiting or
    /// spending.
    pub fn leaves_an_answer(self) -> bool {
        match self {
            Self::Interrupted
            | Self::UserCancelled
            | Self::Timeout
            | Self::CostCeiling
            | Self::CallCeiling
            | Self::CostExceededEstimate => true,
            Self::Declined
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed
            | Self::Prompt
            | Self::Internal => false,
        }
    }

    /// Returns whether a consultation that ended for this reason can be resumed.
    pub fn is_resumable(self) -> bool {
        match self {
            // No call was made, or the same templates or the same defect would fail again.
            Self::Declined | Self::Prompt | Self::Internal => false,
            Self::Interrupted
            | Self::UserCancelled
            | Self::Timeout
            | Self::CostCeiling
            | Self::CallCeiling
            | Self::CostExceededEstimate
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed => true,
        }
    }
}

/// Event of a cost limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CostEvent {
    /// The estimate needs consent.
    #[serde(rename = "cost:gate_triggered")]
    GateTriggered {
        /// The expected cost.
        cost: Cost,
        /// Estimates below this need no consent.
        always_allow_under: MicroUsd,
        why: Vec<GateReason>,
    },
    /// A call was not made because it could exceed the ceiling.
    #[serde(rename = "cost:ceiling_reached")]
    CeilingReached(CeilingReached),
}

/// A call that was not made because it could exceed a ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingReached {
    /// The ceiling.
    pub max_cost: MicroUsd,
    /// What counts as spent so far.
    pub spent: Cost,
    pub agent_id: AgentId,
    pub model: ModelRef,
    /// The most that the call could have cost.
    pub worst_case: Cost,
    /// The ceiling's name if it is not the consultation's own: `monthly budget`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// The kind of answer, if the ceiling is not the consultation's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerKind>,
}

/// The findings on which the decision rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyTermination {
    /// The judge's mean stated confidence in the points of agreement.
    pub confidence: Option<Confidence>,
    pub threshold: Confidence,
    /// The calibrated probability that the leading point is right.
    pub calibrated: Option<Calibrated>,
    pub evaluation: Evaluation,
    /// The number of rounds that an early end skips.
    pub rounds_skipped: u8,
    /// The estimated cost of the skipped rounds.
    pub estimated_cost_saved: Cost,
}

/// The decision on an early end, and who or what made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyTerminationDecision {
    pub ended: bool,
    pub by: DecidedBy,
    #[serde(flatten)]
    pub findings: EarlyTermination,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The stated confidence is below the threshold.
    Threshold,
    /// No person can be asked: the consultation ends only if no guard objects.
    Guards,
    Person,
    /// The person had left when asked, so the guards decided.
    NobodyThere,
}

impl EarlyTerminationDecision {
    /// The original design's name for the reason.
    pub const REASON: &'static str = "high_confidence_after_synthesis";
}

/// Event of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum StateEvent {
    /// The consultation enters another state.
    #[serde(rename = "state:changed")]
    Changed { from: StateName, to: StateName },
}

/// The names of the nine states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StateName {
    Idle,
    Estimating,
    AwaitingConsent,
    Independent,
    Synthesis,
    CrossExam,
    Verdict,
    Complete,
    Aborted,
}

impl std::fmt::Display for StateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Event of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum RoundEvent {
    /// A round begins.
    #[serde(rename = "round:started")]
    Started {
        /// 1 to 4.
        round_number: u8,
    },
    /// A round has ended with a result.
    #[serde(rename = "round:completed")]
    Completed {
        /// 1 to 4.
        round_number: u8,
        /// Milliseconds since the round began, without pauses.
        duration_ms: u64,
    },
}
