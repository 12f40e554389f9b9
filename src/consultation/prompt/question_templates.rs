//! Templates of whole questions, for consultations whose question a program writes. All models of a
//! consultation get the same one: the short form if all experts are small models.
//!
//! A template must use the values without which the answer cannot be read.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};

use super::Size;
use super::error::PromptError;
use super::templates::Templates;

/// The template for the open questions of a document.
pub const REFINE_QUESTIONS: &str = "refine/questions";
/// The template for the claims and questions of a plain document.
pub const REFINE_EXTRACTION: &str = "refine/extraction";

/// A template with its values.
struct QuestionTemplate {
    name: &'static str,
    /// The values that it must use, each with its description.
    needed: &'static [(&'static str, &'static str)],
    /// Values that it can use.
    optional: &'static [&'static str],
}

const QUESTIONS: (&str, &str) = ("questions", "the questions: `{{ questions }}`");

const QUESTION_TEMPLATES: [QuestionTemplate; 4] = [
    QuestionTemplate {
        name: REFINE_QUESTIONS,
        needed: &[QUESTIONS, ("claims", "the claims: `{{ claims }}`")],
        optional: &["title", "open", "close"],
    },
    QuestionTemplate {
        name: "refine/small/questions",
        needed: &[QUESTIONS],
        optional: &["title", "open", "close", "claims"],
    },
    QuestionTemplate {
        name: REFINE_EXTRACTION,
        needed: &[],
        optional: &["title", "most"],
    },
    QuestionTemplate {
        name: "refine/small/extraction",
        needed: &[],
        optional: &["title", "most"],
    },
];

impl Templates {
    /// Renders a question from one of the templates above, in the form for models of a size.
    pub fn question(
        &self,
        name: &str,
        size: Size,
        values: &BTreeMap<&'static str, String>,
    ) -> Result<String, PromptError> {
        match name.split_once('/') {
            Some((folder, file)) => self.fill_question(&size.template(folder, file), values),
            None => Err(PromptError::Unknown(name.to_owned())),
        }
    }

    fn fill_question(
        &self,
        name: &str,
        values: &BTreeMap<&'static str, String>,
    ) -> Result<String, PromptError> {
        if !self.contains(name) {
            return Err(PromptError::Unknown(name.to_owned()));
        }
        let values = Value::from(Serde(values));
        self.compiled(name)?.fill(name, &values)
    }
}

/// Fills every template, and checks that it uses the values that it needs.
pub(in crate::consultation) fn check(templates: &Templates) -> Result<(), PromptError> {
    for template in &QUESTION_TEMPLATES {
        let needed = template.needed.iter().map(|(value, _)| *value);
        let values = needed
            .chain(template.optional.iter().copied())
            .map(|value| (value, format!("a sample of {value}")))
            .collect();
        let text = templates.fill_question(template.name, &values)?;
        let is_missing = |value: &str| {
            values
                .get(value)
                .is_some_and(|sample| !text.contains(sample))
        };
        if let Some((_, what)) = template.needed.iter().find(|(value, _)| is_missing(value)) {
            return Err(PromptError::Lacks {
                name: template.name.to_owned(),
                what,
            });
        }
    }
    Ok(())
}
