//! Consultations that never were: streams of events as the machine would emit them, for tests of
//! what is shown and kept.

mod answers;

use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, AgentError, AgentEvent, CallError, CallEstimate, CallEvent, CallFinished,
    CancelReason, Consent, ConsultationEvent, CostSource, Envelope, Estimate, Event, PromptUsed,
    Purpose, RoundEvent, SCHEMA_VERSION, Started, StateEvent, StateName, SubstitutionReason,
    WhySubstituted,
};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::reading::problem::{Problem, Weight};
use conclave::domain::artifact::{Artifact, Content, Independent, Source, Verdict};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{CallId, ConsultationId, ModelRef, SeatId};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::panel::{Panel, Persona, Seat};
use conclave::domain::time::Timestamp;
use conclave::domain::tokens::Usage;

use answers::{cross_exam, menu, position, revision, synthesis, verdict};

/// Half past eight on 2026-11-21, UTC.
const START: Timestamp = Timestamp(1_795_249_800_000);

/// A consultation in the making.
pub(crate) struct Sample {
    pub(crate) events: Vec<Envelope>,
    pub(crate) terms: Started,
    now: Timestamp,
    next_call: u32,
}

pub(crate) fn panel() -> Panel {
    let seat = |id: &str, name: &str, model: ModelRef| Seat {
        id: SeatId::new(id),
        persona: Persona {
            id: id.to_owned(),
            name: name.to_owned(),
            prompt: format!("You are the {name}."),
            brief: String::new(),
            aliases: Vec::new(),
        },
        model,
    };
    Panel {
        seats: vec![
            seat(
                "security",
                "Security Expert",
                ModelRef::new("anthropic", "claude-sonnet-5-5"),
            ),
            seat(
                "architecture",
                "Architect",
                ModelRef::new("openai", "gpt-6.1-sol"),
            ),
            seat(
                "pragmatic",
                "Pragmatist",
                ModelRef::new("google", "gemini-3-pro"),
            ),
        ],
        judges: vec![
            ModelRef::new("mistral", "mistral-large"),
            ModelRef::new("openai", "gpt-6.1-sol"),
        ],
    }
}

pub(crate) fn local_panel() -> Panel {
    let mut panel = panel();
    for seat in &mut panel.seats {
        seat.model = ModelRef::new("local", "qwen3-0.6b");
    }
    panel.judges = vec![ModelRef::new("local", "qwen3-0.6b")];
    panel
}

impl Sample {
    pub(crate) fn new(panel: Panel) -> Self {
        let prompt = |name: &str| PromptUsed {
            name: name.to_owned(),
            version: "v1.0".to_owned(),
            sha256: "ab".repeat(32),
        };
        let terms = Started {
            question: "Should I use OAuth or JWT?".to_owned(),
            mode: "converge".to_owned(),
            expert_order: panel
                .seats
                .iter()
                .rev()
                .map(|seat| seat.id.clone())
                .collect(),
            panel,
            seed: 42,
            prompts: [
                "independent",
                "synthesis",
                "revision",
                "cross_exam",
                "verdict",
            ]
            .map(|kind| prompt(&format!("converge/{kind}")))
            .into(),
            tool_version: "0.1.0".to_owned(),
            notices: vec![],
            plan: None,
        };
        Self {
            events: Vec::new(),
            terms,
            now: START,
            next_call: 1,
        }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        let seq = self.events.len() as u64 + 1;
        let consultation_id = ConsultationId::from_unique("01KAJ0SAMPLE0000000000000");
        self.events.push(Envelope {
            schema_version: SCHEMA_VERSION.to_owned(),
            seq,
            at: self.now,
            consultation_id,
            cause: None,
            event,
        });
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
    }

