//! The content of the live display, as a value: `LiveView` follows the events of a consultation,
//! `row` holds one agent, `phase` describes its activity, `layout` turns all into lines. Pure.
//! Times count from the start of the run, or from when it was resumed, and leave out the time in
//! which only the person is waited for.
//!
//! Invariant: a row names no activity that its events and deltas do not show.

mod row;
mod phase;
mod layout;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consultation::event::{
    AgentEvent, AgentFailure, CallEvent, CallStarted, ConsultationEvent, Event, PanelEvent,
    ProviderEvent, Purpose, RoundEvent, StateName, Substitution, WhySubstituted,
};
use crate::consultation::plan::Plan;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, CallId, ProviderId};
use crate::engine::ports::Delta;

use self::row::{AgentPhase, AgentRow, CallStage, OpenCall, PendingRetry};
use super::judge_stream::CallResult;
use super::messages;
use crate::terminal::output::style::Paint;
use crate::text::clean::one_line;

/// All rows of the display and the line of the run.
#[derive(Clone, Debug)]
pub(in crate::terminal) struct LiveView {
    paint: Paint,
    /// The stage at which a call begins.
    first_stage: CallStage,
    rows: Vec<AgentRow>,
    /// Least widths of names and models, so that the columns of all rounds align.
    columns: (usize, usize),
    round: u8,
    rounds: u8,
    spent: Cost,
    estimate: Option<Cost>,
    plan: Option<Box<Plan>>,
    /// The backoffs that providers have asked for.
    holds: BTreeMap<ProviderId, ProviderHold>,
    /// The last call that failed, and how.
    last_failure: Option<(CallId, FailureClass)>,
    /// The time in which only the person was waited for.
    left_out: Duration,
    /// When only the person began to be waited for.
    waiting_since: Option<Duration>,
}

/// A backoff that holds back all calls to a provider.
#[derive(Clone, Debug)]
struct ProviderHold {
    until: Duration,
    /// The reason in a few words.
    cause: String,
}

impl LiveView {
    pub(in crate::terminal) fn new(paint: Paint) -> Self {
        Self {
            paint,
            first_stage: CallStage::Sent,
            rows: Vec::new(),
            columns: (0, 0),
            round: 0,
            rounds: 4,
            spent: Cost::FREE,
            estimate: None,
            plan: None,
            holds: BTreeMap::new(),
            last_failure: None,
            left_out: Duration::ZERO,
            waiting_since: None,
        }
    }

    /// Without deltas, of which a journal holds the first token alone.
    pub(in crate::terminal) fn of_journal() -> Self {
        Self {
            first_stage: CallStage::Unknown,
            ..Self::new(Paint::PLAIN)
        }
    }

    pub(in crate::terminal) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(in crate::terminal) fn is_blank(&self) -> bool {
        self.rows.is_empty()
    }

    pub(in crate::terminal) fn leave_out(&mut self, waited_for_person: Duration) {
        self.left_out = waited_for_person;
    }

    /// The clocks stand while only the person is waited for.
    fn elapsed(&self, since_start: Duration) -> Duration {
        let elapsed = since_start.saturating_sub(self.left_out);
        self.waiting_since
            .map_or(elapsed, |since| since.min(elapsed))
    }

    /// Returns whether no agent works and one waits for the person.
    fn waits_for_person(&self) -> bool {
        let at_work = self.rows.iter().filter(|row| !row.phase.has_ended());
        let mut at_work = at_work.peekable();
        at_work.peek().is_some() && at_work.all(|row| row.phase == AgentPhase::Asking)
    }

    pub(in crate::terminal) fn receive(&mut self, call: CallId, delta: &Delta) {
        self.advance(call, |stage| stage.advanced_by(delta));
    }

    fn advance(&mut self, call: CallId, to: impl FnOnce(CallStage) -> CallStage) {
        let calls = self.rows.iter_mut().filter_map(|row| match &mut row.phase {
            AgentPhase::Working(calls) => Some(calls),
            AgentPhase::Retrying(_)
            | AgentPhase::Asking
            | AgentPhase::Failed(_)
            | AgentPhase::Stopped => None,
        });
        if let Some(open) = calls.flatten().find(|open| open.call == call) {
            open.stage = to(open.stage);
        }
    }

