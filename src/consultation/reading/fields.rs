//! The fields of each kind of answer under all names that models use, and taking them from an
//! object.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words::TABLES;
use crate::consultation::protocol::answer::AnswerKind;
use crate::text::pattern::Pattern;

use super::notes::Notes;

/// The name of a field. What stands before a slash tells it from one of the same name with other
/// alternatives, which are in the table of words.
pub(super) type Name = &'static str;

pub(super) fn of(kind: AnswerKind) -> &'static [Name] {
    match kind {
        AnswerKind::Independent => &["position", "key_points", "rationale", "confidence"],
        AnswerKind::Synthesis => &[
            "consensus_points",
            "tensions",
            "priority_order",
            "provisional_answer",
        ],
        AnswerKind::Revision => &[
            "challenges",
            "rebuttals",
            "changed",
            "because_of",
            "revised_position",
            "revised_confidence",
        ],
        AnswerKind::CrossExam => &[
            "challenges",
            "rebuttals",
            "unresolved",
            "provisional_answer",
        ],
        AnswerKind::Verdict => &[
            "summary",
            "evidence",
            "dissent",
            "recommendation",
            "confidence",
        ],
        AnswerKind::Menu => &[
            "summary",
            "recommendations",
            "evidence",
            "dissent",
            "menu/recommendation",
        ],
        AnswerKind::Comparison | AnswerKind::Consistency => &["comparisons", "key_insights"],
        AnswerKind::PersonaSelection => &["task_type", "reason", "personas"],
    }
}

/// Returns a judge's prose without its provisional answer, which is for people alone, whether that is
/// a field or has a heading: up to the next field or heading.
pub(in crate::consultation) fn without_provisional_answer(prose: &str) -> Cow<'_, str> {
    static PROVISIONAL: Pattern = Pattern::prepared("", |_| {
        let kinds = [AnswerKind::Synthesis, AnswerKind::CrossExam];
        let fields = kinds.iter().flat_map(|kind| of(*kind)).copied();
        let others: Vec<Name> = fields
            .filter(|name| *name != "provisional_answer")
            .collect();
        let fields = others.join("|");
        let name = "(?:provisional|preliminary|current)[ _-]?answer";
        format!(r#"(?ims)(?:"|^[#*_ ]*){name}.*?(\n#|"(?:{fields})"|\z)"#)
    });
    PROVISIONAL.replace_in(prose, "$1")
}

/// Returns the name as it is written in an answer.
pub(super) fn shown(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns whether a key is this name or one of its alternatives.
pub(super) fn is(name: &str, key: &str) -> bool {
    distance(name, key).is_some()
}

/// An alternative name with an object as its value is a wrapper instead.
pub(super) fn matches(name: &str, key: &str, value: &Value) -> bool {
    let is_object_in_text = |text: &str| text.trim_start().starts_with("{\"");
    let wraps = value.is_object() || value.as_str().is_some_and(is_object_in_text);
    distance(name, key).is_some_and(|distance| !wraps || distance <= SPELLING)
}

/// 0 for the name itself, [`SPELLING`] for another spelling, more for each alternative. `None` if
/// it is another field.
fn distance(name: &str, key: &str) -> Option<usize> {
    if key == shown(name) {
        return Some(0);
    }
    if plain(key).eq(plain(shown(name))) {
        return Some(SPELLING);
    }
    let mut also = TABLES.fields.get(name)?.iter();
    Some(SPELLING + 1 + also.position(|also| also.chars().eq(plain(key)))?)
}

/// The distance of a name that is spelled otherwise.
const SPELLING: usize = 1;

/// A value taken from an object, and its path in the answer.
#[derive(Debug)]
pub(super) struct FieldValue {
    /// `None` if the field is missing or null.
    pub(super) value: Option<Value>,
    pub(super) path: String,
}

/// An object from which fields are taken one by one, and its path in the answer.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) members: Map<String, Value>,
    path: String,
}

impl Fields {
    /// `path` is empty for the answer's top object.
    pub(super) fn new(members: Map<String, Value>, path: impl Into<String>) -> Self {
        Self {
            members,
            path: path.into(),
        }
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn nearest(&self, name: Name) -> Option<String> {
        if self.members.contains_key(shown(name)) {
            return Some(shown(name).to_owned());
        }
        let keys = self.members.keys();
        let candidates = keys.filter_map(|key| Some((distance(name, key)?, key)));
        let nearest = candidates.min_by_key(|(distance, _)| *distance)?;
        Some(nearest.1.clone())
    }

    /// Takes a field by its name, else by another spelling, else by an alternative name.
    pub(super) fn take(&mut self, name: Name, notes: &mut Notes) -> FieldValue {
        let path = self.at(shown(name));
        let Some(key) = self.nearest(name) else {
            return FieldValue { value: None, path };
        };
        let value = self
            .members
            .shift_remove(&key)
            .filter(|value| !value.is_null());
        if value.is_some() && key != shown(name) {
            notes.repaired(&path, format!("was called `{key}`"));
        }
        FieldValue { value, path }
    }

    /// Existing members stay.
    pub(super) fn add(&mut self, members: Map<String, Value>) {
        for (key, value) in members {
            self.members.entry(key).or_insert(value);
        }
    }

    /// Notes fields that are not in the schema.
    pub(super) fn end(self, notes: &mut Notes) {
        for key in self.members.keys() {
            notes.extra(self.at(key));
        }
    }
}

/// Letters and digits, in lower case.
fn plain(key: &str) -> impl Iterator<Item = char> {
    key.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}
