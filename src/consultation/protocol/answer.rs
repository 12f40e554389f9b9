//! The kinds of answer that models are asked for, each with its JSON Schema.
//!
//! The schemas stay within the subset that every vendor's strict mode accepts: all properties
//! required, no bounds, no references. Bounds are in the descriptions, and checked when the answer
//! is read.

use serde::{Deserialize, Serialize};

/// What a prompt asks for.
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
    /// Before Round 1, the helper: what kind of task it is, and which personas suit it.
    #[serde(rename = "casting")]
    PersonaSelection,
    /// After Round 3, the helper: how far apart pairs of texts are.
    Comparison,
    /// In Round 4, the helper: how far apart the judge's two verdicts are.
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

    /// The round it belongs to, 1–4.
    pub fn round(self) -> u8 {
        match self {
            Self::PersonaSelection | Self::Independent => 1,
            Self::Synthesis => 2,
            Self::Revision | Self::CrossExam | Self::Comparison => 3,
            Self::Verdict | Self::Menu | Self::Consistency => 4,
        }
    }

    /// Whether the helper gives this answer.
    pub fn is_for_helper(self) -> bool {
        matches!(
            self,
            Self::PersonaSelection | Self::Comparison | Self::Consistency
        )
    }

    /// A name of letters and underscores, as vendors want for a schema.
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

    /// The JSON Schema of the answer, as text with its properties in the order they are to be
    /// written.
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
