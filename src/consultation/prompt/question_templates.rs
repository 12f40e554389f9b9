//! Templates of whole questions, for consultations whose question a program writes. The question is
//! the same for models of every size, so there is one template of each.
//!
//! A template must use the values without which the answer cannot be read.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};

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

const QUESTION_TEMPLATES: [QuestionTemplate; 2] = [
    QuestionTemplate {
        name: REFINE_QUESTIONS,
        needed: &[
            ("questions", "the questions: `{{ questions }}`"),
            ("claims", "the claims: `{{ claims }}`"),
            ("answered", "the form of an answer: `{{ answered }}`"),
            (
                "unanswered",
                "the form of an open question: `{{ unanswered }}`",
            ),
            (
                "deferred",
                "the form of a deferred question: `{{ deferred }}`",
            ),
        ],
        optional: &[
            "title",
            "open",
            "close",
            "dissent",
            "contradicted",
            "new",
            "new_blocker",
        ],
    },
    QuestionTemplate {
        name: REFINE_EXTRACTION,
        needed: &[
            ("high", "the form of a settled statement: `{{ high }}`"),
            ("medium", "the form of a hedged statement: `{{ medium }}`"),
            ("open", "the form of a question: `{{ open }}`"),
        ],
        optional: &["title", "most"],
    },
];

impl Templates {
    /// Renders a question from one of the templates above.
    pub fn question(
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
pub(super) fn check(templates: &Templates) -> Result<(), PromptError> {
    for template in &QUESTION_TEMPLATES {
        let needed = template.needed.iter().map(|(value, _)| *value);
        let values = needed
            .chain(template.optional.iter().copied())
            .map(|value| (value, format!("a sample of {value}")))
            .collect();
        let text = templates.question(template.name, &values)?;
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
