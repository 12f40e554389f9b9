//! What the debate was worth: who moved, how far, because of whom, and whether the rounds after the second changed the answer. What is not
//! known is `None` or `Unknown`, and counts as nothing.

use serde::{Deserialize, Serialize};

use super::artifact::Magnitude;
use super::confidence::Confidence;
use super::ids::SeatId;
use super::money::Cost;

/// The value of one consultation's debate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebateValue {
    pub status: ComparisonStatus,
    /// Why nothing was compared, in words; `None` where it was.
    pub reason: Option<String>,
    /// Everybody on the panel.
    pub total_agents: u64,
    /// Those who answered in Round 1, in the panel's order.
    pub agents: Vec<AgentMove>,
    /// The mean by expert of what they state at the end less what they stated at the beginning; of those that state both.
    pub avg_confidence_increase: Option<f64>,
    /// Whom most of the experts that moved say they moved for.
    pub key_influencers: Vec<SeatId>,
    /// Of the experts that answered Round 3, the share that the judge's verdict names no dissent of.
    pub convergence_score: Option<f64>,
    /// What the comparison cost; `None` where no call was made for it.
    pub comparison_cost: Option<Cost>,
    pub key_insights: Vec<String>,
    pub verdict_changed_after_round_2: Option<bool>,
    /// The share of the words of Round 2's answer that are in the verdict: a measure of words, not of what they mean.
    pub similarity_to_round_2: Option<f64>,
    /// What the calls of Rounds 3 and 4 cost, without the comparison; `None` where none was made.
    pub later_rounds_cost: Option<Cost>,
}

/// Whether positions were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonStatus {
    Compared,
    /// Nobody was to compare them, or there was nobody to do it.
    Skipped,
    /// Somebody was asked and gave no answer.
    Failed,
    /// There are not two positions of anybody.
    #[default]
    NotApplicable,
}

/// What one expert held before and after the debate.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentMove {
    pub agent_id: SeatId,
    pub round1_position: String,
    pub round1_confidence: Option<Confidence>,
    /// `None` where it did not answer Round 3.
    pub revised_position: Option<String>,
    pub revised_confidence: Option<Confidence>,
    pub magnitude: ChangeMagnitude,
    /// What is different, in the words of who compared; empty where nobody said.
    pub reasoning: String,
    /// Whom it names as the reason; without itself and whoever is not on the panel.
    pub influenced_by: Vec<SeatId>,
    /// It moved towards the majority and named no argument.
    pub conformity: bool,
}

/// How far an expert moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeMagnitude {
    Same,
    MinorRefinement,
    ModerateShift,
    SignificantChange,
    #[default]
    Unknown,
}

impl From<Magnitude> for ChangeMagnitude {
    fn from(magnitude: Magnitude) -> Self {
        match magnitude {
            Magnitude::Same => Self::Same,
            Magnitude::MinorRefinement => Self::MinorRefinement,
            Magnitude::ModerateShift => Self::ModerateShift,
            Magnitude::SignificantChange => Self::SignificantChange,
        }
    }
}

impl ChangeMagnitude {
    /// Whether it is a change; `None` where nobody knows.
    pub fn is_change(self) -> Option<bool> {
        match self {
            Self::Same => Some(false),
            Self::MinorRefinement | Self::ModerateShift | Self::SignificantChange => Some(true),
            Self::Unknown => None,
        }
    }
}

impl AgentMove {
    pub fn position_changed(&self) -> Option<bool> {
        self.magnitude.is_change()
    }

    /// How much surer it is at the end than at the beginning; of who states both.
    pub fn confidence_increase(&self) -> Option<f64> {
        let (before, after) = self.round1_confidence.zip(self.revised_confidence)?;
        Some(after.value() - before.value())
    }
}

impl DebateValue {
    /// Experts of whom it is known whether they moved. Without a comparison nobody counts: those whose words stayed the same would stand for
    /// all the others.
    pub fn agents_compared(&self) -> u64 {
        self.known().count() as u64
    }

    /// Of these, those that moved.
    pub fn agents_changed_position(&self) -> u64 {
        self.known().filter(|changed| *changed).count() as u64
    }

    /// The share of those that moved among those that were compared.
    #[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
    pub fn change_rate(&self) -> Option<f64> {
        let compared = self.agents_compared();
        (compared > 0).then(|| self.agents_changed_position() as f64 / compared as f64)
    }

    fn known(&self) -> impl Iterator<Item = bool> {
        let is_compared = self.status == ComparisonStatus::Compared;
        self.agents.iter().filter(move |_| is_compared).filter_map(AgentMove::position_changed)
    }
}
