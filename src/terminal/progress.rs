//! The progress of a consultation on standard error: live lines on a terminal, plain lines in a pipe, a log or a dumb terminal.
//! How it ended badly is not said here: the command tells that as an error, also when all else is silenced.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consultation::event::{AbortReason, Envelope, Estimate, Event, Started};
use crate::domain::ids::{CallId, SeatId};
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;
use crate::engine::ports::{Delta, Subscriber, SubscriberFailed};

use super::lines;
use super::live::{Phase, Row, Screen};
use super::printer::{Printer, Verbosity};

/// A provider's wish to be left alone for at least this long is told to everyone.
const NEWS_MS: u64 = 2_000;

/// Shows what happens as it happens.
#[derive(Debug)]
pub struct Progress {
    printer: Printer,
    manner: Manner,
    terms: Option<Box<Started>>,
    estimate: Option<Estimate>,
    started_at: Timestamp,
    agents: BTreeMap<CallId, SeatId>,
    spent: Cost,
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

impl Progress {
    /// Live where standard error can be redrawn, else plain; silent when only errors are wanted.
    pub fn new(printer: Printer) -> Self {
        let manner = match printer.verbosity() {
            Verbosity::Quiet => Manner::Silent,
            Verbosity::Normal | Verbosity::Verbose if printer.err_face().is_animated => Manner::Live,
            Verbosity::Normal | Verbosity::Verbose => Manner::Plain,
        };
        Self::in_manner(printer, manner)
    }

    /// Plain lines even on a terminal: for when something else writes to standard error too.
    pub fn plain(printer: Printer) -> Self {
        let manner = if printer.verbosity() == Verbosity::Quiet { Manner::Silent } else { Manner::Plain };
        Self::in_manner(printer, manner)
    }

    fn in_manner(printer: Printer, manner: Manner) -> Self {
        Self { printer, manner, terms: None, estimate: None, started_at: Timestamp::default(), agents: BTreeMap::new(), spent: Cost::FREE }
    }

    /// Learns what an earlier run has said, which is not said again, and shows what is left: a run that goes on.
    pub fn catch_up(&mut self, earlier: &[Envelope], now: Timestamp) {
        let mut rows: Vec<Row> = Vec::new();
        for envelope in earlier {
            let since = Duration::ZERO;
            if let Event::Started(terms) = &envelope.event {
                self.terms = Some(terms.clone());
            } else if let Event::CostEstimated(estimate) = &envelope.event {
                self.estimate = Some(estimate.clone());
            } else if let Event::CallFinished(call) = &envelope.event {
                self.spent += call.cost;
            } else if let Event::AgentThinking { agent_id, name, model, .. } = &envelope.event {
                let (agent, name, model) = (agent_id.clone(), name.clone(), model.model.clone());
                rows.push(Row { agent, name, model, since, phase: Phase::Connecting });
            } else if let Event::AgentCompleted { agent_id, .. } | Event::AgentFailed { agent_id, .. } = &envelope.event {
                rows.retain(|row| row.agent != *agent_id);
            }
        }
        self.started_at = now;
        let Some(terms) = self.terms.as_ref().filter(|_| self.manner == Manner::Live) else { return };
        let (columns, spent, estimate) = (lines::columns(&terms.panel), self.spent, self.estimate.clone());
        self.printer.live().update(|screen| {
            screen.columns = columns;
            screen.spent = spent;
            screen.rows = rows;
            if let Some(estimate) = estimate {
                screen.estimate = Some(estimate.cost);
                screen.rounds = estimate.calls.iter().map(|call| call.round_number).max().unwrap_or(4);
            }
        });
        self.printer.live().start();
    }

    fn note(&self, line: &str) {
        self.printer.note(&lines::fit(line, self.width()));
    }

    fn detail(&self, line: &str) {
        self.printer.detail(&lines::fit(line, self.width()));
    }

    /// `None` where lines are not wrapped.
    fn width(&self) -> Option<usize> {
        Some(self.printer.err_face()).filter(|face| face.is_terminal).map(|face| face.width)
    }

    fn name(&self, agent: &SeatId) -> String {
        let seat = self.terms.as_ref().and_then(|terms| terms.panel.seat(agent));
        seat.map_or_else(|| "Judge".to_owned(), |seat| seat.name().to_owned())
    }

    fn start(&mut self, terms: &Started, at: Timestamp) {
        self.started_at = at;
        self.terms = Some(Box::new(terms.clone()));
        let paint = self.printer.err_face().paint;
        self.note(&paint.bold(&lines::starting(terms)));
        for line in lines::panel(terms, self.width()) {
            self.printer.note(&line);
        }
        for line in lines::notices(terms) {
            self.printer.note(&paint.yellow(&lines::fit(&line, self.width())));
        }
        if self.manner == Manner::Live {
            let columns = lines::columns(&terms.panel);
            self.printer.live().update(|screen| screen.columns = columns);
            self.printer.live().start();
        }
    }

    fn phase(&self, agent: &SeatId, phase: Phase) {
        self.printer.live().update(|screen| {
            if let Some(row) = screen.row(agent) {
                row.phase = phase;
            }
        });
    }

    /// Leaves the lines of a round behind for good and clears the display for the next one.
    fn settle(&self, elapsed: Duration) {
        let width = self.printer.err_face().width;
        let mut settled = Vec::new();
        self.printer.live().update(|screen| {
            settled = screen.row_lines(elapsed, width);
            screen.rows.clear();
        });
        for line in settled {
            self.printer.note(&line);
        }
    }