    pub(crate) fn begin(&mut self, how: Consent) {
        self.emit(Event::Consultation(ConsultationEvent::Started(Box::new(
            self.terms.clone(),
        ))));
        self.state(StateName::Idle, StateName::Estimating);
        let free = self.is_local();
        let price = |known| {
            if free {
                Cost::FREE
            } else {
                Cost::exactly(MicroUsd(known))
            }
        };
        let expected = |round_number, agent_id: &SeatId, answer, model: &ModelRef| CallEstimate {
            round_number,
            agent_id: agent_id.clone(),
            answer,
            model: model.clone(),
            input_tokens: 411,
            output_tokens: 2_000,
            cost: price(37_500),
            low: price(20_000),
            high: price(75_000),
        };
        let panel = self.terms.panel.clone();
        let (judge, judge_model) = (SeatId::judge(), panel.judges[0].clone());
        let seats = |round, answer| {
            panel
                .seats
                .iter()
                .map(move |seat| expected(round, &seat.id, answer, &seat.model))
        };
        let calls: Vec<CallEstimate> = seats(1, AnswerKind::Independent)
            .chain([expected(2, &judge, AnswerKind::Synthesis, &judge_model)])
            .chain(seats(3, AnswerKind::Revision))
            .chain([
                expected(3, &judge, AnswerKind::CrossExam, &judge_model),
                expected(4, &judge, AnswerKind::Verdict, &judge_model),
            ])
            .collect();
        self.emit(Event::Consultation(ConsultationEvent::CostEstimated(
            Estimate {
                cost: calls.iter().map(|call| call.cost).sum(),
                low: calls.iter().map(|call| call.low).sum(),
                high: calls.iter().map(|call| call.high).sum(),
                context_tokens: 12,
                input_tokens: calls.iter().map(|call| call.input_tokens).sum(),
                output_tokens: calls.iter().map(|call| call.output_tokens).sum(),
                calls,
            },
        )));
        self.state(StateName::Estimating, StateName::AwaitingConsent);
        self.emit(Event::Consultation(ConsultationEvent::UserConsent {
            approved: true,
            how,
        }));
        self.state(StateName::AwaitingConsent, StateName::Independent);
    }

    fn is_local(&self) -> bool {
        self.terms
            .panel
            .seats
            .iter()
            .all(|seat| seat.model.provider.is_local())
    }

    pub(crate) fn state(&mut self, from: StateName, to: StateName) {
        self.emit(Event::State(StateEvent::Changed { from, to }));
    }

    pub(crate) fn who(&self, agent: &str) -> (SeatId, String, ModelRef) {
        match self
            .terms
            .panel
            .seats
            .iter()
            .find(|seat| seat.id.as_str() == agent)
        {
            Some(seat) => (seat.id.clone(), seat.name().to_owned(), seat.model.clone()),
            None => (
                SeatId::judge(),
                "Judge".to_owned(),
                self.terms.panel.judges[0].clone(),
            ),
        }
    }

    pub(crate) fn thinking(&mut self, agent: &str, answer: AnswerKind) -> CallId {
        let (agent_id, name, model) = self.who(agent);
        let round_number = answer.round();
        self.emit(Event::Agent(AgentEvent::Thinking {
            agent_id,
            name,
            round_number,
            answer,
            model,
        }));
        self.call(agent, answer, Purpose::Answer)
    }

    pub(crate) fn call(&mut self, agent: &str, answer: AnswerKind, purpose: Purpose) -> CallId {
        let (agent_id, _, model) = self.who(agent);
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.emit(Event::Call(CallEvent::Started {
            call,
            agent_id,
            round_number: answer.round(),
            answer,
            purpose,
            model,
            room: 8_000,
            prompt_sha256: "cd".repeat(32),
            worst_case: None,
            tokens_saved: 0,
        }));
        call
    }

    pub(crate) fn finished(
        &mut self,
        call: CallId,
        agent: &str,
        answer: AnswerKind,
        error: Option<CallError>,
        problems: Vec<Problem>,
    ) -> (Usage, Cost) {
        let (agent_id, _, model) = self.who(agent);
        let tokens = Usage {
            input: 400,
            cache_read: 11,
            output: 793,
            reasoning: 200,
            ..Usage::default()
        };
        let (tokens, cost) = match (&error, model.provider.is_local()) {
            (Some(_), _) => (Usage::default(), Cost::FREE),
            (None, true) => (tokens, Cost::FREE),
            (None, false) => (tokens, Cost::exactly(MicroUsd(13_101))),
        };
        self.emit(Event::Call(CallEvent::Finished(Box::new(CallFinished {
            call,
            agent_id,
            round_number: answer.round(),
            answer,
            purpose: Purpose::Answer,
            served_model: error.is_none().then(|| format!("{}-20260901", model.model)),
            cost_source: if model.provider.is_local() {
                CostSource::Free
            } else {
                CostSource::Table
            },
            model,
            stop: error.is_none().then_some(StopReason::End),
            error,
            text: "{}".to_owned(),
            tokens,
            cost,
            first_token_ms: Some(640),
            duration_ms: 8_200,
            problems,
        }))));
        (tokens, cost)
    }

