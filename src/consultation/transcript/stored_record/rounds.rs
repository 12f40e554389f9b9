//! The rounds: their artifacts, and each agent's calls.

use std::collections::{BTreeMap, BTreeSet};

use super::milliseconds;
use crate::consultation::event::{CallFinished, StateName};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::spend::Spend;
use crate::domain::answer::artifact::Artifact;
use crate::domain::ids::AgentId;
use crate::domain::names::stored_name;
use crate::domain::record::stored_record::{
    Amount, CompletedRound, StoredAgentRound, StoredAttempt, StoredRound, TokenCounts,
};

impl Transcript {
    pub(super) fn stored_rounds(&self) -> BTreeMap<String, StoredRound> {
        let artifacts = self.artifacts.iter().map(|artifact| artifact.round_number);
        let calls = self.calls.iter().map(|call| call.round_number);
        let failures = self.failures.iter().map(|failure| failure.round_number);
        let numbers: BTreeSet<u8> = artifacts.chain(calls).chain(failures).collect();
        let rounds = numbers.into_iter().map(|number| {
            let ended = self.rounds.iter().find(|(ended, _)| *ended == number);
            let round = StoredRound {
                complete: ended.is_some(),
                duration_ms: ended.map(|(_, duration)| milliseconds(*duration)),
                artifacts: self.artifacts_of(number),
                agents: self.stored_agent_rounds(number),
            };
            (format!("round_{number}"), round)
        });
        rounds.collect()
    }

    fn artifacts_of(&self, round: u8) -> Vec<Artifact> {
        let artifacts = self.artifacts.iter();
        artifacts
            .filter(|artifact| artifact.round_number == round)
            .cloned()
            .collect()
    }

    pub(super) fn stored_completed_rounds(&self) -> Vec<CompletedRound> {
        let is_complete = self.state == StateName::Complete;
        let entry = |number: u8| {
            if is_complete {
                CompletedRound::Number(number)
            } else {
                CompletedRound::WithArtifacts {
                    round_number: number,
                    artifacts: self.artifacts_of(number),
                }
            }
        };
        self.completed_rounds().into_iter().map(entry).collect()
    }

    /// Returns the calls of each agent in one round, grouped by the kind of answer: in Round 3, the
    /// judge and the experts give different ones.
    fn stored_agent_rounds(&self, round: u8) -> Vec<StoredAgentRound> {
        let mut calls_by_agent: BTreeMap<(AnswerKind, &AgentId), Vec<&CallFinished>> =
            BTreeMap::new();
        for call in self.calls.iter().filter(|call| call.round_number == round) {
            calls_by_agent
                .entry((call.answer, &call.agent_id))
                .or_default()
                .push(call);
        }
        let mut agents: Vec<StoredAgentRound> = calls_by_agent
            .into_iter()
            .map(|((answer, agent), calls)| self.work(round, Some(answer), agent, &calls))
            .collect();
        // An agent can fail without a finished call: its call was lost, or its prompt was not
        // built.
        let is_called = |agent: &AgentId| agents.iter().any(|called| called.agent_id == *agent);
        let failures = self.failures.iter();
        let uncalled: Vec<StoredAgentRound> = failures
            .filter(|failed| failed.round_number == round && !is_called(&failed.agent_id))
            .map(|failed| self.work(round, None, &failed.agent_id, &[]))
            .collect();
        agents.extend(uncalled);
        agents
    }

    /// `answer` is `None` if it was not called.
    fn work(
        &self,
        round: u8,
        answer: Option<AnswerKind>,
        agent: &AgentId,
        calls: &[&CallFinished],
    ) -> StoredAgentRound {
        let mut spend = Spend::default();
        for call in calls {
            spend.add(call);
        }
        let last = calls.last();
        let failure = self
            .failures
            .iter()
            .find(|failed| failed.round_number == round && &failed.agent_id == agent);
        StoredAgentRound {
            agent_id: agent.clone(),
            agent: self.terms.panel.agent_name(agent).to_owned(),
            answer: Some(stored_name(&answer)),
            model: last.map(|call| call.model.clone()),
            served_model: last.and_then(|call| call.served_model.clone()),
            tokens: last.map(|_| TokenCounts::from(&spend.tokens)),
            cost: last.map(|_| Amount::from(spend.cost)),
            latency_ms: last.and_then(|call| call.first_token_ms),
            duration_ms: last.map(|_| calls.iter().map(|call| call.duration_ms).sum()),
            attempts: calls.iter().map(|call| attempt(call)).collect(),
            problems: calls
                .iter()
                .flat_map(|call| call.problems.clone())
                .collect(),
            error: failure.map(|failure| failure.error.clone()),
        }
    }
}

fn attempt(call: &CallFinished) -> StoredAttempt {
    StoredAttempt {
        call: Some(call.call.0),
        purpose: Some(stored_name(&call.purpose)),
        model: Some(call.model.clone()),
        served_model: call.served_model.clone(),
        stop: call
            .stop
            .as_ref()
            .and_then(|stop| serde_json::to_value(stop).ok()),
        error: call.error.clone(),
        tokens: Some(TokenCounts::from(&call.tokens)),
        cost: Some(Amount::from(call.cost)),
        cost_source: Some(stored_name(&call.cost_source)),
        latency_ms: call.first_token_ms,
        duration_ms: Some(call.duration_ms),
    }
}
