//! The text that states a consultation's answer, wherever its rounds ended.

use crate::domain::answer::artifact::{Independent, Synthesis, Verdict};
use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::ModelRef;
use crate::domain::record::stored_record::StoredRecord;

/// The text that states an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalText<'a> {
    pub text: &'a str,
    /// Other words of the same author, where the final statement may be instead.
    pub more: &'a str,
    /// False if the text only says that the experts agree on nothing.
    pub is_answer: bool,
    pub confidence: Option<Confidence>,
    /// The model that stated the confidence.
    pub by: Option<ModelRef>,
}

impl<'a> FinalText<'a> {
    /// Returns the words of a verdict: its recommendation, or the first option of a menu, which is
    /// the most useful one. `None` for a verdict without any words.
    pub fn of_verdict(record: &'a StoredRecord, verdict: &'a Verdict) -> Option<Self> {
        let menu = verdict.recommendations.first();
        let option = menu.filter(|_| verdict.recommendation.trim().is_empty());
        let text = option.map_or(&verdict.recommendation, |option| &option.option);
        let is_judges = verdict.composed_from.is_none();
        let leading = record.synthesis().and_then(Synthesis::leading);
        (!text.trim().is_empty()).then(|| Self {
            text,
            more: if is_judges { &verdict.summary } else { "" },
            is_answer: is_judges || verdict.is_menu() || leading.is_some(),
            confidence: option.map_or(verdict.confidence, |option| option.confidence),
            by: record.judge(),
        })
    }

    pub fn of_expert(independent: &'a Independent, model: ModelRef) -> Self {
        Self {
            text: &independent.position,
            more: &independent.rationale,
            is_answer: true,
            confidence: independent.confidence,
            by: Some(model),
        }
    }

    /// Whether a model of demonstration quality stated the confidence.
    pub fn is_demonstration(&self) -> bool {
        self.by.as_ref().is_some_and(ModelRef::is_demonstration)
    }
}
