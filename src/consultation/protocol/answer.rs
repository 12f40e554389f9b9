//! The kinds of answer, each with its JSON Schema.
//!
//! The schemas stay within the subset that every vendor's strict mode accepts: all properties
//! required, no bounds, no references. Bounds are in the descriptions and are checked when the
//! answer is read.

use serde::{Deserialize, Serialize};

/// The kind of answer that a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Round 1, an expert.
    Independent,
    /// Round 2, the judge.
    Synthesis,
    /// Round 3, an expert.
    Revision,
    /// Round 3, the judge merging the experts' answers.
    CrossExam,
    /// Round 4, the judge: one recommendation.
    Verdict,
    /// Round 4, the judge: a menu of options.
    Menu,
    /// Before Round 1, the helper: the kind of task and the personas that suit it.
    #[serde(rename = "casting")]
    PersonaSelection,
    /// After Round 3, the helper: the differences between pairs of texts.
    Comparison,
    /// In Round 4, the helper: the difference between the judge's two verdicts.
    Consistency,
}

impl AnswerKind {
    pub const ALL: [Self; 9] = [
        Self::PersonaSelection,
        Self::Independent,
        Self::Synthesis,
        Self::Revision,
        Self::CrossExam,
        Self::Comparison,
        Self::Verdict,
        Self::Menu,
        Self::Consistency,
    ];

    /// Returns its round, 1–4.
    pub fn round(self) -> u8 {
        match self {
            Self::PersonaSelection | Self::Independent => 1,
            Self::Synthesis => 2,
            Self::Revision | Self::CrossExam | Self::Comparison => 3,
            Self::Verdict | Self::Menu | Self::Consistency => 4,
        }
    }

    /// Returns whether the helper gives this answer.
    pub fn is_for_helper(self) -> bool {
        matches!(
            self,
            Self::PersonaSelection | Self::Comparison | Self::Consistency
        )
    }

    /// Returns a name of letters and underscores, as vendors require for a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Synthesis => "synthesis",
            Self::Revision => "revision",
            Self::CrossExam => "cross_exam",
            Self::Verdict => "verdict",
            Self::Menu => "menu",
            Self::PersonaSelection => "casting",
            Self::Comparison => "comparison",
            Self::Consistency => "consistency",
        }
    }

    /// Returns the JSON Schema of the answer, as text with its properties in the order of the
    /// answer.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Independent => include_str!("../../../schemas/answers/independent.json"),
            Self::Synthesis => include_str!("../../../schemas/answers/synthesis.json"),
            Self::Revision => include_str!("../../../schemas/answers/revision.json"),
            Self::CrossExam => include_str!("../../../schemas/answers/cross_exam.json"),
            Self::Verdict => include_str!("../../../schemas/answers/verdict.json"),
            Self::Menu => include_str!("../../../schemas/answers/menu.json"),
            Self::PersonaSelection => include_str!("../../../schemas/answers/casting.json"),
            Self::Comparison | Self::Consistency => {
                include_str!("../../../schemas/answers/comparison.json")
            }
        }
    }
}
