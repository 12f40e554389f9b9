//! Reads challenges and rebuttals, of experts and of the merging judge.

use crate::domain::artifact::{Challenge, Rebuttal};

use super::fields::{self, Fields};
use super::reader::Reader;

impl Reader<'_> {
    /// Reads a challenge. `challenger` is `None` if the answer must name it.
    pub(super) fn challenge(
        &mut self,
        item: &mut Fields,
        challenger: Option<String>,
    ) -> Option<Challenge> {
        let [raised_by, aimed_at, evidence, weight] = self.take(
            item,
            [
                fields::CHALLENGER,
                fields::TARGET_AGENT,
                fields::ITEM_EVIDENCE,
                fields::SEVERITY,
            ],
        );
        let challenge = self.main(item, fields::CHALLENGE)?;
        Some(Challenge {
            challenger: challenger.unwrap_or_else(|| self.agent(&raised_by)),
            target_agent: self.target(&aimed_at),
            challenge,
            evidence: self.texts(evidence),
            severity: self.severity(&weight),
        })
    }

    pub(super) fn rebuttals(&mut self, fields: &mut Fields) -> Vec<Rebuttal> {
        let [rebuttals] = self.take(fields, [fields::REBUTTALS]);
        self.each_by_agent(rebuttals, fields::REBUTTAL, |agent, rebuttal| Rebuttal {
            agent,
            rebuttal,
        })
    }
}
