//! What models answered, read tolerantly: text in, an artifact's content and a list of problems out. Reading never fails and never
//! loses text; what cannot be used says why, in words that the model can be shown.

mod problems;

use crate::domain::artifact::{Content, CrossExam, Independent, Revision, Synthesis, Verdict};
use crate::domain::ids::SeatId;

use super::answer::AnswerKind;
use super::labels::Labels;
use super::problem::{Problem, Weight};

/// What became of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// `None` exactly when one of the problems is fatal: then the model is asked once more.
    pub content: Option<Content>,
    pub problems: Vec<Problem>,
}

/// Reads an answer of the kind that `who` was asked for.
pub fn read(kind: AnswerKind, text: &str, who: &SeatId, labels: &Labels) -> Reading {
    let _ = (kind, text, who, labels);
    Reading { content: None, problems: vec![Problem::new(Weight::Fatal, "", "not read yet")] }
}

/// The content of a degraded artifact: the whole answer as prose, in the field where the debate goes on with it.
pub fn keep_prose(kind: AnswerKind, text: &str, who: &SeatId) -> Content {
    let text = text.trim().to_owned();
    match kind {
        AnswerKind::Independent => Content::Independent(Independent {
            agent_id: who.clone(),
            position: text,
            key_points: Vec::new(),
            rationale: String::new(),
            confidence: None,
            prose_excerpt: String::new(),
        }),
        AnswerKind::Synthesis => Content::Synthesis(Synthesis { prose_excerpt: text, ..Synthesis::default() }),
        AnswerKind::Revision => Content::Revision(Revision {
            agent_id: who.clone(),
            challenges: Vec::new(),
            rebuttals: Vec::new(),
            revised_position: text,
            revised_confidence: None,
            changed: false,
            because_of: Vec::new(),
        }),
        AnswerKind::CrossExam => Content::CrossExam(CrossExam { prose_excerpt: text, ..CrossExam::default() }),
        AnswerKind::Verdict => Content::Verdict(Verdict {
            recommendation: text,
            confidence: None,
            evidence: Vec::new(),
            dissent: Vec::new(),
            summary: String::new(),
        }),
    }
}
