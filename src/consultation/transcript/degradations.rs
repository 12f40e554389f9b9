//! Differences between the result and what the panel promised.

use std::collections::BTreeSet;

use crate::consultation::event::{Substitution, WhySubstituted};
use crate::consultation::protocol::call::StopReason;
use crate::domain::artifact::{Content, Independent, Revision};
use crate::domain::ids::{AgentId, ModelRef};

use super::Transcript;

impl Transcript {
    /// Describes all that makes the result less than the panel promised; empty for a complete
    /// result.
    pub fn degradations(&self) -> Vec<String> {
        let failed = self
            .failures
            .iter()
            // The judge's failure is reported as the end of the consultation; the helper's answer
            // and a second verdict are optional.
            .filter(|failure| failure.agent_id.seat().is_some())
            .map(|failure| {
                format!(
                    "{} gave no answer in Round {}: {}",
                    failure.name, failure.round_number, failure.error.message
                )
            });
        let artifacts = self.artifacts.iter();
        let degraded = artifacts.filter(|artifact| artifact.degraded).map(|artifact| {
            let author = match &artifact.content {
                Content::Independent(Independent { agent_id, .. })
                | Content::Revision(Revision { agent_id, .. }) => {
                    self.agent_name(agent_id.as_str())
                }
                _ => "the judge",
            };
            let round = artifact.round_number;
            format!(
                "{author}'s answer in Round {round} could not be read as asked; its text is quoted \
                 as it is"
            )
        });
        let substituted = self
            .substitutions
            .iter()
            // An answer that another model gave sooner is no less than the panel promised.
            .filter(|substitution| substitution.reason != WhySubstituted::Hedge)
            .filter(|substitution| substitution.agent_id != AgentId::SecondJudge)
            .map(|substitution| {
                let Substitution {
                    agent_id,
                    round_number,
                    original,
                    substitute,
                    reason,
                    message,
                } = substitution;
                let agent = if *agent_id == AgentId::Judge {
                    "the judge"
                } else {
                    self.agent_name(agent_id.as_str())
                };
                format!(
                    "{substitute} took over from {original} as {agent} in Round \
                     {round_number} and later: {}",
                    reason.in_words(message)
                )
            });
        let too_long = self.calls.iter().filter_map(|call| {
            let agent = match &call.agent_id {
                AgentId::Seat(seat) => self.agent_name(seat.as_str()),
                AgentId::Judge => "the judge",
                AgentId::SecondJudge | AgentId::Helper => return None,
            };
            (call.stop == Some(StopReason::TooLong)).then(|| {
                format!(
                    "{agent}'s answer in Round {} was longer than 1 MB; the rest was left out",
                    call.round_number
                )
            })
        });
        failed
            .chain(substituted)
            .chain(degraded)
            .chain(too_long)
            .collect()
    }

    /// Returns requested models that were served by a different one, as reported by the providers,
    /// with its name; each pair once.
    pub fn served_otherwise(&self) -> BTreeSet<(&ModelRef, &str)> {
        let served = self
            .calls
            .iter()
            .filter_map(|call| Some((&call.model, call.served_model.as_deref()?)));
        served
            .filter(|(asked, served)| !asked.is_served_as(served))
            .collect()
    }
}
