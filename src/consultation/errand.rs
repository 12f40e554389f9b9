//! One answer wanted from one agent, through retries, lesser forms, more room, a repair and other models, until there is an answer or none.
//!
//! Whatever text a model was paid for is kept: an answer that cannot be read even after one repair becomes a degraded artifact.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Content;
use crate::domain::ids::{CallId, ModelRef, ProviderId, SeatId};
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;
use crate::domain::tokens::Usage;

use super::answer::AnswerKind;
use super::call::{Ask, Failure, FailureClass, Outcome, Prompt, Reply, StopReason};
use super::event::{AbortReason, AgentError, CallError, CallFinished, CancelReason, Event, Purpose, SubstitutionReason, WhySubstituted};
use super::policy::pacing::{Admission, Ended};
use super::policy::retry::{Retry, Tried};
use super::problem::{Problem, Weight};
use super::prompt::PromptError;
use super::protocol::{Effect, TimerId};
use super::reading;
use super::turn::Turn;

/// A model that could answer, with the prompt made for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) model: ModelRef,
    pub(super) prompt: Prompt,
}

/// One answer that is wanted from one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Errand {
    agent: SeatId,
    answer: AnswerKind,
    /// The model in use, with the prompt of its first try.
    current: Candidate,
    /// Models that stand in for it, in order.
    rest: Vec<Candidate>,
    /// The prompt of the call under way: the candidate's, or a repair of its answer.
    prompt: Prompt,
    room: u64,
    tried: Tried,
    /// Text that was paid for and could not be used as it was.
    kept: Option<Kept>,
    status: Status,
    began: Timestamp,
    tokens: Usage,
    cost: Cost,
}

/// Why a text was kept instead of used; each happens once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kept {
    CutOff(String),
    Unreadable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Status {
    Calling {
        call: CallId,
        purpose: Purpose,
        since: Timestamp,
        first_token: Option<Timestamp>,
    },
    /// Nothing happens before the timer fires.
    Waiting {
        timer: TimerId,
        purpose: Purpose,
    },
    /// As many calls are under way at the provider as may be, or it asked to be left alone.
    Queued {
        purpose: Purpose,
    },
}

/// An errand that has come to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) agent: SeatId,
    pub(super) result: Result<Answer, AgentError>,
}

/// What an agent answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) content: Content,
    /// True when only the prose could be kept.
    pub(super) degraded: bool,
}

/// What becomes of an errand after a call came back.
enum Next {
    Settle(Answer),
    /// A new call as soon as its provider has room for it.
    Again(Purpose),
    /// A new call after this time.
    Wait(Duration, Purpose),
    GiveUp(AgentError),
}

impl Errand {
    /// An errand that has not begun; `None` without a candidate. The first candidate is asked, the others stand in for it, in order.
    pub(super) fn new(turn: &Turn<'_>, agent: &SeatId, answer: AnswerKind, candidates: Vec<Candidate>) -> Option<Self> {
        let mut candidates = candidates.into_iter();
        let current = candidates.next()?;
        Some(Self {
            agent: agent.clone(),
            answer,
            prompt: current.prompt.clone(),
            room: turn.plan.terms(&current.model).room,
            current,
            rest: candidates.collect(),
            tried: Tried::default(),
            kept: None,
            status: Status::Queued { purpose: Purpose::Answer },
            began: turn.now,
            tokens: Usage::default(),
            cost: Cost::FREE,
        })
    }

