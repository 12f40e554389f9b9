//! The text that states a consultation's answer, wherever its rounds ended.

use crate::domain::answer::artifact::Independent;
use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::ModelRef;
use crate::domain::record::stored_record::StoredRecord;

/// The text that states an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalText<'a> {
    pub text: &'a str,
    /// Other words of the same author, where the final statement may be instead.
    pub more: &'a str,
    pub confidence: Option<Confidence>,
    /// The model that stated the confidence.
    pub by: Option<ModelRef>,
}

impl<'a> FinalText<'a> {
    /// Returns the words of the judge's verdict: its recommendation, or the first option of a menu,
    /// which is the most useful one. Without a verdict, its provisional answer. `None` without any
    /// words.
    pub fn of_judge(record: &'a StoredRecord) -> Option<Self> {
        let words = |text: &'a String, more, confidence| {
            (!text.trim().is_empty()).then(|| Self {
                text,
                more,
                confidence,
                by: record.judge(),
            })
        };
        let Some(verdict) = record.verdict() else {
            let (_, given) = record.provisional_answer()?;
            return words(&given.answer, "", given.confidence);
        };
        let menu = verdict.recommendations.first();
        match menu.filter(|_| verdict.recommendation.trim().is_empty()) {
            Some(option) => words(&option.option, &verdict.summary, option.confidence),
            None => words(
                &verdict.recommendation,
                &verdict.summary,
                verdict.confidence,
            ),
        }
    }

    pub fn of_expert(independent: &'a Independent, model: ModelRef) -> Self {
        Self {
            text: &independent.position,
            more: &independent.rationale,
            confidence: independent.confidence,
            by: Some(model),
        }
    }

    /// Whether a model of demonstration quality stated the confidence.
    pub fn is_demonstration(&self) -> bool {
        self.by.as_ref().is_some_and(ModelRef::is_demonstration)
    }
}
