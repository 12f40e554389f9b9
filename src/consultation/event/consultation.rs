//! `consultation:…`: a consultation's terms, its overall decisions and its end.

use serde::{Deserialize, Serialize};

use crate::consultation::plan::Plan;
use crate::consultation::plan::resume_terms::ResumeTerms;
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::prompt::PromptUsed;
use crate::domain::artifact::Artifact;
use crate::domain::ids::{CallId, SeatId};
use crate::domain::panel::Panel;

use super::{EarlyTermination, EarlyTerminationDecision, StateName, Substitution};

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
            | Self::CostExceededEstimate
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed => true,
        }
    }
}
