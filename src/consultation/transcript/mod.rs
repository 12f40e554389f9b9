//! The fold of a consultation's event log, from which record, Markdown and JSON are made.
//!
//! Invariant: live and read back from a journal, the same events give the same transcript.

pub mod summary;
pub mod spend;
pub mod token_savings;
pub(in crate::consultation) mod debate_value;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::artifact::{
    Artifact, Content, CrossExam, Independent, Revision, Synthesis, Verdict,
};
use crate::domain::confidence::Confidence;
use crate::domain::ids::{AgentId, CallId, ConsultationId, ModelRef, SeatId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::second_pass::{Held, SecondPass};
use crate::domain::time::Timestamp;
use crate::stopping::early_termination::{Calibrated, EarlyStop, calibrated};

use self::spend::LostCall;
use self::token_savings::Savings;
use super::analysis::evidence::evidence;
use super::event::{
    AbortReason, AgentError, AgentEvent, CallEvent, CallFinished, CancelReason, ConsultationEvent,
    CostEvent, EarlyTerminationDecision, Envelope, Event, HealthEvent, JudgeEvent, PanelEvent,
    PanelSelection, PulseEvent, RoundEvent, Started, StateEvent, StateName, SubstitutionReason,
    WhySubstituted,
};
use super::plan::mode::Ending;
use crate::consultation::policy::estimate::{Consent, Estimate};

/// The content of one consultation's events.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    pub id: ConsultationId,
    pub started_at: Timestamp,
    /// The last event's time.
    pub last_at: Timestamp,
    pub terms: Started,
    pub estimate: Option<Estimate>,
    pub consent: Option<(bool, Consent)>,
    pub state: StateName,
    pub artifacts: Vec<Artifact>,
    /// The result of the judge's second pass; `None` without one, or before it is decided.
    pub second_pass: Option<SecondPass>,
    /// Whether the verdict of the earlier consultation held when its answers were judged again;
    /// `None` where there is none to compare with.
    pub rejudged: Option<Held>,
    /// Calls that came back, in that order.
    pub calls: Vec<CallFinished>,
    pub lost_calls: Vec<LostCall>,
    pub(super) savings: Savings,
    pub failures: Vec<AgentFailure>,
    pub substitutions: Vec<Substitution>,
    pub hedges: Vec<Hedge>,
    /// The last call that the ceiling did not allow.
    pub ceiling: Option<Ceiling>,
    /// Rounds that ended, with how long each took.
    pub rounds: Vec<(u8, Duration)>,
    /// What was decided after Round 2, where it was looked at.
    pub early_end: Option<EarlyTerminationDecision>,
    /// How the personas were chosen for the question; `None` where they were given, or are not
    /// chosen yet.
    pub persona_selection: Option<PanelSelection>,
    /// How it ended; `None` again once it is resumed.
    pub abort: Option<Abort>,
    /// From the first event to the last, without the time between an interruption and its resume.
    pub duration: Duration,
    paused: Duration,
}

/// An agent that has no answer in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFailure {
    pub agent_id: AgentId,
    pub name: String,
    pub round_number: u8,
    pub error: AgentError,
}

/// A model that took over an agent's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution {
    pub agent_id: AgentId,
    pub round_number: u8,
    pub original: ModelRef,
    pub substitute: ModelRef,
    pub reason: SubstitutionReason,
    /// What happened, in the provider's own words.
    pub message: String,
}

/// A slow call that was made elsewhere too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hedge {
    pub agent_id: AgentId,
    pub round_number: Option<u8>,
    pub model: ModelRef,
    pub backup: ModelRef,
    pub after: Duration,
    /// Which of the two was dropped because the other was faster.
    pub dropped: Option<ModelRef>,
}

/// A call that was not made, because it could have broken the ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceiling {
    pub max_cost: MicroUsd,
    pub spent: Cost,
    pub agent_id: AgentId,
    pub model: ModelRef,
    /// The most that the call could have cost.
    pub worst_case: Cost,
    /// The ceiling's name, where it is not the consultation's own.
    pub budget: Option<String>,
}

