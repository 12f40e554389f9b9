//! Plays scripts to the machine: holds its open calls and timers, checks its invariants after every
//! input, and keeps its log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    AgentEvent, CallEvent, ConsultationEvent, CostEvent, Envelope, Event, HealthEvent, JudgeEvent,
    PanelEvent, ProviderEvent, PulseEvent, RoundEvent, StateEvent, StateName,
};
use conclave::consultation::machine::replay::{ReplayError, Replayed, replay};
use conclave::consultation::plan::options::DebateOptions;
use conclave::consultation::plan::{Control, Material, Plan};
use conclave::consultation::policy::consent::{ConsentMode, ConsentRule};
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::policy::retry::RetryRule;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::prompt::Templates;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{
    Ask, Failure, FailureClass, Outcome, Reply, StopReason,
};
use conclave::consultation::protocol::{self, Effect, Input, Question, TimerId};
use conclave::domain::ids::{CallId, ConsultationId, ModelRef, ProviderId, SeatId};
use conclave::domain::money::MicroUsd;
use conclave::domain::panel::{Panel, Seat};
use conclave::domain::pricing::{Price, PriceList, Rates};
use conclave::domain::time::Timestamp;
use conclave::domain::tokens::Usage;
use conclave::stopping::early_termination::EarlyStop;

pub const QUESTION: &str = "Should I use OAuth or JWT?";

/// Three seats at three vendors, judged by the second with one fallback; every model costs $1 in
/// and $2 out a million tokens.
pub fn plan() -> Plan {
    let templates = Templates::builtin();
    let seat = |persona: &str, provider: &str, model: &str| Seat {
        id: SeatId::new(persona),
        persona: templates.persona(persona).expect("a built-in persona"),
        model: ModelRef::new(provider, model),
    };
    let seats = vec![
        seat("security", "anthropic", "claude-sonnet-5-5"),
        seat("architecture", "openai", "gpt-6.1-sol"),
        seat("pragmatic", "google", "gemini-4-argon"),
    ];
    let judges = vec![
        ModelRef::new("openai", "gpt-6.1-sol"),
        ModelRef::new("anthropic", "claude-sonnet-5-5"),
    ];
    let rates = Rates {
        input: MicroUsd(1_000_000),
        output: MicroUsd(2_000_000),
        cache_read: None,
        cache_write: None,
    };
    let price = Price {
        base: rates,
        long_context: None,
    };
    let prices = seats
        .iter()
        .map(|seat| (seat.model.clone(), price))
        .collect();
    Plan {
        id: ConsultationId::from_unique("01TEST"),
        question: QUESTION.to_owned(),
        panel: Panel { seats, judges },
        debate: DebateOptions::default(),
        models: BTreeMap::new(),
        prices: PriceList(prices),
        templates,
        seed: 7,
        control: Control {
            consent: ConsentRule {
                always_allow_under: MicroUsd(10_000_000),
                consent_mode: ConsentMode::Interactive,
                month: None,
            },
            hedge: HedgeRule {
                after: None,
                ..HedgeRule::default()
            },
            pulse: None,
            early_termination: EarlyStop::default(),
            on_failure: OnFailure::Substitute,
            ..Control::usual(ConsentMode::Interactive)
        },
        fallbacks: BTreeMap::new(),
        material: Material::default(),
        learnt_output: BTreeMap::new(),
        retry: RetryRule::default(),
        in_flight: BTreeMap::new(),
        tool_version: "0.0.0".to_owned(),
        notices: Vec::new(),
    }
}

