//! Reads the experts' answers: positions, revisions, and the challenges and rebuttals that the
//! merging judge repeats; and the helper's: comparisons and persona selection.

use crate::domain::answer::artifact::{
    Because, Challenge, Comparison, Independent, PairComparison, PersonaSelection, Rebuttal,
    Revision,
};

use crate::consultation::reading::fields::FieldValue;
use crate::consultation::reading::fields::Fields;
use crate::consultation::reading::reader::Reader;
use crate::consultation::reading::surroundings::excerpt;

impl Reader<'_> {
    pub(crate) fn independent(&mut self, fields: &mut Fields) -> Independent {
        let position = self.essential(fields, "position");
        let key_points = self.texts_in(fields, "key_points");
        let rationale = self.optional_in(fields, "rationale");
        let [stated] = self.take(fields, ["confidence"]);
        let confidence = self.confidence(&stated);
        let findings = self.findings(fields);
        let prose = self.notes.clean(&self.prose);
        let prose_excerpt = excerpt(if prose.is_empty() { &rationale } else { &prose });
        Independent {
            agent_id: crate::consultation::reading::seat(self.who),
            position,
            key_points,
            rationale,
            confidence,
            prose_excerpt,
            findings,
        }
    }

    pub(crate) fn revision(&mut self, fields: &mut Fields) -> Revision {
        let revised_position = self.essential(fields, "revised_position");
        let [stated] = self.take(fields, ["revised_confidence"]);
        let revised_confidence = self.confidence(&stated);
        let who = self.who.as_str().to_owned();
        let [challenges] = self.take(fields, ["challenges"]);
        let challenges = self.each(challenges, "challenge", |reader, item| {
            reader.challenge(item, Some(who.clone()))
        });
        let rebuttals = self.rebuttals(fields);
        let [reasons] = self.take(fields, ["because_of"]);
        let because_of = self.each_by_agent(reasons, "argument", |agent, argument| Because {
            agent,
            argument,
        });
        let [said] = self.take(fields, ["changed"]);
        let changed = self
            .truth(&said)
            .or((!because_of.is_empty()).then_some(true));
        Revision {
            agent_id: crate::consultation::reading::seat(self.who),
            challenges,
            rebuttals,
            revised_position,
            revised_confidence,
            changed,
            because_of,
        }
    }

    /// `challenger` is `None` if the answer must name it.
    pub(crate) fn challenge(
        &mut self,
        item: &mut Fields,
        challenger: Option<String>,
    ) -> Option<Challenge> {
        let [raised_by, aimed_at, evidence, weight] = self.take(
            item,
            ["challenger", "target_agent", "item/evidence", "severity"],
        );
        let challenge = self.main(item, "challenge")?;
        Some(Challenge {
            challenger: challenger.unwrap_or_else(|| self.agent(&raised_by)),
            target_agent: self.target(&aimed_at),
            challenge,
            evidence: self.texts(evidence),
            severity: self.severity(&weight),
        })
    }

    pub(crate) fn rebuttals(&mut self, fields: &mut Fields) -> Vec<Rebuttal> {
        let [rebuttals] = self.take(fields, ["rebuttals"]);
        self.each_by_agent(rebuttals, "rebuttal", |agent, rebuttal| Rebuttal {
            agent,
            rebuttal,
        })
    }

    /// `label` reads the name of a pair.
    pub(crate) fn comparison(
        &mut self,
        fields: &mut Fields,
        label: impl Fn(&mut Self, &FieldValue) -> String,
    ) -> Comparison {
        let [pairs] = self.take(fields, ["comparisons"]);
        let pairs = self.by_agent(pairs, "magnitude");
        if pairs.value.is_none() {
            self.notes.fatal(&pairs.path, "is missing");
        }
        let comparisons = self.each(pairs, "magnitude", |reader, item| {
            let names = ["pair", "reasoning", "magnitude"];
            let [pair, reasoning, stated] = reader.take(item, names);
            let magnitude = reader.magnitude(&stated)?;
            Some(PairComparison {
                pair: label(reader, &pair),
                reasoning: reader.optional(&reasoning),
                magnitude,
            })
        });
        Comparison {
            comparisons,
            key_insights: self.texts_in(fields, "key_insights"),
        }
    }

    pub(crate) fn persona_selection(&mut self, fields: &mut Fields) -> PersonaSelection {
        let [chosen] = self.take(fields, ["personas"]);
        let path = chosen.path.clone();
        let personas = self.texts(chosen);
        if personas.is_empty() {
            self.notes.fatal(path, "names no persona");
        }
        PersonaSelection {
            task_type: self.optional_in(fields, "task_type"),
            reason: self.optional_in(fields, "reason"),
            personas,
        }
    }
}
