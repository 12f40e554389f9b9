//! Builds a stream of events step by step, as the machine would emit them.

use std::time::Duration;

use conclave::consultation::event::{
    AgentError, AgentEvent, AgentFailure, CallError, CallEvent, CallFinished, CallStarted,
    ConsultationEvent, Envelope, Event, Purpose, RoundEvent, SCHEMA_VERSION, Started, StateEvent,
    StateName,
};
use conclave::consultation::policy::estimate::{CallEstimate, Consent, Estimate};
use conclave::consultation::prompt::PromptUsed;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::domain::answer::artifact::{Artifact, Content, Verdict};
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::cost::pricing::CostSource;
use conclave::domain::cost::tokens::Usage;
use conclave::domain::ids::{AgentId, CallId, ConsultationId, ModelRef, SeatId};
use conclave::domain::panel::{Panel, Persona, Seat};
use conclave::domain::time::Timestamp;

use super::answers::{cross_exam, independent, revision, synthesis, verdict};

/// 08:30 on 2026-11-21, UTC.
const START: Timestamp = Timestamp(1_795_249_800_000);

/// The events of a consultation so far.
pub(crate) struct EventBuilder {
    pub(crate) events: Vec<Envelope>,
    pub(crate) terms: Started,
    pub(super) now: Timestamp,
    next_call: u32,
}

