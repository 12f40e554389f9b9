//! A consultation as stored: the one description of it. The fields are the keys of the record
//! (`schemas/consultation.schema.json`), so that it serialises both ways; rows of the index,
//! reports, pages and statistics derive from it, and records of other formats are converted to it.
//!
//! Only the id is required: missing values are empty or `None`, never zero. Words that later
//! versions may extend are text.

mod context_words;
mod panel;
mod account;
pub mod spend;
mod rounds;
mod answer;
mod debate_value;
mod changes;
mod lookup;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::outcome::Grade;
use crate::domain::answer::artifact::{Dissent, Evidence, MenuOption};
use crate::domain::answer::confidence::{Basis, Confidence};
use crate::domain::context::{ProjectContext, ScrubbingReport};
use crate::domain::ids::{ProviderId, SeatId};
use crate::domain::time::Timestamp;

pub use self::account::{
    Amount, EstimatedCost, PromptTemplate, PromptVersions, StoredCaching, StoredConsent,
    StoredCost, StoredPlan, StoredSpend, TokenCounts, TokenEfficiencyStats,
};
pub use self::answer::{
    EarlyTerminationEvaluation, Rejudged, SecondVerdict, StoredConcern, StoredJudgePasses,
    StoredPerspective,
};
pub use self::changes::{ExpertChange, OpenPoint, OpenView, PositionChanges};
pub use self::context_words::{ContextWords, StoredContext, source_in_words};
pub use self::debate_value::DebateValue;
pub use self::panel::{
    ServedOtherwise, StoredAgent, StoredHedge, StoredModel, StoredPanel, StoredPersonaSelection,
    StoredSubstitution, Substitution, WhySubstituted,
};
pub use self::rounds::{
    AgentError, CallError, CompletedRound, Completion, FailureClass, StoredAgentRound,
    StoredAttempt, StoredRound,
};

