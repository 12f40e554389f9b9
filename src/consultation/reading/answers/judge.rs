//! Reads the judge's answers: synthesis, cross-examination and verdict.

use serde_json::{Map, Value};

use crate::domain::answer::artifact::{
    ConsensusPoint, CrossExam, Dissent, Evidence, ProvisionalAnswer, Synthesis, Tension, Verdict,
    Viewpoint,
};

use crate::consultation::reading::fields::{FieldValue, Fields};
use crate::consultation::reading::reader::Reader;

impl Reader<'_> {
    pub(crate) fn synthesis(&mut self, fields: &mut Fields) -> Synthesis {
        let names = ["consensus_points", "tensions"];
        let [points, tensions] = self.take(fields, names);
        if points.value.is_none() && tensions.value.is_none() {
            self.notes
                .fatal("", "there is neither `consensus_points` nor `tensions`");
        }
        Synthesis {
            consensus_points: self.each(points, "point", Self::consensus_point),
            tensions: self.each(tensions, "topic", Self::tension),
            priority_order: self.texts_in(fields, "priority_order"),
            provisional_answer: self.provisional_answer(fields),
            prose_excerpt: String::new(),
            findings: self.findings(fields),
        }
    }

    /// `None` and flagged if it is missing: that is no reason to ask again.
    fn provisional_answer(&mut self, fields: &mut Fields) -> Option<Box<ProvisionalAnswer>> {
        let [mut given] = self.take(fields, ["provisional_answer"]);
        self.decode(&mut given);
        let FieldValue { value, path } = given;
        let members = match value {
            Some(Value::Object(members)) => members,
            Some(other) => Map::from_iter([("answer".to_owned(), other)]),
            None => {
                self.notes.flagged(path, "is missing");
                return None;
            }
        };
        let mut item = Fields::new(members, path);
        let [answer, stated, would_change_it] =
            self.take(&mut item, ["answer", "confidence", "would_change_it"]);
        let answer = self.optional(&answer);
        let given = (!answer.is_empty()).then(|| {
            Box::new(ProvisionalAnswer {
                answer,
                confidence: self.confidence(&stated),
                would_change_it: self.optional(&would_change_it),
            })
        });
        item.end(&mut self.notes);
        given
    }

    fn consensus_point(&mut self, item: &mut Fields) -> Option<ConsensusPoint> {
        let names = ["supporting_agents", "confidence"];
        let [supporters, stated] = self.take(item, names);
        let point = self.main(item, "point")?;
        let at = supporters.path.clone();
        let supporting_agents = self.agents(supporters);
        if let [only] = supporting_agents.as_slice()
            && self.known(only).is_some()
            && self.labels.order.len() > 1
        {
            self.notes.flagged(at, "one expert alone is no consensus");
        }
        Some(ConsensusPoint {
            point,
            supporting_agents,
            confidence: self.confidence(&stated),
        })
    }

    fn tension(&mut self, item: &mut Fields) -> Option<Tension> {
        let [views, weight] = self.take(item, ["viewpoints", "severity"]);
        let topic = self.main(item, "topic")?;
        let viewpoints = self.each_by_agent(views, "viewpoint", |agent, viewpoint| Viewpoint {
            agent,
            viewpoint,
        });
        Some(Tension {
            topic,
            viewpoints,
            severity: self.severity(&weight),
        })
    }

    pub(crate) fn cross_exam(&mut self, fields: &mut Fields) -> CrossExam {
        let [challenges] = self.take(fields, ["challenges"]);
        let challenges = self.each(challenges, "challenge", |reader, item| {
            reader.challenge(item, None)
        });
        let rebuttals = self.rebuttals(fields);
        let unresolved = self.texts_in(fields, "unresolved");
        if challenges.is_empty() && !unresolved.is_empty() {
            self.notes.flagged(
                "unresolved",
                "is not empty although there are no challenges; left out unless an expert raised one",
            );
        }
        CrossExam {
            challenges,
            rebuttals,
            unresolved,
            provisional_answer: self.provisional_answer(fields),
            ..CrossExam::default()
        }
    }

    pub(crate) fn verdict(&mut self, fields: &mut Fields) -> Verdict {
        let recommendation = self.essential(fields, "recommendation");
        let summary = self.optional_in(fields, "summary");
        let (evidence, dissent) = self.grounds(fields);
        let [stated] = self.take(fields, ["confidence"]);
        let confidence = self.confidence(&stated);
        let verdict = Verdict {
            recommendation,
            confidence,
            evidence,
            dissent,
            summary,
            findings: self.findings(fields),
            ..Verdict::default()
        };
        if verdict.lacks_dissent() {
            self.notes
                .flagged("dissent", "is empty although the confidence is below 0.70");
        }
        verdict
    }

    pub(crate) fn grounds(&mut self, fields: &mut Fields) -> (Vec<Evidence>, Vec<Dissent>) {
        let [evidence] = self.take(fields, ["evidence"]);
        let evidence = self.by_agent(evidence, "claim");
        let evidence = self.each(evidence, "claim", Self::evidence);
        let [dissent] = self.take(fields, ["dissent"]);
        let dissent = self.by_agent(dissent, "concern");
        let dissent = self.each(dissent, "concern", Self::dissent);
        (evidence, dissent)
    }

    fn evidence(&mut self, item: &mut Fields) -> Option<Evidence> {
        let [from, quote] = self.take(item, ["agent", "quote"]);
        let claim = self.main(item, "claim")?;
        Some(Evidence {
            claim,
            agent: self.agent(&from),
            quote: self.optional(&quote),
        })
    }

    fn dissent(&mut self, item: &mut Fields) -> Option<Dissent> {
        let [from, weight] = self.take(item, ["agent", "severity"]);
        let concern = self.main(item, "concern")?;
        Some(Dissent {
            agent: self.agent(&from),
            concern,
            severity: self.severity(&weight),
        })
    }
}
