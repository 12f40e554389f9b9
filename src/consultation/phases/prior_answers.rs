//! Rounds held by an earlier consultation: its answers are stored as if given now, without asking
//! any model.

use crate::domain::artifact::{Content, CrossExam, Independent};

use crate::consultation::machine::emitter::Emitter;
use crate::consultation::plan::options::PriorAnswers;

/// Returns the prior answers of Round 1.
pub(crate) fn answers(emitter: &mut Emitter<'_>, prior_answers: &PriorAnswers) -> Vec<Independent> {
    for answer in &prior_answers.independents {
        emitter.emit_artifact(Content::Independent(answer.clone()), false);
    }
    prior_answers.independents.clone()
}

/// Returns the prior cross-examination; empty if there was none, so that the verdict uses Rounds 1
/// and 2.
pub(crate) fn cross_examination(
    emitter: &mut Emitter<'_>,
    prior_answers: &PriorAnswers,
) -> CrossExam {
    let Some(record) = &prior_answers.cross_exam else {
        return CrossExam::default();
    };
    for revision in &record.positions {
        emitter.emit_artifact(Content::Revision(revision.clone()), false);
    }
    emitter.emit_artifact(Content::CrossExam(record.clone()), false);
    record.clone()
}
