//! The options of a debate: its mode, its rounds, the helper model, and prior answers.

use serde::{Deserialize, Serialize};

use crate::domain::answer::artifact::{CrossExam, Independent, Verdict};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Persona;

use crate::consultation::policy::mode::Mode;
use crate::consultation::prompt::prior_consultation::PriorConsultation;
use crate::consultation::protocol::answer::AnswerKind;

/// The options of a debate, fixed before it begins. The default is the behaviour of consultations
/// recorded without options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DebateOptions {
    pub mode: Mode,
    pub rounds: Rounds,
    pub judge_passes: JudgePasses,
    /// A cheap model for persona selection and comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helper: Option<ModelRef>,
    pub debate_analysis: DebateAnalysis,
    /// The personas from which the helper selects for the question; empty if the panel is fixed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selectable_personas: Vec<Persona>,
    /// Answers of an earlier consultation that is only judged again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_answers: Option<Box<PriorAnswers>>,
    /// The earlier consultation that the question follows up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_up: Option<Box<PriorConsultation>>,
}

impl DebateOptions {
    pub fn asks_for(&self, answer: AnswerKind) -> bool {
        let is_given = self.prior_answers.is_some();
        let is_held = answer.round() <= self.rounds.number();
        is_held
            && match answer {
                AnswerKind::PersonaSelection => !self.selectable_personas.is_empty() && !is_given,
                AnswerKind::Independent | AnswerKind::Revision | AnswerKind::CrossExam => !is_given,
                AnswerKind::Synthesis => true,
                AnswerKind::Comparison => self.debate_analysis == DebateAnalysis::On && !is_given,
                AnswerKind::Verdict | AnswerKind::Menu => answer == self.mode.strategy().verdict,
                AnswerKind::Consistency => {
                    self.judge_passes == JudgePasses::Twice
                        || self
                            .prior_answers
                            .as_ref()
                            .is_some_and(|prior_answers| prior_answers.verdict.is_some())
                }
            }
    }
}

impl DebateOptions {
    /// Returns the helper if its comparison of texts can be trusted: the embedded model finds
    /// nearly everything alike.
    pub fn comparer(&self) -> Option<&ModelRef> {
        self.helper
            .as_ref()
            .filter(|helper| !helper.is_demonstration())
    }
}

/// The number of rounds, 1–4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Rounds(u8);

impl Rounds {
    pub const ALL: Self = Self(4);
    /// Positions, and what the experts agree on.
    pub const QUICK: Self = Self(2);

    /// `None` outside 1–4.
    pub fn new(number: u8) -> Option<Self> {
        (1..=4).contains(&number).then_some(Self(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }
}

impl Default for Rounds {
    fn default() -> Self {
        Self::ALL
    }
}

impl TryFrom<u8> for Rounds {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::new(number)
            .ok_or_else(|| format!("`{number}` is not a number of rounds: there are 1 to 4"))
    }
}

impl From<Rounds> for u8 {
    fn from(rounds: Rounds) -> Self {
        rounds.0
    }
}

/// The number of times that the judge decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgePasses {
    #[default]
    Once,
    /// A second time with the experts in the opposite order, to see whether the verdict holds.
    Twice,
}

impl JudgePasses {
    /// Returns `None` for numbers other than 1 and 2.
    pub fn of_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Once),
            2 => Some(Self::Twice),
            _ => None,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Self::Once => 1,
            Self::Twice => 2,
        }
    }
}

/// Whether the helper compares the experts' positions before and after the debate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DebateAnalysis {
    #[default]
    Off,
    On,
    /// It is requested, but no model is available whose comparison can be trusted.
    NoModel,
}

/// Answers of an earlier consultation, so that only the judge is asked, in Rounds 2 and 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorAnswers {
    pub from: ConsultationId,
    pub independents: Vec<Independent>,
    /// `None` if that consultation did not reach Round 3.
    pub cross_exam: Option<CrossExam>,
    /// The verdict to compare with the new one; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}
