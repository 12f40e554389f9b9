//! The fields of each kind of answer under all names that models use, and taking them from an
//! object.

use serde_json::{Map, Value};

use super::words::TABLES;
use crate::consultation::protocol::answer::AnswerKind;

use super::notes::Notes;

/// A field's name and its alternatives, compared by letters and digits alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) name: &'static str,
    /// The key of its other names in the table of words.
    key: &'static str,
}

const fn name(name: &'static str) -> Name {
    Name { name, key: name }
}

/// Returns a field that has other alternatives than the usual one of this name.
const fn variant(name: &'static str, key: &'static str) -> Name {
    Name { name, key }
}

pub(super) const POSITION: Name = name("position");
pub(super) const KEY_POINTS: Name = name("key_points");
pub(super) const RATIONALE: Name = name("rationale");
pub(super) const CONFIDENCE: Name = name("confidence");
pub(super) const CONSENSUS_POINTS: Name = name("consensus_points");
pub(super) const TENSIONS: Name = name("tensions");
pub(super) const PRIORITY_ORDER: Name = name("priority_order");
pub(super) const CHALLENGES: Name = name("challenges");
pub(super) const REBUTTALS: Name = name("rebuttals");
pub(super) const UNRESOLVED: Name = name("unresolved");
pub(super) const CHANGED: Name = name("changed");
pub(super) const BECAUSE_OF: Name = name("because_of");
pub(super) const REVISED_POSITION: Name = name("revised_position");
pub(super) const REVISED_CONFIDENCE: Name = name("revised_confidence");
pub(super) const SUMMARY: Name = name("summary");
pub(super) const EVIDENCE: Name = name("evidence");
pub(super) const DISSENT: Name = name("dissent");
pub(super) const RECOMMENDATION: Name = name("recommendation");
pub(super) const POINT: Name = name("point");
pub(super) const SUPPORTING_AGENTS: Name = name("supporting_agents");
pub(super) const TOPIC: Name = name("topic");
pub(super) const VIEWPOINTS: Name = name("viewpoints");
pub(super) const SEVERITY: Name = name("severity");
pub(super) const AGENT: Name = name("agent");
pub(super) const VIEWPOINT: Name = name("viewpoint");
pub(super) const CHALLENGER: Name = name("challenger");
pub(super) const TARGET_AGENT: Name = name("target_agent");
pub(super) const CHALLENGE: Name = name("challenge");
pub(super) const ITEM_EVIDENCE: Name = variant("evidence", "item_evidence");
pub(super) const REBUTTAL: Name = name("rebuttal");
pub(super) const ARGUMENT: Name = name("argument");
pub(super) const CLAIM: Name = name("claim");
pub(super) const QUOTE: Name = name("quote");
pub(super) const RECOMMENDATIONS: Name = name("recommendations");
pub(super) const HOW_TO_CHOOSE: Name = variant("recommendation", "how_to_choose");
pub(super) const OPTION: Name = name("option");
pub(super) const DESCRIPTION: Name = name("description");
pub(super) const TRADE_OFFS: Name = name("trade_offs");
pub(super) const PROS: Name = name("pros");
pub(super) const CONS: Name = name("cons");
pub(super) const BEST_WHEN: Name = name("best_when");
pub(super) const COMPARISONS: Name = name("comparisons");
pub(super) const KEY_INSIGHTS: Name = name("key_insights");
pub(super) const PAIR: Name = name("pair");
pub(super) const REASONING: Name = name("reasoning");
pub(super) const MAGNITUDE: Name = name("magnitude");
pub(super) const TASK_TYPE: Name = name("task_type");
pub(super) const REASON: Name = name("reason");
pub(super) const PERSONAS: Name = name("personas");
pub(super) const ANSWERS: Name = name("answers");
pub(super) const QUESTION: Name = name("question");
pub(super) const OUTCOME: Name = name("outcome");
pub(super) const TEXT: Name = name("text");
pub(super) const ITEM_DISSENT: Name = variant("dissent", "item_dissent");
pub(super) const CONTRADICTED: Name = name("contradicted");
pub(super) const CONTRADICTED_CLAIM: Name = variant("claim", "contradicted_claim");
pub(super) const NEW_QUESTIONS: Name = name("new_questions");
pub(super) const NEW_QUESTION: Name = variant("text", "new_question");
pub(super) const BLOCKER: Name = name("blocker");
pub(super) const SETTLED: Name = name("settled");
pub(super) const ASSUMED: Name = name("assumed");
pub(super) const OPEN_QUESTIONS: Name = name("open_questions");
pub(super) const CONCERN: Name = name("concern");

