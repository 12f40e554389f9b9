//! Reads models' answers tolerantly: text in, an artifact's content and a list of problems out.
//! Reading never fails and never loses text; problems are described in words that the model can be
//! shown.

pub mod answers;
pub(super) mod fields;
mod find;
mod reader;
pub mod unfinished;
mod notes;
mod surroundings;
mod text;
mod values;
pub(crate) mod words;

use crate::domain::answer::artifact::{
    Comparison, Content, CrossExam, Independent, PersonaSelection, Revision, Synthesis, Verdict,
};
use crate::domain::ids::{AgentId, SeatId};

use super::anonymity::labels::Labels;
use super::protocol::answer::{AnswerForm, AnswerKind};
pub use crate::domain::answer::artifact::problem;
use crate::domain::answer::artifact::problem::{Problem, ProblemSeverity};

use find::{AnswerObject, AnswerSearch};
use notes::Notes;
use reader::Reader;
use surroundings::Thinking;

/// The most characters of a judge's prose in later rounds; the log has all of it.
const EXCERPT: usize = 8_000;

/// The result of reading an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// `None` exactly if one of the problems is fatal: then the model is asked once more.
    pub content: Option<Content>,
    pub problems: Vec<Problem>,
}

pub fn read(
    (kind, form): (AnswerKind, AnswerForm),
    text: &str,
    who: &AgentId,
    labels: &Labels,
) -> Reading {
    let mut notes = Notes::default();
    let whole = surroundings::bare(text);
    if whole.is_empty() {
        return unreadable(notes, Problem::fatal("the answer is empty"));
    }
    let (answer, thinking) = surroundings::without_thinking(whole);
    match thinking {
        Thinking::None => {}
        Thinking::LeftOut => notes.repaired("", "thinking before the answer was left out"),
        Thinking::Unclosed => {
            notes.repaired("", "the answer was looked for in thinking that has no end");
        }
    }
    let found = match find::search(answer, kind) {
        AnswerSearch::Answer(found) => found,
        AnswerSearch::CutOff => return unreadable(notes, Problem::cut_off()),
        AnswerSearch::OtherObject => {
            let names: Vec<String> = fields::of(kind)
                .iter()
                .map(|field| format!("`{}`", fields::shown(field)))
                .collect();
            let names = names.join(", ");
            let what = format!("the JSON object has none of the fields {names}");
            return unreadable(notes, Problem::fatal(what));
        }
        AnswerSearch::Nothing if surroundings::is_refusal(answer) => {
            return unreadable(notes, Problem::refusal());
        }
        AnswerSearch::Nothing => {
            let what = "there is no JSON object in the answer";
            return unreadable(notes, Problem::fatal(what));
        }
    };
    let around = |range| answer.get(range).unwrap_or_default();
    let prose = surroundings::prose(
        around(0..found.range.start),
        around(found.range.end..answer.len()),
    );
    note_form(&found, &prose, &mut notes);
    let mut reader = Reader {
        who,
        labels,
        form,
        prose,
        notes,
    };
    let content = reader.read(kind, found.object);
    let problems = reader.notes.into_problems();
    let usable = problems
        .iter()
        .all(|problem| problem.severity != ProblemSeverity::Error);
    Reading {
        content: usable.then_some(content),
        problems,
    }
}

fn unreadable(notes: Notes, why: Problem) -> Reading {
    let mut problems = notes.into_problems();
    problems.push(why);
    Reading {
        content: None,
        problems,
    }
}

/// Notes the deviations that were tolerated to find and parse the object.
fn note_form(found: &AnswerObject, prose: &str, notes: &mut Notes) {
    if !prose.is_empty() {
        notes.repaired("", "there is text around the JSON object");
    }
    if found.wrapped {
        notes.repaired("", "the JSON object lies inside another value");
    }
    if found.others > 0 {
        notes.flagged(
            "",
            "there is more than one JSON object; the first that fits best was read",
        );
    }
    if found.deviations.double_key {
        notes.flagged("", "a key occurs twice; the last was read");
    }
    if found.deviations.of_syntax {
        notes.repaired("", "not strict JSON");
    }
}

/// Returns the content of a degraded artifact: the whole answer as prose, in the field that later
/// rounds read.
pub fn keep_prose(kind: AnswerKind, text: &str, who: &AgentId) -> Content {
    let said = match surroundings::without_thinking(text) {
        (said, Thinking::LeftOut) => said,
        (_, Thinking::None | Thinking::Unclosed) => surroundings::bare(text),
    };
    let text = Notes::default().clean(said);
    match kind {
        AnswerKind::Independent => Content::Independent(Independent {
            agent_id: seat(who),
            prose_excerpt: surroundings::excerpt(&text),
            position: text,
            ..Independent::default()
        }),
        AnswerKind::Synthesis => Content::Synthesis(Synthesis {
            prose_excerpt: surroundings::begin(&text, EXCERPT),
            ..Synthesis::default()
        }),
        AnswerKind::Revision => Content::Revision(Revision {
            agent_id: seat(who),
            revised_position: text,
            ..Revision::default()
        }),
        AnswerKind::CrossExam => Content::CrossExam(CrossExam {
            prose_excerpt: surroundings::begin(&text, EXCERPT),
            ..CrossExam::default()
        }),
        AnswerKind::Verdict | AnswerKind::Menu => Content::Verdict(Verdict {
            recommendation: text,
            ..Verdict::default()
        }),
        // Prose is useless for these, and the debate continues without them.
        AnswerKind::Comparison | AnswerKind::Consistency => {
            Content::Comparison(Comparison::default())
        }
        AnswerKind::PersonaSelection => Content::PersonaSelection(PersonaSelection {
            reason: surroundings::begin(&text, EXCERPT),
            ..PersonaSelection::default()
        }),
    }
}

/// An agent outside the panel is named by its id.
fn seat(agent: &AgentId) -> SeatId {
    agent
        .seat()
        .cloned()
        .unwrap_or_else(|| SeatId::new(agent.as_str()))
}
