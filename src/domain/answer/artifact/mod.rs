//! The artifacts that rounds produce. The models fill the content; ids, types, versions, round
//! numbers and times are ours.
//!
//! Agents are named by seat id if the text that named them could be matched, and by that text
//! otherwise. Fields that a file lacks are empty.

mod findings;
pub mod problem;
mod stored;

use serde::{Deserialize, Serialize};

use super::confidence::Confidence;
use crate::domain::ids::SeatId;

pub use findings::{ContradictedClaim, FindingOutcome, Findings, NewQuestion, QuestionFinding};
pub use stored::{Artifact, MissingFieldError, SCHEMA_VERSION};

/// The severity of a point, from low to high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    #[default]
    Medium,
    High,
}

impl Severity {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Round 1: one expert's own answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Independent {
    pub agent_id: SeatId,
    pub position: String,
    pub key_points: Vec<String>,
    pub rationale: String,
    pub confidence: Option<Confidence>,
    pub prose_excerpt: String,
    /// What it says about a document, if the question asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Box<Findings>>,
}

impl Independent {
    /// Returns the saved words of the answer if they add something to its other parts.
    pub fn own_words(&self) -> Option<&str> {
        let words = self.prose_excerpt.trim();
        let is_said = [&self.position, &self.rationale]
            .into_iter()
            .any(|part| part.trim().starts_with(words.trim_end_matches('…')));
        (!words.is_empty() && !is_said).then_some(words)
    }
}

/// Round 2: what the experts agree on and where they differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Synthesis {
    pub consensus_points: Vec<ConsensusPoint>,
    pub tensions: Vec<Tension>,
    pub priority_order: Vec<String>,
    /// `None` if the judge gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisional_answer: Option<Box<ProvisionalAnswer>>,
    /// The judge's own words if they could not be read as the fields above.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prose_excerpt: String,
    /// What it says about a document, if the question asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Box<Findings>>,
}

/// The judge's answer to the question before a verdict. No later prompt shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProvisionalAnswer {
    pub answer: String,
    pub confidence: Option<Confidence>,
    pub would_change_it: String,
}

