//! What a panel found about the questions of a batch.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;
use crate::domain::ids::ConsultationId;
use crate::stopping::convergence::QuestionKey;

/// One finding. Questions and claims are named by their keys, so that findings can be used after a
/// person has edited the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum PanelFinding {
    Answered {
        question: QuestionKey,
        /// One paragraph, without line breaks.
        answer: String,
        /// Who disagrees and why, as the judge states it for this question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dissent: Option<String>,
    },
    /// The panel could not answer it.
    StillOpen {
        question: QuestionKey,
        reason: String,
    },
    /// Only a person can decide it.
    Deferred {
        question: QuestionKey,
        reason: String,
    },
    /// A claim of the document is wrong.
    Contradicted {
        claim: QuestionKey,
        reason: String,
    },
    NewQuestion {
        text: String,
        blocker: bool,
    },
}

impl PanelFinding {
    /// Returns the answer, the reason or the new question.
    pub fn words(&self) -> &str {
        match self {
            Self::Answered { answer: words, .. }
            | Self::StillOpen { reason: words, .. }
            | Self::Deferred { reason: words, .. }
            | Self::Contradicted { reason: words, .. }
            | Self::NewQuestion { text: words, .. } => words,
        }
    }

    /// Returns the question that it answers or leaves open; `None` if it is about something else.
    pub fn question(&self) -> Option<&QuestionKey> {
        match self {
            Self::Answered { question, .. }
            | Self::StillOpen { question, .. }
            | Self::Deferred { question, .. } => Some(question),
            Self::Contradicted { .. } | Self::NewQuestion { .. } => None,
        }
    }
}

/// The findings of one consultation, with what they are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchFindings {
    pub source: FindingSource,
    pub findings: Vec<PanelFinding>,
    /// Questions that the answer says nothing readable about: they stay open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<QuestionKey>,
}

/// The consultation that findings come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingSource {
    pub consultation: ConsultationId,
    /// From 0 to 1: the calibrated probability that the leading point is right if there is one,
    /// otherwise the judge's stated confidence. `None` if neither is known, or a model of
    /// demonstration quality stated it.
    pub confidence: Option<f64>,
    /// Whether `confidence` is calibrated.
    pub calibrated: bool,
    /// The dissent of the whole consultation, a line each: who, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<String>,
    /// Why the consultation is less than the panel promised, such as an expert without an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degradations: Vec<String>,
}

impl FindingSource {
    /// Returns the confidence in the answer: `90%`, or that it is unknown.
    pub fn confidence_in_words(&self) -> String {
        self.confidence.and_then(Confidence::new).map_or_else(
            || "confidence unknown".to_owned(),
            |known| known.to_string(),
        )
    }
}
