//! The events of a consultation: who is asked, who answers, the costs, the failures and the ending.

use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, AgentError, AgentEvent, CallError, CallEstimate, CallEvent, CallFinished,
    CancelReason, Consent, ConsultationEvent, CostSource, Estimate, Event, PromptUsed, Purpose,
    RoundEvent, Started, StateEvent, StateName, SubstitutionReason, WhySubstituted,
};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::artifact::{Artifact, Content};
use conclave::domain::ids::{AgentId, CallId, ModelRef, SeatId};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::panel::{Panel, Persona, Seat};
use conclave::domain::time::Timestamp;
use conclave::domain::tokens::{Usage, UsageSource};
use fastrand::Rng;

use super::Length;
use super::text;

/// Provider, model, and the price of a thousand tokens in micro-dollars; `None` if it is unknown.
const MODELS: [(&str, &str, Option<u64>); 9] = [
    ("anthropic", "claude-sonnet-5-5", Some(9_000)),
    ("anthropic", "claude-haiku-4-5", Some(1_500)),
    ("openai", "gpt-6.1-sol", Some(7_000)),
    ("google", "gemini-3-pro", Some(4_000)),
    ("google", "gemini-3.8-flash", Some(700)),
    ("mistral", "mistral-large", Some(3_000)),
    ("openrouter", "vendor/name:free", None),
    ("local", "qwen3-0.6b", Some(0)),
    ("xai", "grok-4.7", Some(5_000)),
];

const PERSONAS: [(&str, &str); 5] = [
    ("security", "Security Expert"),
    ("architecture", "Architect"),
    ("pragmatic", "Pragmatist"),
    ("performance", "Performance Engineer"),
    ("user", "User Advocate"),
];

/// The events of one consultation.
pub(super) struct Scenario {
    pub(super) events: Vec<(Timestamp, Event)>,
    pub(super) ended_early: bool,
}

/// How the consultation ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    /// After Round 2, with a verdict composed from the synthesis.
    Early,
    Declined,
    AllFailed,
    JudgeFailed,
    InterruptedIn(u8),
    /// The process was killed.
    Unfinished,
}

/// Generates a consultation that starts at `at`.
pub(super) fn generate(at: Timestamp, rng: &mut Rng, length: Length) -> Scenario {
    let ending = match rng.u8(..100) {
        0..80 => Ending::Whole,
        80..87 => Ending::Early,
        87..89 => Ending::Declined,
        89..91 => Ending::AllFailed,
        91..93 => Ending::JudgeFailed,
        93..97 => Ending::InterruptedIn(rng.u8(1..=4)),
        _ => Ending::Unfinished,
    };
    let rounds = match (length, rng.u8(..20)) {
        (Length::Usual, 0) => 1,
        (Length::Usual, 1) => 2,
        (Length::Usual, _) => 4,
        (Length::Short, 0..15) => 1,
        (Length::Short, _) => 2,
    };
    let mode = if rng.u8(..5) == 0 {
        "explore"
    } else {
        "converge"
    };
    let mut generator = Generator {
        rng: rng.clone(),
        now: at,
        began: at,
        events: vec![],
        next_call: 1,
        length,
        terms: terms(rng, mode, length),
    };
    generator.rng = Rng::with_seed(rng.u64(..));
    let ended_early = generator.run(ending, rounds);
    Scenario {
        events: generator.events,
        ended_early,
    }
}

fn model(rng: &mut Rng) -> ModelRef {
    let (provider, model, _) = MODELS[rng.usize(..MODELS.len())];
    ModelRef::new(provider, model)
}

