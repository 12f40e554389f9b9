//! A consultation of a loop in its report.

use serde::Serialize;

use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::refinement::event::Extraction;
use crate::refinement::finding::PanelFinding;
use crate::refinement::state::{BatchRecord, ConsultationStatus, ExtractionRecord};
use crate::stopping::convergence::QuestionKey;

/// The consultation of a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConsultationReport {
    pub consultation: ConsultationId,
    pub status: ConsultationStatus,
    /// As they were asked.
    pub questions: Vec<String>,
    /// From 0 to 1; `None` if it is unknown.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub confidence: Option<f64>,
    pub calibrated: bool,
    /// Who disagrees with the whole answer, and why.
    pub dissent: Vec<String>,
    /// Why it is less than the panel promised, such as an expert without an answer; empty for a
    /// complete answer.
    pub degradations: Vec<String>,
    pub findings: Vec<PanelFinding>,
    /// Questions that the answer says nothing readable about.
    pub unread: Vec<QuestionKey>,
    /// Why there is no answer.
    pub error: Option<String>,
    pub spend: ConsultationSpend,
}

/// An extraction of claims and questions from a plain document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExtractionReport {
    pub status: ConsultationStatus,
    #[serde(flatten)]
    pub extraction: Extraction,
}

impl ConsultationReport {
    pub(super) fn of(batch: &BatchRecord) -> Self {
        let answer = batch.answer.as_ref();
        let questions = batch.about.questions.iter();
        Self {
            consultation: batch.consultation.clone(),
            status: batch.status,
            questions: questions.map(|(_, text)| text.clone()).collect(),
            confidence: answer.and_then(|answer| answer.source.confidence),
            calibrated: answer.is_some_and(|answer| answer.source.calibrated),
            dissent: answer.map_or_else(Vec::new, |answer| answer.source.dissent.clone()),
            degradations: answer.map_or_else(Vec::new, |answer| answer.source.degradations.clone()),
            findings: answer.map_or_else(Vec::new, |answer| answer.findings.clone()),
            unread: answer.map_or_else(Vec::new, |answer| answer.unread.clone()),
            error: batch.error.clone(),
            spend: batch.spend,
        }
    }
}

impl ExtractionReport {
    pub(super) fn of(record: &ExtractionRecord) -> Self {
        let nothing = || Extraction {
            consultation: record.consultation.clone(),
            high: Vec::new(),
            medium: Vec::new(),
            open: Vec::new(),
            spend: record.spend,
            error: record.error.clone(),
        };
        Self {
            status: record.status,
            extraction: record.answer.clone().unwrap_or_else(nothing),
        }
    }
}
