//! The value of the debate, computed from the transcript: each expert's position in Round 1 against
//! its revised one, the helper's comparison of them, and whether Rounds 3 and 4 changed the answer.
//! The judge's verdict never counts as an expert's position.
//!
//! Invariant: unknown values are `None` or `Unknown` and are not counted.

use std::collections::BTreeMap;

use crate::domain::answer::artifact::{
    Comparison, Content, Independent, PairComparison, Revision, Synthesis, Verdict,
};
use crate::domain::answer::debate_value::{
    AgentMove, ChangeMagnitude, ComparisonStatus, PositionChange, rounded,
};
use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, SeatId};
use crate::domain::record::stored_record::{Amount, DebateValue};

use super::Transcript;
use crate::consultation::analysis::wording;
use crate::consultation::event::StateName;
use crate::consultation::plan::options::DebateAnalysis;

/// The share of Round 2's words from which the verdict repeats Round 2.
const STILL_SAID: f64 = 0.6;

/// The share up to which the verdict differs from Round 2.
const SAID_NO_MORE: f64 = 0.25;

/// The round whose answers are compared.
const REVISED_IN: u8 = 3;

impl Transcript {
    pub fn debate_value(&self) -> DebateValue {
        let comparison = self.comparison();
        let (status, reason) = self.comparison_status(comparison);
        let found = comparison
            .map(|comparison| comparison.comparisons.as_slice())
            .unwrap_or_default();
        let seats = &self.terms.panel.seats;
        let agents: Vec<AgentMove> = seats
            .iter()
            .filter_map(|seat| self.agent_move(&seat.id, status, found))
            .collect();
        let is_compared = status == ComparisonStatus::Compared;
        let known = agents.iter().filter(|_| is_compared);
        let known: Vec<f64> = known
            .filter_map(|agent| agent.magnitude.differs())
            .map(|changed| f64::from(u8::from(changed)))
            .collect();
        let changed = known.iter().filter(|changed| **changed > 0.0).count();
        let (verdict_changed_after_round_2, similarity) = self.against_round_2();
        let cost = |is_meant: fn(&AgentId, u8) -> bool| self.cost_where(is_meant).map(Amount::from);
        DebateValue {
            status,
            reason,
            agents_changed_position: (!known.is_empty()).then_some(changed as u64),
            total_agents: Some(seats.len() as u64),
            agents_compared: Some(known.len() as u64),
            change_rate: mean(known.into_iter()),
            avg_confidence_increase: mean(agents.iter().filter_map(AgentMove::confidence_increase)),
            key_influencers: if is_compared {
                self.key_influencers(&agents)
            } else {
                Vec::new()
            },
            convergence_score: self.convergence().map(rounded),
            comparison_cost: cost(|agent, round| round == REVISED_IN && *agent == AgentId::Helper),
            key_insights: comparison
                .map(|comparison| comparison.key_insights.clone())
                .unwrap_or_default(),
            verdict_changed_after_round_2,
            similarity_to_round_2: similarity.map(rounded),
            later_rounds_cost: cost(|agent, round| {
                round >= REVISED_IN && *agent != AgentId::Helper
            }),
            agents,
        }
    }

    /// `None` if it could not be read.
    fn comparison(&self) -> Option<&Comparison> {
        let of_round = self
            .artifacts
            .iter()
            .filter(|artifact| artifact.round_number == REVISED_IN && !artifact.degraded);
        of_round
            .filter_map(|artifact| artifact.content.comparison())
            .next_back()
    }