/// A whole answer of a kind, as a well-behaved model writes it.
pub fn good_text(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Independent => {
            r#"{"position":"Use OAuth.","key_points":["Tokens can be revoked."],"rationale":"Revocation decides it.","confidence":0.8}"#
        }
        AnswerKind::Synthesis => {
            r#"{"consensus_points":[{"point":"Tokens must be short-lived.","supporting_agents":["Expert A","Expert B"],"confidence":0.9}],"tensions":[{"topic":"Effort","viewpoints":[{"agent":"Expert C","viewpoint":"It is too much work."}],"severity":"medium"}],"priority_order":["Revocation"]}"#
        }
        AnswerKind::Revision => {
            r#"{"challenges":[{"target_agent":"Expert A","challenge":"No threat model.","evidence":["None is given."],"severity":"high"}],"rebuttals":[],"changed":false,"because_of":[],"revised_position":"Use OAuth.","revised_confidence":0.85}"#
        }
        AnswerKind::CrossExam => {
            r#"{"challenges":[{"challenger":"Expert B","target_agent":"Expert A","challenge":"No threat model.","evidence":[],"severity":"high"}],"rebuttals":[],"unresolved":["Effort"]}"#
        }
        AnswerKind::Verdict => {
            r#"{"summary":"All agree in the end.","evidence":[{"claim":"Revocation decides.","agent":"Expert A","quote":"Use OAuth."}],"dissent":[{"agent":"Expert C","concern":"Effort.","severity":"low"}],"recommendation":"Use OAuth with short-lived tokens.","confidence":0.86}"#
        }
        AnswerKind::Menu => {
            r#"{"summary":"Both can work.","recommendations":[{"option":"OAuth","description":"Use a provider.","pros":["It can be revoked."],"cons":["It takes effort."],"best_when":"there are many clients","confidence":0.8},{"option":"JWT","description":"Sign tokens.","pros":["It is simple."],"cons":["It cannot be revoked."],"best_when":"there is one service","confidence":0.6}],"evidence":[{"claim":"Revocation decides.","agent":"Expert A","quote":"Use OAuth."}],"dissent":[{"agent":"Expert C","concern":"Effort.","severity":"low"}],"recommendation":"Choose by the number of clients."}"#
        }
        AnswerKind::PersonaSelection => {
            r#"{"task_type":"architecture decision","reason":"It is about attacks and upkeep.","personas":["security","skeptic","pragmatic"]}"#
        }
        AnswerKind::Consistency => {
            r#"{"comparisons":[{"pair":"Verdict","reasoning":"A condition is new.","magnitude":"minor_refinement"}],"key_insights":[]}"#
        }
        AnswerKind::Comparison => {
            r#"{"comparisons":[{"pair":"Expert A","reasoning":"Nothing is different.","magnitude":"same"},{"pair":"Expert B","reasoning":"A condition is new.","magnitude":"minor_refinement"},{"pair":"Expert C","reasoning":"It turned round.","magnitude":"significant_change"}],"key_insights":["Effort is what is contested."]}"#
        }
    }
}

pub fn reply(text: &str) -> Outcome {
    stopped(text, StopReason::End)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "an outcome is what the machine takes"
)]
pub fn stopped(text: &str, stop: StopReason) -> Outcome {
    let usage = Usage {
        input: 1_000,
        output: 100,
        ..Usage::default()
    };
    Ok(Reply {
        text: text.to_owned(),
        stop,
        usage,
        served_model: None,
        reported_cost: None,
    })
}

pub fn failure(class: FailureClass, message: &str) -> Outcome {
    Err(Failure::new(class, message))
}

/// A failure with the provider's hint when to come back.
pub fn hinted(class: FailureClass, message: &str, hint: Duration) -> Outcome {
    Err(Failure {
        retry_after: Some(hint),
        ..Failure::new(class, message)
    })
}

/// This many seats at one provider, and its judge at another.
pub fn crowd(seats: usize) -> Plan {
    let plan = plan();
    let persona = plan.panel.seats.first().expect("a seat").persona.clone();
    let seat = |at: usize| Seat {
        id: SeatId::new(format!("seat-{at}")),
        persona: persona.clone(),
        model: ModelRef::new("anthropic", "claude-sonnet-5-5"),
    };
    Plan {
        panel: Panel {
            seats: (0..seats).map(seat).collect(),
            ..plan.panel
        },
        ..plan
    }
}

/// Answers any ask well.
pub fn good(ask: &Ask) -> Outcome {
    reply(good_text(ask.answer))
}

/// The machine with its surroundings.
#[derive(Clone, Debug)]
pub struct Player {
    pub machine: Consultation,
    pub now: Timestamp,
    pub open: Vec<Ask>,
    pub timers: BTreeSet<(Timestamp, TimerId)>,
    pub log: Vec<Envelope>,
    /// What the person is asked.
    pub question: Option<Question>,
    /// Most calls that were under way at one provider at once.
    pub most_under_way: usize,
    /// Until when a provider asked to be left alone.
    held: BTreeMap<ProviderId, Timestamp>,
    started: BTreeSet<CallId>,
    ended: BTreeSet<CallId>,
    consented: bool,
}

impl Player {
    pub fn new(plan: Plan) -> Self {
        Self {
            machine: Consultation::new(plan),
            now: Timestamp(1_795_252_598_000),
            open: Vec::new(),
            timers: BTreeSet::new(),
            log: Vec::new(),
            question: None,
            most_under_way: 0,
            held: BTreeMap::new(),
            started: BTreeSet::new(),
            ended: BTreeSet::new(),
            consented: false,
        }
    }

