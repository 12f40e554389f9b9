//! The five kinds of answer that models are asked for, each with its JSON Schema.
//!
//! The schemas stay within the subset that every vendor's strict mode accepts: all properties required, no bounds, no references.
//! Bounds are in the descriptions, and checked when the answer is read.

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
    /// Round 4, the judge.
    Verdict,
}

impl AnswerKind {
    pub const ALL: [Self; 5] = [Self::Independent, Self::Synthesis, Self::Revision, Self::CrossExam, Self::Verdict];

    /// The round it belongs to, 1–4.
    pub fn round(self) -> u8 {
        match self {
            Self::Independent => 1,
            Self::Synthesis => 2,
            Self::Revision | Self::CrossExam => 3,
            Self::Verdict => 4,
        }
    }

    /// A name of letters and underscores, as vendors want for a schema, and as prompts are filed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Synthesis => "synthesis",
            Self::Revision => "revision",
            Self::CrossExam => "cross_exam",
            Self::Verdict => "verdict",
        }
    }

    /// The JSON Schema of the answer, as text with its properties in the order they are to be written.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Independent => include_str!("../../schemas/answers/independent.json"),
            Self::Synthesis => include_str!("../../schemas/answers/synthesis.json"),
            Self::Revision => include_str!("../../schemas/answers/revision.json"),
            Self::CrossExam => include_str!("../../schemas/answers/cross_exam.json"),
            Self::Verdict => include_str!("../../schemas/answers/verdict.json"),
        }
    }
}
