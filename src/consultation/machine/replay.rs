//! Restores a consultation from its log: the machine gets the same inputs at the same moments and
//! must emit the same events.
//!
//! Invariant: an event in the log is never emitted again; those that its last step lacks are
//! emitted now.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::domain::ids::{AgentId, CallId, TimerId};
use crate::domain::time::Timestamp;

use crate::consultation::event::{
    AgentEvent, CallEvent, CallFinished, CallStarted, Cause, CeilingReached, ConsultationEvent,
    CostEvent, Envelope, Event, HealthEvent, ProviderEvent, SCHEMA_VERSION, StateEvent,
};
use crate::consultation::machine::{Effect, Input};
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Failure, Outcome, Prompt, Reply, StopReason};
use crate::consultation::protocol::request::{NotAdmitted, RequestKey};
use crate::consultation::{Consultation, TransitionError};
use crate::domain::cost::money::Cost;
use crate::domain::cost::pricing::CostSource;

/// A consultation restored from its log.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub consultation: Consultation,
    pub interruption: Interruption,
    /// The prompts of all calls, which no log holds.
    pub prompts: BTreeMap<CallId, Prompt>,
}

/// What an interrupted run left undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interruption {
    /// Effects that its last step left undone: to be carried out before anything else.
    pub effects: Vec<Effect>,
    /// Calls that had gone out and will never answer.
    pub lost: Vec<CallId>,
    /// Timers that have not fired, as far as the log shows. Firing one again does no harm.
    pub timers: BTreeSet<(Timestamp, TimerId)>,
    pub last_at: Timestamp,
}

/// Why a consultation cannot be resumed from its log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the journal is empty")]
    Empty,
    #[error("it was written by another version and cannot be resumed")]
    OtherVersion,
    #[error(
        "event {seq} does not follow from those before it: another version of the program wrote \
         it, or it was changed"
    )]
    DoesNotFollow { seq: u64 },
    #[error("event {seq}: {refused}")]
    Transition { seq: u64, refused: TransitionError },
}

pub fn replay(events: &[Envelope]) -> Result<Replayed, ReplayError> {
    let first = events.first().ok_or(ReplayError::Empty)?;
    let Event::Consultation(ConsultationEvent::Started(terms)) = &first.event else {
        return Err(ReplayError::DoesNotFollow { seq: first.seq });
    };
    if first.schema_version != SCHEMA_VERSION {
        return Err(ReplayError::OtherVersion);
    }
    let plan = terms.plan.as_deref().ok_or(ReplayError::OtherVersion)?;
    check_transitions(events)?;
    let mut replayed = Replayed {
        consultation: Consultation::new(plan.clone()),
        interruption: Interruption::default(),
        prompts: BTreeMap::new(),
    };
    let mut rest: VecDeque<&Envelope> = events.iter().collect();
    while let Some(envelope) = rest.front().copied() {
        let effects = replayed.give(envelope, &rest)?;
        replayed.follow(effects, &mut rest, envelope.seq)?;
    }
    replayed.interruption.last_at = events.last().map_or(first.at, |last| last.at);
    Ok(replayed)
}

fn check_transitions(events: &[Envelope]) -> Result<(), ReplayError> {
    for envelope in events {
        if let Event::State(StateEvent::Changed { from, to }) = &envelope.event {
            let seq = envelope.seq;
            from.may_become(*to)
                .map_err(|refused| ReplayError::Transition { seq, refused })?;
        }
    }
    Ok(())
}

