//! The kinds of answer, each with its JSON Schema.
//!
//! The schemas stay within the subset that every vendor's strict mode accepts: all properties
//! required, no bounds, no references. Bounds are in the descriptions and are checked when the
//! answer is read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::cost::tokens::{Band, token_band, worst_tokens};

/// The kind of answer that a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Round 1, an expert.
    Independent,
    /// Round 2, the judge.
    Synthesis,
    /// Round 3, an expert.
    Revision,
    /// Round 3, the judge merging the experts' answers.
    CrossExam,
    /// Round 4, the judge: one recommendation.
    Verdict,
    /// Round 4, the judge: a menu of options.
    Menu,
    /// Before Round 1, the helper: the kind of task and the personas that suit it.
    #[serde(rename = "casting")]
    PersonaSelection,
    /// After Round 3, the helper: the differences between pairs of texts.
    Comparison,
    /// In Round 4, the helper: the difference between the judge's two verdicts.
    Consistency,
}

/// A schema, its tokens, and the most that they are taken to be.
type Made = Arc<(Value, Band, u64)>;

impl AnswerKind {
    pub const ALL: [Self; 9] = [
        Self::PersonaSelection,
        Self::Independent,
        Self::Synthesis,
        Self::Revision,
        Self::CrossExam,
        Self::Comparison,
        Self::Verdict,
        Self::Menu,
        Self::Consistency,
    ];

    /// 1–4.
    pub fn round(self) -> u8 {
        match self {
            Self::PersonaSelection | Self::Independent => 1,
            Self::Synthesis => 2,
            Self::Revision | Self::CrossExam | Self::Comparison => 3,
            Self::Verdict | Self::Menu | Self::Consistency => 4,
        }
    }

    pub fn is_for_helper(self) -> bool {
        matches!(
            self,
            Self::PersonaSelection | Self::Comparison | Self::Consistency
        )
    }

    /// Letters and underscores, as vendors require for a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Synthesis => "synthesis",
            Self::Revision => "revision",
            Self::CrossExam => "cross_exam",
            Self::Verdict => "verdict",
            Self::Menu => "menu",
            Self::PersonaSelection => "casting",
            Self::Comparison => "comparison",
            Self::Consistency => "consistency",
        }
    }

    /// With its properties in the order of the answer.
    pub fn schema(self, form: AnswerForm) -> Value {
        self.made(form).0.clone()
    }

    pub fn schema_tokens(self, form: AnswerForm) -> Band {
        self.made(form).1
    }

    pub fn worst_schema_tokens(self, form: AnswerForm) -> u64 {
        self.made(form).2
    }

    /// Each is made once: every call and estimate needs them.
    fn made(self, form: AnswerForm) -> Made {
        static MADE: Mutex<BTreeMap<(AnswerKind, AnswerForm), Made>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made.entry((self, form)).or_insert_with(|| {
            let schema = self.new_schema(form);
            let text = schema.to_string();
            Arc::new((schema, token_band(&text), worst_tokens(&text)))
        });
        Arc::clone(made)
    }

    fn new_schema(self, form: AnswerForm) -> Value {
        let text = match self {
            Self::Independent => include_str!("../../../schemas/answers/independent.json"),
            Self::Synthesis => include_str!("../../../schemas/answers/synthesis.json"),
            Self::Revision => include_str!("../../../schemas/answers/revision.json"),
            Self::CrossExam => include_str!("../../../schemas/answers/cross_exam.json"),
            Self::Verdict => include_str!("../../../schemas/answers/verdict.json"),
            Self::Menu => include_str!("../../../schemas/answers/menu.json"),
            Self::PersonaSelection => include_str!("../../../schemas/answers/casting.json"),
            Self::Comparison | Self::Consistency => {
                include_str!("../../../schemas/answers/comparison.json")
            }
        };
        // The schemas are compiled in and read by a test, so `Null` is unreachable.
        let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
            return schema;
        };
        let confidence = properties.shift_remove("confidence");
        properties.extend(self.properties_of(form));
        properties.extend(confidence.map(|confidence| ("confidence".to_owned(), confidence)));
        let names: Vec<String> = properties.keys().cloned().collect();
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("required".to_owned(), names.into());
        }
        schema
    }

    fn properties_of(self, form: AnswerForm) -> Map<String, Value> {
        let parts: Value =
            serde_json::from_str(include_str!("../../../schemas/answers/findings.json"))
                .unwrap_or_default();
        let part = |name: &str| parts.get(name).cloned().unwrap_or_default();
        let labels = |letter, number: usize| (1..=number).map(move |at| format!("{letter}{at}"));
        let mut properties = Map::new();
        match (self, form) {
            (
                Self::Independent | Self::Synthesis | Self::Verdict | Self::Menu,
                AnswerForm::Findings {
                    questions,
                    claims,
                    is_brief,
                },
            ) => {
                let answers = labels('Q', questions).map(|label| (label, part("answer")));
                let answers: Map<String, Value> = answers.collect();
                let names: Vec<&String> = answers.keys().collect();
                let answers = json!({
                    "type": "object",
                    "properties": answers,
                    "required": names,
                    "additionalProperties": false,
                });
                properties.insert("answers".to_owned(), answers);
                if !is_brief && claims > 0 {
                    let mut wrong = part("contradicted");
                    if let Some(known) = wrong.pointer_mut("/items/properties/claim/enum") {
                        *known = labels('C', claims).collect();
                    }
                    properties.insert("contradicted".to_owned(), wrong);
                }
                if !is_brief {
                    properties.insert("new_questions".to_owned(), part("new_questions"));
                }
            }
            (Self::Independent, AnswerForm::Items) => {
                properties.extend(part("items").as_object().cloned().unwrap_or_default());
            }
            (_, AnswerForm::Plain | AnswerForm::Findings { .. } | AnswerForm::Items) => {}
        }
        properties
    }
}

/// What a question asks for beside the usual fields of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    #[default]
    Plain,
    /// What is known of the numbered questions of a document, and which of its claims are wrong.
    Findings {
        questions: usize,
        claims: usize,
        /// Asks about the questions alone, as small models can answer no more.
        is_brief: bool,
    },
    /// The statements and questions of a document.
    Items,
}