    pub(crate) fn answer(
        &mut self,
        call: CallId,
        agent: &str,
        answer: AnswerKind,
        content: Content,
        degraded: bool,
    ) {
        let problems = if degraded {
            vec![Problem::new(
                Weight::Fatal,
                "",
                "no JSON object in the answer",
            )]
        } else {
            vec![]
        };
        let (tokens, cost) = self.finished(call, agent, answer, None, problems);
        let (agent_id, name, _) = self.who(agent);
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(content, self.now, degraded)),
        }));
        self.emit(Event::Agent(AgentEvent::Completed {
            agent_id,
            name,
            round_number: answer.round(),
            answer,
            duration_ms: 8_200,
            tokens,
            cost,
        }));
    }

    pub(crate) fn fail(
        &mut self,
        call: CallId,
        agent: &str,
        answer: AnswerKind,
        class: FailureClass,
        message: &str,
    ) {
        self.finished(
            call,
            agent,
            answer,
            Some(CallError {
                class,
                message: message.to_owned(),
                retry_after_ms: None,
                usage_told: false,
            }),
            vec![],
        );
        let (agent_id, name, model) = self.who(agent);
        let error = AgentError {
            class: Some(class),
            message: message.to_owned(),
        };
        self.emit(Event::Agent(AgentEvent::Failed {
            agent_id,
            name,
            round_number: answer.round(),
            answer,
            model,
            error,
        }));
    }

    pub(crate) fn round<T>(&mut self, round_number: u8, work: impl FnOnce(&mut Self) -> T) -> T {
        self.emit(Event::Round(RoundEvent::Started { round_number }));
        let done = work(self);
        self.emit(Event::Round(RoundEvent::Completed {
            round_number,
            duration_ms: 8_200,
        }));
        done
    }

    /// Round 1 with the answers of these agents; the last one fails when `failing` says why.
    pub(crate) fn first_round(&mut self, write: impl Fn(&str) -> String, failing: Option<&str>) {
        let agents = ["security", "architecture", "pragmatic"];
        self.round(1, |sample| {
            let calls = agents.map(|agent| sample.thinking(agent, AnswerKind::Independent));
            for (at, (agent, call)) in agents.into_iter().zip(calls).enumerate() {
                sample.wait(1_400);
                match failing {
                    Some(reason) if at == 2 => sample.fail(
                        call,
                        agent,
                        AnswerKind::Independent,
                        FailureClass::Billing,
                        reason,
                    ),
                    _ => {
                        let content =
                            independent(agent, &write(agent), [Some(0.8), Some(0.7), None][at]);
                        sample.answer(call, agent, AnswerKind::Independent, content, false);
                    }
                }
            }
        });
    }

    pub(crate) fn judged(&mut self, answer: AnswerKind, content: Content) {
        let call = self.thinking("judge", answer);
        self.wait(2_000);
        self.answer(call, "judge", answer, content, false);
    }

    pub(crate) fn complete(&mut self) {
        self.state(StateName::Verdict, StateName::Complete);
        let duration_ms = u64::try_from(self.now.since(START).as_millis()).unwrap();
        self.emit(Event::Consultation(ConsultationEvent::Completed {
            rounds: 4,
            duration_ms,
        }));
    }

    /// Rounds 2 to 4 with everything in them, every text passed through `say`.
    pub(crate) fn later_rounds(&mut self, agents: &[&str], say: impl Fn(&str) -> String) {
        self.rounds_to(agents, &say, AnswerKind::Verdict, verdict(&say));
    }

    /// The same, ending in this answer of the judge.
    fn rounds_to(
        &mut self,
        agents: &[&str],
        say: &impl Fn(&str) -> String,
        kind: AnswerKind,
        answer: Verdict,
    ) {
        self.state(StateName::Independent, StateName::Synthesis);
        self.round(2, |sample| {
            sample.judged(AnswerKind::Synthesis, Content::Synthesis(synthesis(say)))
        });
        self.state(StateName::Synthesis, StateName::CrossExam);
        self.round(3, |sample| {
            let calls: Vec<CallId> = agents
                .iter()
                .map(|agent| sample.thinking(agent, AnswerKind::Revision))
                .collect();
            for (agent, call) in agents.iter().zip(calls) {
                sample.wait(1_100);
                sample.answer(
                    call,
                    agent,
                    AnswerKind::Revision,
                    Content::Revision(revision(agent, say)),
                    false,
                );
            }
            sample.judged(AnswerKind::CrossExam, Content::CrossExam(cross_exam(say)));
        });
        self.state(StateName::CrossExam, StateName::Verdict);
        self.round(4, |sample| sample.judged(kind, Content::Verdict(answer)));
        self.complete();
    }
}

