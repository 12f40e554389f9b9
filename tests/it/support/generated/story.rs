//! How they go: who is asked, who answers, what it costs, what goes wrong, and how it ends.

use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, AgentError, AgentEvent, CallError, CallEstimate, CallEvent, CallFinished,
    CancelReason, Consent, ConsultationEvent, CostSource, Estimate, Event, PromptUsed, Purpose,
    RoundEvent, Started, StateEvent, StateName, SubstitutionReason, WhySubstituted,
};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::artifact::{
    Artifact, Because, Challenge, ConsensusPoint, Content, CrossExam, Dissent, Evidence,
    Independent, Rebuttal, Revision, Severity, Synthesis, Tension, Verdict, Viewpoint,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{CallId, ModelRef, SeatId};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::panel::{Panel, Persona, Seat};
use conclave::domain::time::Timestamp;
use conclave::domain::tokens::{Usage, UsageSource};
use fastrand::Rng;

use super::Length;
use super::words;

/// Provider, model, and what a thousand tokens cost in micro-dollars; `None` where nobody knows.
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

/// A consultation as it went.
pub(super) struct Story {
    pub(super) events: Vec<(Timestamp, Event)>,
    pub(super) ended_early: bool,
}

/// How far it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    /// After Round 2, with an answer composed from it.
    Early,
    Declined,
    NobodyAnswered,
    JudgeFailed,
    InterruptedIn(u8),
    /// Its process is gone.
    Unfinished,
}

pub(super) fn tell(at: Timestamp, chance: &mut Rng, length: Length) -> Story {
    let ending = match chance.u8(..100) {
        0..80 => Ending::Whole,
        80..87 => Ending::Early,
        87..89 => Ending::Declined,
        89..91 => Ending::NobodyAnswered,
        91..93 => Ending::JudgeFailed,
        93..97 => Ending::InterruptedIn(chance.u8(1..=4)),
        _ => Ending::Unfinished,
    };
    let rounds = match (length, chance.u8(..20)) {
        (Length::Usual, 0) => 1,
        (Length::Usual, 1) => 2,
        (Length::Usual, _) => 4,
        (Length::Short, 0..15) => 1,
        (Length::Short, _) => 2,
    };
    let mode = if chance.u8(..5) == 0 {
        "explore"
    } else {
        "converge"
    };
    let mut teller = Teller {
        chance: chance.clone(),
        now: at,
        began: at,
        events: vec![],
        next_call: 1,
        length,
        terms: terms(chance, mode, length),
    };
    teller.chance = Rng::with_seed(chance.u64(..));
    let ended_early = teller.go(ending, rounds);
    Story {
        events: teller.events,
        ended_early,
    }
}

fn model(chance: &mut Rng) -> ModelRef {
    let (provider, model, _) = MODELS[chance.usize(..MODELS.len())];
    ModelRef::new(provider, model)
}