    /// The row of an agent that has answered is removed; that of one that failed stays until the
    /// next round begins or `drop_ended` removes it.
    pub(in crate::terminal) fn follow(&mut self, event: &Event, now: Duration) {
        self.take(event, now);
        self.waiting_since = if self.waits_for_person() {
            self.waiting_since.or(Some(now))
        } else {
            None
        };
    }

    fn take(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Consultation(event) => self.take_consultation(event, now),
            Event::Agent(event) => self.take_agent(event, now),
            Event::Call(event) => self.take_call(event, now),
            Event::Panel(PanelEvent::PersonasSelected(cast)) => {
                self.columns = messages::columns(&cast.panel);
                // The helper has finished; only the seats it chose keep a row.
                self.rows.retain(|row| row.agent != AgentId::Helper);
            }
            Event::Round(RoundEvent::Started { round_number }) => {
                // An agent outside the panel may still be working.
                self.rows.retain(|row| !row.phase.has_ended());
                self.round = *round_number;
            }
            Event::Provider(ProviderEvent::Held {
                provider,
                wait_ms,
                reason,
                ..
            }) => {
                let hold = ProviderHold {
                    until: now + Duration::from_millis(*wait_ms),
                    cause: messages::cause(reason, Some(FailureClass::RateLimit)),
                };
                self.holds.insert(provider.clone(), hold);
            }
            Event::Round(RoundEvent::Completed { .. })
            | Event::State(_)
            | Event::Judge(_)
            | Event::Cost(_)
            | Event::Pulse(_)
            | Event::Health(_)
            | Event::Provider(
                ProviderEvent::CircuitChanged { .. } | ProviderEvent::KeyChanged { .. },
            ) => {}
        }
    }

    fn take_consultation(&mut self, event: &ConsultationEvent, now: Duration) {
        match event {
            ConsultationEvent::Started(terms) => {
                self.columns = messages::columns(&terms.panel);
                self.plan.clone_from(&terms.plan);
            }
            ConsultationEvent::CostEstimated(estimate) => {
                self.estimate = Some(estimate.cost);
                self.rounds = estimate
                    .calls
                    .iter()
                    .map(|call| call.round_number)
                    .max()
                    .unwrap_or(4);
            }
            ConsultationEvent::SubstitutionOffered(Substitution { agent_id, .. }) => {
                self.set_phase(agent_id, AgentPhase::Asking);
            }
            ConsultationEvent::ProviderSubstituted(Substitution {
                agent_id,
                substitute,
                reason,
                ..
            }) => {
                if let Some(row) = self.row_of(agent_id) {
                    row.model = substitute.clone();
                    // The faster call is open already.
                    if *reason != WhySubstituted::Hedge {
                        row.phase = AgentPhase::Working(vec![]);
                    }
                }
            }
            ConsultationEvent::Resumed(resumed) => {
                self.restart_unanswered(resumed.state, now);
            }
            ConsultationEvent::UserConsent { .. }
            | ConsultationEvent::RoundArtifact { .. }
            | ConsultationEvent::EarlyTerminationOffered(_)
            | ConsultationEvent::EarlyTerminationDecided(_)
            | ConsultationEvent::Completed { .. }
            | ConsultationEvent::Aborted(_) => {}
        }
    }

    fn take_agent(&mut self, event: &AgentEvent, now: Duration) {
        match event {
            AgentEvent::Thinking {
                agent_id,
                name,
                model,
                ..
            } => {
                let row = AgentRow {
                    agent: agent_id.clone(),
                    name: one_line(name),
                    model: model.clone(),
                    since: now,
                    phase: AgentPhase::Working(vec![]),
                    last_result: None,
                };
                match self.row_of(agent_id) {
                    Some(existing) => *existing = row,
                    None => self.rows.push(row),
                }
            }
            // Its answer is printed above the rows.
            AgentEvent::Completed { agent_id, .. } => {
                self.rows.retain(|row| row.agent != *agent_id);
            }
            AgentEvent::Failed(AgentFailure {
                agent_id, error, ..
            }) => self.set_phase(agent_id, AgentPhase::Failed(one_line(&error.message))),
        }
    }

    fn take_call(&mut self, event: &CallEvent, now: Duration) {
        match event {
            CallEvent::Started(CallStarted {
                call,
                agent_id,
                purpose,
                model,
                ..
            }) => {
                let stage = self.first_stage;
                if let Some(row) = self.row_of(agent_id) {
                    let attempt = match &row.phase {
                        AgentPhase::Retrying(retry) => retry.attempt,
                        _ => None,
                    };
                    let new = OpenCall {
                        call: *call,
                        model: model.clone(),
                        purpose: *purpose,
                        attempt,
                        stage,
                    };
                    row.last_result = None;
                    match &mut row.phase {
                        AgentPhase::Working(calls) if *purpose == Purpose::Hedge => calls.push(new),
                        phase => *phase = AgentPhase::Working(vec![new]),
                    }
                }
            }
            CallEvent::FirstToken { call } => {
                self.advance(*call, |stage| stage.max(CallStage::Answering));
            }
            CallEvent::Retried {
                call,
                agent_id,
                wait_ms,
                reason,
                attempt,
            } => {
                let cause = messages::cause(reason, self.failure_class(*call));
                if let Some(row) = self.row_of(agent_id).filter(
                    |row| matches!(&row.phase, AgentPhase::Working(calls) if calls.is_empty()),
                ) {
                    row.phase = AgentPhase::Retrying(PendingRetry {
                        until: now + Duration::from_millis(*wait_ms),
                        attempt: *attempt,
                        cause,
                    });
                }
            }
            CallEvent::Finished(call) => {
                self.spent += call.cost;
                self.last_failure = call.error.as_ref().map(|error| (call.call, error.class));
                self.drop_call(call.call);
                if let Some(row) = self.row_of(&call.agent_id) {
                    row.last_result = Some(CallResult::of(call));
                }
            }
            CallEvent::Cancelled { call, .. } => {
                // Its provider reports no cost.
                self.spent.lower_bound |= !self.is_free(*call);
                self.drop_call(*call);
            }
            CallEvent::Hedged { .. } | CallEvent::NotHedged { .. } => {}
        }
    }

    /// Returns how a call failed, right after its failure.
    pub(in crate::terminal) fn failure_class(&self, call: CallId) -> Option<FailureClass> {
        let last = self.last_failure.filter(|(failed, _)| *failed == call);
        last.map(|(_, class)| class)
    }

    fn row_of(&mut self, agent: &AgentId) -> Option<&mut AgentRow> {
        self.rows.iter_mut().find(|row| &row.agent == agent)
    }

    fn set_phase(&mut self, agent: &AgentId, phase: AgentPhase) {
        if let Some(row) = self.row_of(agent) {
            row.phase = phase;
        }
    }

    fn is_free(&self, call: CallId) -> bool {
        let model = self
            .open_calls()
            .filter(|open| open.call == call)
            .map(|open| &open.model);
        let mut terms = model.zip(&self.plan).map(|(model, plan)| plan.terms(model));
        terms.any(|terms| !terms.billing.is_metered())
    }

    fn open_calls(&self) -> impl Iterator<Item = &OpenCall> {
        self.rows.iter().flat_map(|row| row.phase.open_calls())
    }

    /// Returns whether this run makes as many calls to the provider as it may.
    fn is_full(&self, provider: &ProviderId) -> bool {
        let Some(plan) = &self.plan else {
            return false;
        };
        let calls = self.open_calls().map(|open| &open.model.provider);
        let in_flight = calls.filter(|other| *other == provider).count();
        u32::try_from(in_flight).is_ok_and(|in_flight| in_flight >= plan.in_flight(provider))
    }

    fn drop_call(&mut self, call: CallId) {
        for row in &mut self.rows {
            if let AgentPhase::Working(calls) = &mut row.phase {
                calls.retain(|open_call| open_call.call != call);
            }
        }
    }

    pub(in crate::terminal) fn drop_ended(&mut self) {
        self.rows.retain(|row| !row.phase.has_ended());
    }

    pub(in crate::terminal) fn stop_all(&mut self) {
        for row in self.rows.iter_mut().filter(|row| !row.phase.has_ended()) {
            row.phase = AgentPhase::Stopped;
        }
    }

    fn restart_unanswered(&mut self, state: StateName, now: Duration) {
        self.round = messages::round_of(state).unwrap_or(self.round);
        self.holds.clear();
        for row in &mut self.rows {
            match &mut row.phase {
                AgentPhase::Failed(_) => {}
                phase => {
                    (row.since, *phase) = (now, AgentPhase::Working(vec![]));
                    row.last_result = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
