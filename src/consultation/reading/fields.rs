//! The fields of each kind of answer under all names that models use, and taking them from an
//! object.

use serde_json::{Map, Value};

use crate::consultation::protocol::answer::AnswerKind;

use super::notes::Notes;

/// A field's name and its alternatives, compared by letters and digits alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) name: &'static str,
    /// Words, the likelier before the less likely.
    also: &'static str,
}

const fn name(name: &'static str, also: &'static str) -> Name {
    Name { name, also }
}

pub(super) const POSITION: Name = name("position", "answer stance mainposition recommendation");
pub(super) const KEY_POINTS: Name = name("key_points", "points keyarguments arguments reasons");
pub(super) const RATIONALE: Name = name("rationale", "reasoning explanation justification");
pub(super) const CONFIDENCE: Name = name("confidence", "confidencescore confidencelevel certainty");
pub(super) const CONSENSUS_POINTS: Name = name(
    "consensus_points",
    "consensus agreements pointsofagreement agreement",
);
pub(super) const TENSIONS: Name = name(
    "tensions",
    "disagreements conflicts pointsofdisagreement tension",
);
pub(super) const PRIORITY_ORDER: Name = name("priority_order", "priorities priority topics");
pub(super) const CHALLENGES: Name = name("challenges", "criticisms objections");
pub(super) const REBUTTALS: Name = name("rebuttals", "responses counterarguments");
pub(super) const UNRESOLVED: Name = name(
    "unresolved",
    "unresolvedpoints unresolvedissues openpoints openquestions",
);
pub(super) const CHANGED: Name = name("changed", "positionchanged haschanged mindchanged");
pub(super) const BECAUSE_OF: Name = name("because_of", "influencedby changedbecauseof");
pub(super) const REVISED_POSITION: Name = name(
    "revised_position",
    "position finalposition updatedposition currentposition newposition",
);
pub(super) const REVISED_CONFIDENCE: Name = name(
    "revised_confidence",
    "confidence finalconfidence updatedconfidence newconfidence",
);
pub(super) const SUMMARY: Name = name("summary", "executivesummary overview");
pub(super) const EVIDENCE: Name = name("evidence", "keyevidence supportingevidence");
pub(super) const DISSENT: Name = name(
    "dissent",
    "dissents dissentingviews dissentingopinions remainingdissent",
);
pub(super) const RECOMMENDATION: Name = name(
    "recommendation",
    "finalrecommendation verdict decision answer finalverdict",
);

pub(super) const POINT: Name = name("point", "claim statement consensus text description");
pub(super) const SUPPORTING_AGENTS: Name = name(
    "supporting_agents",
    "agents supporters supportedby experts supportingexperts heldby",
);
pub(super) const TOPIC: Name = name("topic", "issue subject tension title description");
pub(super) const VIEWPOINTS: Name = name("viewpoints", "views positions perspectives sides");
pub(super) const SEVERITY: Name = name("severity", "importance impact level weight");
pub(super) const AGENT: Name = name("agent", "expert agentid name from by source label");
pub(super) const VIEWPOINT: Name = name("viewpoint", "view position perspective opinion");
pub(super) const CHALLENGER: Name = name("challenger", "from by agent expert raisedby");
pub(super) const TARGET_AGENT: Name = name("target_agent", "target to against targetexpert");
pub(super) const CHALLENGE: Name =
    name("challenge", "criticism objection argument text description");
pub(super) const ITEM_EVIDENCE: Name = name("evidence", "support supportingevidence");
pub(super) const REBUTTAL: Name = name("rebuttal", "response answer argument text");
pub(super) const ARGUMENT: Name = name("argument", "reason because text");
pub(super) const CLAIM: Name = name("claim", "point evidence statement text description");
pub(super) const QUOTE: Name = name("quote", "quotation excerpt words");
pub(super) const RECOMMENDATIONS: Name = name(
    "recommendations",
    "options menu choices alternatives possibilities",
);
pub(super) const HOW_TO_CHOOSE: Name = name(
    "recommendation",
    "howtochoose guidance choosing howtodecide finalrecommendation decision verdict",
);
pub(super) const OPTION: Name = name("option", "name title label choice recommendation approach");
pub(super) const DESCRIPTION: Name = name("description", "details detail explanation what text");
pub(super) const TRADE_OFFS: Name = name("trade_offs", "tradeoff prosandcons proscons");
pub(super) const PROS: Name = name("pros", "pro advantages benefits for strengths");
pub(super) const CONS: Name = name(
    "cons",
    "con disadvantages drawbacks against weaknesses risks",
);
pub(super) const BEST_WHEN: Name = name(
    "best_when",
    "bestfor bestif when whentochoose whentouse usewhen choosewhen choosethisif idealfor",
);

pub(super) const COMPARISONS: Name = name("comparisons", "pairs changes results comparison");
pub(super) const KEY_INSIGHTS: Name = name("key_insights", "insights keyinsight lessons");
pub(super) const PAIR: Name = name("pair", "agent expert label name id");
pub(super) const REASONING: Name = name("reasoning", "reason difference explanation rationale");
pub(super) const MAGNITUDE: Name =
    name("magnitude", "changemagnitude change similarity assessment");

pub(super) const TASK_TYPE: Name = name("task_type", "task type kind category classification");
pub(super) const REASON: Name = name("reason", "reasoning why rationale explanation");
pub(super) const PERSONAS: Name = name("personas", "experts chosen selected selection panel ids");

pub(super) const ANSWERS: Name = name("answers", "questions findings results");
pub(super) const QUESTION: Name = name("question", "label id number q");
pub(super) const OUTCOME: Name = name("outcome", "status state result");
pub(super) const TEXT: Name = name("text", "answer reason explanation");
pub(super) const ITEM_DISSENT: Name = name("dissent", "disagreement objection");
pub(super) const CONTRADICTED: Name = name("contradicted", "contradictions contradictedclaims");
pub(super) const CONTRADICTED_CLAIM: Name = name("claim", "label id number c");
pub(super) const NEW_QUESTIONS: Name = name("new_questions", "newquestion further");
pub(super) const NEW_QUESTION: Name = name("text", "question");
pub(super) const BLOCKER: Name = name("blocker", "blocking isblocker");
pub(super) const SETTLED: Name = name("settled", "high highconfidence facts");
pub(super) const ASSUMED: Name = name("assumed", "medium mediumconfidence assumptions");
pub(super) const OPEN_QUESTIONS: Name = name("open_questions", "open questions");

pub(super) const CONCERN: Name = name(
    "concern",
    "objection dissent viewpoint view reason text description",
);

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
        let place = self.also.split(' ').position(|also| also == key)?;
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
    members: Map<String, Value>,
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

    /// Takes all remaining members, for an item without any known field.
    pub(super) fn take_rest(&mut self) -> Value {
        Value::Object(std::mem::take(&mut self.members))
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