fn terms(rng: &mut Rng, mode: &str, length: Length) -> Started {
    let seats = if length == Length::Short {
        rng.usize(1..3)
    } else {
        rng.usize(2..5)
    };
    // One in twenty panels has only the embedded model.
    let local = rng.u8(..20) == 0;
    let draw = |rng: &mut Rng| {
        if local {
            ModelRef::new("local", "qwen3-0.6b")
        } else {
            model(rng)
        }
    };
    let first = rng.usize(..PERSONAS.len());
    let seats: Vec<Seat> = (0..seats)
        .map(|nth| {
            let (id, name) = PERSONAS[(first + nth) % PERSONAS.len()];
            let persona = Persona {
                id: id.to_owned(),
                name: name.to_owned(),
                prompt: String::new(),
                brief: String::new(),
                aliases: Vec::new(),
            };
            Seat {
                id: SeatId::new(id),
                persona,
                model: draw(rng),
            }
        })
        .collect();
    let panel = Panel {
        seats,
        judges: vec![draw(rng), draw(rng)],
    };
    let prompt = |kind: &str| PromptUsed {
        name: format!("{mode}/{kind}"),
        version: "v1.0".to_owned(),
        sha256: "ab".repeat(32),
    };
    Started {
        question: text::question(rng),
        mode: mode.to_owned(),
        expert_order: panel
            .seats
            .iter()
            .rev()
            .map(|seat| seat.id.clone())
            .collect(),
        panel,
        seed: rng.u64(..1 << 53),
        prompts: [
            "independent",
            "synthesis",
            "revision",
            "cross_exam",
            "verdict",
        ]
        .map(prompt)
        .into(),
        tool_version: "0.1.0".to_owned(),
        notices: vec![],
        plan: None,
    }
}

pub(super) struct Generator {
    pub(super) rng: Rng,
    now: Timestamp,
    began: Timestamp,
    events: Vec<(Timestamp, Event)>,
    next_call: u32,
    pub(super) length: Length,
    terms: Started,
}