    /// Tells that the agent is at work and makes the first call, or waits for it.
    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) {
        self.announce(turn);
        self.go(turn, Purpose::Answer);
    }

    /// The provider that is asked now.
    pub(super) fn provider(&self) -> &ProviderId {
        &self.current.model.provider
    }

    pub(super) fn is_waiting_for(&self, wanted: TimerId) -> bool {
        matches!(self.status, Status::Waiting { timer, .. } if timer == wanted)
    }

    /// Notes the first sign of an answer.
    pub(super) fn begins_to_answer(&mut self, now: Timestamp) {
        if let Status::Calling { first_token: first_token @ None, .. } = &mut self.status {
            *first_token = Some(now);
        }
    }

    /// Tries again for a place at this provider, if that is what it waits for.
    pub(super) fn go_on_at(&mut self, turn: &mut Turn<'_>, provider: &ProviderId) {
        if let Status::Queued { purpose } = self.status
            && self.provider() == provider
        {
            self.go(turn, purpose);
        }
    }

    /// Drops the call that is under way, if one is.
    pub(super) fn cancel(self, turn: &mut Turn<'_>, reason: AbortReason) {
        if let Status::Calling { call, .. } = self.status {
            turn.end_call(self.provider(), Ended::Otherwise);
            turn.push(Effect::Cancel(call));
            turn.emit(Event::CallCancelled { call, reason: CancelReason::Abort(reason) });
        }
    }

    pub(super) fn is_calling(&self, wanted: CallId) -> bool {
        matches!(self.status, Status::Calling { call, .. } if call == wanted)
    }

    fn announce(&self, turn: &mut Turn<'_>) {
        turn.emit(Event::AgentThinking {
            agent_id: self.agent.clone(),
            name: turn.plan.agent_name(&self.agent),
            round_number: self.answer.round(),
            answer: self.answer,
            model: self.current.model.clone(),
        });
    }

    /// Makes a call if the provider's lane allows, else waits for it.
    fn go(&mut self, turn: &mut Turn<'_>, purpose: Purpose) {
        match turn.admit(self.provider()) {
            Admission::Now => self.call(turn, purpose),
            // Nobody waits for so long: it gives up when its turn comes, which is at once.
            Admission::Held(hold) if turn.is_too_long(&hold) => self.wait_until(turn, turn.now, purpose),
            Admission::Full | Admission::Held(_) => self.status = Status::Queued { purpose },
        }
    }

    /// Its time has come, or the provider's hold is one that nobody waits for.
    pub(super) fn waited(&mut self, turn: &mut Turn<'_>) -> Option<Settled> {
        let Status::Waiting { purpose, .. } = self.status else { return None };
        match turn.admit(self.provider()) {
            Admission::Held(hold) if turn.is_too_long(&hold) => {
                let provider = &self.current.model.provider;
                let why = match turn.given_up(provider) {
                    Some(refused_for) => format!("has refused every call for {:.0} s", refused_for.as_secs_f64()),
                    None => format!("asks to be left alone for {} s", hold.until.since(turn.now).as_secs_f64().ceil()),
                };
                let message = format!("{}; `{provider}` {why}", hold.reason);
                self.give_up(turn, failed(FailureClass::RateLimit, message))
            }
            Admission::Now | Admission::Full | Admission::Held(_) => {
                self.go(turn, purpose);
                None
            }
        }
    }

    fn wait_until(&mut self, turn: &mut Turn<'_>, at: Timestamp, purpose: Purpose) {
        let timer = turn.next_timer();
        self.status = Status::Waiting { timer, purpose };
        turn.push(Effect::SetTimer { timer, at });
    }

    fn call(&mut self, turn: &mut Turn<'_>, purpose: Purpose) {
        let call = turn.next_call();
        turn.begin_call(self.provider());
        self.status = Status::Calling { call, purpose, since: turn.now, first_token: None };
        turn.emit(Event::CallStarted {
            call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose,
            model: self.current.model.clone(),
            room: self.room,
            prompt_sha256: self.prompt.sha256(),
            worst_case: None,
            tokens_saved: 0,
        });
        let ask = Ask { call, model: self.current.model.clone(), prompt: self.prompt.clone(), answer: self.answer, room: self.room };
        turn.push(Effect::Ask(Box::new(ask)));
    }

    /// Takes what a call brought. `None` while the errand goes on.
    pub(super) fn replied(&mut self, turn: &mut Turn<'_>, outcome: Outcome) -> Option<Settled> {
        let labels = turn.plan.labels();
        let reading = match &outcome {
            Ok(reply) => Some(reading::read(self.answer, &reply.text, &self.agent, &labels)),
            Err(_) => None,
        };
        let (content, mut problems) = reading.map_or((None, Vec::new()), |reading| (reading.content, reading.problems));
        if let Ok(Reply { stop: StopReason::Other(said), .. }) = &outcome {
            problems.push(Problem::new(Weight::Flagged, "", format!("the model stopped for a reason that is not a clean end: `{said}`")));
        }
        self.log(turn, &outcome, problems.clone());
        let ended = if outcome.is_ok() { Ended::Answered } else { Ended::Otherwise };
        turn.end_call(&self.current.model.provider, ended);
        let next = match outcome {
            Ok(reply) => self.after_reply(turn, reply, content, &problems),
            Err(failure) => self.after_failure(turn, &failure),
        };
        match next {
            Next::Settle(answer) => Some(self.settle(turn, Ok(answer))),
            Next::Again(purpose) => {
                self.go(turn, purpose);
                None
            }
            Next::Wait(wait, purpose) => {
                let at = turn.now.after(wait);
                self.wait_until(turn, at, purpose);
                None
            }
            Next::GiveUp(error) => self.give_up(turn, error),
        }
    }

    fn after_reply(&mut self, turn: &Turn<'_>, reply: Reply, content: Option<Content>, problems: &[Problem]) -> Next {
        if let StopReason::Refused(words) = &reply.stop {
            let words = if words.trim().is_empty() { reply.text.trim() } else { words.trim() };
            let message = if words.is_empty() { "declined to answer".to_owned() } else { format!("declined to answer: {words}") };
            return Next::GiveUp(AgentError { class: None, message });
        }
        if let Some(content) = content {
            return Next::Settle(Answer { content, degraded: false });
        }
        let blank = reply.text.trim().is_empty();
        match (&reply.stop, &self.kept) {
            (StopReason::Length, None) if self.can_grow(turn) => {
                self.kept = Some(Kept::CutOff(reply.text));
                self.room = self.room.saturating_mul(2).min(turn.plan.terms(&self.current.model).most);
                Next::Again(Purpose::MoreRoom)
            }
            (StopReason::Length, _) if blank => {
                Next::GiveUp(failed(FailureClass::Empty, format!("ran out of room after {} tokens without an answer", reply.usage.output)))
            }
            (_, _) if blank => Next::GiveUp(failed(FailureClass::Empty, "the answer was empty")),
            (StopReason::End, None | Some(Kept::CutOff(_))) => match self.repair(turn, &reply.text, problems) {
                Ok(prompt) => {
                    self.prompt = prompt;
                    self.tried = Tried::default();
                    self.kept = Some(Kept::Unreadable(reply.text));
                    Next::Again(Purpose::Repair)
                }
                Err(_) => Next::Settle(self.keep_prose(&reply.text)),
            },
            (_, Some(Kept::Unreadable(original))) => Next::Settle(self.keep_prose(original)),
            (StopReason::Length | StopReason::Other(_) | StopReason::Refused(_), None | Some(Kept::CutOff(_))) => {
                Next::Settle(self.keep_prose(&reply.text))
            }
        }
    }

    fn after_failure(&mut self, turn: &mut Turn<'_>, failure: &Failure) -> Next {
        let jitter = self.jitter(turn);
        turn.hold(&self.current.model.provider, failure, jitter);
        match turn.plan.retry.decide(failure, self.tried, jitter) {
            Retry::After(wait) => {
                self.tried.retries += 1;
                self.announce_retry(turn, failure, wait);
                Next::Wait(wait, Purpose::Retry)
            }
            Retry::Reformed => {
                self.tried.forms += 1;
                self.announce_retry(turn, failure, Duration::ZERO);
                Next::Again(Purpose::Reformed)
            }
            Retry::Never(_) => Next::GiveUp(failed(failure.class, failure.message.clone())),
        }
    }

    fn announce_retry(&self, turn: &mut Turn<'_>, failure: &Failure, wait: Duration) {
        if let Status::Calling { call, .. } = self.status {
            let wait_ms = turn.ms_until(wait);
            turn.emit(Event::CallRetried { call, agent_id: self.agent.clone(), wait_ms, reason: failure.message.clone() });
        }
    }

    /// Falls back on a text that was kept, then on the next model, then fails.
    fn give_up(&mut self, turn: &mut Turn<'_>, error: AgentError) -> Option<Settled> {
        if let Some(Kept::CutOff(text) | Kept::Unreadable(text)) = self.kept.take()
            && !text.trim().is_empty()
        {
            let answer = self.keep_prose(&text);
            return Some(self.settle(turn, Ok(answer)));
        }
        if self.rest.is_empty() {
            return Some(self.settle(turn, Err(error)));
        }
        let next = self.rest.remove(0);
        turn.emit(Event::ProviderSubstituted {
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            original: self.current.model.clone(),
            substitute: next.model.clone(),
            reason: SubstitutionReason::Known(WhySubstituted::Failure),
            message: error.message,
        });
        self.room = turn.plan.terms(&next.model).room;
        self.prompt = next.prompt.clone();
        self.current = next;
        self.tried = Tried::default();
        self.announce(turn);
        self.go(turn, Purpose::Fallback);
        None
    }

    fn settle(&self, turn: &mut Turn<'_>, result: Result<Answer, AgentError>) -> Settled {
        let (agent_id, name, round_number) = (self.agent.clone(), turn.plan.agent_name(&self.agent), self.answer.round());
        let event = match &result {
            Ok(_) => Event::AgentCompleted {
                agent_id,
                name,
                round_number,
                answer: self.answer,
                duration_ms: turn.ms_since(self.began),
                tokens: self.tokens,
                cost: self.cost,
            },
            Err(error) => Event::AgentFailed {
                agent_id,
                name,
                round_number,
                answer: self.answer,
                model: self.current.model.clone(),
                error: error.clone(),
            },
        };
        turn.emit(event);
        Settled { agent: self.agent.clone(), result }
    }

    fn log(&mut self, turn: &mut Turn<'_>, outcome: &Outcome, problems: Vec<Problem>) {
        let Status::Calling { call, purpose, since, first_token } = self.status else { return };
        let ((cost, cost_source), tokens) = match outcome {
            Ok(reply) => (turn.plan.cost_of_reply(&self.current.model, reply), reply.usage),
            Err(failure) => {
                (turn.plan.cost_of_failure(&self.current.model, failure), failure.usage.as_deref().copied().unwrap_or_default())
            }
        };
        self.tokens += tokens;
        self.cost += cost;
        let finished = CallFinished {
            call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose,
            model: self.current.model.clone(),
            served_model: outcome.as_ref().ok().and_then(|reply| reply.served_model.clone()),
            stop: outcome.as_ref().ok().map(|reply| reply.stop.clone()),
            error: outcome.as_ref().err().map(|failure| CallError {
                class: failure.class,
                message: failure.message.clone(),
                retry_after_ms: failure.retry_after.map(in_ms),
                usage_told: failure.usage.is_some(),
            }),
            text: outcome.as_ref().map_or_else(|failure| failure.partial.clone(), |reply| reply.text.clone()),
            tokens,
            cost,
            cost_source,
            first_token_ms: first_token.map(|at| u64::try_from(at.since(since).as_millis()).unwrap_or(u64::MAX)),
            duration_ms: turn.ms_since(since),
            problems,
        };
        turn.emit(Event::CallFinished(Box::new(finished)));
    }

    fn can_grow(&self, turn: &Turn<'_>) -> bool {
        self.room < turn.plan.terms(&self.current.model).most
    }

    fn repair(&self, turn: &Turn<'_>, text: &str, problems: &[Problem]) -> Result<Prompt, PromptError> {
        let labels = turn.plan.labels();
        turn.plan.prompter(&labels, &self.current.model).repair(&self.current.prompt, text, problems)
    }

    fn keep_prose(&self, text: &str) -> Answer {
        Answer { content: reading::keep_prose(self.answer, text, &self.agent), degraded: true }
    }

    /// A number from 0 to 1 that differs by run, agent and try, and is the same when the run is played again.
    fn jitter(&self, turn: &Turn<'_>) -> f64 {
        let Status::Calling { call, .. } = self.status else { return 1.0 };
        fastrand::Rng::with_seed(turn.plan.seed.wrapping_add(u64::from(call.0))).f64()
    }
}

fn failed(class: FailureClass, message: impl Into<String>) -> AgentError {
    AgentError { class: Some(class), message: message.into() }
}

/// A hint in whole milliseconds, rounded up as a timer keeps it.
fn in_ms(hint: Duration) -> u64 {
    u64::try_from(hint.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