pub(crate) fn panel() -> Panel {
    let seat = |id: &str, name: &str, provider: &str, model: &str| Seat {
        id: SeatId::new(id),
        persona: Persona {
            id: id.to_owned(),
            name: name.to_owned(),
            prompt: format!("You are the {name}."),
            brief: String::new(),
            aliases: Vec::new(),
        },
        model: ModelRef::new(provider, model),
    };
    Panel {
        seats: vec![
            seat(
                "security",
                "Security Expert",
                "anthropic",
                "claude-sonnet-5-5",
            ),
            seat("architecture", "Architect", "openai", "gpt-6.1-sol"),
            seat("pragmatic", "Pragmatist", "google", "gemini-3-pro"),
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

impl EventBuilder {
    pub(crate) fn new(panel: Panel) -> Self {
        let prompt = |name: &str| PromptUsed {
            name: name.to_owned(),
            version: "v1.0".to_owned(),
            sha256: "ab".repeat(32),
        };
        let seats = panel.seats.iter();
        let kinds = [
            "independent",
            "synthesis",
            "revision",
            "cross_exam",
            "verdict",
        ];
        let terms = Started {
            question: "Should I use OAuth or JWT?".to_owned(),
            mode: "converge".to_owned(),
            expert_order: seats.rev().map(|seat| seat.id.clone()).collect(),
            panel,
            seed: 42,
            prompts: kinds.map(|kind| prompt(&format!("converge/{kind}"))).into(),
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
            waited_for_person_ms: 0,
            event,
        });
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
    }

    /// Emits everything up to the consent.
    pub(crate) fn begin(&mut self, how: Consent) {
        self.emit(Event::Consultation(ConsultationEvent::Started(Box::new(
            self.terms.clone(),
        ))));
        self.state(StateName::Idle, StateName::Estimating);
        let free = self.is_local();
        let price = |micro_usd| {
            if free {
                Cost::FREE
            } else {
                Cost::exactly(MicroUsd(micro_usd))
            }
        };
        let call_estimate =
            |round_number, agent_id: &AgentId, answer, model: &ModelRef| CallEstimate {
                round_number,
                agent_id: agent_id.clone(),
                answer,
                model: model.clone(),
                input_tokens: 411,
                output_tokens: 2_000,
                cost: price(37_500),
                low: price(20_000),
                high: price(75_000),
                least_reserve: price(75_000),
            };
        let panel = self.terms.panel.clone();
        let (judge, judge_model) = (AgentId::Judge, panel.judges[0].clone());
        let seats = |round, answer| {
            panel.seats.iter().map(move |seat| {
                call_estimate(round, &AgentId::from(&seat.id), answer, &seat.model)
            })
        };
        let judged = |round, answer| call_estimate(round, &judge, answer, &judge_model);
        let calls: Vec<CallEstimate> = seats(1, AnswerKind::Independent)
            .chain([judged(2, AnswerKind::Synthesis)])
            .chain(seats(3, AnswerKind::Revision))
            .chain([
                judged(3, AnswerKind::CrossExam),
                judged(4, AnswerKind::Verdict),
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
        let mut seats = self.terms.panel.seats.iter();
        seats.all(|seat| seat.model.provider.is_local())
    }

    pub(crate) fn state(&mut self, from: StateName, to: StateName) {
        self.emit(Event::State(StateEvent::Changed { from, to }));
    }

    /// Returns the id, name and model of an agent; any unknown id is the judge's.
    pub(crate) fn agent(&self, agent: &str) -> (AgentId, String, ModelRef) {
        let panel = &self.terms.panel;
        match panel.seats.iter().find(|seat| seat.id.as_str() == agent) {
            Some(seat) => {
                let name = seat.name().to_owned();
                (AgentId::from(&seat.id), name, seat.model.clone())
            }
            None => (AgentId::Judge, "Judge".to_owned(), panel.judges[0].clone()),
        }
    }

    pub(crate) fn thinking(&mut self, agent: &str, answer: AnswerKind) -> CallId {
        let (agent_id, name, model) = self.agent(agent);
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
        let (agent_id, _, model) = self.agent(agent);
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.emit(Event::Call(CallEvent::Started(CallStarted {
            call,
            agent_id,
            round_number: answer.round(),
            answer,
            purpose,
            model,
            max_output_tokens: 8_000,
            prompt_sha256: "cd".repeat(32),
            worst_case: Cost::FREE,
            tokens_saved: 0,
        })));
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
        let (agent_id, _, model) = self.agent(agent);
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
            counted: None,
            cost_source: if model.provider.is_local() {
                CostSource::Free
            } else {
                CostSource::Table
            },
            plan: None,
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
        let words = "no JSON object in the answer";
        let problem = degraded.then(|| Problem::new(ProblemSeverity::Error, "", words));
        let problems = problem.into_iter().collect();
        let (tokens, cost) = self.finished(call, agent, answer, None, problems);
        let (agent_id, name, _) = self.agent(agent);
        self.emit(Event::Agent(AgentEvent::Completed {
            agent_id,
            name,
            round_number: answer.round(),
            answer,
            duration_ms: 8_200,
            tokens,
            cost,
        }));
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(content, self.now, degraded)),
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
        let failure = CallError {
            class,
            message: message.to_owned(),
            retry_after_ms: None,
            usage_reported: false,
        };
        self.finished(call, agent, answer, Some(failure), vec![]);
        let (agent_id, name, model) = self.agent(agent);
        let error = AgentError {
            class: Some(class),
            message: message.to_owned(),
        };
        self.emit(Event::Agent(AgentEvent::Failed(AgentFailure {
            agent_id,
            name,
            round_number: answer.round(),
            answer,
            model,
            error,
        })));
    }

    pub(crate) fn round<T>(&mut self, round_number: u8, steps: impl FnOnce(&mut Self) -> T) -> T {
        self.emit(Event::Round(RoundEvent::Started { round_number }));
        let result = steps(self);
        self.emit(Event::Round(RoundEvent::Completed {
            round_number,
            duration_ms: 8_200,
        }));
        result
    }

    /// Emits Round 1; the last agent fails with the reason in `failing`, if any.
    pub(crate) fn first_round(&mut self, position: impl Fn(&str) -> String, failing: Option<&str>) {
        let agents = ["security", "architecture", "pragmatic"];
        self.round(1, |events| {
            let kind = AnswerKind::Independent;
            let calls = agents.map(|agent| events.thinking(agent, kind));
            let confidences = [Some(0.8), Some(0.7), None];
            for (index, (agent, call)) in agents.into_iter().zip(calls).enumerate() {
                events.wait(1_400);
                if let Some(reason) = failing.filter(|_| index == 2) {
                    events.fail(call, agent, kind, FailureClass::Billing, reason);
                } else {
                    let content = independent(agent, &position(agent), confidences[index]);
                    events.answer(call, agent, kind, content, false);
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

    /// Emits Rounds 2 to 4 with every kind of content, every text passed through `rewrite`.
    pub(crate) fn later_rounds(&mut self, agents: &[&str], rewrite: impl Fn(&str) -> String) {
        self.later_rounds_with(agents, &rewrite, AnswerKind::Verdict, verdict(&rewrite));
    }

    /// Emits the same rounds with this verdict of the judge.
    pub(super) fn later_rounds_with(
        &mut self,
        agents: &[&str],
        rewrite: &impl Fn(&str) -> String,
        kind: AnswerKind,
        answer: Verdict,
    ) {
        self.state(StateName::Independent, StateName::Synthesis);
        self.round(2, |events| {
            let answer = Content::Synthesis(synthesis(rewrite));
            events.judged(AnswerKind::Synthesis, answer);
        });
        self.state(StateName::Synthesis, StateName::CrossExam);
        self.round(3, |events| {
            let kind = AnswerKind::Revision;
            let calls = agents.iter().map(|agent| events.thinking(agent, kind));
            let calls: Vec<CallId> = calls.collect();
            for (agent, call) in agents.iter().zip(calls) {
                events.wait(1_100);
                let content = Content::Revision(revision(agent, rewrite));
                events.answer(call, agent, kind, content, false);
            }
            let answer = Content::CrossExam(cross_exam(rewrite));
            events.judged(AnswerKind::CrossExam, answer);
        });
        self.state(StateName::CrossExam, StateName::Verdict);
        self.round(4, |events| events.judged(kind, Content::Verdict(answer)));
        self.complete();
    }
}