    fn show(&mut self, envelope: &Envelope) {
        let elapsed = envelope.at.since(self.started_at);
        let live = self.manner == Manner::Live;
        let paint = self.printer.err_face().paint;
        match &envelope.event {
            Event::Started(terms) => self.start(terms, envelope.at),
            Event::CostEstimated(estimate) => {
                if let (Verbosity::Verbose, Some(terms)) = (self.printer.verbosity(), &self.terms) {
                    for line in lines::estimate_detail(estimate, &terms.panel) {
                        self.detail(&line);
                    }
                }
                self.estimate = Some(estimate.clone());
                let rounds = estimate.calls.iter().map(|call| call.round_number).max().unwrap_or(4);
                self.printer.live().update(|screen| {
                    screen.estimate = Some(estimate.cost);
                    screen.rounds = rounds;
                });
            }
            Event::UserConsent { approved, how } => {
                if let Some(line) = lines::consent(self.estimate.as_ref(), *approved, *how) {
                    self.note(&line);
                }
            }
            Event::RoundStarted { round_number } => self.printer.live().update(|screen| screen.round = *round_number),
            Event::AgentThinking { agent_id, name, model, .. } => {
                if live {
                    let row = Row {
                        agent: agent_id.clone(),
                        name: name.clone(),
                        model: model.model.clone(),
                        since: elapsed,
                        phase: Phase::Connecting,
                    };
                    self.printer.live().update(|screen| screen.rows.push(row));
                } else {
                    self.note(&lines::thinking(name));
                }
            }
            Event::AgentCompleted { agent_id, name, duration_ms, tokens, cost, .. } => {
                if live {
                    let took = Duration::from_millis(*duration_ms);
                    self.phase(agent_id, Phase::Done { took, tokens: tokens.total(), cost: *cost });
                } else {
                    self.note(&lines::completed(name, *duration_ms));
                }
            }
            Event::AgentFailed { agent_id, name, error, .. } => {
                self.phase(agent_id, Phase::Failed(super::escape::one_line(&error.message)));
                self.printer.note(&paint.yellow(&lines::fit(&lines::failed(name, &error.message), self.width())));
            }
            Event::ProviderSubstituted { agent_id, original, substitute, reason, message, .. } => {
                self.printer.live().update(|screen| screen.rows.retain(|row| row.agent != *agent_id));
                let said = lines::substituted(&self.name(agent_id), original, substitute, &reason.in_words(message));
                self.printer.note(&paint.yellow(&lines::fit(&said, self.width())));
            }
            Event::RoundCompleted { round_number, .. } => {
                self.settle(elapsed);
                self.note(&paint.bold(&lines::round_complete(*round_number)));
            }
            Event::Completed { .. } => {
                self.settle(elapsed);
                self.printer.live().stop();
                self.note(&paint.bold(&lines::complete()));
            }
            Event::Aborted { reason: AbortReason::Interrupted, .. } if live && !self.printer.live().is_hidden() => {
                self.printer.live().leave();
                self.printer.prompt("\n");
            }
            Event::Aborted { .. } => {
                self.printer.live().update(Screen::stop_all);
                self.settle(elapsed);
                self.printer.live().stop();
            }
            Event::CallStarted { call, agent_id, .. } => {
                self.agents.insert(*call, agent_id.clone());
                self.phase(agent_id, Phase::Connecting);
            }
            Event::CallRetried { agent_id, wait_ms, reason, .. } => {
                self.phase(agent_id, Phase::Retrying { until: elapsed + Duration::from_millis(*wait_ms) });
                self.detail(&lines::retried(&self.name(agent_id), *wait_ms, reason));
            }
            // A short backoff is no news to somebody who waits for minutes.
            Event::ProviderHeld { provider, wait_ms, reason } if *wait_ms >= NEWS_MS => {
                self.note(&lines::held(provider, *wait_ms, reason));
            }
            Event::ProviderHeld { provider, wait_ms, reason } => self.detail(&lines::held(provider, *wait_ms, reason)),
            Event::CallFinished(call) => {
                self.agents.remove(&call.call);
                self.spent += call.cost;
                let spent = self.spent;
                self.printer.live().update(|screen| screen.spent = spent);
                if let Some(served) = call.served_model.as_deref().filter(|served| !call.model.is_served_as(served)) {
                    self.detail(&lines::served(&self.name(&call.agent_id), &call.model, served));
                }
                for line in lines::problems(&self.name(&call.agent_id), call) {
                    self.detail(&line);
                }
            }
            Event::CallCancelled { call, .. } => {
                self.agents.remove(call);
            }
            Event::StateChanged { .. }
            | Event::RoundArtifact { .. }
            | Event::SubstitutionOffered { .. }
            | Event::Resumed(_)
            | Event::CostGate { .. }
            | Event::CeilingReached { .. }
            | Event::PulseAsked { .. }
            | Event::PulseAnswered { .. }
            | Event::HealthCheckStarted { .. }
            | Event::HealthUpdated(_)
            | Event::CallHedged { .. }
            | Event::CallNotHedged { .. } => {}
        }
    }
}

impl Subscriber for Progress {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberFailed> {
        if self.manner != Manner::Silent {
            self.show(envelope);
        }
        Ok(())
    }

    fn trouble(&mut self, what: &str) {
        self.printer.warning(what);
    }

    fn delta(&mut self, call: CallId, delta: &Delta) {
        let Some(agent) = self.agents.get(&call).filter(|_| self.manner == Manner::Live) else { return };
        self.printer.live().update(|screen| {
            let Some(row) = screen.row(agent) else { return };
            match delta {
                Delta::Connected | Delta::Thinking => row.phase = Phase::Thinking,
                Delta::Text(piece) => row.phase.write(piece),
            }
        });
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
