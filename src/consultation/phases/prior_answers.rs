//! Rounds that are not held, because an earlier consultation has held them: what was answered then
//! is kept as if it had been answered now, and nobody is asked.

use crate::domain::artifact::{Content, CrossExam, Independent};

use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::options::PriorAnswers;

/// Round 1, as it was answered.
pub(in crate::consultation) fn answers(
    step: &mut StepContext<'_>,
    prior_answers: &PriorAnswers,
) -> Vec<Independent> {
    for answer in &prior_answers.independents {
        step.keep(Content::Independent(answer.clone()), false);
    }
    prior_answers.independents.clone()
}

/// Round 3, as it was held; where it was not, there is nothing to keep, and the verdict rests on
/// Rounds 1 and 2.
pub(in crate::consultation) fn cross_examination(
    step: &mut StepContext<'_>,
    prior_answers: &PriorAnswers,
) -> CrossExam {
    let Some(record) = &prior_answers.cross_exam else {
        return CrossExam::default();
    };
    for revision in &record.positions {
        step.keep(Content::Revision(revision.clone()), false);
    }
    step.keep(Content::CrossExam(record.clone()), false);
    record.clone()
}