fn terms(chance: &mut Rng, mode: &str, length: Length) -> Started {
    let seats = if length == Length::Short {
        chance.usize(1..3)
    } else {
        chance.usize(2..5)
    };
    // Now and then nothing but the embedded model.
    let local = chance.u8(..20) == 0;
    let draw = |chance: &mut Rng| {
        if local {
            ModelRef::new("local", "qwen3-0.6b")
        } else {
            model(chance)
        }
    };
    let first = chance.usize(..PERSONAS.len());
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
                model: draw(chance),
            }
        })
        .collect();
    let panel = Panel {
        seats,
        judges: vec![draw(chance), draw(chance)],
    };
    let prompt = |kind: &str| PromptUsed {
        name: format!("{mode}/{kind}"),
        version: "v1.0".to_owned(),
        sha256: "ab".repeat(32),
    };
    Started {
        question: words::question(chance),
        mode: mode.to_owned(),
        expert_order: panel
            .seats
            .iter()
            .rev()
            .map(|seat| seat.id.clone())
            .collect(),
        panel,
        seed: chance.u64(..1 << 53),
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

struct Teller {
    chance: Rng,
    now: Timestamp,
    began: Timestamp,
    events: Vec<(Timestamp, Event)>,
    next_call: u32,
    length: Length,
    terms: Started,
}

impl Teller {
    /// Tells all; true when it ended after Round 2.
    fn go(&mut self, ending: Ending, rounds: u8) -> bool {
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
                    self.terms.panel.seats[0].id.clone()
                } else {
                    SeatId::judge()
                };
                let kind = [
                    AnswerKind::Independent,
                    AnswerKind::Synthesis,
                    AnswerKind::Revision,
                    AnswerKind::Verdict,
                ][usize::from(round) - 1];
                let model = self.player(&agent);
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
            let done = match round {
                1 => self.independent(ending == Ending::NobodyAnswered),
                2 => self.judged(
                    AnswerKind::Synthesis,
                    if ending == Ending::JudgeFailed {
                        Fails::Surely
                    } else {
                        Fails::Never
                    },
                ),
                3 => self.revisions() && self.judged(AnswerKind::CrossExam, Fails::Never),
                _ => self.judged(AnswerKind::Verdict, Fails::Never),
            };
            if !done {
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
                let Content::Verdict(verdict) = self.content(&SeatId::judge(), AnswerKind::Verdict)
                else {
                    unreachable!("it was asked for")
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

    fn wait(&mut self, most: u64) {
        let ms = self.chance.u64(1..=most);
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
        let message = words::text(&mut self.chance, 6);
        self.emit(Event::Consultation(ConsultationEvent::Aborted {
            reason,
            message,
            during,
            duration_ms: self.elapsed(),
        }));
    }

    fn estimate(&mut self, rounds: u8) {
        let cost = Cost::exactly(MicroUsd(self.chance.u64(..200_000)));
        let calls = (1..=rounds)
            .map(|round_number| CallEstimate {
                round_number,
                agent_id: SeatId::judge(),
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

    /// Who plays a seat now.
    fn player(&self, agent: &SeatId) -> ModelRef {
        let taken_over = self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Consultation(ConsultationEvent::ProviderSubstituted {
                agent_id,
                substitute,
                ..
            }) if agent_id == agent => Some(substitute.clone()),
            _ => None,
        });
        let given = || {
            self.terms
                .panel
                .seats
                .iter()
                .find(|seat| seat.id == *agent)
                .map(|seat| seat.model.clone())
        };
        taken_over
            .or_else(given)
            .unwrap_or_else(|| self.terms.panel.judges[0].clone())
    }

    fn start(
        &mut self,
        agent: &SeatId,
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

    /// One call from its start to its end; `Err` with why it failed.
    fn call(
        &mut self,
        agent: &SeatId,
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
        agent: &SeatId,
        answer: AnswerKind,
        purpose: Purpose,
        model: &ModelRef,
        failing: Option<&str>,
    ) {
        self.wait(6_000);
        let chance = &mut self.chance;
        let price = MODELS
            .iter()
            .find(|(provider, name, _)| {
                model.provider.as_str() == *provider && model.model == *name
            })
            .and_then(|found| found.2);
        let mut tokens = Usage {
            input: chance.u64(200..4_000),
            output: chance.u64(50..1_500),
            ..Usage::default()
        };
        if chance.u8(..3) == 0 {
            tokens.cache_read = chance.u64(..2_000);
            tokens.reasoning = tokens.output / 3;
        }
        if chance.u8(..10) == 0 {
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
        let told = failing.is_none() || chance.u8(..4) == 0;
        if !told {
            tokens = Usage::default();
            cost = Cost {
                known: MicroUsd::ZERO,
                ..cost
            };
        }
        let stop = match (failing, chance.u8(..60)) {
            (Some(_), _) => None,
            (None, 0) => Some(StopReason::Length),
            (None, 1) => Some(StopReason::Refused("no".to_owned())),
            (None, _) => Some(StopReason::End),
        };
        let class = [
            FailureClass::Overload,
            FailureClass::Timeout,
            FailureClass::Billing,
        ][chance.usize(..3)];
        let error = failing.map(|message| CallError {
            class,
            message: message.to_owned(),
            retry_after_ms: None,
            usage_told: told,
        });
        let first_token_ms = if chance.u8(..25) == 0 {
            None
        } else {
            Some(chance.u64(80..4_000))
        };
        let duration_ms = first_token_ms.unwrap_or(900) + chance.u64(..9_000);
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
        agent: &SeatId,
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

    /// An agent's work on one answer, with whatever goes wrong; false when nothing comes of it.
    fn work(&mut self, agent: &SeatId, answer: AnswerKind, fails: Fails) -> bool {
        let playing = self.player(agent);
        let round = answer.round();
        match (fails, self.chance.u8(..40)) {
            (Fails::Surely, _) | (Fails::Perhaps, 0) => {
                self.call(
                    agent,
                    answer,
                    Purpose::Answer,
                    &playing,
                    Some("Your credit balance is too low"),
                );
                self.emit(Event::Agent(AgentEvent::Failed {
                    agent_id: agent.clone(),
                    name: agent.to_string(),
                    round_number: round,
                    answer,
                    model: playing,
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
                    &playing,
                    Some("overloaded, try again later"),
                );
                self.call(agent, answer, Purpose::Retry, &playing, None);
            }
            (_, 3) => {
                self.call(
                    agent,
                    answer,
                    Purpose::Answer,
                    &playing,
                    Some("no such model"),
                );
                let other = model(&mut self.chance);
                self.substitute(agent, round, &playing, &other, WhySubstituted::Failure);
                self.call(agent, answer, Purpose::Fallback, &other, None);
            }
            (_, hedged @ 4..8) => {
                let slow = self.start(agent, answer, Purpose::Answer, &playing);
                let backup = model(&mut self.chance);
                let agent_id = agent.clone();
                self.emit(Event::Call(CallEvent::Hedged {
                    call: slow,
                    agent_id,
                    model: playing.clone(),
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
                    self.substitute(agent, round, &playing, &backup, WhySubstituted::Hedge);
                } else {
                    self.finish(slow, agent, answer, Purpose::Answer, &playing, None);
                    self.emit(Event::Call(CallEvent::Cancelled {
                        call: hedge,
                        reason: CancelReason::HedgeLost,
                    }));
                }
            }
            (_, 8) => {
                self.call(agent, answer, Purpose::Answer, &playing, None);
                self.call(agent, answer, Purpose::Repair, &playing, None);
            }
            (Fails::Perhaps | Fails::Never, _) => {
                self.call(agent, answer, Purpose::Answer, &playing, None)
            }
        }
        let content = self.content(agent, answer);
        let degraded = self.chance.u8(..50) == 0;
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(content, self.now, degraded)),
        }));
        true
    }

    /// Round 1; false when nobody answered.
    fn independent(&mut self, all_fail: bool) -> bool {
        let fails = if all_fail {
            Fails::Surely
        } else {
            Fails::Perhaps
        };
        let agents: Vec<SeatId> = self
            .terms
            .panel
            .seats
            .iter()
            .map(|seat| seat.id.clone())
            .collect();
        agents
            .iter()
            .filter(|agent| self.work(agent, AnswerKind::Independent, fails))
            .count()
            > 0
    }

    fn revisions(&mut self) -> bool {
        for agent in self.answering() {
            self.work(&agent, AnswerKind::Revision, Fails::Perhaps);
        }
        true
    }

    /// Experts that answered in Round 1.
    fn answering(&self) -> Vec<SeatId> {
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

    fn judged(&mut self, answer: AnswerKind, fails: Fails) -> bool {
        self.work(&SeatId::judge(), answer, fails)
    }

    fn say(&mut self, most: usize) -> String {
        let most = if self.length == Length::Short {
            most / 3
        } else {
            most
        }
        .max(2);
        let count = self.chance.usize(most / 2..=most);
        words::text(&mut self.chance, count)
    }

    /// A confidence in hundredths or in full; one in ten is not stated.
    fn confidence(&mut self) -> Option<Confidence> {
        match self.chance.u8(..10) {
            0 => None,
            1 => Confidence::new(self.chance.f64()),
            _ => Confidence::new(f64::from(self.chance.u8(45..=100)) / 100.0),
        }
    }

    fn some(&mut self, agents: &[SeatId]) -> Vec<String> {
        agents
            .iter()
            .filter(|_| self.chance.u8(..3) > 0)
            .map(ToString::to_string)
            .collect()
    }

    fn content(&mut self, agent: &SeatId, answer: AnswerKind) -> Content {
        let answering = self.answering();
        let anyone = |chance: &mut Rng| {
            answering
                .get(chance.usize(..answering.len().max(1)))
                .map_or("nobody".to_owned(), ToString::to_string)
        };
        match answer {
            AnswerKind::Independent => Content::Independent(Independent {
                agent_id: agent.clone(),
                position: self.say(40),
                key_points: (0..3).map(|_| self.say(14)).collect(),
                rationale: self.say(90),
                confidence: self.confidence(),
                prose_excerpt: String::new(),
            }),
            AnswerKind::Synthesis => Content::Synthesis(Synthesis {
                consensus_points: (0..self.chance.u8(..4))
                    .map(|_| ConsensusPoint {
                        point: self.say(20),
                        supporting_agents: self.some(&answering),
                        confidence: self.confidence(),
                    })
                    .collect(),
                tensions: vec![Tension {
                    topic: self.say(8),
                    viewpoints: answering
                        .iter()
                        .map(|agent| Viewpoint {
                            agent: agent.to_string(),
                            viewpoint: self.say(16),
                        })
                        .collect(),
                    severity: Severity::Medium,
                }],
                priority_order: vec![self.say(6), self.say(6)],
                prose_excerpt: String::new(),
            }),
            AnswerKind::Revision => Content::Revision(Revision {
                agent_id: agent.clone(),
                challenges: vec![],
                rebuttals: vec![Rebuttal {
                    agent: anyone(&mut self.chance),
                    rebuttal: self.say(25),
                }],
                revised_position: self.say(40),
                revised_confidence: self.confidence(),
                changed: self.chance.u8(..3) == 0,
                because_of: vec![Because {
                    agent: anyone(&mut self.chance),
                    argument: self.say(20),
                }],
            }),
            AnswerKind::CrossExam => Content::CrossExam(CrossExam {
                challenges: (0..self.chance.u8(..4))
                    .map(|_| Challenge {
                        challenger: anyone(&mut self.chance),
                        target_agent: anyone(&mut self.chance),
                        challenge: self.say(20),
                        evidence: vec![self.say(10)],
                        severity: [Severity::Low, Severity::Medium, Severity::High]
                            [self.chance.usize(..3)],
                    })
                    .collect(),
                rebuttals: vec![],
                unresolved: vec![self.say(12)],
                positions: vec![],
                prose_excerpt: String::new(),
            }),
            AnswerKind::PersonaSelection | AnswerKind::Comparison | AnswerKind::Consistency => {
                unreachable!("a story has no clerk")
            }
            AnswerKind::Verdict | AnswerKind::Menu => Content::Verdict(Verdict {
                recommendations: vec![],
                composed_from: None,
                recommendation: self.say(45),
                confidence: self.confidence(),
                evidence: vec![Evidence {
                    claim: self.say(15),
                    agent: anyone(&mut self.chance),
                    quote: self.say(15),
                }],
                dissent: (0..self.chance.u8(..8).saturating_sub(5))
                    .map(|_| Dissent {
                        agent: anyone(&mut self.chance),
                        concern: self.say(20),
                        severity: Severity::Medium,
                    })
                    .collect(),
                summary: self.say(50),
            }),
        }
    }
}

/// Whether an agent's work comes to nothing.
#[derive(Clone, Copy)]
enum Fails {
    Never,
    Perhaps,
    Surely,
}
