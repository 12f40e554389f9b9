//! The progress of a consultation on standard error: live lines on a terminal, plain lines in a
//! pipe, a log or a dumb terminal. How it ended badly is not said here: the command tells that as
//! an error, also when all else is silenced. What is asked says itself what it is about, and who
//! goes on with a consultation says where.

pub mod messages;
pub(super) mod live_view;
mod judge_stream;
mod json_stream;
mod estimate;
pub mod evaluation;
pub mod download_bar;
pub mod rebuild_bar;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consultation::event::{
    AbortReason, AgentEvent, CallEvent, CallFinished, CancelReason, Consent, ConsultationEvent,
    CostEvent, EarlyTerminationDecision, Envelope, Estimate, Event, GateReason, HealthEvent,
    JudgeEvent, PanelEvent, PanelSelection, ProviderEvent, PulseEvent, RoundEvent, Started,
    StateEvent, SubstitutionReason, WhySubstituted,
};
use crate::consultation::policy::consent::Month;
use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::domain::time::Timestamp;
use crate::engine::ports::{Delta, Subscriber, SubscriberError};

use self::estimate::estimate_lines;
use self::evaluation::evaluation_tree;
use self::judge_stream::{Brought, JudgeText, Layout};
use self::live_view::Screen;
use super::output::printer::{Printer, Verbosity};
use super::prompt::questions;

/// A provider's wish to be left alone for at least this long is told to everyone.
const NEWS_MS: u64 = 2_000;

/// Shows what happens as it happens.
#[derive(Debug)]
pub struct Progress {
    printer: Printer,
    manner: Manner,
    started_at: Timestamp,
    terms: Option<Box<Started>>,
    estimate: Option<Estimate>,
    why_asked: Vec<GateReason>,
    /// Whom each call is or was for.
    calls: BTreeMap<CallId, (AgentId, ModelRef)>,
    /// Where `--stream` is wanted.
    judge: Option<JudgeText>,
    told_of_health: Told,
}

/// How the progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Lines that are redrawn.
    Live,
    /// One line after another.
    Plain,
    /// Not at all.
    Silent,
}

/// Whether something that is said once was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    NotYet,
    Once,
}

impl Progress {
    /// Live where standard error can be redrawn, else plain; silent when only errors are wanted.
    pub fn new(printer: Printer) -> Self {
        let manner = match printer.verbosity() {
            Verbosity::Quiet => Manner::Silent,
            Verbosity::Normal | Verbosity::Verbose if printer.err_face().is_animated => {
                Manner::Live
            }
            Verbosity::Normal | Verbosity::Verbose => Manner::Plain,
        };
        Self::in_manner(printer, manner)
    }

    /// Plain lines even on a terminal: for when something else writes to standard error too.
    pub fn plain(printer: Printer) -> Self {
        let manner = if printer.verbosity() == Verbosity::Quiet {
            Manner::Silent
        } else {
            Manner::Plain
        };
        Self::in_manner(printer, manner)
    }

    fn in_manner(printer: Printer, manner: Manner) -> Self {
        Self {
            printer,
            manner,
            started_at: Timestamp::default(),
            terms: None,
            estimate: None,
            why_asked: Vec::new(),
            calls: BTreeMap::new(),
            judge: None,
            told_of_health: Told::NotYet,
        }
    }

    /// Shows the judge's text too, as it is written.
    #[must_use]
    pub fn with_judges_text(mut self) -> Self {
        let width = self.printer.err_face().width;
        self.judge = match self.manner {
            Manner::Live => Some(JudgeText::new(Layout::Lines(width))),
            Manner::Plain => Some(JudgeText::new(Layout::Running)),
            Manner::Silent => None,
        };
        self
    }

    /// Learns what an earlier run has said, which is not said again: for a run that goes on.
    pub fn catch_up(&mut self, earlier: &[Envelope], now: Timestamp) {
        for envelope in earlier {
            self.learn(envelope);
        }
        self.started_at = now;
    }

    fn note(&self, line: &str) {
        self.printer.note(&messages::fit(line, self.width()));
    }

    fn detail(&self, line: &str) {
        self.printer.detail(&messages::fit(line, self.width()));
    }

    /// Something that is not as it should be.
    fn alert(&self, line: &str) {
        self.printer.note(
            &self
                .printer
                .err_face()
                .paint
                .yellow(&messages::fit(line, self.width())),
        );
    }

    fn heading(&self, line: &str) {
        self.note(&self.printer.err_face().paint.bold(line));
    }

