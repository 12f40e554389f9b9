//! Reads the experts' answers: positions and revisions.

use crate::domain::artifact::{Because, Independent, Revision};

use super::fields::{self, Fields};
use super::reader::Reader;
use super::surroundings::excerpt;
use super::values::{confidence, truth};

impl Reader<'_> {
    pub(super) fn independent(&mut self, fields: &mut Fields) -> Independent {
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

    pub(super) fn revision(&mut self, fields: &mut Fields) -> Revision {
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