    pub fn started(plan: Plan) -> Self {
        let mut player = Self::new(plan);
        player.give(Input::Start);
        player
    }

    /// What goes on after the process was gone and its log is all that is left, after a pause; on
    /// other terms, if there are any.
    pub fn resumed(
        events: &[Envelope],
        pause: Duration,
        control: Option<Control>,
    ) -> Result<Self, ReplayError> {
        let Replayed {
            consultation,
            effects,
            lost,
            timers,
            last_at,
        } = replay(events)?;
        let mut player = Self::new(consultation.plan().clone());
        (player.machine, player.timers, player.now) = (consultation, timers, last_at);
        for envelope in events {
            player.note(envelope.clone());
        }
        player.carry_out(effects);
        player.pass(pause);
        let control = Box::new(control.unwrap_or_else(|| player.machine.plan().control.clone()));
        player.give(Input::Resume {
            lost,
            control,
            tool_version: "0.0.1".to_owned(),
        });
        Ok(player)
    }

    /// Gives one input, carries out the effects and checks the invariants.
    pub fn give(&mut self, input: Input) {
        let resumes = matches!(input, Input::Resume { .. });
        let was_over = self.machine.state().is_terminal() && !resumes;
        if matches!(input, Input::Answered(_)) {
            self.question = None;
        }
        let before = (!matches!(input, Input::FirstToken { .. })).then(|| self.machine.clone());
        let effects = self.machine.handle(self.now, input);
        assert!(
            !was_over || effects.is_empty(),
            "a terminal state has no effects: {effects:?}"
        );
        if let Some(before) = before.filter(|_| {
            !effects
                .iter()
                .any(|effect| matches!(effect, Effect::Emit(_)))
                && !resumes
        }) {
            assert!(
                effects.is_empty() && before == self.machine,
                "a log has to tell whatever changes the machine: {effects:?}"
            );
        }
        self.carry_out(effects);
        if self.machine.state().is_terminal() {
            assert!(self.open.is_empty(), "no call is open at the end");
            assert!(self.question.is_none(), "no question is open at the end");
            assert_eq!(self.started, self.ended, "every call ends exactly once");
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Question(question) => {
                    assert!(self.question.is_none(), "one question at a time");
                    self.question = Some(*question);
                }
                Effect::Withdraw => assert!(
                    self.question.take().is_some(),
                    "only an open question is taken away"
                ),
                Effect::Ask(ask) => {
                    assert!(self.consented, "no call before consent");
                    assert!(
                        self.started.contains(&ask.call),
                        "a call is announced before it goes out"
                    );
                    let provider = &ask.model.provider;
                    let held = self.held.get(provider);
                    assert!(
                        held.is_none_or(|until| *until <= self.now),
                        "{provider} wants to be left alone until {held:?}"
                    );
                    self.open.push(*ask.clone());
                    let under_way = self
                        .open
                        .iter()
                        .filter(|open| open.model.provider == *provider)
                        .count();
                    let limit = self.machine.plan().in_flight(provider);
                    assert!(
                        under_way <= limit as usize,
                        "{under_way} calls are under way at {provider}, and {limit} may be"
                    );
                    self.most_under_way = self.most_under_way.max(under_way);
                }
                Effect::Cancel(call) => {
                    let at = self
                        .open
                        .iter()
                        .position(|ask| ask.call == call)
                        .expect("only open calls are cancelled");
                    self.open.remove(at);
                }
                Effect::SetTimer { timer, at } => {
                    assert!(at >= self.now, "no timer lies in the past");
                    assert!(self.timers.insert((at, timer)), "no timer twice");
                }
                Effect::Emit(envelope) => self.note(*envelope),
            }
        }
    }

    fn note(&mut self, envelope: Envelope) {
        assert_eq!(
            envelope.seq,
            self.log.len() as u64 + 1,
            "events are numbered without gaps"
        );
        match &envelope.event {
            Event::Consultation(ConsultationEvent::UserConsent { approved, .. }) => {
                self.consented = *approved
            }
            Event::Call(CallEvent::Started { call, .. }) => {
                assert!(self.started.insert(*call), "no call id twice")
            }
            Event::Call(CallEvent::Finished(finished)) => assert!(
                self.ended.insert(finished.call),
                "{} ends once",
                finished.call
            ),
            Event::Provider(ProviderEvent::Held {
                provider, wait_ms, ..
            }) => {
                self.held.insert(
                    provider.clone(),
                    envelope.at.after(Duration::from_millis(*wait_ms)),
                );
            }
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                self.ended.extend(&resumed.lost_calls)
            }
            Event::Call(CallEvent::Cancelled { call, .. }) => {
                assert!(self.ended.insert(*call), "{call} ends once")
            }
            Event::State(StateEvent::Changed { from, to }) => {
                assert_eq!(from.may_become(*to), Ok(()))
            }
            _ => {}
        }
        self.log.push(envelope);
    }

    /// Answers the open call at `at`.
    pub fn answer(&mut self, at: usize, outcome: Outcome) {
        let ask = self.open.remove(at);
        self.give(Input::Replied {
            call: ask.call,
            outcome,
        });
    }

    /// Answers the first open call of an agent.
    pub fn answer_agent(&mut self, agent: &str, outcome: Outcome) {
        let call = self
            .calls_of(agent)
            .last()
            .copied()
            .unwrap_or_else(|| panic!("{agent} has no call"));
        let at = self
            .open
            .iter()
            .position(|ask| ask.call == call)
            .unwrap_or_else(|| panic!("the last call of {agent} is not open"));
        self.answer(at, outcome);
    }

    fn calls_of(&self, agent: &str) -> Vec<CallId> {
        self.log
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::Call(CallEvent::Started { call, agent_id, .. })
                    if agent_id.as_str() == agent =>
                {
                    Some(*call)
                }
                _ => None,
            })
            .collect()
    }

    pub fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// Goes to the earliest timer and fires it. False when there is none.
    pub fn fire(&mut self) -> bool {
        let Some((at, timer)) = self.timers.pop_first() else {
            return false;
        };
        self.now = self.now.max(at);
        self.give(Input::TimerFired { timer });
        true
    }

    /// Goes to the earliest moment that a timer is set for and fires all that are set for it. False
    /// when there is none.
    pub fn rest(&mut self) -> bool {
        let Some((next, _)) = self.timers.first().copied() else {
            return false;
        };
        while self.timers.first().is_some_and(|(at, _)| *at == next) {
            self.fire();
        }
        true
    }

    /// Answers everything in the order in which it was asked, and every question with yes, until
    /// the end.
    pub fn finish(&mut self, mut answer: impl FnMut(&Ask) -> Outcome) -> StateName {
        self.finish_in(|_, ask| answer(ask))
    }

    /// The same in a world in which an answer may depend on what has happened before.
    pub fn finish_in(&mut self, mut world: impl FnMut(&[Envelope], &Ask) -> Outcome) -> StateName {
        for _ in 0..2_000 {
            if self.machine.state().is_terminal() {
                return self.machine.state();
            }
            if self.question.is_some() {
                self.give(Input::Answered(protocol::Answer::Yes));
            } else if let Some(ask) = self.open.first().cloned() {
                self.pass(Duration::from_millis(100));
                let outcome = world(&self.log, &ask);
                self.answer(0, outcome);
            } else if !self.fire() {
                panic!("stuck in {}", self.machine.state());
            }
        }
        panic!("no end after 2000 steps");
    }

    /// The log, one event a line, with what a reader needs to follow it.
    pub fn story(&self) -> String {
        self.log
            .iter()
            .map(|envelope| line(&envelope.event) + "\n")
            .collect()
    }
}