impl Replayed {
    fn give(
        &mut self,
        envelope: &Envelope,
        rest: &VecDeque<&Envelope>,
    ) -> Result<Vec<Effect>, ReplayError> {
        let unfit = ReplayError::DoesNotFollow { seq: envelope.seq };
        let input = match (envelope.cause.ok_or(unfit.clone())?, &envelope.event) {
            (Cause::Start, _) => match rest.iter().find_map(|later| estimated(&later.event)) {
                Some(estimate) => Input::StartedBefore {
                    estimate: Box::new(estimate.clone()),
                },
                None => Input::Start,
            },
            (Cause::Answered(answer), _) => Input::Answered(answer),
            (Cause::FirstToken, Event::Call(CallEvent::FirstToken { call })) => {
                Input::FirstToken { call: *call }
            }
            (Cause::Replied, Event::Call(CallEvent::Finished(finished))) => Input::Replied {
                call: finished.call,
                outcome: outcome(finished),
                updates: updates_after(rest),
            },
            (Cause::Admitted | Cause::NotAdmitted, event) => decided(event).ok_or(unfit)?,
            (Cause::Provider, Event::Provider(event)) => Input::ProviderChanged(event.clone()),
            (Cause::Timer(timer), _) => {
                self.interruption.timers.retain(|(_, set)| *set != timer);
                Input::TimerFired { timer }
            }
            (Cause::Interrupted, _) => Input::Interrupted,
            (Cause::HealthCheck, Event::Health(HealthEvent::CheckStarted { provider })) => {
                Input::HealthCheckStarted {
                    provider: provider.clone(),
                }
            }
            (Cause::Health, Event::Health(HealthEvent::StatusUpdated(update))) => {
                Input::HealthChanged(update.clone())
            }
            (Cause::Resumed, Event::Consultation(ConsultationEvent::Resumed(resumed))) => {
                self.interruption
                    .lost
                    .retain(|open| !resumed.lost_calls.contains(open));
                Input::Resume {
                    lost: resumed.lost_calls.clone(),
                    terms: Box::new(resumed.terms.clone()),
                    tool_version: resumed.tool_version.clone(),
                }
            }
            (
                Cause::FirstToken
                | Cause::Replied
                | Cause::Provider
                | Cause::HealthCheck
                | Cause::Health
                | Cause::Resumed,
                _,
            ) => return Err(unfit),
        };
        Ok(self.consultation.handle(envelope.at, input))
    }

    fn follow(
        &mut self,
        effects: Vec<Effect>,
        rest: &mut VecDeque<&Envelope>,
        seq: u64,
    ) -> Result<(), ReplayError> {
        let before = rest.len();
        let mut effects = effects.into_iter();
        while let Some(effect) = effects.next() {
            match effect {
                Effect::Emit(said) => match rest.front() {
                    Some(logged) if **logged == *said => {
                        if let Event::Call(CallEvent::Finished(finished)) = &said.event {
                            self.forget(finished.call);
                        }
                        rest.pop_front();
                    }
                    Some(logged) => return Err(ReplayError::DoesNotFollow { seq: logged.seq }),
                    None => {
                        self.interruption.effects.push(Effect::Emit(said));
                        self.keep(effects);
                        return Ok(());
                    }
                },
                Effect::SetTimer { timer, at } => {
                    self.interruption.timers.insert((at, timer));
                }
                Effect::Ask(ask) => {
                    self.interruption.lost.push(ask.call);
                    self.prompts.insert(ask.call, ask.prompt);
                }
                Effect::Cancel(call) => self.forget(call),
                // Made again on resume.
                Effect::Request(_) | Effect::Question(_) | Effect::Withdraw => {}
            }
        }
        // A step without events is not in a log.
        if rest.len() == before {
            Err(ReplayError::DoesNotFollow { seq })
        } else {
            Ok(())
        }
    }

    fn forget(&mut self, call: CallId) {
        self.interruption.lost.retain(|open| *open != call);
    }

    /// Keeps the effects that are still to be carried out. Questions are asked again on resume, and
    /// calls of a process that has ended need no cancelling. A call that it had announced in part
    /// counts as lost: only a request reserves its worst case under every ceiling.
    fn keep(&mut self, effects: impl Iterator<Item = Effect>) {
        for effect in effects {
            match effect {
                Effect::Request(_) | Effect::Question(_) | Effect::Withdraw => {}
                Effect::Cancel(call) if self.interruption.lost.contains(&call) => self.forget(call),
                Effect::Ask(ask) => self.interruption.lost.push(ask.call),
                Effect::Cancel(_) | Effect::SetTimer { .. } | Effect::Emit(_) => {
                    self.interruption.effects.push(effect);
                }
            }
        }
    }
}

