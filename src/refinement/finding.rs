//! What a panel found about the questions of a batch, and the section that an answer goes to.

use serde::{Deserialize, Serialize};

use super::document::{SectionKind, Tag};
use crate::domain::answer::confidence::Confidence;
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

    /// `None` for what is about a question of the batch.
    pub fn matter(&self) -> Option<(bool, QuestionKey)> {
        match self {
            Self::Contradicted { claim, .. } => Some((false, claim.clone())),
            Self::NewQuestion { text, .. } => Some((true, QuestionKey::of(text))),
            Self::Answered { .. } | Self::StillOpen { .. } | Self::Deferred { .. } => None,
        }
    }

    /// `None` if it is about something else.
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

impl BatchFindings {
    /// Returns the dissent from the answer to a question.
    pub fn dissent(&self, answered: &QuestionKey) -> Option<&str> {
        self.findings.iter().find_map(|finding| {
            let PanelFinding::Answered {
                question, dissent, ..
            } = finding
            else {
                return None;
            };
            dissent.as_deref().filter(|_| question == answered)
        })
    }
}

impl FindingSource {
    /// `90%`, or that it is unknown.
    pub fn confidence_in_words(&self) -> String {
        let known = self.confidence.and_then(Confidence::new);
        known.map_or_else(|| "confidence unknown".to_owned(), |it| it.to_string())
    }
}

/// Returns the section of an answer to a question with these tags. High Confidence needs a known
/// confidence of at least `high_from` and no dissent from this answer. A blocker moves only there:
/// its answer is what work begins on. `None` if the question stays open: the answer is a proposal
/// for a person.
pub fn answer_section(
    source: &FindingSource,
    dissent: Option<&str>,
    tags: &[Tag],
    high_from: Confidence,
) -> Option<SectionKind> {
    let known = source.confidence.and_then(Confidence::new);
    let is_sure = known.is_some_and(|known| known.millionths() >= high_from.millionths());
    let is_disputed = dissent.is_some_and(|dissent| !dissent.trim().is_empty());
    if is_sure && !is_disputed {
        Some(SectionKind::High)
    } else if tags.contains(&Tag::Blocker) {
        None
    } else {
        Some(SectionKind::Medium)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ConsultationId;

    fn source(confidence: Option<f64>) -> FindingSource {
        FindingSource {
            consultation: ConsultationId::from_unique("one"),
            confidence,
            calibrated: false,
            dissent: Vec::new(),
            degradations: Vec::new(),
        }
    }

    fn placed(confidence: Option<f64>, dissent: Option<&str>, tags: &[Tag]) -> Option<SectionKind> {
        let high_from = Confidence::new(0.8).unwrap();
        answer_section(&source(confidence), dissent, tags, high_from)
    }

    #[test]
    fn a_confident_undisputed_answer_is_of_high_confidence() {
        assert_eq!(placed(Some(0.8), None, &[]), Some(SectionKind::High));
        let expected = Some(SectionKind::High);
        assert_eq!(placed(Some(0.93), None, &[Tag::New]), expected);
        assert_eq!(placed(Some(0.8), Some(" "), &[]), Some(SectionKind::High));
    }

    #[test]
    fn doubt_dissent_or_an_unknown_confidence_is_medium() {
        assert_eq!(placed(Some(0.799), None, &[]), Some(SectionKind::Medium));
        assert_eq!(placed(None, None, &[]), Some(SectionKind::Medium));
        assert_eq!(placed(Some(f64::NAN), None, &[]), Some(SectionKind::Medium));
        let disputed = placed(Some(0.99), Some("Rust differs"), &[]);
        assert_eq!(disputed, Some(SectionKind::Medium));
    }

    #[test]
    fn a_blocker_moves_only_to_high_confidence() {
        let blocker = [Tag::Blocker];
        assert_eq!(placed(Some(0.9), None, &blocker), Some(SectionKind::High));
        assert_eq!(placed(Some(0.5), None, &blocker), None);
        assert_eq!(placed(None, None, &blocker), None);
        let disputed = placed(Some(0.9), Some("no"), &blocker);
        assert_eq!(disputed, None);
    }
}