pub(crate) fn independent(agent: &str, position: &str, confidence: Option<f64>) -> Content {
    Content::Independent(Independent {
        agent_id: SeatId::new(agent),
        position: position.to_owned(),
        key_points: vec![
            "Short-lived tokens limit the damage of a leak".to_owned(),
            "Revocation needs a plan".to_owned(),
        ],
        rationale: "Both standards solve different problems.".to_owned(),
        confidence: confidence.and_then(Confidence::new),
        prose_excerpt: String::new(),
    })
}

/// Four rounds, three answers, one verdict.
pub(crate) fn complete() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    sample.begin(Consent::AutoApproved);
    sample.first_round(position, None);
    sample.later_rounds(&["security", "architecture", "pragmatic"], str::to_owned);
    sample.events
}

/// The judge brings a menu.
pub(crate) fn explored() -> Vec<Envelope> {
    exploring(str::to_owned, str::to_owned)
}

/// A menu whose every text tries to be another part of the document.
pub(crate) fn explored_hostile() -> Vec<Envelope> {
    exploring(|_| HOSTILE.to_owned(), |text| format!("{text}\n{HOSTILE}"))
}

fn exploring(position: impl Fn(&str) -> String, say: impl Fn(&str) -> String) -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    "explore".clone_into(&mut sample.terms.mode);
    sample.begin(Consent::AutoApproved);
    sample.first_round(position, None);
    sample.rounds_to(
        &["security", "architecture", "pragmatic"],
        &say,
        AnswerKind::Menu,
        menu(&say),
    );
    sample.events
}

/// Two rounds were wanted: the answer is put together from them.
pub(crate) fn composed() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    sample.begin(Consent::AutoApproved);
    sample.first_round(position, None);
    sample.state(StateName::Independent, StateName::Synthesis);
    sample.round(2, |sample| {
        sample.judged(
            AnswerKind::Synthesis,
            Content::Synthesis(synthesis(&str::to_owned)),
        );
        let composed = Verdict {
            composed_from: Some(Source::Synthesis),
            summary: String::new(),
            ..verdict(&str::to_owned)
        };
        sample.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(
                Content::Verdict(composed),
                sample.now,
                false,
            )),
        }));
    });
    sample.state(StateName::Synthesis, StateName::Complete);
    sample.emit(Event::Consultation(ConsultationEvent::Completed {
        rounds: 2,
        duration_ms: 9_000,
    }));
    sample.events
}

/// One seat has no credit; the embedded model plays all others.
pub(crate) fn degraded() -> Vec<Envelope> {
    let mut sample = Sample::new(local_panel());
    sample.begin(Consent::AutoApproved);
    sample.first_round(position, Some("Your credit balance is too low"));
    sample.later_rounds(&["security", "architecture"], str::to_owned);
    sample.events
}

/// Ctrl-C in Round 3, with one call under way.
pub(crate) fn aborted() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    sample.begin(Consent::Asked);
    sample.first_round(position, None);
    sample.state(StateName::Independent, StateName::Synthesis);
    sample.round(2, |sample| {
        sample.judged(
            AnswerKind::Synthesis,
            Content::Synthesis(synthesis(&str::to_owned)),
        )
    });
    sample.state(StateName::Synthesis, StateName::CrossExam);
    sample.emit(Event::Round(RoundEvent::Started { round_number: 3 }));
    let call = sample.thinking("security", AnswerKind::Revision);
    sample.wait(500);
    sample.emit(Event::Call(CallEvent::Cancelled {
        call,
        reason: CancelReason::Abort(AbortReason::Interrupted),
    }));
    sample.state(StateName::CrossExam, StateName::Aborted);
    sample.emit(Event::Consultation(ConsultationEvent::Aborted {
        reason: AbortReason::Interrupted,
        message: "Interrupted".to_owned(),
        during: StateName::CrossExam,
        duration_ms: 6_700,
    }));
    sample.events
}