    /// `None` where lines are not wrapped.
    fn width(&self) -> Option<usize> {
        Some(self.printer.err_face())
            .filter(|face| face.is_terminal)
            .map(|face| face.width)
    }

    fn name(&self, agent: &AgentId) -> String {
        let seat = self
            .terms
            .as_ref()
            .and_then(|terms| terms.panel.seat_of(agent));
        seat.map_or_else(
            || messages::beside_the_panel(agent).to_owned(),
            |seat| seat.name().to_owned(),
        )
    }

    /// The name of the agent whom a call is for.
    fn caller(&self, call: CallId) -> Option<(String, &ModelRef)> {
        self.calls
            .get(&call)
            .map(|(agent, model)| (self.name(agent), model))
    }

    fn month(&self) -> Option<Month> {
        self.terms.as_ref()?.plan.as_ref()?.control.consent.month
    }

    fn start(&self, terms: &Started) {
        self.heading(&messages::starting(terms));
        for line in messages::panel(terms, self.width()) {
            self.printer.note(&line);
        }
        for line in messages::notices(terms) {
            self.alert(&line);
        }
        for line in messages::mode(terms)
            .into_iter()
            .chain(messages::material(terms))
        {
            self.note(line);
        }
    }

    fn cast(&self, cast: &PanelSelection) {
        self.heading(&messages::cast(cast));
        if let Some(line) = messages::why_cast(cast) {
            self.note(&line);
        }
        for line in messages::seats(&cast.panel, self.width()) {
            self.printer.note(&line);
        }
        for note in &cast.notes {
            self.alert(&messages::cast_note(note));
        }
    }

    fn go_live(&self) {
        if self.manner == Manner::Live {
            self.printer.live().start();
        }
    }

    /// Leaves the lines of a round behind for good.
    fn settle(&self, elapsed: Duration) {
        let width = self.printer.err_face().width;
        let mut settled = Vec::new();
        self.printer.live().update(|screen| {
            settled = screen.settle(elapsed, width);
        });
        for line in settled {
            self.printer.note(&line);
        }
    }

    fn decided(&self, decision: &EarlyTerminationDecision) {
        for line in evaluation_tree(
            "EARLY TERMINATION CHECK (Round 2)",
            &decision.findings.evaluation,
        ) {
            self.detail(&line);
        }
        if let Some(line) = questions::decided(decision) {
            self.note(&line);
        }
    }

    fn print_judges_text(&self, text: &str) {
        if !text.is_empty() {
            self.printer.write_on(text);
        }
    }

