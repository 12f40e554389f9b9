//! Rounds that are not held, because an earlier consultation has held them: what was answered then
//! is kept as if it had been answered now, and nobody is asked.

use crate::domain::artifact::{Content, CrossExam, Independent};

use crate::consultation::machine::step::Turn;
use crate::consultation::plan::options::Given;

/// Round 1, as it was answered.
pub(in crate::consultation) fn answers(turn: &mut Turn<'_>, given: &Given) -> Vec<Independent> {
    for answer in &given.independents {
        turn.keep(Content::Independent(answer.clone()), false);
    }
    given.independents.clone()
}

/// Round 3, as it was held; where it was not, there is nothing to keep, and the verdict rests on
/// Rounds 1 and 2.
pub(in crate::consultation) fn cross_examination(turn: &mut Turn<'_>, given: &Given) -> CrossExam {
    let Some(record) = &given.cross_exam else {
        return CrossExam::default();
    };
    for revision in &record.positions {
        turn.keep(Content::Revision(revision.clone()), false);
    }
    turn.keep(Content::CrossExam(record.clone()), false);
    record.clone()
}