fn line(event: &Event) -> String {
    match event {
        Event::Consultation(ConsultationEvent::Started(_)) => "consultation:started".to_owned(),
        Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
            format!("consultation:cost_estimated {} calls", estimate.calls.len())
        }
        Event::Consultation(ConsultationEvent::UserConsent { approved, how }) => {
            format!("consultation:user_consent {approved} {how:?}")
        }
        Event::State(StateEvent::Changed { from, to }) => format!("state:changed {from} -> {to}"),
        Event::Round(RoundEvent::Started { round_number }) => {
            format!("round:started {round_number}")
        }
        Event::Agent(AgentEvent::Thinking {
            agent_id, model, ..
        }) => format!("agent:thinking {agent_id} {model}"),
        Event::Agent(AgentEvent::Completed { agent_id, cost, .. }) => {
            format!("agent:completed {agent_id} {cost:.6}")
        }
        Event::Agent(AgentEvent::Failed {
            agent_id, error, ..
        }) => format!("agent:failed {agent_id} {}", error.message),
        Event::Round(RoundEvent::Completed { round_number, .. }) => {
            format!("round:completed {round_number}")
        }
        Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
            let kind =
                serde_json::to_value(artifact).expect("an artifact is JSON")["artifact_type"]
                    .to_string();
            format!(
                "consultation:round_artifact {kind}{}",
                if artifact.degraded { " degraded" } else { "" }
            )
        }
        Event::Judge(JudgeEvent::SecondPass(second)) => format!(
            "judge:second_pass consistent {:?}, {:?}",
            second.held.consistent, second.held.magnitude
        ),
        Event::Judge(JudgeEvent::Rejudged(held)) => format!(
            "judge:rejudged consistent {:?}, {:?}",
            held.consistent, held.magnitude
        ),
        Event::Consultation(ConsultationEvent::ProviderSubstituted {
            agent_id,
            original,
            substitute,
            ..
        }) => {
            format!("consultation:provider_substituted {agent_id} {original} -> {substitute}")
        }
        Event::Panel(PanelEvent::PersonasSelected(cast)) => {
            let seats: Vec<&str> = cast
                .panel
                .seats
                .iter()
                .map(|seat| seat.id.as_str())
                .collect();
            format!("panel:cast {}", seats.join(", "))
        }
        Event::Consultation(ConsultationEvent::Completed { rounds, .. }) => {
            format!("consultation:completed {rounds}")
        }
        Event::Consultation(ConsultationEvent::Aborted { reason, during, .. }) => {
            format!("consultation:aborted {reason:?} during {during}")
        }
        Event::Call(CallEvent::Started {
            call,
            agent_id,
            purpose,
            ..
        }) => format!("call:started {} {agent_id} {purpose:?}", call.0),
        Event::Call(CallEvent::Retried { call, wait_ms, .. }) => {
            format!("call:retried {} after {wait_ms} ms", call.0)
        }
        Event::Provider(ProviderEvent::Held {
            provider, wait_ms, ..
        }) => format!("provider:held {provider} for {wait_ms} ms"),
        Event::Call(CallEvent::Cancelled { call, reason }) => {
            format!("call:cancelled {} {reason:?}", call.0)
        }
        Event::Call(CallEvent::Hedged {
            call,
            model,
            backup,
            after_ms,
            ..
        }) => {
            format!(
                "call:hedged {} {model} -> {backup} after {after_ms} ms",
                call.0
            )
        }
        Event::Call(CallEvent::NotHedged { call, reason, .. }) => {
            format!("call:not_hedged {} {reason:?}", call.0)
        }
        Event::Consultation(ConsultationEvent::SubstitutionOffered {
            agent_id,
            original,
            substitute,
            ..
        }) => {
            format!("consultation:substitution_offered {agent_id} {original} -> {substitute}")
        }
        Event::Consultation(ConsultationEvent::EarlyTerminationOffered(findings)) => {
            format!(
                "consultation:early_termination_offered {:?}",
                findings.confidence.map(|stated| stated.to_string())
            )
        }
        Event::Consultation(ConsultationEvent::EarlyTerminationDecided(decision)) => format!(
            "consultation:early_termination_decided {} {:?}",
            decision.ended, decision.by
        ),
        Event::Consultation(ConsultationEvent::Resumed(resumed)) => format!(
            "consultation:resumed in {}, {} lost",
            resumed.state,
            resumed.lost_calls.len()
        ),
        Event::Cost(CostEvent::GateTriggered { why, .. }) => format!("cost:gate_triggered {why:?}"),
        Event::Cost(CostEvent::CeilingReached {
            agent_id, model, ..
        }) => format!("cost:ceiling_reached {agent_id} {model}"),
        Event::Pulse(PulseEvent::Asked {
            round_number,
            waiting,
            asked,
            ..
        }) => {
            format!(
                "pulse:asked {round_number} {} waiting{}",
                waiting.len(),
                if *asked { "" } else { ", nobody to ask" }
            )
        }
        Event::Pulse(PulseEvent::Answered { answer, .. }) => format!("pulse:answered {answer:?}"),
        Event::Health(HealthEvent::CheckStarted { provider }) => {
            format!("health:check_started {provider}")
        }
        Event::Health(HealthEvent::StatusUpdated(health)) => format!(
            "health:status_updated {} {:?}",
            health.provider, health.status
        ),
        Event::Call(CallEvent::Finished(finished)) => {
            let outcome = finished
                .error
                .as_ref()
                .map_or_else(|| "ok".to_owned(), |error| format!("{:?}", error.class));
            format!(
                "call:finished {} {outcome} {:.6}",
                finished.call.0, finished.cost
            )
        }
    }
}