    /// Keeps what later lines need.
    fn learn(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                self.started_at = envelope.at;
                self.terms = Some(terms.clone());
            }
            Event::Consultation(ConsultationEvent::Resumed(_)) => self.started_at = envelope.at,
            Event::Panel(PanelEvent::PersonasSelected(cast)) => {
                if let Some(terms) = &mut self.terms {
                    terms.panel = cast.panel.clone();
                }
            }
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                self.estimate = Some(estimate.clone())
            }
            Event::Cost(CostEvent::GateTriggered { why, .. }) => self.why_asked.clone_from(why),
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                model,
                ..
            }) => {
                self.calls.insert(*call, (agent_id.clone(), model.clone()));
            }
            Event::Consultation(ConsultationEvent::UserConsent { .. })
            | Event::State(StateEvent::Changed { .. })
            | Event::Round(RoundEvent::Started { .. })
            | Event::Agent(AgentEvent::Thinking { .. })
            | Event::Agent(AgentEvent::Completed { .. })
            | Event::Agent(AgentEvent::Failed { .. })
            | Event::Round(RoundEvent::Completed { .. })
            | Event::Consultation(ConsultationEvent::RoundArtifact { .. })
            | Event::Judge(JudgeEvent::SecondPass(_))
            | Event::Judge(JudgeEvent::Rejudged(_))
            | Event::Consultation(ConsultationEvent::ProviderSubstituted { .. })
            | Event::Consultation(ConsultationEvent::SubstitutionOffered { .. })
            | Event::Consultation(ConsultationEvent::EarlyTerminationOffered(_))
            | Event::Consultation(ConsultationEvent::EarlyTerminationDecided(_))
            | Event::Cost(CostEvent::CeilingReached { .. })
            | Event::Pulse(PulseEvent::Asked { .. })
            | Event::Pulse(PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. })
            | Event::Health(HealthEvent::StatusUpdated(_))
            | Event::Consultation(ConsultationEvent::Completed { .. })
            | Event::Consultation(ConsultationEvent::Aborted { .. })
            | Event::Call(CallEvent::Retried { .. })
            | Event::Call(CallEvent::Finished(_))
            | Event::Call(CallEvent::Cancelled { .. })
            | Event::Provider(ProviderEvent::Held { .. })
            | Event::Call(CallEvent::Hedged { .. })
            | Event::Call(CallEvent::NotHedged { .. }) => {}
        }
        if self.manner == Manner::Live {
            let elapsed = envelope.at.since(self.started_at);
            self.printer
                .live()
                .update(|screen| screen.follow(&envelope.event, elapsed));
        }
    }

    /// Says what there is to say of an event.
    fn tell(&mut self, event: &Event, elapsed: Duration) {
        let plain = self.manner == Manner::Plain;
        match event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                self.start(terms);
                self.go_live();
            }
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                if let Some(line) = messages::asked_again(resumed) {
                    self.detail(&line);
                }
                self.go_live();
            }
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                for line in self
                    .terms
                    .iter()
                    .flat_map(|terms| estimate_lines(estimate, &terms.panel))
                {
                    self.detail(&line);
                }
            }
            Event::Consultation(ConsultationEvent::UserConsent { approved, how }) => {
                self.consent(*approved, *how)
            }
            Event::Agent(AgentEvent::Thinking { name, .. }) if plain => {
                self.note(&messages::thinking(name))
            }
            Event::Agent(AgentEvent::Completed {
                name, duration_ms, ..
            }) if plain => self.note(&messages::completed(name, *duration_ms)),
            Event::Agent(AgentEvent::Thinking { .. })
            | Event::Agent(AgentEvent::Completed { .. }) => {}
            // What comes of it is told with what is done instead.
            Event::Agent(AgentEvent::Failed {
                agent_id,
                name,
                error,
                ..
            }) if *agent_id == AgentId::Helper => {
                self.detail(&messages::failed(name, &error.message))
            }
            Event::Agent(AgentEvent::Failed { name, error, .. }) => {
                self.alert(&messages::failed(name, &error.message))
            }
            Event::Consultation(ConsultationEvent::ProviderSubstituted {
                agent_id,
                original,
                substitute,
                reason,
                message,
                ..
            }) => {
                let line = messages::substituted(
                    &self.name(agent_id),
                    original,
                    substitute,
                    reason,
                    message,
                );
                // Where nothing failed, there is nothing to worry about.
                if *reason == SubstitutionReason::Known(WhySubstituted::Hedge) {
                    self.note(&line)
                } else {
                    self.alert(&line)
                }
            }
            Event::Panel(PanelEvent::PersonasSelected(cast)) => self.cast(cast),
            Event::Round(RoundEvent::Completed { round_number, .. }) => {
                self.settle(elapsed);
                self.heading(&messages::round_complete(*round_number));
            }
            Event::Consultation(ConsultationEvent::Completed { .. }) => {
                self.settle(elapsed);
                self.printer.live().stop();
                self.heading(&messages::complete());
            }
            Event::Consultation(ConsultationEvent::Aborted { reason, .. }) => {
                self.aborted(*reason, elapsed)
            }
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                model,
                ..
            }) => {
                if let Some(judge) = self.judge.as_mut().filter(|_| *agent_id == AgentId::Judge) {
                    judge.begin(*call, model);
                }
            }
            Event::Call(CallEvent::Retried {
                agent_id,
                wait_ms,
                reason,
                ..
            }) => {
                self.detail(&messages::retried(&self.name(agent_id), *wait_ms, reason));
            }
            Event::Call(CallEvent::Hedged {
                agent_id,
                model,
                backup,
                after_ms,
                ..
            }) => {
                let line = messages::hedged(&self.name(agent_id), model, backup, *after_ms);
                if plain {
                    self.note(&line)
                } else {
                    self.detail(&line)
                }
            }
            Event::Call(CallEvent::NotHedged {
                agent_id, reason, ..
            }) => self.detail(&messages::not_hedged(&self.name(agent_id), *reason)),
            Event::Call(CallEvent::Finished(call)) => self.finished(call),
            Event::Call(CallEvent::Cancelled { call, reason }) => {
                self.end_judges_text(*call, Brought::Nothing);
                if let (CancelReason::HedgeLost, Some((name, model))) = (reason, self.caller(*call))
                {
                    self.detail(&messages::slower(&name, model));
                }
            }
            // A short backoff is no news to somebody who waits for minutes.
            Event::Provider(ProviderEvent::Held {
                provider,
                wait_ms,
                reason,
            }) if *wait_ms >= NEWS_MS => {
                self.note(&messages::held(provider, *wait_ms, reason));
            }
            Event::Provider(ProviderEvent::Held {
                provider,
                wait_ms,
                reason,
            }) => self.detail(&messages::held(provider, *wait_ms, reason)),
            // What was spent and what could not be, the error says.
            Event::Consultation(ConsultationEvent::EarlyTerminationDecided(decision)) => {
                self.decided(decision)
            }
            Event::Cost(CostEvent::CeilingReached { max_cost, .. }) => {
                self.alert(&messages::ceiling_reached(*max_cost))
            }
            Event::Pulse(PulseEvent::Asked {
                waiting,
                asked: false,
                ..
            }) => self.note(&questions::still_waiting(waiting)),
            Event::Health(HealthEvent::StatusUpdated(update)) => {
                self.detail(&messages::health(update));
                if update.none_healthy && self.told_of_health == Told::NotYet {
                    self.told_of_health = Told::Once;
                    self.alert(messages::ALL_DEGRADED);
                }
            }
            // The report says it where the answer stands.
            Event::Judge(JudgeEvent::SecondPass(_))
            | Event::Judge(JudgeEvent::Rejudged(_))
            | Event::State(StateEvent::Changed { .. })
            | Event::Round(RoundEvent::Started { .. })
            | Event::Consultation(ConsultationEvent::RoundArtifact { .. })
            | Event::Consultation(ConsultationEvent::SubstitutionOffered { .. })
            | Event::Consultation(ConsultationEvent::EarlyTerminationOffered(_))
            | Event::Cost(CostEvent::GateTriggered { .. })
            | Event::Pulse(PulseEvent::Asked { .. })
            | Event::Pulse(PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. }) => {}
        }
    }

    /// What became of the estimate. Where nobody could be asked, what they would have been asked
    /// about is said here.
    fn consent(&self, approved: bool, how: Consent) {
        if let Some(line) = messages::consent(self.estimate.as_ref(), approved, how) {
            self.note(&line);
        }
        if let (Consent::NobodyToAsk, Some(estimate)) = (how, &self.estimate) {
            for line in questions::reasons(estimate, &self.why_asked, self.month()) {
                self.alert(&line);
            }
        }
    }

    fn finished(&mut self, call: &CallFinished) {
        self.end_judges_text(
            call.call,
            if call.error.is_none() {
                Brought::Answer
            } else {
                Brought::Nothing
            },
        );
        let name = self.name(&call.agent_id);
        if let Some(served) = call
            .served_model
            .as_deref()
            .filter(|served| !call.model.is_served_as(served))
        {
            self.detail(&messages::served(&name, &call.model, served));
        }
        for line in messages::problems(&name, call) {
            self.detail(&line);
        }
    }

    fn end_judges_text(&mut self, call: CallId, brought: Brought) {
        if let Some(judge) = &mut self.judge {
            let text = judge.end(call, brought);
            self.print_judges_text(&text);
        }
    }

    fn aborted(&self, reason: AbortReason, elapsed: Duration) {
        let live = self.printer.live();
        if reason == AbortReason::Interrupted && self.manner == Manner::Live && !live.is_hidden() {
            live.leave();
            return self.printer.write_on("\n");
        }
        self.printer.end_line();
        live.update(Screen::stop_all);
        self.settle(elapsed);
        live.stop();
        if reason == AbortReason::CostExceededEstimate {
            self.alert(messages::COST_EXCEEDED);
        }
    }
}

impl Subscriber for Progress {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        if self.manner != Manner::Silent {
            self.learn(envelope);
            let elapsed = envelope.at.since(self.started_at);
            self.tell(&envelope.event, elapsed);
        }
        Ok(())
    }

    fn trouble(&mut self, what: &str) {
        self.printer.warning(what);
    }

    fn delta(&mut self, call: CallId, delta: &Delta) {
        if self.manner == Manner::Live {
            self.printer.live().update(|screen| screen.on(call, delta));
        }
        if let (Some(judge), Delta::Text(piece)) = (&mut self.judge, delta) {
            let text = judge.write(call, piece);
            self.print_judges_text(&text);
        }
    }
}

impl Drop for Progress {
    /// A run that ends without a last event leaves no half-drawn lines behind.
    fn drop(&mut self) {
        if self.manner == Manner::Live {
            self.printer.live().stop();
        }
    }
}
