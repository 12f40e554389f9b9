//! Reads the part of an answer that is about a document.

use serde_json::{Map, Value};

use crate::consultation::protocol::answer::AnswerForm;
use crate::consultation::reading::words::TABLES;
use crate::domain::answer::artifact::{ContradictedClaim, Findings, NewQuestion, QuestionFinding};

use crate::consultation::reading::fields::FieldValue;
use crate::consultation::reading::fields::Fields;
use crate::consultation::reading::reader::Reader;
use crate::consultation::reading::text::words;

impl Reader<'_> {
    /// `None` if that is nothing.
    pub(crate) fn findings(&mut self, fields: &mut Fields) -> Option<Box<Findings>> {
        let findings = match self.form {
            AnswerForm::Plain => return None,
            AnswerForm::Findings { is_brief, .. } => {
                let [answers] = self.take(fields, ["answers"]);
                let path = answers.path.clone();
                let mut findings = Findings {
                    answers: self.answers(answers).into_iter().collect(),
                    ..Findings::default()
                };
                if !is_brief {
                    self.beside_the_questions(fields, &mut findings);
                }
                if findings == Findings::default() {
                    self.notes.fatal(path, "has no readable item");
                }
                findings
            }
            AnswerForm::Items => {
                let findings = Findings {
                    settled: self.texts_in(fields, "settled"),
                    assumed: self.texts_in(fields, "assumed"),
                    open_questions: self.texts_in(fields, "open_questions"),
                    ..Findings::default()
                };
                if findings == Findings::default() {
                    let what = "there is no text in `settled`, `assumed` or `open_questions`";
                    self.notes.fatal("", what);
                }
                findings
            }
        };
        Some(Box::new(findings))
    }

    fn answers(
        &mut self,
        FieldValue { value, path }: FieldValue,
    ) -> Vec<(String, QuestionFinding)> {
        let with_question = |(question, value): (String, Value)| {
            let mut item = match value {
                Value::Object(item) => item,
                other => Map::from_iter([("text".to_owned(), words(&other).into())]),
            };
            item.insert("question".to_owned(), question.into());
            Value::Object(item)
        };
        let value = match value {
            Some(Value::Object(members)) => Some(members.into_iter().map(with_question).collect()),
            other => other,
        };
        self.each(FieldValue { value, path }, "text", |reader, item| {
            let names = ["question", "outcome", "item/dissent"];
            let [question, outcome, dissent] = reader.take(item, names);
            let label = reader.label(&question, 'Q')?;
            let said = outcome.value.as_ref().map(words).unwrap_or_default();
            let said = said.to_lowercase();
            let begins = |word: &String| said.starts_with(word.as_str());
            let mut outcomes = TABLES.outcomes.iter();
            let Some(known) = outcomes.find(|known| known.words.iter().any(begins)) else {
                let what = "is not answered, open or deferred; the item was left out";
                reader.notes.flagged(outcome.path, what);
                return None;
            };
            let text = reader.optional_in(item, "text");
            let dissent = reader.text(&dissent).unwrap_or_default();
            let outcome = known.value;
            Some((
                label,
                QuestionFinding {
                    outcome,
                    text,
                    dissent,
                },
            ))
        })
    }

    fn beside_the_questions(&mut self, fields: &mut Fields, findings: &mut Findings) {
        let [contradicted, new] = self.take(fields, ["contradicted", "new_questions"]);
        if contradicted.value.is_some() {
            findings.contradicted = self.each(contradicted, "reason", |reader, item| {
                let [claim] = reader.take(item, ["contradicted/claim"]);
                let claim = reader.label(&claim, 'C')?;
                let reason = reader.main(item, "reason")?;
                Some(ContradictedClaim { claim, reason })
            });
        }
        if new.value.is_some() {
            findings.new_questions = self.each(new, "new/text", |reader, item| {
                let [blocker] = reader.take(item, ["blocker"]);
                let text = reader.main(item, "new/text")?;
                let blocker = reader.truth(&blocker).unwrap_or_default();
                Some(NewQuestion { text, blocker })
            });
        }
    }

    fn label(&mut self, field: &FieldValue, letter: char) -> Option<String> {
        let said = field.value.as_ref().map(words).unwrap_or_default();
        let digits: String = said
            .chars()
            .skip_while(|c| !c.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        let number = digits.parse::<u32>().ok();
        if number.is_none() {
            let what = format!("is no label such as `{letter}1`; the item was left out");
            self.notes.flagged(&field.path, what);
        }
        number.map(|number| format!("{letter}{number}"))
    }
}
