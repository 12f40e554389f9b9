//! Reads each kind of answer from its object.

use serde_json::{Map, Value};

use super::fields::{FieldValue, Fields, Name};
use super::notes::Notes;
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};
use crate::domain::answer::artifact::Content;
use crate::domain::ids::AgentId;

/// Context for reading an answer's object.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) who: &'a AgentId,
    pub(super) labels: &'a Labels,
    pub(super) form: AnswerForm,
    /// The prose around the object.
    pub(super) prose: String,
    pub(super) notes: Notes,
}

impl Reader<'_> {
    /// Missing essential parts are noted as fatal.
    pub(super) fn read(&mut self, kind: AnswerKind, object: Map<String, Value>) -> Content {
        let mut fields = Fields::new(object, "");
        let content = match kind {
            AnswerKind::Independent => Content::Independent(self.independent(&mut fields)),
            AnswerKind::Synthesis => Content::Synthesis(self.synthesis(&mut fields)),
            AnswerKind::Revision => Content::Revision(self.revision(&mut fields)),
            AnswerKind::CrossExam => Content::CrossExam(self.cross_exam(&mut fields)),
            AnswerKind::Verdict => Content::Verdict(self.verdict(&mut fields)),
            AnswerKind::Menu => Content::Verdict(self.menu(&mut fields)),
            AnswerKind::Comparison => {
                Content::Comparison(self.comparison(&mut fields, Self::agent))
            }
            // The pair belongs to no expert.
            AnswerKind::Consistency => {
                Content::Comparison(self.comparison(&mut fields, Self::optional))
            }
            AnswerKind::PersonaSelection => {
                Content::PersonaSelection(self.persona_selection(&mut fields))
            }
        };
        fields.end(&mut self.notes);
        content
    }

    pub(super) fn take<const N: usize>(
        &mut self,
        fields: &mut Fields,
        names: [Name; N],
    ) -> [FieldValue; N] {
        names.map(|name| fields.take(name, &mut self.notes))
    }

    /// Reads a text without which there is no answer.
    pub(super) fn essential(&mut self, fields: &mut Fields, name: Name) -> String {
        let field = fields.take(name, &mut self.notes);
        self.text(&field).unwrap_or_else(|| {
            self.notes.fatal(&field.path, "is missing or empty");
            String::new()
        })
    }

    pub(super) fn optional_in(&mut self, fields: &mut Fields, name: Name) -> String {
        let field = fields.take(name, &mut self.notes);
        self.optional(&field)
    }

    pub(super) fn texts_in(&mut self, fields: &mut Fields, name: Name) -> Vec<String> {
        let field = fields.take(name, &mut self.notes);
        self.texts(field)
    }
}