impl Generator {
    /// Emits all events. Returns true when the debate ended early, after Round 2.
    fn run(&mut self, ending: Ending, rounds: u8) -> bool {
        let rounds = if ending == Ending::Early { 4 } else { rounds };
        self.emit(Event::Consultation(ConsultationEvent::Started(Box::new(
            self.terms.clone(),
        ))));
        self.estimate(rounds);
        if ending == Ending::Declined {
            self.emit(Event::Consultation(ConsultationEvent::UserConsent {
                approved: false,
                how: Consent::Asked,
            }));
            self.abort(AbortReason::Declined, StateName::AwaitingConsent);
            return false;
        }
        self.emit(Event::Consultation(ConsultationEvent::UserConsent {
            approved: true,
            how: Consent::AutoApproved,
        }));
        let states = [
            StateName::Independent,
            StateName::Synthesis,
            StateName::CrossExam,
            StateName::Verdict,
        ];
        let mut from = StateName::AwaitingConsent;
        for (round, state) in (1..=rounds).zip(states) {
            self.emit(Event::State(StateEvent::Changed { from, to: state }));
            from = state;
            self.emit(Event::Round(RoundEvent::Started {
                round_number: round,
            }));
            if ending == Ending::InterruptedIn(round) {
                let agent = if round % 2 == 1 {
                    AgentId::from(&self.terms.panel.seats[0].id)
                } else {
                    AgentId::Judge
                };
                let kind = [
                    AnswerKind::Independent,
                    AnswerKind::Synthesis,
                    AnswerKind::Revision,
                    AnswerKind::Verdict,
                ][usize::from(round) - 1];
                let model = self.model_of(&agent);
                let call = self.start(&agent, kind, Purpose::Answer, &model);
                self.wait(2_000);
                self.emit(Event::Call(CallEvent::Cancelled {
                    call,
                    reason: CancelReason::Abort(AbortReason::Interrupted),
                }));
                self.abort(AbortReason::Interrupted, state);
                return false;
            }
            if ending == Ending::Unfinished && round == rounds {
                return false;
            }
            let began = self.now;
            let succeeded = match round {
                1 => self.independent(ending == Ending::AllFailed),
                2 => self.judged(
                    AnswerKind::Synthesis,
                    if ending == Ending::JudgeFailed {
                        FailureMode::Always
                    } else {
                        FailureMode::Never
                    },
                ),
                3 => self.revisions() && self.judged(AnswerKind::CrossExam, FailureMode::Never),
                _ => self.judged(AnswerKind::Verdict, FailureMode::Never),
            };
            if !succeeded {
                let reason = if round == 1 {
                    AbortReason::AllAgentsFailed
                } else {
                    AbortReason::JudgeFailed
                };
                self.abort(reason, state);
                return false;
            }
            let duration_ms = u64::try_from(self.now.since(began).as_millis()).unwrap();
            self.emit(Event::Round(RoundEvent::Completed {
                round_number: round,
                duration_ms,
            }));
            if round == 2 && ending == Ending::Early {
                let Content::Verdict(verdict) = self.content(&AgentId::Judge, AnswerKind::Verdict)
                else {
                    unreachable!("a verdict was requested")
                };
                let artifact = Artifact {
                    round_number: 2,
                    ..Artifact::stamp(Content::Verdict(verdict), self.now, false)
                };
                self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
                    artifact: Box::new(artifact),
                }));
                self.complete(from, 2);
                return true;
            }
        }
        if ending != Ending::Unfinished {
            self.complete(from, rounds);
        }
        false
    }

    fn emit(&mut self, event: Event) {
        self.events.push((self.now, event));
    }

    /// Advances the clock by a random time.
    fn wait(&mut self, max_ms: u64) {
        let ms = self.rng.u64(1..=max_ms);
        self.now = self.now.after(Duration::from_millis(ms));
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.now.since(self.began).as_millis()).unwrap()
    }

    fn complete(&mut self, from: StateName, rounds: u8) {
        self.emit(Event::State(StateEvent::Changed {
            from,
            to: StateName::Complete,
        }));
        self.emit(Event::Consultation(ConsultationEvent::Completed {
            rounds,
            duration_ms: self.elapsed(),
        }));
    }

    fn abort(&mut self, reason: AbortReason, during: StateName) {
        self.emit(Event::State(StateEvent::Changed {
            from: during,
            to: StateName::Aborted,
        }));
        let message = text::text(&mut self.rng, 6);
        self.emit(Event::Consultation(ConsultationEvent::Aborted {
            reason,
            message,
            during,
            duration_ms: self.elapsed(),
        }));
    }

    fn estimate(&mut self, rounds: u8) {
        let cost = Cost::exactly(MicroUsd(self.rng.u64(..200_000)));
        let calls = (1..=rounds)
            .map(|round_number| CallEstimate {
                round_number,
                agent_id: AgentId::Judge,
                answer: AnswerKind::Synthesis,
                model: self.terms.panel.judges[0].clone(),
                input_tokens: 400,
                output_tokens: 2_000,
                cost,
                low: cost,
                high: cost,
            })
            .collect();
        let (input_tokens, output_tokens) = (3_699, 18_000);
        self.emit(Event::Consultation(ConsultationEvent::CostEstimated(
            Estimate {
                cost,
                low: cost,
                high: cost,
                input_tokens,
                output_tokens,
                context_tokens: 12,
                calls,
            },
        )));
    }

    /// Returns the model that plays this seat now.
    fn model_of(&self, agent: &AgentId) -> ModelRef {
        let substitute = self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Consultation(ConsultationEvent::ProviderSubstituted {
                agent_id,
                substitute,
                ..
            }) if agent_id == agent => Some(substitute.clone()),
            _ => None,
        });
        let original = || {
            self.terms
                .panel
                .seats
                .iter()
                .find(|seat| seat.id == *agent)
                .map(|seat| seat.model.clone())
        };
        substitute
            .or_else(original)
            .unwrap_or_else(|| self.terms.panel.judges[0].clone())
    }

    fn start(
        &mut self,
        agent: &AgentId,
        answer: AnswerKind,
        purpose: Purpose,
        model: &ModelRef,
    ) -> CallId {
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.emit(Event::Call(CallEvent::Started {
            call,
            agent_id: agent.clone(),
            round_number: answer.round(),
            answer,
            purpose,
            model: model.clone(),
            room: 8_000,
            prompt_sha256: String::new(),
            worst_case: None,
            tokens_saved: 0,
        }));
        call
    }

    /// Emits one call from start to end; it fails with the message in `failing`, if any.
    fn call(
        &mut self,
        agent: &AgentId,
        answer: AnswerKind,
        purpose: Purpose,
        model: &ModelRef,
        failing: Option<&str>,
    ) {
        let call = self.start(agent, answer, purpose, model);
        self.finish(call, agent, answer, purpose, model, failing);
    }

    fn finish(
        &mut self,
        call: CallId,
        agent: &AgentId,
        answer: AnswerKind,
        purpose: Purpose,
        model: &ModelRef,
        failing: Option<&str>,
    ) {
        self.wait(6_000);
        let rng = &mut self.rng;
        let price = MODELS
            .iter()
            .find(|(provider, name, _)| {
                model.provider.as_str() == *provider && model.model == *name
            })
            .and_then(|(_, _, price)| *price);
        let mut tokens = Usage {
            input: rng.u64(200..4_000),
            output: rng.u64(50..1_500),
            ..Usage::default()
        };
        if rng.u8(..3) == 0 {
            tokens.cache_read = rng.u64(..2_000);
            tokens.reasoning = tokens.output / 3;
        }
        if rng.u8(..10) == 0 {
            tokens.source = UsageSource::Estimated;
        }
        let (mut cost, cost_source) = match price {
            Some(0) => (Cost::FREE, CostSource::Free),
            Some(price) => (
                Cost::exactly(MicroUsd(tokens.total() * price / 1_000)),
                CostSource::Table,
            ),
            None => (Cost::at_least(MicroUsd::ZERO), CostSource::Unknown),
        };
        let usage_reported = failing.is_none() || rng.u8(..4) == 0;
        if !usage_reported {
            tokens = Usage::default();
            cost = Cost {
                known: MicroUsd::ZERO,
                ..cost
            };
        }
        let stop = match (failing, rng.u8(..60)) {
            (Some(_), _) => None,
            (None, 0) => Some(StopReason::Length),
            (None, 1) => Some(StopReason::Refused("no".to_owned())),
            (None, _) => Some(StopReason::End),
        };
        let class = [
            FailureClass::Overload,
            FailureClass::Timeout,
            FailureClass::Billing,
        ][rng.usize(..3)];
        let error = failing.map(|message| CallError {
            class,
            message: message.to_owned(),
            retry_after_ms: None,
            usage_told: usage_reported,
        });
        let first_token_ms = if rng.u8(..25) == 0 {
            None
        } else {
            Some(rng.u64(80..4_000))
        };
        let duration_ms = first_token_ms.unwrap_or(900) + rng.u64(..9_000);
        self.emit(Event::Call(CallEvent::Finished(Box::new(CallFinished {
            call,
            agent_id: agent.clone(),
            round_number: answer.round(),
            answer,
            purpose,
            model: model.clone(),
            served_model: failing.is_none().then(|| model.model.clone()),
            stop,
            error,
            text: String::new(),
            tokens,
            cost,
            cost_source,
            first_token_ms,
            duration_ms,
            problems: vec![],
        }))));
    }

    fn substitute(
        &mut self,
        agent: &AgentId,
        round_number: u8,
        original: &ModelRef,
        substitute: &ModelRef,
        why: WhySubstituted,
    ) {
        self.emit(Event::Consultation(
            ConsultationEvent::ProviderSubstituted {
                agent_id: agent.clone(),
                round_number,
                original: original.clone(),
                substitute: substitute.clone(),
                reason: SubstitutionReason::Known(why),
                message: "no answer within 120 s".to_owned(),
            },
        ));
    }

    /// Emits the calls for one answer with random failures. Returns false when the agent fails.
    fn answer(&mut self, agent: &AgentId, answer: AnswerKind, failure: FailureMode) -> bool {
        let model_now = self.model_of(agent);
        let round = answer.round();
        match (failure, self.rng.u8(..40)) {
            (FailureMode::Always, _) | (FailureMode::Random, 0) => {
                self.call(
                    agent,
                    answer,
                    Purpose::Answer,
                    &model_now,
                    Some("Your credit balance is too low"),
                );
                self.emit(Event::Agent(AgentEvent::Failed {
                    agent_id: agent.clone(),
                    name: agent.to_string(),
                    round_number: round,
                    answer,
                    model: model_now,
                    error: AgentError {
                        class: Some(FailureClass::Billing),
                        message: "Your credit balance is too low".to_owned(),
                    },
                }));
                return false;
            }
            (_, 1 | 2) => {
                self.call(
                    agent,
                    answer,
                    Purpose::Answer,
                    &model_now,
                    Some("overloaded, try again later"),
                );
                self.call(agent, answer, Purpose::Retry, &model_now, None);
            }
            (_, 3) => {
                self.call(
                    agent,
                    answer,
                    Purpose::Answer,
                    &model_now,
                    Some("no such model"),
                );
                let other = model(&mut self.rng);
                self.substitute(agent, round, &model_now, &other, WhySubstituted::Failure);
                self.call(agent, answer, Purpose::Fallback, &other, None);
            }
            (_, hedged @ 4..8) => {
                let slow = self.start(agent, answer, Purpose::Answer, &model_now);
                let backup = model(&mut self.rng);
                let agent_id = agent.clone();
                self.emit(Event::Call(CallEvent::Hedged {
                    call: slow,
                    agent_id,
                    model: model_now.clone(),
                    backup: backup.clone(),
                    after_ms: 4_000,
                }));
                let hedge = self.start(agent, answer, Purpose::Hedge, &backup);
                if hedged % 2 == 0 {
                    self.finish(hedge, agent, answer, Purpose::Hedge, &backup, None);
                    self.emit(Event::Call(CallEvent::Cancelled {
                        call: slow,
                        reason: CancelReason::HedgeLost,
                    }));
                    self.substitute(agent, round, &model_now, &backup, WhySubstituted::Hedge);
                } else {
                    self.finish(slow, agent, answer, Purpose::Answer, &model_now, None);
                    self.emit(Event::Call(CallEvent::Cancelled {
                        call: hedge,
                        reason: CancelReason::HedgeLost,
                    }));
                }
            }
            (_, 8) => {
                self.call(agent, answer, Purpose::Answer, &model_now, None);
                self.call(agent, answer, Purpose::Repair, &model_now, None);
            }
            (FailureMode::Random | FailureMode::Never, _) => {
                self.call(agent, answer, Purpose::Answer, &model_now, None)
            }
        }
        let content = self.content(agent, answer);
        let degraded = self.rng.u8(..50) == 0;
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(content, self.now, degraded)),
        }));
        true
    }

    /// Emits Round 1. Returns false when all experts fail.
    fn independent(&mut self, all_fail: bool) -> bool {
        let failure = if all_fail {
            FailureMode::Always
        } else {
            FailureMode::Random
        };
        let agents: Vec<AgentId> = self
            .terms
            .panel
            .seats
            .iter()
            .map(|seat| AgentId::from(&seat.id))
            .collect();
        agents
            .iter()
            .filter(|agent| self.answer(agent, AnswerKind::Independent, failure))
            .count()
            > 0
    }

    fn revisions(&mut self) -> bool {
        for agent in self.answering() {
            self.answer(
                &AgentId::from(&agent),
                AnswerKind::Revision,
                FailureMode::Random,
            );
        }
        true
    }

    /// Returns the experts that answered in Round 1.
    pub(super) fn answering(&self) -> Vec<SeatId> {
        let of = |event: &Event| match event {
            Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
                match &artifact.content {
                    Content::Independent(independent) => Some(independent.agent_id.clone()),
                    _ => None,
                }
            }
            _ => None,
        };
        self.events
            .iter()
            .filter_map(|(_, event)| of(event))
            .collect()
    }

    fn judged(&mut self, answer: AnswerKind, failure: FailureMode) -> bool {
        self.answer(&AgentId::Judge, answer, failure)
    }
}

/// Whether an agent fails.
#[derive(Clone, Copy)]
enum FailureMode {
    Never,
    Random,
    Always,
}