/// How it ended without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    pub reason: AbortReason,
    pub message: String,
    pub during: StateName,
}

impl Transcript {
    /// Folds events in order. `None` when the first is not `consultation:started`.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Envelope>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        let Event::Consultation(ConsultationEvent::Started(terms)) = &first.event else {
            return None;
        };
        let mut transcript = Self {
            id: first.consultation_id.clone(),
            started_at: first.at,
            last_at: first.at,
            terms: (**terms).clone(),
            estimate: None,
            consent: None,
            state: StateName::Idle,
            artifacts: Vec::new(),
            second_pass: None,
            rejudged: None,
            calls: Vec::new(),
            lost_calls: Vec::new(),
            savings: Savings::default(),
            failures: Vec::new(),
            substitutions: Vec::new(),
            hedges: Vec::new(),
            ceiling: None,
            rounds: Vec::new(),
            early_end: None,
            persona_selection: None,
            abort: None,
            duration: Duration::ZERO,
            paused: Duration::ZERO,
        };
        for event in events {
            transcript.take(event);
        }
        Some(transcript)
    }

    fn take(&mut self, envelope: &Envelope) {
        if let Event::Consultation(ConsultationEvent::Resumed(_)) = &envelope.event {
            self.paused += envelope.at.since(self.last_at);
        }
        self.last_at = envelope.at;
        self.duration = envelope
            .at
            .since(self.started_at)
            .saturating_sub(self.paused);
        self.savings.take(&envelope.event);
        match &envelope.event {
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                self.estimate = Some(estimate.clone());
            }
            Event::Consultation(ConsultationEvent::UserConsent { approved, how }) => {
                self.consent = Some((*approved, *how));
            }
            Event::State(StateEvent::Changed { to, .. }) => self.state = *to,
            Event::Agent(AgentEvent::Failed {
                agent_id,
                name,
                round_number,
                error,
                ..
            }) => {
                self.forget_failure(agent_id, *round_number);
                self.failures.push(AgentFailure {
                    agent_id: agent_id.clone(),
                    name: name.clone(),
                    round_number: *round_number,
                    error: error.clone(),
                });
            }
            Event::Agent(AgentEvent::Completed {
                agent_id,
                round_number,
                ..
            }) => self.forget_failure(agent_id, *round_number),
            Event::Round(RoundEvent::Completed {
                round_number,
                duration_ms,
            }) => self
                .rounds
                .push((*round_number, Duration::from_millis(*duration_ms))),
            Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
                self.artifacts.push((**artifact).clone());
            }
            Event::Judge(JudgeEvent::Rejudged(held)) => self.rejudged = Some(held.clone()),
            Event::Judge(JudgeEvent::SecondPass(second)) => {
                self.second_pass = Some((**second).clone());
            }
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                round_number,
                model,
                ..
            }) => self.lost_calls.push(LostCall {
                call: *call,
                agent_id: agent_id.clone(),
                round_number: *round_number,
                model: model.clone(),
            }),
            Event::Call(CallEvent::Finished(finished)) => {
                self.lost_calls.retain(|lost| lost.call != finished.call);
                self.calls.push((**finished).clone());
            }
            Event::Consultation(ConsultationEvent::ProviderSubstituted {
                agent_id,
                round_number,
                original,
                substitute,
                reason,
                message,
            }) => {
                self.substitutions.push(Substitution {
                    agent_id: agent_id.clone(),
                    round_number: *round_number,
                    original: original.clone(),
                    substitute: substitute.clone(),
                    reason: reason.clone(),
                    message: message.clone(),
                });
            }
            Event::Consultation(ConsultationEvent::Aborted {
                reason,
                message,
                during,
                ..
            }) => {
                self.abort = Some(Abort {
                    reason: *reason,
                    message: message.clone(),
                    during: *during,
                });
            }
            Event::Panel(PanelEvent::PersonasSelected(selection)) => {
                self.terms.panel = selection.panel.clone();
                self.terms.expert_order.clone_from(&selection.expert_order);
                self.persona_selection = Some((**selection).clone());
            }
            Event::Consultation(ConsultationEvent::EarlyTerminationDecided(decision)) => {
                self.early_end = Some((**decision).clone());
            }
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                self.state = resumed.state;
                self.abort = None;
            }
            Event::Cost(CostEvent::CeilingReached {
                max_cost,
                spent,
                agent_id,
                model,
                worst_case,
                budget,
                answer: _,
            }) => {
                self.ceiling = Some(Ceiling {
                    max_cost: *max_cost,
                    spent: *spent,
                    agent_id: agent_id.clone(),
                    model: model.clone(),
                    worst_case: *worst_case,
                    budget: budget.clone(),
                });
            }
            Event::Call(CallEvent::Hedged {
                call,
                agent_id,
                model,
                backup,
                after_ms,
            }) => self.hedges.push(Hedge {
                agent_id: agent_id.clone(),
                round_number: self.under_way(*call).map(|call| call.round_number),
                model: model.clone(),
                backup: backup.clone(),
                after: Duration::from_millis(*after_ms),
                dropped: None,
            }),
            Event::Call(CallEvent::Cancelled {
                call,
                reason: CancelReason::HedgeLost,
            }) => self.drop_loser(*call),
            Event::Consultation(
                ConsultationEvent::Started(_)
                | ConsultationEvent::Completed { .. }
                | ConsultationEvent::SubstitutionOffered { .. }
                | ConsultationEvent::EarlyTerminationOffered(_),
            )
            | Event::Round(RoundEvent::Started { .. })
            | Event::Agent(AgentEvent::Thinking { .. })
            | Event::Call(
                CallEvent::Retried { .. }
                | CallEvent::NotHedged { .. }
                | CallEvent::Cancelled {
                    reason: CancelReason::TooLate | CancelReason::Abort(_),
                    ..
                },
            )
            | Event::Cost(CostEvent::GateTriggered { .. })
            | Event::Pulse(PulseEvent::Asked { .. } | PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. } | HealthEvent::StatusUpdated(_))
            | Event::Provider(_) => {}
        }
    }

    /// An agent that was asked again after it had failed has failed no more, or otherwise.
    fn forget_failure(&mut self, agent: &AgentId, round: u8) {
        self.failures
            .retain(|failure| failure.agent_id != *agent || failure.round_number != round);
    }

    fn under_way(&self, call: CallId) -> Option<&LostCall> {
        self.lost_calls.iter().find(|lost| lost.call == call)
    }

    /// Notes which of two calls was dropped. It stays among those that never came back: what it
    /// cost is not known.
    fn drop_loser(&mut self, call: CallId) {
        let Some(LostCall {
            agent_id, model, ..
        }) = self.under_way(call).cloned()
        else {
            return;
        };
        let open = |hedge: &&mut Hedge| {
            hedge.agent_id == agent_id
                && hedge.dropped.is_none()
                && [&hedge.model, &hedge.backup].contains(&&model)
        };
        if let Some(hedge) = self.hedges.iter_mut().rev().find(open) {
            hedge.dropped = Some(model);
        }
    }

    /// The name of a seat for screens; text that names no seat is returned as it is.
    pub fn agent_name<'a>(&'a self, agent: &'a str) -> &'a str {
        self.terms
            .panel
            .seats
            .iter()
            .find(|seat| seat.id.as_str() == agent)
            .map_or(agent, |seat| seat.name())
    }

    pub fn independents(&self) -> impl Iterator<Item = &Independent> {
        self.artifacts
            .iter()
            .filter_map(|artifact| artifact.content.independent())
    }

    pub fn revisions(&self) -> impl Iterator<Item = &Revision> {
        self.artifacts
            .iter()
            .filter_map(|artifact| artifact.content.revision())
    }

    pub fn synthesis(&self) -> Option<&Synthesis> {
        self.artifacts
            .iter()
            .find_map(|artifact| artifact.content.synthesis())
    }

    pub fn cross_exam(&self) -> Option<&CrossExam> {
        self.artifacts
            .iter()
            .find_map(|artifact| artifact.content.cross_exam())
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        self.artifacts
            .iter()
            .find_map(|artifact| artifact.content.verdict())
    }

    pub fn confidence(&self) -> Option<Confidence> {
        self.verdict().and_then(|verdict| verdict.confidence)
    }

    /// Supporting experts of the leading consensus point over experts who answered in Round 1.
    #[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
    pub fn agreement(&self) -> Option<f64> {
        let answered = self.independents().count();
        let leading = self.synthesis()?.leading()?;
        let supporting = self
            .independents()
            .filter(|independent| {
                leading
                    .supporting_agents
                    .iter()
                    .any(|agent| agent == independent.agent_id.as_str())
            })
            .count();
        (answered > 0).then(|| supporting as f64 / answered as f64)
    }

    /// The probability that the leading point is right, from which experts agree on it. Only for a
    /// debate that aims at one answer.
    pub fn calibrated(&self) -> Option<Calibrated> {
        if let Some(decision) = &self.early_end {
            return decision.findings.calibrated;
        }
        let plan = self.terms.plan.as_deref();
        let mode = plan.map(|plan| plan.debate.mode).unwrap_or_default();
        let rule = plan.map_or_else(EarlyStop::usual, |plan| {
            plan.control.early_termination.clone()
        });
        let synthesis = self
            .synthesis()
            .filter(|_| mode.strategy().ending == Ending::MayBeEarly)?;
        let answers = self
            .independents()
            .filter_map(|held| Some((held, self.model_of(&held.agent_id)?)));
        calibrated(&rule, &evidence(answers, synthesis, 0))
    }

    /// The model that gave an expert's answer of Round 1.
    fn model_of(&self, agent: &SeatId) -> Option<&ModelRef> {
        let answered = |call: &&CallFinished| {
            call.round_number == 1 && call.agent_id == *agent && call.error.is_none()
        };
        let called = self
            .calls
            .iter()
            .rev()
            .find(answered)
            .map(|call| &call.model);
        called.or_else(|| self.terms.panel.seat(agent).map(|seat| &seat.model))
    }

    /// What makes the result less than the panel promised, in words; empty for a whole result.
    pub fn degradations(&self) -> Vec<String> {
        let failed = self
            .failures
            .iter()
            // The judge's failure is reported as the end it is; the helper's answer and a second
            // verdict are optional.
            .filter(|failure| failure.agent_id.seat().is_some())
            .map(|failure| {
                format!(
                    "{} gave no answer in Round {}: {}",
                    failure.name, failure.round_number, failure.error.message
                )
            });
        let degraded = self.artifacts.iter().filter(|artifact| artifact.degraded).map(|artifact| match &artifact.content {
            Content::Independent(Independent { agent_id, .. }) | Content::Revision(Revision { agent_id, .. }) => {
                format!(
                    "{}'s answer in Round {} could not be read as asked; its prose was kept",
                    self.agent_name(agent_id.as_str()),
                    artifact.round_number
                )
            }
            Content::Synthesis(_) | Content::CrossExam(_) | Content::Verdict(_) | Content::Comparison(_) | Content::PersonaSelection(_) => {
                format!("the judge's answer in Round {} could not be read as asked; its prose was kept", artifact.round_number)
            }
        });
        let substituted = self.substitutions.iter().filter(|substitution| substitution.agent_id != AgentId::SecondJudge).map(|substitution| {
            let Substitution { agent_id, round_number, original, substitute, reason, message } = substitution;
            let agent = if *agent_id == AgentId::Judge { "the judge" } else { self.agent_name(agent_id.as_str()) };
            // A fallback stays in use; a faster hedge has answered once.
            let from_then_on = if *reason == SubstitutionReason::Known(WhySubstituted::Hedge) { "" } else { " and later" };
            format!("{substitute} stood in for {original} as {agent} in Round {round_number}{from_then_on}: {}", reason.in_words(message))
        });
        failed.chain(substituted).chain(degraded).collect()
    }

    /// Models that were answered by another one, as the providers say, with the other's name; each
    /// pair once.
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