/// Returns the fields of the answer's top object.
pub(super) fn of(kind: AnswerKind) -> &'static [Name] {
    match kind {
        AnswerKind::Independent => &[POSITION, KEY_POINTS, RATIONALE, CONFIDENCE],
        AnswerKind::Synthesis => &[CONSENSUS_POINTS, TENSIONS, PRIORITY_ORDER],
        AnswerKind::Revision => &[
            CHALLENGES,
            REBUTTALS,
            CHANGED,
            BECAUSE_OF,
            REVISED_POSITION,
            REVISED_CONFIDENCE,
        ],
        AnswerKind::CrossExam => &[CHALLENGES, REBUTTALS, UNRESOLVED],
        AnswerKind::Verdict => &[SUMMARY, EVIDENCE, DISSENT, RECOMMENDATION, CONFIDENCE],
        AnswerKind::Menu => &[SUMMARY, RECOMMENDATIONS, EVIDENCE, DISSENT, HOW_TO_CHOOSE],
        AnswerKind::Comparison | AnswerKind::Consistency => &[COMPARISONS, KEY_INSIGHTS],
        AnswerKind::PersonaSelection => &[TASK_TYPE, REASON, PERSONAS],
    }
}

impl Name {
    /// Returns whether a key is this name or one of its alternatives.
    pub(super) fn is(&self, key: &str) -> bool {
        self.distance(key).is_some()
    }

    /// Returns whether a member is this field. An alternative name with an object as its value is a
    /// wrapper instead.
    pub(super) fn matches(&self, key: &str, value: &Value) -> bool {
        let wraps = value.is_object()
            || value
                .as_str()
                .is_some_and(|text| text.trim_start().starts_with("{\""));
        self.distance(key)
            .is_some_and(|distance| !wraps || distance <= SPELLING)
    }

    /// Returns how far a key is from the name: 0 for the name itself, [`SPELLING`] for another
    /// spelling, more for each alternative. `None` if it is another field.
    fn distance(&self, key: &str) -> Option<usize> {
        if key == self.name {
            return Some(0);
        }
        let key = plain(key);
        if key == plain(self.name) {
            return Some(SPELLING);
        }
        let also = TABLES.fields.get(self.key)?;
        let place = also.iter().position(|also| *also == key)?;
        Some(SPELLING + 1 + place)
    }
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
    /// Creates the fields of an object; `path` is empty for the answer's top object.
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

    /// Takes a field by its name, else by another spelling, else by an alternative name.
    pub(super) fn take(&mut self, name: Name, notes: &mut Notes) -> FieldValue {
        let path = self.at(name.name);
        let candidates = self
            .members
            .keys()
            .filter_map(|key| Some((name.distance(key)?, key)));
        let nearest = candidates.min_by_key(|(distance, _)| *distance);
        let Some(key) = nearest.map(|(_, key)| key.clone()) else {
            return FieldValue { value: None, path };
        };
        let value = self
            .members
            .shift_remove(&key)
            .filter(|value| !value.is_null());
        if value.is_some() && key != name.name {
            notes.repaired(&path, format!("was called `{key}`"));
        }
        FieldValue { value, path }
    }

    /// Adds members; existing ones stay.
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

/// Returns letters and digits in lower case.
fn plain(key: &str) -> String {
    key.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
