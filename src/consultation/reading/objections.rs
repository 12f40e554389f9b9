//! Reads challenges and rebuttals, of experts and of the merging judge.

use crate::domain::artifact::{Challenge, Rebuttal};

use super::agents::{agent, target};
use super::fields::{self, Fields};
use super::reader::Reader;
use super::text::texts;
use super::values::severity;

impl Reader<'_> {
    /// Reads a challenge. `challenger` is `None` if the answer must name it.
    pub(super) fn challenge(
        &mut self,
        mut item: Fields,
        challenger: Option<String>,
    ) -> Option<Challenge> {
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

    pub(super) fn rebuttals(&mut self, fields: &mut Fields) -> Vec<Rebuttal> {
        let rebuttals = fields.take(fields::REBUTTALS, &mut self.notes);
        self.each_by_agent(
            rebuttals,
            fields,
            fields::REBUTTALS,
            fields::REBUTTAL,
            |agent, rebuttal| Rebuttal { agent, rebuttal },
        )
    }
}
