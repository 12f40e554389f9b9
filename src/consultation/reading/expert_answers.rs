//! Reads the experts' answers: positions and revisions.

use crate::domain::artifact::{Because, Independent, Revision};

use super::fields::{self, Fields};
use super::reader::Reader;
use super::surroundings::excerpt;

impl Reader<'_> {
    pub(super) fn independent(&mut self, fields: &mut Fields) -> Independent {
        let position = self.essential(fields, fields::POSITION);
        let key_points = self.texts_in(fields, fields::KEY_POINTS);
        let rationale = self.optional_in(fields, fields::RATIONALE);
        let [stated] = self.take(fields, [fields::CONFIDENCE]);
        let confidence = self.confidence(&stated);
        let findings = self.findings(fields);
        let prose = self.notes.clean(&self.prose);
        let prose_excerpt = excerpt(if prose.is_empty() { &rationale } else { &prose });
        Independent {
            agent_id: super::seat(self.who),
            position,
            key_points,
            rationale,
            confidence,
            prose_excerpt,
            findings,
        }
    }

    pub(super) fn revision(&mut self, fields: &mut Fields) -> Revision {
        let revised_position = self.essential(fields, fields::REVISED_POSITION);
        let [stated] = self.take(fields, [fields::REVISED_CONFIDENCE]);
        let revised_confidence = self.confidence(&stated);
        let who = self.who.as_str().to_owned();
        let [challenges] = self.take(fields, [fields::CHALLENGES]);
        let challenges = self.each(challenges, fields::CHALLENGE, |reader, item| {
            reader.challenge(item, Some(who.clone()))
        });
        let rebuttals = self.rebuttals(fields);
        let [reasons] = self.take(fields, [fields::BECAUSE_OF]);
        let because_of = self.each_by_agent(reasons, fields::ARGUMENT, |agent, argument| Because {
            agent,
            argument,
        });
        let [said] = self.take(fields, [fields::CHANGED]);
        let changed = self
            .truth(&said)
            .or((!because_of.is_empty()).then_some(true));
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
}
