//! Reads each kind of answer from its object.

use serde_json::{Map, Value};

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::artifact::Content;
use crate::domain::ids::AgentId;

use super::fields::{Fields, Name};
use super::notes::Notes;
use super::text::{optional, text, texts};

/// Context for reading an answer's object.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) who: &'a AgentId,
    pub(super) labels: &'a Labels,
    /// The prose around the object.
    pub(super) prose: String,
    pub(super) notes: Notes,
}

impl Reader<'_> {
    /// Reads the content. Missing essential parts are noted as fatal.
    pub(super) fn read(&mut self, kind: AnswerKind, object: Map<String, Value>) -> Content {
        let mut fields = Fields::new(object, "");
        let content = match kind {
            AnswerKind::Independent => Content::Independent(self.independent(&mut fields)),
            AnswerKind::Synthesis => Content::Synthesis(self.synthesis(&mut fields)),
            AnswerKind::Revision => Content::Revision(self.revision(&mut fields)),
            AnswerKind::CrossExam => Content::CrossExam(self.cross_exam(&mut fields)),
            AnswerKind::Verdict => Content::Verdict(self.verdict(&mut fields)),
            AnswerKind::Menu => Content::Verdict(self.menu(&mut fields)),
            AnswerKind::Comparison => Content::Comparison(self.comparison(&mut fields)),
            AnswerKind::Consistency => Content::Comparison(self.consistency(&mut fields)),
            AnswerKind::PersonaSelection => {
                Content::PersonaSelection(self.persona_selection(&mut fields))
            }
        };
        fields.end(&mut self.notes);
        content
    }

    /// Reads a text without which there is no answer.
    pub(super) fn essential(&mut self, fields: &mut Fields, name: Name) -> String {
        let value = fields.take(name, &mut self.notes);
        let at = fields.at(name);
        text(value, &at, &mut self.notes).unwrap_or_else(|| {
            self.notes.fatal(at, "is missing or empty");
            String::new()
        })
    }

    pub(super) fn optional(&mut self, fields: &mut Fields, name: Name) -> String {
        let value = fields.take(name, &mut self.notes);
        optional(value, &fields.at(name), &mut self.notes)
    }

    pub(super) fn texts(&mut self, fields: &mut Fields, name: Name) -> Vec<String> {
        let value = fields.take(name, &mut self.notes);
        texts(value, &fields.at(name), &mut self.notes)
    }
}