impl Synthesis {
    /// The one with the highest stated confidence, the first of equals. Points without a stated
    /// confidence rank last.
    pub fn leading(&self) -> Option<&ConsensusPoint> {
        self.consensus_points
            .iter()
            .rev()
            .max_by_key(|point| point.confidence.map(Confidence::millionths))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ConsensusPoint {
    pub point: String,
    pub supporting_agents: Vec<String>,
    pub confidence: Option<Confidence>,
}

impl ConsensusPoint {
    pub fn is_supported_by(&self, agent: &SeatId) -> bool {
        let mut supporters = self.supporting_agents.iter();
        supporters.any(|supporter| supporter == agent.as_str())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Tension {
    pub topic: String,
    pub viewpoints: Vec<Viewpoint>,
    pub severity: Severity,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Viewpoint {
    pub agent: String,
    pub viewpoint: String,
}

/// Round 3, one expert: its challenges, its rebuttals and its revised position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Revision {
    pub agent_id: SeatId,
    pub challenges: Vec<Challenge>,
    pub rebuttals: Vec<Rebuttal>,
    pub revised_position: String,
    pub revised_confidence: Option<Confidence>,
    /// Whether it says that it changed its position; `None` if it does not say.
    pub changed: Option<bool>,
    pub because_of: Vec<Because>,
}

impl Revision {
    /// Returns an empty revision, which stands for a future answer in an estimate.
    pub fn unanswered(agent: &SeatId) -> Self {
        Self {
            agent_id: agent.clone(),
            changed: Some(false),
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Challenge {
    pub challenger: String,
    pub target_agent: String,
    pub challenge: String,
    pub evidence: Vec<String>,
    pub severity: Severity,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Rebuttal {
    pub agent: String,
    pub rebuttal: String,
}

/// An argument that changed an expert's mind, and its author.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Because {
    pub agent: String,
    pub argument: String,
}

/// Round 3 as merged by the judge, with each expert's own answer kept in `positions`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CrossExam {
    pub challenges: Vec<Challenge>,
    pub rebuttals: Vec<Rebuttal>,
    pub unresolved: Vec<String>,
    pub positions: Vec<Revision>,
    /// `None` if the judge gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisional_answer: Option<Box<ProvisionalAnswer>>,
    /// The judge's own words if they could not be read as the fields above.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prose_excerpt: String,
}

impl CrossExam {
    pub fn has_challenges(&self) -> bool {
        let of_experts = self.positions.iter().map(|position| &position.challenges);
        !self.challenges.is_empty() || of_experts.flatten().next().is_some()
    }
}

/// The confidence below which a verdict must state dissent.
const DOUBT: f64 = 0.70;

/// Round 4: the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Verdict {
    pub recommendation: String,
    pub confidence: Option<Confidence>,
    pub evidence: Vec<Evidence>,
    pub dissent: Vec<Dissent>,
    pub summary: String,
    /// The options of a menu, the most useful first; empty for a single recommendation.
    /// `recommendation` then says how to choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recommendations: Vec<MenuOption>,
    /// What it says about a document, if the question asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Box<Findings>>,
}

impl Verdict {
    /// Whether it is a menu, whose options have their own confidences.
    pub fn is_menu(&self) -> bool {
        !self.recommendations.is_empty()
    }

    /// Returns a note on the confidence if it is low and no dissent says why.
    pub fn confidence_note(&self) -> Option<&'static str> {
        self.lacks_dissent()
            .then_some("low for a verdict that states no dissent")
    }

    /// Returns whether the verdict states doubt without the dissent behind it.
    pub fn lacks_dissent(&self) -> bool {
        let is_doubtful = self.confidence.is_some_and(|stated| stated.value() < DOUBT);
        is_doubtful && self.dissent.is_empty() && !self.is_menu()
    }
}

/// One option of a menu.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MenuOption {
    pub option: String,
    pub description: String,
    pub pros: Vec<String>,
    pub cons: Vec<String>,
    pub best_when: String,
    pub confidence: Option<Confidence>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    pub claim: String,
    pub agent: String,
    pub quote: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Dissent {
    pub agent: String,
    pub concern: String,
    pub severity: Severity,
}

/// The helper model's comparison of pairs of texts: an expert's positions before and after the
/// debate, or two verdicts on the same record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Comparison {
    pub comparisons: Vec<PairComparison>,
    pub key_insights: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairComparison {
    /// A seat's id, or the text that could not be matched.
    pub pair: String,
    pub reasoning: String,
    pub magnitude: Magnitude,
}

/// The difference between two texts, from none to a significant change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Magnitude {
    Same,
    MinorRefinement,
    ModerateShift,
    SignificantChange,
}

/// The kind of task that a question poses, and the personas that suit it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PersonaSelection {
    pub task_type: String,
    pub reason: String,
    /// As the helper model names them.
    pub personas: Vec<String>,
}

/// The content of an artifact, by type. Written with its `artifact_type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "artifact_type", rename_all = "snake_case")]
pub enum Content {
    Independent(Independent),
    Synthesis(Synthesis),
    Revision(Revision),
    CrossExam(CrossExam),
    Verdict(Verdict),
    Comparison(Comparison),
    #[serde(rename = "casting")]
    PersonaSelection(PersonaSelection),
}

impl Content {
    pub fn independent(&self) -> Option<&Independent> {
        match self {
            Self::Independent(independent) => Some(independent),
            _ => None,
        }
    }

    pub fn synthesis(&self) -> Option<&Synthesis> {
        match self {
            Self::Synthesis(synthesis) => Some(synthesis),
            _ => None,
        }
    }

    pub fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Revision(revision) => Some(revision),
            _ => None,
        }
    }

    pub fn cross_exam(&self) -> Option<&CrossExam> {
        match self {
            Self::CrossExam(cross_exam) => Some(cross_exam),
            _ => None,
        }
    }

    /// Returns the judge's answer before the verdict, and its round.
    pub fn provisional_answer(&self) -> Option<(u8, &ProvisionalAnswer)> {
        match self {
            Self::Synthesis(synthesis) => Some((2, synthesis.provisional_answer.as_deref()?)),
            Self::CrossExam(cross_exam) => Some((3, cross_exam.provisional_answer.as_deref()?)),
            _ => None,
        }
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::Verdict(verdict) => Some(verdict),
            _ => None,
        }
    }

    pub fn comparison(&self) -> Option<&Comparison> {
        match self {
            Self::Comparison(comparison) => Some(comparison),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_words_that_repeat_the_answer_are_not_shown() {
        let held = |prose: &str| Independent {
            agent_id: SeatId::new("security"),
            position: "Use OAuth.".into(),
            key_points: vec![],
            rationale: "Revocation decides it, and nothing else does.".into(),
            confidence: None,
            prose_excerpt: prose.into(),
            findings: None,
        };
        for repeated in [
            "",
            " ",
            "Use OAuth.",
            "Revocation decides it,",
            "Revocation decides it, and…",
        ] {
            assert_eq!(held(repeated).own_words(), None, "{repeated}");
        }
        assert_eq!(
            held("I would say so.\n").own_words(),
            Some("I would say so.")
        );
    }
}