    fn comparison_status(
        &self,
        comparison: Option<&Comparison>,
    ) -> (ComparisonStatus, Option<String>) {
        let because = |status| move |reason: &str| (status, Some(reason.to_owned()));
        let not_applicable = because(ComparisonStatus::NotApplicable);
        let skipped = because(ComparisonStatus::Skipped);
        let failed = because(ComparisonStatus::Failed);
        let pairs: Vec<(&Independent, &Revision)> = self
            .revisions()
            .filter_map(|revision| Some((self.independent(&revision.agent_id)?, revision)))
            .collect();
        let debate = self.terms.plan.as_deref().map(|plan| &plan.debate);
        let differing: Vec<&SeatId> = pairs
            .iter()
            .filter(|(held, revision)| !wording::is_unchanged(held, revision))
            .map(|(held, _)| &held.agent_id)
            .collect();
        if debate.is_some_and(|debate| debate.prior_answers.is_some()) {
            return not_applicable("the experts were not asked again");
        }
        if pairs.is_empty() {
            return not_applicable(&self.without_pairs());
        }
        let wanted = debate.map_or(DebateAnalysis::Off, |debate| debate.debate_analysis);
        let is_found = |agent: &&SeatId| {
            comparison.is_some_and(|comparison| magnitude(agent, &comparison.comparisons).is_some())
        };
        if differing.is_empty() || differing.iter().any(is_found) {
            (ComparisonStatus::Compared, None)
        } else if wanted == DebateAnalysis::Off {
            skipped("no comparison was asked for")
        } else if wanted == DebateAnalysis::NoModel
            || debate.is_none_or(|debate| debate.helper.is_none())
        {
            skipped("there is no cheap model with a key to compare with")
        } else if comparison.is_some() {
            failed("the answer of the helper model named none of the positions")
        } else if let Some(failure) = self.failures.iter().find(|failure| {
            failure.agent_id == AgentId::Helper && failure.round_number == REVISED_IN
        }) {
            failed(&failure.error.message)
        } else if self
            .artifacts
            .iter()
            .any(|artifact| artifact.degraded && artifact.content.comparison().is_some())
        {
            failed("the answer of the helper model could not be read")
        } else {
            not_applicable("the consultation ended before they were compared")
        }
    }

    fn without_pairs(&self) -> String {
        match self.completed_rounds().iter().max() {
            Some(last) if self.state == StateName::Complete && *last < REVISED_IN => {
                format!("the debate ended after Round {last}")
            }
            Some(last) if *last >= REVISED_IN => "no expert answered Round 3".to_owned(),
            Some(_) | None => "the consultation did not come to the end of Round 3".to_owned(),
        }
    }

    fn agent_move(
        &self,
        agent: &SeatId,
        status: ComparisonStatus,
        found: &[PairComparison],
    ) -> Option<AgentMove> {
        let held = self.independent(agent)?;
        let revision = self.revision(agent);
        let (magnitude, reasoning) = match revision {
            None => (ChangeMagnitude::Unknown, String::new()),
            Some(revision) if wording::is_unchanged(held, revision) => {
                (ChangeMagnitude::Same, String::new())
            }
            Some(_) => magnitude(agent, found).unwrap_or_default(),
        };
        let change = PositionChange::judge(status, magnitude);
        let mut moved = AgentMove {
            agent_id: agent.clone(),
            round1_position: held.position.clone(),
            round1_confidence: held.confidence,
            revised_position: revision.map(|revision| revision.revised_position.clone()),
            revised_confidence: revision.and_then(|revision| revision.revised_confidence),
            confidence_delta: None,
            position_changed: change.map(|change| change != PositionChange::Held),
            magnitude,
            reasoning,
            influenced_by: revision
                .map(|revision| self.named_by(revision))
                .unwrap_or_default(),
            conformity: change == Some(PositionChange::Changed)
                && revision.is_some_and(|revision| self.conforms(held, revision)),
        };
        moved.confidence_delta = moved.confidence_increase().map(rounded);
        Some(moved)
    }

    fn named_by(&self, revision: &Revision) -> Vec<SeatId> {
        let mut named: Vec<SeatId> = Vec::new();
        for because in &revision.because_of {
            let seat = self.seat(&because.agent).map(|seat| &seat.id);
            named.extend(
                seat.filter(|seat| **seat != revision.agent_id && !named.contains(seat))
                    .cloned(),
            );
        }
        named
    }

    /// Returns whether an expert changed its position out of conformity: without naming an
    /// argument, towards a majority that it was not in.
    ///
    /// The majority is more than half of the experts that answered in Round 1, if they support the
    /// strongest point of agreement of Round 2. A change goes towards it if the revised position
    /// shares more of that point's words than the first one.
    fn conforms(&self, held: &Independent, revision: &Revision) -> bool {
        let names_an_argument = revision
            .because_of
            .iter()
            .any(|because| !because.argument.trim().is_empty());
        let leading = self.readable_synthesis().and_then(Synthesis::leading);
        let Some(leading) = leading.filter(|_| !names_an_argument) else {
            return false;
        };
        let held_by = self.independents();
        let supporters = held_by
            .filter(|answer| leading.is_supported_by(&answer.agent_id))
            .count();
        let is_majority = supporters * 2 > self.independents().count();
        let nearness = |position: &str| wording::share(&leading.point, position);
        let comes_nearer = nearness(&held.position)
            .zip(nearness(&revision.revised_position))
            .is_some_and(|(before, after)| after > before);
        is_majority && !leading.is_supported_by(&revision.agent_id) && comes_nearer
    }

