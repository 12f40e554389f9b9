//! Each kind of answer out of its object.

use serde_json::{Map, Value};

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::artifact::{
    Because, Challenge, Compared, Comparison, ConsensusPoint, Content, CrossExam, Dissent,
    Evidence, Independent, PersonaSelection, Rebuttal, Revision, Synthesis, Tension, Verdict,
    Viewpoint,
};
use crate::domain::ids::AgentId;

use super::agents::{agent, agents, target};
use super::fields::{self, Fields, Name};
use super::notes::Notes;
use super::surroundings::excerpt;
use super::text::{decoded, optional, text, texts, words};
use super::values::{confidence, magnitude, severity, truth};

/// Below this a verdict has to say what speaks against it.
const DOUBT: f64 = 0.70;

/// What reading an answer needs besides its object.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) who: &'a AgentId,
    pub(super) labels: &'a Labels,
    /// What stood around the object.
    pub(super) prose: String,
    pub(super) notes: Notes,
}

/// Reads what a pair of texts is called.
type ReadLabel = fn(Option<Value>, &str, &Labels, &mut Notes) -> String;

/// A pair that is no expert's.
fn as_written(label: Option<Value>, path: &str, _: &Labels, notes: &mut Notes) -> String {
    optional(label, path, notes)
}

impl Reader<'_> {
    /// The content; what of it is essential and missing is among the notes as fatal.
    pub(super) fn read(&mut self, kind: AnswerKind, object: Map<String, Value>) -> Content {
        let mut fields = Fields::new(object, "");
        let content = match kind {
            AnswerKind::Independent => Content::Independent(self.independent(&mut fields)),
            AnswerKind::Synthesis => Content::Synthesis(self.synthesis(&mut fields)),
            AnswerKind::Revision => Content::Revision(self.revision(&mut fields)),
            AnswerKind::CrossExam => Content::CrossExam(self.cross_exam(&mut fields)),
            AnswerKind::Verdict => Content::Verdict(self.verdict(&mut fields)),
            AnswerKind::Menu => Content::Verdict(self.menu(&mut fields)),
            AnswerKind::Comparison => Content::Comparison(self.comparison(&mut fields, agent)),
            AnswerKind::Consistency => {
                Content::Comparison(self.comparison(&mut fields, as_written))
            }
            AnswerKind::PersonaSelection => {
                Content::PersonaSelection(self.persona_selection(&mut fields))
            }
        };
        fields.end(&mut self.notes);
        content
    }

    fn independent(&mut self, fields: &mut Fields) -> Independent {
        let position = self.essential(fields, fields::POSITION);
        let key_points = self.texts(fields, fields::KEY_POINTS);
        let rationale = self.optional(fields, fields::RATIONALE);
        let confidence = confidence(
            fields.take(fields::CONFIDENCE, &mut self.notes),
            &fields.at(fields::CONFIDENCE),
            &mut self.notes,
        );
        let prose = self.notes.clean(&self.prose);
        let prose_excerpt = excerpt(if prose.is_empty() { &rationale } else { &prose });
        Independent {
            agent_id: super::seat(self.who),
            position,
            key_points,
            rationale,
            confidence,
            prose_excerpt,
        }
    }

    fn synthesis(&mut self, fields: &mut Fields) -> Synthesis {
        let points = fields.take(fields::CONSENSUS_POINTS, &mut self.notes);
        let tensions = fields.take(fields::TENSIONS, &mut self.notes);
        if points.is_none() && tensions.is_none() {
            self.notes
                .fatal("", "there is neither `consensus_points` nor `tensions`");
        }
        Synthesis {
            consensus_points: self.each(
                points,
                fields,
                fields::CONSENSUS_POINTS,
                fields::POINT,
                Self::consensus_point,
            ),
            tensions: self.each(
                tensions,
                fields,
                fields::TENSIONS,
                fields::TOPIC,
                Self::tension,
            ),
            priority_order: self.texts(fields, fields::PRIORITY_ORDER),
            prose_excerpt: String::new(),
        }
    }

    fn consensus_point(&mut self, mut item: Fields) -> Option<ConsensusPoint> {
        let supporting_agents = item.take(fields::SUPPORTING_AGENTS, &mut self.notes);
        let stated = item.take(fields::CONFIDENCE, &mut self.notes);
        let point = self.main(&mut item, fields::POINT)?;
        let at = item.at(fields::SUPPORTING_AGENTS);
        let supporting_agents = agents(supporting_agents, &at, self.labels, &mut self.notes);
        let known = |agent: &String| self.labels.resolve(agent).is_some();
        if supporting_agents.len() == 1
            && supporting_agents.iter().all(known)
            && self.labels.order().len() > 1
        {
            self.notes.flagged(at, "one expert alone is no consensus");
        }
        let confidence = confidence(stated, &item.at(fields::CONFIDENCE), &mut self.notes);
        item.end(&mut self.notes);
        Some(ConsensusPoint {
            point,
            supporting_agents,
            confidence,
        })
    }

    fn tension(&mut self, mut item: Fields) -> Option<Tension> {
        let views = item.take(fields::VIEWPOINTS, &mut self.notes);
        let weight = item.take(fields::SEVERITY, &mut self.notes);
        let topic = self.main(&mut item, fields::TOPIC)?;
        let viewpoints = self.each_by_agent(
            views,
            &item,
            fields::VIEWPOINTS,
            fields::VIEWPOINT,
            |agent, viewpoint| Viewpoint { agent, viewpoint },
        );
        let severity = severity(weight, &item.at(fields::SEVERITY), &mut self.notes);
        item.end(&mut self.notes);
        Some(Tension {
            topic,
            viewpoints,
            severity,
        })
    }

    fn revision(&mut self, fields: &mut Fields) -> Revision {
        let revised_position = self.essential(fields, fields::REVISED_POSITION);
        let stated = fields.take(fields::REVISED_CONFIDENCE, &mut self.notes);
        let revised_confidence = confidence(
            stated,
            &fields.at(fields::REVISED_CONFIDENCE),
            &mut self.notes,
        );
        let who = self.who.as_str().to_owned();
        let challenges = fields.take(fields::CHALLENGES, &mut self.notes);
        let challenges = self.each(
            challenges,
            fields,
            fields::CHALLENGES,
            fields::CHALLENGE,
            |reader, item| reader.challenge(item, Some(who.clone())),
        );
        let rebuttals = self.rebuttals(fields);
        let reasons = fields.take(fields::BECAUSE_OF, &mut self.notes);
        let because_of = self.each_by_agent(
            reasons,
            fields,
            fields::BECAUSE_OF,
            fields::ARGUMENT,
            |agent, argument| Because { agent, argument },
        );
        let said = fields.take(fields::CHANGED, &mut self.notes);
        let changed = truth(said, &fields.at(fields::CHANGED), &mut self.notes)
            .unwrap_or(!because_of.is_empty());
        Revision {
            agent_id: super::seat(self.who),
            challenges,
            rebuttals,
            revised_position,
            revised_confidence,
            changed,
            because_of,
        }
    }

    fn cross_exam(&mut self, fields: &mut Fields) -> CrossExam {
        let challenges = fields.take(fields::CHALLENGES, &mut self.notes);
        let challenges = self.each(
            challenges,
            fields,
            fields::CHALLENGES,
            fields::CHALLENGE,
            |reader, item| reader.challenge(item, None),
        );
        let rebuttals = self.rebuttals(fields);
        let unresolved = self.texts(fields, fields::UNRESOLVED);
        CrossExam {
            challenges,
            rebuttals,
            unresolved,
            positions: Vec::new(),
            prose_excerpt: String::new(),
        }
    }

    /// `challenger` is `None` where the answer has to name it.
    fn challenge(&mut self, mut item: Fields, challenger: Option<String>) -> Option<Challenge> {
        let raised_by = item.take(fields::CHALLENGER, &mut self.notes);
        let aimed_at = item.take(fields::TARGET_AGENT, &mut self.notes);
        let evidence = item.take(fields::ITEM_EVIDENCE, &mut self.notes);
        let weight = item.take(fields::SEVERITY, &mut self.notes);
        let challenge = self.main(&mut item, fields::CHALLENGE)?;
        let challenger = challenger.unwrap_or_else(|| {
            agent(
                raised_by,
                &item.at(fields::CHALLENGER),
                self.labels,
                &mut self.notes,
            )
        });
        let target_agent = target(
            aimed_at,
            &item.at(fields::TARGET_AGENT),
            self.labels,
            &mut self.notes,
        );
        let evidence = texts(evidence, &item.at(fields::ITEM_EVIDENCE), &mut self.notes);
        let severity = severity(weight, &item.at(fields::SEVERITY), &mut self.notes);
        item.end(&mut self.notes);
        Some(Challenge {
            challenger,
            target_agent,
            challenge,
            evidence,
            severity,
        })
    }

    fn rebuttals(&mut self, fields: &mut Fields) -> Vec<Rebuttal> {
        let rebuttals = fields.take(fields::REBUTTALS, &mut self.notes);
        self.each_by_agent(
            rebuttals,
            fields,
            fields::REBUTTALS,
            fields::REBUTTAL,
            |agent, rebuttal| Rebuttal { agent, rebuttal },
        )
    }

    fn verdict(&mut self, fields: &mut Fields) -> Verdict {
        let recommendation = self.essential(fields, fields::RECOMMENDATION);
        let summary = self.optional(fields, fields::SUMMARY);
        let (evidence, dissent) = self.grounds(fields);
        let stated = fields.take(fields::CONFIDENCE, &mut self.notes);
        let confidence = confidence(stated, &fields.at(fields::CONFIDENCE), &mut self.notes);
        if dissent.is_empty() && confidence.is_some_and(|stated| stated.value() < DOUBT) {
            self.notes
                .flagged("dissent", "is empty although the confidence is below 0.70");
        }
        Verdict {
            recommendation,
            confidence,
            evidence,
            dissent,
            summary,
            recommendations: Vec::new(),
            composed_from: None,
        }
    }

    /// What a verdict rests on, and what still speaks against it.
    pub(super) fn grounds(&mut self, fields: &mut Fields) -> (Vec<Evidence>, Vec<Dissent>) {
        let evidence = fields
            .take(fields::EVIDENCE, &mut self.notes)
            .map(|value| self.by_agent(value, "evidence", fields::CLAIM));
        let evidence = self.each(
            evidence,
            fields,
            fields::EVIDENCE,
            fields::CLAIM,
            Self::evidence,
        );
        let dissent = fields
            .take(fields::DISSENT, &mut self.notes)
            .map(|value| self.by_agent(value, "dissent", fields::CONCERN));
        let dissent = self.each(
            dissent,
            fields,
            fields::DISSENT,
            fields::CONCERN,
            Self::dissent,
        );
        (evidence, dissent)
    }

    fn comparison(&mut self, fields: &mut Fields, label: ReadLabel) -> Comparison {
        let pairs = fields
            .take(fields::COMPARISONS, &mut self.notes)
            .map(|value| self.by_agent(value, "comparisons", fields::MAGNITUDE));
        if pairs.is_none() {
            self.notes
                .fatal(fields.at(fields::COMPARISONS), "is missing");
        }
        let comparisons = self.each(
            pairs,
            fields,
            fields::COMPARISONS,
            fields::MAGNITUDE,
            |reader, item| reader.compared(item, label),
        );
        Comparison {
            comparisons,
            key_insights: self.texts(fields, fields::KEY_INSIGHTS),
        }
    }

    fn compared(&mut self, mut item: Fields, label: ReadLabel) -> Option<Compared> {
        let pair = item.take(fields::PAIR, &mut self.notes);
        let reasoning = item.take(fields::REASONING, &mut self.notes);
        let stated = item.take(fields::MAGNITUDE, &mut self.notes);
        let at = item.at(fields::MAGNITUDE);
        let magnitude = magnitude(stated, &at, &mut self.notes)?;
        let pair = label(pair, &item.at(fields::PAIR), self.labels, &mut self.notes);
        let reasoning = optional(reasoning, &item.at(fields::REASONING), &mut self.notes);
        item.end(&mut self.notes);
        Some(Compared {
            pair,
            reasoning,
            magnitude,
        })
    }

    fn persona_selection(&mut self, fields: &mut Fields) -> PersonaSelection {
        let personas = self.texts(fields, fields::PERSONAS);
        if personas.is_empty() {
            self.notes
                .fatal(fields.at(fields::PERSONAS), "names no persona");
        }
        PersonaSelection {
            task_type: self.optional(fields, fields::TASK_TYPE),
            reason: self.optional(fields, fields::REASON),
            personas,
        }
    }

    fn evidence(&mut self, mut item: Fields) -> Option<Evidence> {
        let from = item.take(fields::AGENT, &mut self.notes);
        let quote = item.take(fields::QUOTE, &mut self.notes);
        let claim = self.main(&mut item, fields::CLAIM)?;
        let agent = agent(from, &item.at(fields::AGENT), self.labels, &mut self.notes);
        let quote = optional(quote, &item.at(fields::QUOTE), &mut self.notes);
        item.end(&mut self.notes);
        Some(Evidence {
            claim,
            agent,
            quote,
        })
    }

    fn dissent(&mut self, mut item: Fields) -> Option<Dissent> {
        let from = item.take(fields::AGENT, &mut self.notes);
        let weight = item.take(fields::SEVERITY, &mut self.notes);
        let concern = self.main(&mut item, fields::CONCERN)?;
        let agent = agent(from, &item.at(fields::AGENT), self.labels, &mut self.notes);
        let severity = severity(weight, &item.at(fields::SEVERITY), &mut self.notes);
        item.end(&mut self.notes);
        Some(Dissent {
            agent,
            concern,
            severity,
        })
    }

    /// A text without which there is no answer.
    fn essential(&mut self, fields: &mut Fields, name: Name) -> String {
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

    /// The text that makes an item: its own field, else all text it has. `None` for an item without
    /// any.
    pub(super) fn main(&mut self, item: &mut Fields, name: Name) -> Option<String> {
        let value = item.take(name, &mut self.notes);
        let at = item.at(name);
        if let Some(text) = text(value, &at, &mut self.notes) {
            return Some(text);
        }
        let rest = std::mem::replace(item, Fields::new(Map::new(), item.path())).into_value();
        let rest = text(Some(Value::String(words(&rest))), &at, &mut self.notes);
        match &rest {
            Some(_) => self
                .notes
                .flagged(at, "is missing; the item's other text is used"),
            None => self.notes.flagged(at, "is missing; the item was left out"),
        }
        rest
    }

    /// The items of a list of objects. A text where an object is meant is the item's main text.
    pub(super) fn each<T>(
        &mut self,
        value: Option<Value>,
        fields: &Fields,
        name: Name,
        main: Name,
        mut read: impl FnMut(&mut Self, Fields) -> Option<T>,
    ) -> Vec<T> {
        let at = fields.at(name);
        let items = self.items(value, &at);
        let item = |(place, item)| {
            let path = format!("{at}[{place}]");
            let members = match item {
                Value::Object(members) => members,
                other => {
                    self.notes
                        .repaired(path.as_str(), "a text was read as an object");
                    Map::from_iter([(main.name.to_owned(), Value::String(words(&other)))])
                }
            };
            read(self, Fields::new(members, path))
        };
        items.into_iter().enumerate().filter_map(item).collect()
    }

    /// The items of a list of what agents said, which may also be written as an object with the
    /// agents as keys.
    fn each_by_agent<T>(
        &mut self,
        value: Option<Value>,
        fields: &Fields,
        list: Name,
        said: Name,
        make: impl Fn(String, String) -> T,
    ) -> Vec<T> {
        let value = value.map(|value| self.by_agent(value, &fields.at(list), said));
        self.each(value, fields, list, said, |reader, mut item| {
            let from = item.take(fields::AGENT, &mut reader.notes);
            let text = reader.main(&mut item, said)?;
            let agent = agent(
                from,
                &item.at(fields::AGENT),
                reader.labels,
                &mut reader.notes,
            );
            item.end(&mut reader.notes);
            Some(make(agent, text))
        })
    }

    /// `{"Expert A": "…"}` as a list of objects; any other value as it is.
    fn by_agent(&mut self, value: Value, at: &str, said: Name) -> Value {
        let Value::Object(members) = value else {
            return value;
        };
        if !members.keys().any(|key| self.labels.resolve(key).is_some()) {
            return Value::Object(members);
        }
        self.notes.repaired(at, "an object was read as a list");
        let item = |(agent, text): (String, Value)| {
            Value::Object(Map::from_iter([
                ("agent".to_owned(), agent.into()),
                (said.name.to_owned(), words(&text).into()),
            ]))
        };
        members.into_iter().map(item).collect()
    }

    /// The items of what should be an array.
    fn items(&mut self, value: Option<Value>, at: &str) -> Vec<Value> {
        let value = match value {
            Some(Value::String(text)) => {
                let inside = decoded(&text);
                if inside.is_some() {
                    self.notes
                        .repaired(at, "a list inside a text was read as a list");
                }
                Some(inside.unwrap_or(Value::String(text)))
            }
            other => other,
        };
        match value {
            None => {
                self.notes.flagged(at, "is missing");
                Vec::new()
            }
            Some(Value::Array(items)) => items,
            Some(one) if words(&one).chars().any(char::is_alphanumeric) => {
                self.notes
                    .repaired(at, "one value was read as a list of one");
                vec![one]
            }
            Some(_) => {
                self.notes
                    .repaired(at, "an empty value was read as an empty list");
                Vec::new()
            }
        }
    }
}
