//! The events of a consultation: who is asked, who answers, the costs, the failures and the ending.

use std::time::Duration;

use conclave::consultation::event::{
    Abort, AbortReason, CallEvent, CancelReason, ConsultationEvent, Event, Purpose, RoundEvent,
    Started, StateEvent, StateName,
};
use conclave::consultation::policy::estimate::{CallEstimate, Consent, Estimate};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::answer::artifact::{Artifact, Content};
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{AgentId, SeatId};
use conclave::domain::time::Timestamp;
use fastrand::Rng;

use super::calls::FailureMode;
use super::terms::terms;
use super::{Length, text};

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

pub(super) struct Generator {
    pub(super) rng: Rng,
    pub(super) now: Timestamp,
    began: Timestamp,
    pub(super) events: Vec<(Timestamp, Event)>,
    pub(super) next_call: u32,
    pub(super) length: Length,
    pub(super) terms: Started,
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

    pub(super) fn emit(&mut self, event: Event) {
        self.events.push((self.now, event));
    }

    /// Advances the clock by a random time.
    pub(super) fn wait(&mut self, max_ms: u64) {
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
        self.emit(Event::Consultation(ConsultationEvent::Aborted(Abort {
            reason,
            message,
            during,
            duration_ms: self.elapsed(),
        })));
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
                least_reserve: cost,
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