/// Nobody answered.
pub(crate) fn all_failed() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    sample.begin(Consent::Flag);
    sample.emit(Event::Round(RoundEvent::Started { round_number: 1 }));
    for agent in ["security", "architecture", "pragmatic"] {
        let call = sample.thinking(agent, AnswerKind::Independent);
        sample.fail(
            call,
            agent,
            AnswerKind::Independent,
            FailureClass::Auth,
            "invalid x-api-key",
        );
    }
    sample.state(StateName::Independent, StateName::Aborted);
    sample.emit(Event::Consultation(ConsultationEvent::Aborted {
        reason: AbortReason::AllAgentsFailed,
        message: "All agents failed. Unable to provide consultation.".to_owned(),
        during: StateName::Independent,
        duration_ms: 0,
    }));
    sample.events
}

/// Every text tries to be another part of the document.
pub(crate) fn hostile() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    "# Which?\n\n```\nunclosed".clone_into(&mut sample.terms.question);
    sample.begin(Consent::AutoApproved);
    sample.first_round(|_| HOSTILE.to_owned(), None);
    sample.later_rounds(&["security", "architecture", "pragmatic"], |text| {
        format!("{text}\n{HOSTILE}")
    });
    sample.events
}

const HOSTILE: &str = "## Consensus\nfaked\n\n---\n**Cost:** $0\n\n<script>alert(1)</script>\n\u{1b}[2J\u{202e}\n`<b>`\n```\nopen";

/// Only Round 1 was asked for. One provider is busy at first, and one answer cannot be read.
pub(crate) fn troubled() -> Vec<Envelope> {
    let mut sample = Sample::new(panel());
    sample.terms.panel.seats.truncate(2);
    sample.begin(Consent::Flag);
    sample.round(1, |sample| {
        let answer = AnswerKind::Independent;
        let calls = ["security", "architecture"].map(|agent| sample.thinking(agent, answer));
        let busy = CallError {
            class: FailureClass::Overload,
            message: "overloaded, try again later".to_owned(),
            retry_after_ms: None,
            usage_told: false,
        };
        sample.finished(calls[0], "security", answer, Some(busy), vec![]);
        let (agent_id, ..) = sample.who("security");
        sample.emit(Event::Call(CallEvent::Retried {
            call: calls[0],
            agent_id,
            wait_ms: 4_000,
            reason: "overloaded, try again later".to_owned(),
        }));
        sample.wait(4_000);
        let again = sample.call("security", answer, Purpose::Retry);
        sample.answer(
            again,
            "security",
            answer,
            independent("security", "Use OAuth 2.0.", Some(0.8)),
            false,
        );
        sample.answer(
            calls[1],
            "architecture",
            answer,
            independent("architecture", "It depends.", None),
            true,
        );
    });
    sample.state(StateName::Independent, StateName::Complete);
    sample.emit(Event::Consultation(ConsultationEvent::Completed {
        rounds: 1,
        duration_ms: 4_000,
    }));
    sample.events
}

/// The pragmatist's model fails and another one takes its seat.
pub(crate) fn substituted() -> Vec<Envelope> {
    let mut events = complete();
    let at = events
        .iter()
        .position(|envelope| {
            matches!(
                envelope.event,
                Event::Round(RoundEvent::Completed {
                    round_number: 1,
                    ..
                })
            )
        })
        .unwrap();
    let event = Event::Consultation(ConsultationEvent::ProviderSubstituted {
        agent_id: SeatId::new("pragmatic"),
        round_number: 1,
        original: ModelRef::new("google", "gemini-3-pro"),
        substitute: ModelRef::new("xai", "grok-4.7"),
        reason: SubstitutionReason::Known(WhySubstituted::Timeout),
        message: "no answer within 120 s".to_owned(),
    });
    events.insert(
        at,
        Envelope {
            event,
            ..events[at].clone()
        },
    );
    for (envelope, seq) in events.iter_mut().zip(1..) {
        envelope.seq = seq;
    }
    events
}
