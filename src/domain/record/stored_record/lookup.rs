//! Looks up facts in a record: agents and their models, rounds, artifacts, totals.

use std::time::Duration;

use super::{
    Completion, StoredAgent, StoredAgentRound, StoredCaching, StoredModel, StoredRecord,
    StoredRound, WhySubstituted,
};
use crate::domain::answer::artifact::{
    Artifact, Challenge, Content, CrossExam, Independent, ProvisionalAnswer, Rebuttal, Revision,
    Synthesis, Verdict,
};
use crate::domain::answer::confidence::Calibrated;
use crate::domain::answer::second_pass::Held;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{AgentId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::words::{amount, kilo};

/// The reason of an abort before the first call, because its cost was not agreed to.
const DECLINED: &str = "declined";

/// State and agents.
impl StoredRecord {
    pub fn completion(&self) -> Completion {
        if self.abort_reason.as_deref() == Some(DECLINED) {
            return Completion::Declined;
        }
        let state = self.state.as_deref();
        state.map_or(Completion::Unfinished, Completion::from_state)
    }

    /// `None` if it does not have our form.
    pub fn consultation_id(&self) -> Option<ConsultationId> {
        self.id
            .strip_prefix("consult-")
            .map(ConsultationId::from_unique)
    }

    pub fn agent(&self, id: &SeatId) -> Option<&StoredAgent> {
        self.agents.iter().find(|agent| agent.id == *id)
    }

    /// The last fallback that took over, else the chosen one.
    pub fn model_of(&self, agent: &StoredAgent) -> Option<ModelRef> {
        let mut latest_first = self.substitutions.iter().rev();
        latest_first
            .find(|taken| taken.of.agent_id == agent.id)
            .map(|taken| taken.of.substitute.clone())
            .or_else(|| agent.chosen_model())
    }

    pub fn judge(&self) -> Option<ModelRef> {
        self.judge.as_ref().and_then(StoredModel::model_ref)
    }

    /// Text that is no seat's id is returned unchanged.
    pub fn name_of<'a>(&'a self, agent: &'a str) -> &'a str {
        self.agents
            .iter()
            .find(|expert| expert.id.as_str() == agent)
            .map_or(agent, |expert| expert.name.as_str())
    }

    /// Returns the agents that another model answered for because theirs was slow, with that model.
    pub fn hedge_winners(&self) -> impl Iterator<Item = (&str, &ModelRef)> {
        let taken = self.substitutions.iter();
        taken
            .filter(|taken| taken.of.reason == WhySubstituted::Hedge)
            .map(|taken| (taken.agent.as_str(), &taken.of.substitute))
    }

    pub fn hedge_notices(&self) -> Vec<String> {
        let notice = |(agent, model)| format!("{agent} answered by {model} (hedged)");
        self.hedge_winners().map(notice).collect()
    }

    /// The judge, the helper, or a seat by its id or name, ignoring case.
    pub fn agent_named(&self, text: &str) -> Option<AgentId> {
        let text = text.trim();
        let is_meant = |name: &str| name.to_lowercase() == text.to_lowercase();
        let exact = self.agents.iter().find(|agent| agent.id.as_str() == text);
        let seat = exact.or_else(|| {
            self.agents
                .iter()
                .find(|agent| is_meant(agent.id.as_str()) || is_meant(&agent.name))
        });
        seat.map(|agent| AgentId::from(&agent.id)).or_else(|| {
            [AgentId::Judge, AgentId::Helper]
                .into_iter()
                .find(|agent| is_meant(agent.as_str()))
        })
    }
}

/// Rounds and artifacts.
impl StoredRecord {
    pub fn rounds(&self) -> impl Iterator<Item = (u8, &StoredRound)> {
        self.responses
            .iter()
            .filter_map(|(name, round)| Some((name.strip_prefix("round_")?.parse().ok()?, round)))
    }

    pub fn agent_rounds(&self) -> impl Iterator<Item = (u8, &StoredAgentRound)> {
        self.rounds()
            .flat_map(|(number, round)| round.agents.iter().map(move |agent| (number, agent)))
    }

    /// `None` if it has one, or was not asked.
    pub fn failure(&self, round: u8, agent: &SeatId) -> Option<&str> {
        let mut work = self
            .agent_rounds()
            .filter(|(number, work)| *number == round && work.agent_id == *agent);
        work.find_map(|(_, work)| work.failure())
    }

    pub fn contents(&self) -> impl Iterator<Item = &Content> {
        self.artifacts().map(|artifact| &artifact.content)
    }

    fn artifacts(&self) -> impl Iterator<Item = &Artifact> {
        self.responses.values().flat_map(|round| &round.artifacts)
    }

    pub fn independents(&self) -> impl Iterator<Item = &Independent> {
        self.contents().filter_map(Content::independent)
    }

    pub fn independent(&self, agent: &SeatId) -> Option<&Independent> {
        self.independents().find(|held| held.agent_id == *agent)
    }

    pub fn synthesis(&self) -> Option<&Synthesis> {
        self.contents().find_map(Content::synthesis)
    }

    pub fn revisions(&self) -> impl Iterator<Item = &Revision> {
        self.contents().filter_map(Content::revision)
    }

    pub fn cross_exam(&self) -> Option<&CrossExam> {
        self.contents().find_map(Content::cross_exam)
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        self.contents().find_map(Content::verdict)
    }

    /// Returns whether the judge has answered, in Round 2 or later.
    pub fn is_judged(&self) -> bool {
        self.synthesis().is_some() || self.verdict().is_some()
    }

    /// Returns the judge's last answer without a verdict, and its round.
    pub fn provisional_answer(&self) -> Option<(u8, &ProvisionalAnswer)> {
        let given = self.contents().filter_map(Content::provisional_answer);
        given.last().filter(|_| self.verdict().is_none())
    }

    /// Returns each expert's own answer of Round 3, or the judge's version of it if only that is
    /// stored.
    pub fn positions_of_round_3(&self) -> Vec<&Revision> {
        let own: Vec<&Revision> = self.revisions().collect();
        if own.is_empty() {
            let merged = self.cross_exam().into_iter();
            merged.flat_map(|merged| &merged.positions).collect()
        } else {
            own
        }
    }

    /// As merged by the judge, else as the experts made them.
    pub fn challenges(&self) -> Vec<&Challenge> {
        self.exchanged(|merged| &merged.challenges, |own| &own.challenges)
    }

    pub fn rebuttals(&self) -> Vec<&Rebuttal> {
        self.exchanged(|merged| &merged.rebuttals, |own| &own.rebuttals)
    }

    fn exchanged<T>(
        &self,
        merged: fn(&CrossExam) -> &Vec<T>,
        own: fn(&Revision) -> &Vec<T>,
    ) -> Vec<&T> {
        match self.cross_exam() {
            Some(record) => merged(record).iter().collect(),
            None => self.revisions().flat_map(own).collect(),
        }
    }

    /// Returns whether the earlier verdict held, if prior answers were rejudged.
    pub fn held(&self) -> Option<&Held> {
        self.rejudged.as_ref().map(|rejudged| &rejudged.held)
    }

    pub fn calibrated(&self) -> Option<Calibrated> {
        Some(Calibrated {
            probability: self.calibrated_confidence?,
            basis: self.calibration?,
        })
    }
}

/// Totals.
impl StoredRecord {
    pub fn total_cost(&self) -> Option<Cost> {
        self.cost.as_ref()?.total.amount.cost()
    }

    /// Without a finished call, it is not the price that is unknown.
    pub fn total_cost_in_words(&self) -> Option<String> {
        let cost = self.total_cost()?;
        let account = self.cost.as_ref()?;
        if cost.is_unknown() && account.total.calls == Some(0) {
            return Some("not known".to_owned());
        }
        if !cost.by_plan {
            return Some(amount(cost));
        }
        if cost.is_unbilled() {
            let tokens = self.plans.values().map(|plan| plan.tokens).sum();
            return Some(format!("paid by your plan, {} tokens", kilo(tokens)));
        }
        let agents = account.by_agent.values();
        let seats = agents.filter(|spend| spend.amount.by_plan).count();
        let billed = amount(cost.billed());
        let plural = if seats == 1 { "" } else { "s" };
        Some(format!(
            "{billed}, without {seats} seat{plural} that a plan pays for"
        ))
    }

    pub fn total_tokens(&self) -> Option<u64> {
        self.cost.as_ref()?.total.tokens.total
    }

    /// As far as it is recorded.
    pub fn cost_by_provider(&self) -> impl Iterator<Item = (&ProviderId, Cost)> {
        self.cost
            .iter()
            .flat_map(|cost| &cost.by_provider)
            .filter_map(|(provider, spend)| Some((provider, spend.amount.cost()?)))
    }

    /// Returns the cost of a round, of an agent, of an agent's part in a round, or of all. It is a
    /// lower bound if a call without a reply may be part of it.
    pub fn cost_of(&self, round: Option<u8>, agent: Option<&AgentId>) -> Option<Cost> {
        if (round, agent) == (None, None) {
            return self.total_cost();
        }
        let is_meant = |(number, work): &(u8, &StoredAgentRound)| {
            round.is_none_or(|round| round == *number)
                && agent.is_none_or(|agent| *agent == work.agent_id)
        };
        let entries = self.agent_rounds().filter(is_meant);
        let costs = entries.filter_map(|(_, work)| work.total_cost());
        let stated = costs.reduce(|one, other| one + other);
        // Only the groups of the whole record count the calls without a reply.
        let groups = self.cost.as_ref();
        let of_round = round.map(|round| groups?.by_round.get(&format!("round_{round}")));
        let of_agent = agent.map(|agent| groups?.by_agent.get(agent));
        let mut wholes = [of_round, of_agent].into_iter().flatten();
        let lower_bound = wholes.all(|whole| whole.is_some_and(|whole| whole.amount.lower_bound));
        let unknown = lower_bound.then_some(Cost::at_least(MicroUsd::ZERO));
        let cost = stated.or(unknown)?;
        Some(Cost {
            lower_bound: cost.lower_bound || lower_bound,
            ..cost
        })
    }

    pub fn duration(&self) -> Option<Duration> {
        self.duration_ms.map(Duration::from_millis)
    }

    /// `None` if no part of it is known.
    pub fn cost_saved_in_words(&self) -> Option<String> {
        let is_known = |saved: &Cost| !saved.is_unknown() && !saved.is_all_by_plan();
        self.cost_saved().filter(is_known).map(amount)
    }

    pub fn cost_saved(&self) -> Option<Cost> {
        let usd = self
            .estimated_cost_saved
            .filter(|_| self.early_termination)?;
        let evaluation = self.early_termination_evaluation.as_ref();
        let evaluated = evaluation.map(|evaluation| evaluation.estimated_cost_saved);
        let evaluated = evaluated.unwrap_or_default();
        Some(Cost {
            known: MicroUsd::from_usd(usd)?,
            by_plan: evaluated.by_plan,
            lower_bound: self.estimated_cost_saved_lower_bound || evaluated.lower_bound,
        })
    }

    /// `None` if no paid call reported any.
    pub fn caching(&self) -> Option<&StoredCaching> {
        self.cost.as_ref()?.caching.as_ref()
    }

    /// `brownfield` or `greenfield`.
    pub fn project_type(&self) -> Option<&str> {
        let project = self.project_context.as_ref()?;
        Some(project.project_type.as_str()).filter(|kind| !kind.is_empty())
    }

    pub fn prompt_templates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.prompt_versions
            .templates
            .iter()
            .filter_map(|(name, template)| Some((name.as_str(), template.version.as_deref()?)))
    }
}