/// One consultation, finished or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredRecord {
    #[serde(rename = "@context")]
    pub vocabulary: Vocabulary,
    /// `Report`.
    #[serde(rename = "@type")]
    #[cfg_attr(test, schemars(extend("const" = "Report")))]
    pub kind: Option<String>,
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: Option<String>,
    #[serde(rename = "consultation_id")]
    pub id: String,
    /// The time at which the consultation began.
    #[serde(rename = "timestamp")]
    pub at: Option<Timestamp>,
    pub question: String,
    /// The context of the question: its sources, without their text.
    pub context: Option<StoredContext>,
    pub mode: Option<String>,
    /// `complete`, `degraded`, `aborted`, `declined`, `incomplete`, or a status of another version.
    pub status: Option<String>,
    /// `Complete`, `Aborted`, or the phase that was running when the process ended.
    pub state: Option<String>,
    /// The ways in which the result falls short of the panel.
    pub degradations: Vec<String>,
    /// The experts, in the order of the panel.
    pub agents: Vec<StoredAgent>,
    pub panel: StoredPanel,
    /// The selection of the personas; `None` if the user named them.
    #[serde(rename = "casting")]
    pub persona_selection: Option<StoredPersonaSelection>,
    /// The model that judged; see [`Self::judge`].
    pub judge: Option<StoredModel>,
    pub substitutions: Vec<StoredSubstitution>,
    pub hedges: Vec<StoredHedge>,
    pub served_otherwise: Vec<ServedOtherwise>,
    /// The number of planned rounds.
    #[serde(rename = "rounds")]
    pub planned_rounds: Option<u8>,
    pub completed_rounds: Vec<CompletedRound>,
    /// The planned rounds that were not completed; empty for a complete consultation.
    pub incomplete_rounds: Vec<u8>,
    /// The number of completed rounds.
    pub rounds_completed: Option<u64>,
    /// The rounds by name, `round_1` to `round_4`; see [`Self::rounds`].
    pub responses: BTreeMap<String, StoredRound>,
    /// The same as `recommendation`.
    pub consensus: Option<String>,
    /// The judge's in `recommendation`; `None` for a menu, whose options have their own.
    pub confidence: Option<Confidence>,
    /// The answer; for a menu, how to choose. Without a verdict the judge's provisional answer,
    /// `None` without that.
    pub recommendation: Option<String>,
    /// The options of a menu.
    pub recommendations: Vec<MenuOption>,
    /// Where `recommendation` is from: `judge` is the verdict, `synthesis` and `cross_examination`
    /// the provisional answer after Round 2 or 3.
    pub verdict_source: Option<String>,
    pub summary: Option<String>,
    /// The points on which the panel agreed if the consultation ended without a verdict.
    pub partial_consensus: Option<String>,
    /// Each expert's rationale of Round 1.
    pub reasoning: IndexMap<SeatId, String>,
    /// The claims of `evidence_detail`: those of the verdict, or else the points of agreement. None
    /// repeats the answer.
    pub evidence: Vec<String>,
    pub evidence_detail: Vec<Evidence>,
    /// The texts of `concerns_detail`.
    pub concerns: Vec<String>,
    pub concerns_detail: Vec<StoredConcern>,
    /// Objections to the judge's verdict; empty without one.
    pub dissent: Vec<Dissent>,
    /// Points that the debate left open.
    pub open_points: Vec<OpenPoint>,
    pub perspectives: Vec<StoredPerspective>,
    /// The share of the experts in Round 1 that support the leading point, from 0 to 1.
    pub agreement: Option<f64>,
    /// The value of the debate.
    pub debate_value_analysis: Option<DebateValue>,
    /// Whether the verdict held in the judge's second pass; `None` if unknown or not asked.
    pub judge_consistent: Option<bool>,
    /// `None` when the judge was asked once.
    pub judge_passes: Option<StoredJudgePasses>,
    /// The consultation whose answers were rejudged here.
    pub rejudged_from: Option<String>,
    /// Whether its verdict held.
    pub rejudged: Option<Rejudged>,
    /// The consultation that the question follows up.
    pub follow_up_of: Option<String>,
    /// The question of that consultation.
    pub follow_up_question: Option<String>,
    /// Whether the consultation ended after Round 2 because the experts agree.
    pub early_termination: bool,
    pub early_termination_reason: Option<String>,
    /// The number of planned rounds that an early termination skipped.
    pub rounds_skipped: u64,
    /// The estimated cost of the skipped rounds, in dollars.
    pub estimated_cost_saved: Option<f64>,
    /// True if a part of the saving could not be estimated.
    pub estimated_cost_saved_lower_bound: bool,
    /// Dollars spent.
    pub actual_cost: Option<f64>,
    /// True if an unpriced or unreported part comes on top.
    pub actual_cost_lower_bound: bool,
    pub early_termination_evaluation: Option<EarlyTerminationEvaluation>,
    /// The probability that the leading point of Round 2 is right, above 0 and below 1.
    pub calibrated_confidence: Option<f64>,
    /// The basis of `calibrated_confidence`.
    pub calibration: Option<Basis>,
    pub cost: Option<StoredCost>,
    /// The plans that paid for calls, by provider; `cost` leaves these calls out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plans: BTreeMap<ProviderId, StoredPlan>,
    pub token_efficiency_stats: Option<TokenEfficiencyStats>,
    pub estimated_cost: Option<EstimatedCost>,
    pub consent: Option<StoredConsent>,
    /// Milliseconds, without the time between an interruption and its resume, and without the time
    /// in which only the person was waited for.
    pub duration_ms: Option<u64>,
    /// Milliseconds in which only the person was waited for, at questions.
    pub waited_for_person_ms: u64,
    pub abort_reason: Option<String>,
    pub abort_message: Option<String>,
    /// The phase that was running at the abort.
    pub aborted_during: Option<String>,
    /// The id for `conclave resume`; `None` if there is nothing to resume.
    pub resume_token: Option<String>,
    pub prompt_versions: PromptVersions,
    /// The seed of the run.
    pub seed: Option<u64>,
    /// The seats in the order of their labels `Expert A`, `Expert B`, …; empty if they were shown
    /// by name.
    pub expert_order: Vec<SeatId>,
    pub tool_version: Option<String>,
    /// What was detected of the project that the question is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_context: Option<ProjectContext>,
    /// The secrets that were masked in question and context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrubbing_report: Option<ScrubbingReport>,
    /// The user's grade of the answer. The caller reads it from its separate file.
    #[serde(skip)]
    pub grade: Option<Grade>,
    /// The consultations that follow this one up. The caller reads them from the index: the record
    /// is not rewritten when one begins.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(skip))]
    pub follow_ups: Vec<String>,
}

/// The vocabulary of a JSON-LD document: its terms are the properties of this schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Vocabulary {
    #[serde(rename = "@vocab")]
    pub url: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<StoredRecord>("consultation", "Consultation");
    }
}