    /// Returns the experts named with an argument by most of those that moved.
    fn key_influencers(&self, agents: &[AgentMove]) -> Vec<SeatId> {
        let mut named: BTreeMap<&SeatId, usize> = BTreeMap::new();
        for agent in agents
            .iter()
            .filter(|agent| agent.magnitude.differs() == Some(true))
        {
            let Some(revision) = self.revision(&agent.agent_id) else {
                continue;
            };
            let argues = |seat: &SeatId| {
                revision.because_of.iter().any(|because| {
                    because.agent == seat.as_str() && !because.argument.trim().is_empty()
                })
            };
            for seat in agent.influenced_by.iter().filter(|seat| argues(seat)) {
                *named.entry(seat).or_default() += 1;
            }
        }
        let most = named.values().max().copied();
        let seats = self.terms.panel.seats.iter().map(|seat| &seat.id);
        seats
            .filter(|seat| most.is_some() && named.get(seat).copied() == most)
            .cloned()
            .collect()
    }

    /// Returns the share of the experts in Round 3 for which the verdict names no dissent. Unknown
    /// if a dissent names no known expert, or if no judge gave a readable verdict.
    #[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
    fn convergence(&self) -> Option<f64> {
        let verdict = self.judged_verdict()?;
        let revisers: Vec<&SeatId> = self
            .revisions()
            .map(|revision| &revision.agent_id)
            .collect();
        let mut dissents = verdict.dissent.iter();
        let all_are_named = dissents.all(|dissent| self.seat(&dissent.agent).is_some());
        let dissents = |agent: &&&SeatId| {
            let mut dissents = verdict.dissent.iter();
            dissents.any(|dissent| dissent.agent == agent.as_str())
        };
        let agreeing = revisers.len() - revisers.iter().filter(dissents).count();
        (all_are_named && !revisers.is_empty()).then(|| agreeing as f64 / revisers.len() as f64)
    }

    /// Returns whether the verdict differs from the answer of Round 2, and the share of words that
    /// decides it.
    ///
    /// The answer of Round 2 is the judge's provisional one. The share of its words in the verdict's
    /// recommendation and summary decides whether the verdict repeats it. The result is unknown for
    /// a share in between, and if only one of the two answers has a negation. Menus and unreadable
    /// verdicts are not compared.
    fn against_round_2(&self) -> (Option<bool>, Option<f64>) {
        let single = self
            .judged_verdict()
            .filter(|verdict| verdict.recommendations.is_empty());
        let answer = self
            .readable_synthesis()
            .and_then(|synthesis| synthesis.provisional_answer.as_deref());
        let Some((verdict, provisional)) = single.zip(answer) else {
            return (None, None);
        };
        let verdict_text = format!("{}\n{}", verdict.recommendation, verdict.summary);
        let Some(share) = wording::share(&provisional.answer, &verdict_text) else {
            return (None, None);
        };
        let is_turned =
            wording::negates(&provisional.answer) != wording::negates(&verdict.recommendation);
        let changed = match share {
            _ if is_turned => None,
            share if share >= STILL_SAID => Some(false),
            share if share <= SAID_NO_MORE => Some(true),
            _ => None,
        };
        (changed, Some(share))
    }

    /// Returns a readable verdict that a judge gave after all four rounds.
    fn judged_verdict(&self) -> Option<&Verdict> {
        self.readable().find_map(Content::verdict)
    }

    fn readable_synthesis(&self) -> Option<&Synthesis> {
        self.readable().find_map(Content::synthesis)
    }

    fn readable(&self) -> impl Iterator<Item = &Content> {
        let whole = self.artifacts.iter().filter(|artifact| !artifact.degraded);
        whole.map(|artifact| &artifact.content)
    }

    /// Returns the cost of some of the calls, including those that never came back; `None` if there
    /// was no such call.
    fn cost_where(&self, is_meant: impl Fn(&AgentId, u8) -> bool) -> Option<Cost> {
        self.spend_by(|agent, round, _| is_meant(agent, round))
            .remove(&true)
            .map(|spend| spend.cost)
    }
}

/// `None` if it gave none or more than one.
fn magnitude(agent: &SeatId, found: &[PairComparison]) -> Option<(ChangeMagnitude, String)> {
    let mut of_agent = found
        .iter()
        .filter(|compared| compared.pair == agent.as_str());
    let first = of_agent.next()?;
    let agrees = of_agent.all(|compared| compared.magnitude == first.magnitude);
    agrees.then(|| (first.magnitude.into(), first.reasoning.clone()))
}

/// Rounded; `None` of no numbers.
#[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_usize), |(sum, count), number| {
        (sum + number, count + 1)
    });
    (count > 0).then(|| rounded(sum / count as f64))
}