fn estimated(event: &Event) -> Option<&Estimate> {
    if let Event::Consultation(ConsultationEvent::CostEstimated(estimate)) = event {
        Some(estimate)
    } else {
        None
    }
}

/// Has all that the machine uses of the outcome.
fn outcome(finished: &CallFinished) -> Outcome {
    let reported_cost =
        (finished.cost_source == CostSource::Provider).then_some(finished.cost.known);
    match &finished.error {
        None => Ok(Reply {
            text: finished.text.clone(),
            stop: finished.stop.clone().unwrap_or(StopReason::End),
            usage: finished.tokens,
            served_model: finished.served_model.clone(),
            reported_cost,
            plan: finished.plan.clone(),
        }),
        Some(error) => Err(Failure {
            class: error.class,
            message: error.message.clone(),
            retry_after: error.retry_after_ms.map(Duration::from_millis),
            usage: error.usage_reported.then(|| Box::new(finished.tokens)),
            reported_cost,
            partial: finished.text.clone(),
        }),
    }
}

fn updates_after(rest: &VecDeque<&Envelope>) -> Vec<ProviderEvent> {
    let mut updates = Vec::new();
    for envelope in rest.iter().skip(1) {
        match &envelope.event {
            Event::Provider(event) if envelope.cause.is_none() => {
                updates.push(event.clone());
            }
            _ => break,
        }
    }
    updates
}

fn decided(event: &Event) -> Option<Input> {
    let attempt = |agent: &AgentId, answer: &AnswerKind| RequestKey::Attempt {
        agent: agent.clone(),
        answer: *answer,
    };
    let hedge = |agent: &AgentId| RequestKey::Hedge {
        agent: agent.clone(),
    };
    let (key, reason) = match event {
        Event::Call(CallEvent::Started(CallStarted {
            agent_id,
            answer,
            model,
            worst_case,
            ..
        })) => {
            return Some(Input::Admitted {
                key: attempt(agent_id, answer),
                provider: model.provider.clone(),
                granted: *worst_case,
            });
        }
        Event::Call(CallEvent::Hedged {
            agent_id, backup, ..
        }) => {
            return Some(Input::Admitted {
                key: hedge(agent_id),
                provider: backup.provider.clone(),
                // A hedge goes out as it is, or not at all.
                granted: Cost::FREE,
            });
        }
        Event::Call(CallEvent::NotHedged {
            agent_id, reason, ..
        }) => {
            let reason = match reason {
                NoHedge::Ceiling => NotAdmitted::unnamed_budget(),
                NoHedge::NoBackup
                | NoHedge::NoHealthyBackup
                | NoHedge::QuotaUsed
                | NoHedge::BackupBusy => NotAdmitted::Busy,
            };
            (hedge(agent_id), reason)
        }
        Event::Cost(CostEvent::CeilingReached(CeilingReached {
            max_cost,
            spent,
            agent_id,
            budget: Some(budget),
            answer: Some(answer),
            ..
        })) => {
            let reason = NotAdmitted::Budget {
                budget: budget.clone(),
                limit: *max_cost,
                spent: spent.known,
            };
            (attempt(agent_id, answer), reason)
        }
        // A saved answer is used instead.
        Event::Agent(AgentEvent::Completed {
            agent_id, answer, ..
        }) => (attempt(agent_id, answer), NotAdmitted::unnamed_budget()),
        // An optional answer is only left out.
        Event::Agent(AgentEvent::Failed(failure)) => {
            let key = attempt(&failure.agent_id, &failure.answer);
            (key, NotAdmitted::unnamed_budget())
        }
        _ => return None,
    };
    Some(Input::NotAdmitted { key, reason })
}
