//! The machine's state besides its phase: start time, spending, provider state, fallbacks in use,
//! and open questions.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{AgentId, ModelRef, TimerId};
use crate::domain::time::Timestamp;

use super::emitter::Emitter;
use super::providers::ProviderViews;
use super::questions::Questions;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::budget::{self, Budget};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::fitting::UpcomingCalls;
use crate::consultation::policy::hedging::HedgeRule;

/// The state that outlives a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunState {
    pub(crate) started_at: Timestamp,
    /// Pauses: the consultation was interrupted, or only the person was waited for. They do not
    /// count as elapsed time.
    pub(crate) pauses: Vec<Pause>,
    /// The time since which only the person is waited for.
    pub(crate) waiting_for_person_since: Option<Timestamp>,
    pub(crate) providers: ProviderViews,
    pub(crate) budget: Budget,
    pub(crate) upcoming: UpcomingCalls,
    /// Whether the person has agreed to exceed the monthly budget.
    pub(crate) beyond_month: bool,
    pub(crate) high: Cost,
    /// The spending that the high estimate covers: of models with a price, if one has none.
    spent_of_estimate: MicroUsd,
    /// The expected number of calls, from which the hedge quota follows.
    pub(crate) expected_calls: usize,
    pub(crate) hedges: u32,
    /// Fallback models that have taken over, by agent, for the rest of the run.
    pub(crate) fallbacks_in_use: BTreeMap<AgentId, ModelRef>,
    /// Models that answered sooner as a hedge, by agent: asked first in the rounds to come.
    pub(crate) hedge_winners: BTreeMap<AgentId, ModelRef>,
    pub(crate) questions: Questions,
    pub(crate) watch: Watch,
}

/// A time span in which nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// The timers of the current round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) round_number: u8,
    since: Timestamp,
    pub(crate) pulse: Option<TimerId>,
    pub(crate) deadline: Option<TimerId>,
}

impl Watch {
    /// Sets the timers of a round that begins or is resumed.
    pub(crate) fn start(
        round_number: u8,
        control: &Control,
        now: Timestamp,
        emitter: &mut Emitter<'_>,
    ) -> Self {
        Self {
            round_number,
            since: now,
            deadline: control.max_wait.map(|wait| emitter.set_timer(wait)),
            pulse: control.pulse.map(|wait| emitter.set_timer(wait)),
        }
    }

    pub(crate) fn set_pulse(&mut self, control: &Control, emitter: &mut Emitter<'_>) {
        self.pulse = control.pulse.map(|wait| emitter.set_timer(wait));
    }
}

impl RunState {
    /// Returns the milliseconds.
    pub(crate) fn end_wait_for_person(&mut self, to: Timestamp) -> u64 {
        let Some(from) = self.waiting_for_person_since.take() else {
            return 0;
        };
        self.pauses.push(Pause { from, to });
        to.ms_since(from)
    }

    /// Without the time in which only the person was waited for; `None` without a limit.
    pub(crate) fn time_left(&self, control: &Control, now: Timestamp) -> Option<Duration> {
        self.watch.deadline?;
        let taken = Duration::from_millis(self.ms_since(self.watch.since, now));
        Some(control.max_wait?.saturating_sub(taken))
    }

    /// Moves the end of the round's time limit after a wait for the person.
    pub(crate) fn move_deadline(
        &mut self,
        control: &Control,
        now: Timestamp,
        emitter: &mut Emitter<'_>,
    ) {
        if let Some(left) = self.time_left(control, now) {
            self.watch.deadline = Some(emitter.set_timer(left));
        }
    }

    /// Without pauses.
    pub(crate) fn ms_since(&self, earlier: Timestamp, now: Timestamp) -> u64 {
        let waiting = self.waiting_for_person_since;
        let waiting = waiting.map(|from| Pause { from, to: now });
        let paused = self
            .pauses
            .iter()
            .copied()
            .chain(waiting)
            .map(|pause| pause.to.min(now).ms_since(pause.from.max(earlier)));
        now.ms_since(earlier).saturating_sub(paused.sum())
    }

    /// Without pauses.
    pub(crate) fn elapsed_ms(&self, now: Timestamp) -> u64 {
        self.ms_since(self.started_at, now)
    }

    pub(crate) fn has_hedges(&self) -> bool {
        self.hedges < HedgeRule::quota(self.expected_calls)
    }

    /// Counts the cost of a call for [`Self::overspending`].
    pub(crate) fn note_cost(&mut self, cost: Cost, has_price: bool) {
        if has_price || !self.high.lower_bound {
            self.spent_of_estimate += cost.known;
        }
    }

    /// A ceiling that was agreed to in advance replaces this check.
    pub(crate) fn overspending(&self, control: &Control) -> Option<String> {
        let by_ceiling =
            control.max_cost.is_some() && control.consent.consent_mode == ConsentMode::PreApproved;
        let (spent, mut high) = (self.spent_of_estimate, self.high);
        if high.by_plan {
            // A fallback of a seat that a plan pays for may cost what needs no consent.
            high.known = high.known.max(control.consent.always_allow_under);
            high.by_plan = false;
        }
        (!by_ceiling && budget::exceeds(spent, high)).then(|| {
            format!(
                "Cost exceeded estimate: {spent:.2} spent, and the highest estimate was \
                 {high:.2}"
            )
        })
    }

    /// The model in use first, then its fallbacks, best first.
    pub(crate) fn candidates(&self, plan: &Plan, agent: &AgentId) -> Vec<ModelRef> {
        let mut candidates = plan.models_for(agent);
        if let Some(fallback) = Self::in_use(&self.fallbacks_in_use, agent) {
            // The models before it have failed.
            let at = candidates.iter().position(|model| model == fallback);
            candidates.drain(..at.map_or(candidates.len(), |at| at + 1));
            candidates.insert(0, fallback.clone());
        }
        if let Some(winner) = Self::in_use(&self.hedge_winners, agent) {
            // The slow model can still take over if the winner fails.
            candidates.retain(|model| model != winner);
            candidates.insert(0, winner.clone());
        }
        candidates
    }

    /// The second pass goes to the model that judges by then.
    fn in_use<'a>(
        models: &'a BTreeMap<AgentId, ModelRef>,
        agent: &AgentId,
    ) -> Option<&'a ModelRef> {
        let of_the_judge = || {
            (*agent == AgentId::SecondJudge)
                .then(|| models.get(&AgentId::Judge))
                .flatten()
        };
        models.get(agent).or_else(of_the_judge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let pause = |from, to| Pause {
            from: Timestamp(from),
            to: Timestamp(to),
        };
        let run = RunState {
            pauses: vec![pause(100, 1_100), pause(2_000, 2_500)],
            ..RunState::default()
        };
        let since = |earlier, now| run.ms_since(Timestamp(earlier), Timestamp(now));
        let expected = (50, 200, 1_500);
        assert_eq!((since(0, 50), since(0, 1_200), since(0, 3_000)), expected);
        assert_eq!(
            (since(600, 1_200), since(1_100, 1_200), since(2_600, 2_700)),
            (100, 100, 100)
        );
    }
}
