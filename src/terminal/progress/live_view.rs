//! What the live display shows, as a value: it follows the events of a consultation and is turned
//! into lines. Pure. Times count from the start of the run, or from when it went on.

use std::fmt::Write as _;
use std::time::Duration;

use console::{measure_text_width, truncate_str};

use crate::consultation::event::{
    AgentEvent, CallEvent, ConsultationEvent, CostEvent, Event, HealthEvent, JudgeEvent,
    PanelEvent, ProviderEvent, PulseEvent, Purpose, RoundEvent, StateEvent, StateName,
    SubstitutionReason, WhySubstituted,
};
use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::domain::money::Cost;
use crate::engine::ports::Delta;

use super::messages;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{amount, clock, round_title, seconds, thousands};
use crate::terminal::output::style::Paint;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Columns of `done 12.3s · 12,345 tok · $0.0131`.
const LONGEST_PHASE: usize = 33;
pub(in crate::terminal) const FRAME: Duration = Duration::from_millis(100);

/// All that is on the display.
#[derive(Clone, Debug)]
pub(in crate::terminal) struct Screen {
    paint: Paint,
    hidden: bool,
    rows: Vec<Row>,
    /// Widths that names and models take at least, so that the columns of all rounds stand under
    /// each other.
    columns: (usize, usize),
    round: u8,
    rounds: u8,
    spent: Cost,
    estimate: Option<Cost>,
}

/// One agent in one round.
#[derive(Clone, Debug)]
struct Row {
    agent: AgentId,
    name: String,
    model: ModelRef,
    since: Duration,
    phase: Phase,
}

/// What an agent is at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// With these calls under way: none while its provider has no room for one, two when one is
    /// hedged.
    AtWork(Vec<UnderWay>),
    Retrying {
        until: Duration,
    },
    /// The person is asked about it.
    Asking,
    Done {
        took: Duration,
        tokens: u64,
        cost: Cost,
    },
    Failed(String),
    /// The run ended before the agent did.
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct UnderWay {
    call: CallId,
    model: ModelRef,
    stage: Stage,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connecting,
    Thinking,
    /// Characters written so far, by what they count in tokens.
    Writing {
        ascii: u64,
        other: u64,
    },
}

/// How much of a phase there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    Least,
}

impl Phase {
    fn has_ended(&self) -> bool {
        match self {
            Self::Done { .. } | Self::Failed(_) | Self::Stopped => true,
            Self::AtWork(_) | Self::Retrying { .. } | Self::Asking => false,
        }
    }
}

impl Stage {
    fn on(self, delta: &Delta) -> Self {
        match (self, delta) {
            (Self::Connecting | Self::Thinking, Delta::Connected | Delta::Thinking) => {
                Self::Thinking
            }
            (writing @ Self::Writing { .. }, Delta::Connected | Delta::Thinking) => writing,
            (before, Delta::Text(piece)) => {
                let all = piece.chars().count() as u64;
                let new = piece.chars().filter(char::is_ascii).count() as u64;
                let (ascii, other) = match before {
                    Self::Writing { ascii, other } => (ascii, other),
                    Self::Connecting | Self::Thinking => (0, 0),
                };
                Self::Writing {
                    ascii: ascii + new,
                    other: other + all - new,
                }
            }
        }
    }
}

impl Screen {
    pub(in crate::terminal) fn new(paint: Paint) -> Self {
        Self {
            paint,
            hidden: false,
            rows: Vec::new(),
            columns: (0, 0),
            round: 0,
            rounds: 4,
            spent: Cost::FREE,
            estimate: None,
        }
    }

    /// Takes the display away; it goes on following.
    pub(in crate::terminal) fn hide(&mut self) {
        self.hidden = true;
    }

    pub(in crate::terminal) fn show(&mut self) {
        self.hidden = false;
    }

    pub(in crate::terminal) fn clear(&mut self) {
        self.rows.clear();
    }

    /// True when there is nothing to see.
    pub(in crate::terminal) fn is_blank(&self) -> bool {
        self.hidden || self.rows.is_empty()
    }

    /// Takes a sign of life.
    pub(in crate::terminal) fn on(&mut self, call: CallId, delta: &Delta) {
        let calls = self.rows.iter_mut().filter_map(|row| match &mut row.phase {
            Phase::AtWork(calls) => Some(calls),
            Phase::Retrying { .. }
            | Phase::Asking
            | Phase::Done { .. }
            | Phase::Failed(_)
            | Phase::Stopped => None,
        });
        if let Some(found) = calls.flatten().find(|under_way| under_way.call == call) {
            found.stage = found.stage.on(delta);
        }
    }

    /// Takes an event that happens now. Rows stay until the next round begins, or they are taken
    /// away.
    pub(in crate::terminal) fn follow(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                self.columns = messages::columns(&terms.panel)
            }
            Event::Panel(PanelEvent::PersonasSelected(cast)) => {
                self.columns = messages::columns(&cast.panel);
                // Its work is done, and the rows of those whom it chose stand without it.
                self.rows.retain(|row| row.agent != AgentId::Helper);
            }
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                self.estimate = Some(estimate.cost);
                self.rounds = estimate
                    .calls
                    .iter()
                    .map(|call| call.round_number)
                    .max()
                    .unwrap_or(4);
            }
            Event::Round(RoundEvent::Started { round_number }) => {
                // Who is still at work beside the panel stays.
                self.rows.retain(|row| !row.phase.has_ended());
                self.round = *round_number;
            }
            Event::Agent(AgentEvent::Thinking {
                agent_id,
                name,
                model,
                ..
            }) => {
                let row = Row {
                    agent: agent_id.clone(),
                    name: one_line(name),
                    model: model.clone(),
                    since: now,
                    phase: Phase::AtWork(vec![]),
                };
                match self.row(agent_id) {
                    Some(same) => *same = row,
                    None => self.rows.push(row),
                }
            }
            Event::Agent(AgentEvent::Completed {
                agent_id,
                duration_ms,
                tokens,
                cost,
                ..
            }) => {
                let done = Phase::Done {
                    took: Duration::from_millis(*duration_ms),
                    tokens: tokens.total(),
                    cost: *cost,
                };
                self.set(agent_id, done);
            }
            Event::Agent(AgentEvent::Failed {
                agent_id, error, ..
            }) => self.set(agent_id, Phase::Failed(one_line(&error.message))),
            Event::Consultation(ConsultationEvent::SubstitutionOffered { agent_id, .. }) => {
                self.set(agent_id, Phase::Asking)
            }
            Event::Consultation(ConsultationEvent::ProviderSubstituted {
                agent_id,
                substitute,
                reason,
                ..
            }) => {
                if let Some(row) = self.row(agent_id) {
                    row.model = substitute.clone();
                    // Who was faster is under way already.
                    if *reason != SubstitutionReason::Known(WhySubstituted::Hedge) {
                        row.phase = Phase::AtWork(vec![]);
                    }
                }
            }
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                purpose,
                model,
                ..
            }) => {
                if let Some(row) = self.row(agent_id) {
                    let new = UnderWay {
                        call: *call,
                        model: model.clone(),
                        stage: Stage::Connecting,
                    };
                    match &mut row.phase {
                        Phase::AtWork(calls) if *purpose == Purpose::Hedge => calls.push(new),
                        phase => *phase = Phase::AtWork(vec![new]),
                    }
                }
            }
            Event::Call(CallEvent::Retried {
                agent_id, wait_ms, ..
            }) => {
                if let Some(row) = self
                    .row(agent_id)
                    .filter(|row| matches!(&row.phase, Phase::AtWork(calls) if calls.is_empty()))
                {
                    row.phase = Phase::Retrying {
                        until: now + Duration::from_millis(*wait_ms),
                    };
                }
            }
            Event::Call(CallEvent::Finished(call)) => {
                self.spent += call.cost;
                self.drop_call(call.call);
            }
            Event::Call(CallEvent::Cancelled { call, .. }) => self.drop_call(*call),
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                self.go_on(resumed.state, now)
            }
            Event::Consultation(ConsultationEvent::UserConsent { .. })
            | Event::State(StateEvent::Changed { .. })
            | Event::Consultation(ConsultationEvent::RoundArtifact { .. })
            | Event::Judge(JudgeEvent::SecondPass(_))
            | Event::Judge(JudgeEvent::Rejudged(_))
            | Event::Round(RoundEvent::Completed { .. })
            | Event::Consultation(ConsultationEvent::Completed { .. })
            | Event::Consultation(ConsultationEvent::Aborted { .. })
            | Event::Consultation(ConsultationEvent::EarlyTerminationOffered(_))
            | Event::Consultation(ConsultationEvent::EarlyTerminationDecided(_))
            | Event::Cost(CostEvent::GateTriggered { .. })
            | Event::Cost(CostEvent::CeilingReached { .. })
            | Event::Pulse(PulseEvent::Asked { .. })
            | Event::Pulse(PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. })
            | Event::Health(HealthEvent::StatusUpdated(_))
            | Event::Provider(ProviderEvent::Held { .. })
            | Event::Call(CallEvent::Hedged { .. })
            | Event::Call(CallEvent::NotHedged { .. }) => {}
        }
    }

    fn row(&mut self, agent: &AgentId) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| &row.agent == agent)
    }

    fn set(&mut self, agent: &AgentId, phase: Phase) {
        if let Some(row) = self.row(agent) {
            row.phase = phase;
        }
    }

    fn drop_call(&mut self, call: CallId) {
        for row in &mut self.rows {
            if let Phase::AtWork(calls) = &mut row.phase {
                calls.retain(|under_way| under_way.call != call);
            }
        }
    }

    /// Marks all that are still at work as stopped.
    pub(in crate::terminal) fn stop_all(&mut self) {
        for row in self.rows.iter_mut().filter(|row| !row.phase.has_ended()) {
            row.phase = Phase::Stopped;
        }
    }

    /// Those who have no answer yet are at work again.
    fn go_on(&mut self, state: StateName, now: Duration) {
        self.round = messages::round_of(state).unwrap_or(self.round);
        for row in self
            .rows
            .iter_mut()
            .filter(|row| !matches!(row.phase, Phase::Done { .. } | Phase::Failed(_)))
        {
            (row.since, row.phase) = (now, Phase::AtWork(vec![]));
        }
    }

    /// The display as lines, none of them wider than the terminal, and not more than it has rows.
    pub(in crate::terminal) fn lines(
        &self,
        elapsed: Duration,
        width: usize,
        height: usize,
    ) -> Vec<String> {
        if self.is_blank() {
            return Vec::new();
        }
        let mut lines = self.row_lines(elapsed, width);
        let room = height.saturating_sub(3).max(1);
        if lines.len() > room {
            // Those at work are worth the room.
            let (ended, at_work): (Vec<_>, Vec<_>) = lines
                .into_iter()
                .zip(&self.rows)
                .partition(|(_, row)| row.phase.has_ended());
            let done = ended.len();
            lines = at_work
                .into_iter()
                .chain(ended)
                .map(|(line, _)| line)
                .take(room)
                .collect();
            let rest = format!(
                "… {} more, {done} of {} done",
                self.rows.len() - room,
                self.rows.len()
            );
            lines.push(
                self.paint
                    .dim(&truncate_str(&rest, width.saturating_sub(1).max(8), "…")),
            );
        }
        lines.push(self.run_line(elapsed, width));
        lines
    }

    /// Takes the lines of those who are done off the display, to be left behind for good. Who is
    /// still at work stays.
    pub(in crate::terminal) fn settle(&mut self, elapsed: Duration, width: usize) -> Vec<String> {
        let lines = self.row_lines(elapsed, width).into_iter().zip(&self.rows);
        let settled = lines
            .filter(|(_, row)| row.phase.has_ended())
            .map(|(line, _)| line)
            .collect();
        self.rows.retain(|row| !row.phase.has_ended());
        settled
    }

    /// The lines of the agents.
    pub(in crate::terminal) fn row_lines(&self, elapsed: Duration, width: usize) -> Vec<String> {
        // A last column left free: some terminals wrap as soon as it is filled.
        let width = width.saturating_sub(1).max(8);
        let widest = |text: fn(&Row) -> &String, at_least: usize| {
            self.rows
                .iter()
                .map(|row| measure_text_width(text(row)))
                .max()
                .unwrap_or(0)
                .max(at_least)
        };
        let names = widest(|row| &row.name, self.columns.0);
        let detail = if 2 + names + 2 + LONGEST_PHASE <= width {
            Detail::All
        } else {
            Detail::Least
        };
        let phases: Vec<String> = self
            .rows
            .iter()
            .map(|row| self.phase(row, elapsed, detail))
            .collect();
        // A reason for failing is cut rather than the names beside it.
        let phase = phases
            .iter()
            .map(|phase| measure_text_width(phase))
            .max()
            .unwrap_or(0)
            .min(LONGEST_PHASE);
        let name = names.min(width.saturating_sub(phase + 4).clamp(6, 28));
        let model = Some(widest(|row| &row.model.model, self.columns.1))
            .filter(|model| 2 + name + 2 + model + 2 + phase.max(24) <= width);
        let row = |(row, phase): (&Row, &String)| {
            let mut line = format!(
                "{} {}  ",
                self.sign(row, elapsed),
                self.paint.bold(&pad(&row.name, name))
            );
            if let Some(model) = model {
                let _ = write!(line, "{}  ", self.paint.dim(&pad(&row.model.model, model)));
            }
            line.push_str(phase);
            truncate_str(&line, width, "…").into_owned()
        };
        self.rows.iter().zip(&phases).map(row).collect()
    }

    fn sign(&self, row: &Row, elapsed: Duration) -> String {
        match row.phase {
            Phase::Done { .. } => self.paint.green("✔"),
            Phase::Failed(_) => self.paint.red("✘"),
            Phase::Stopped => self.paint.dim("·"),
            Phase::AtWork(_) | Phase::Retrying { .. } | Phase::Asking => {
                let frame = usize::try_from(elapsed.as_millis() / FRAME.as_millis()).unwrap_or(0)
                    % FRAMES.len();
                self.paint.cyan(FRAMES.get(frame).copied().unwrap_or("·"))
            }
        }
    }

    fn phase(&self, row: &Row, elapsed: Duration, detail: Detail) -> String {
        let waited = clock(elapsed.saturating_sub(row.since));
        let waiting = || match detail {
            Detail::All => self
                .paint
                .yellow(&format!("waiting for {} · {waited}", row.model.provider)),
            Detail::Least => self.paint.yellow(&format!("waiting · {waited}")),
        };
        match &row.phase {
            Phase::AtWork(calls) => match calls.iter().max_by_key(|under_way| under_way.stage) {
                None => waiting(),
                Some(furthest) => at_work(furthest.stage, calls, &waited, detail),
            },
            Phase::Retrying { until } => match until.saturating_sub(elapsed).as_secs_f64().ceil() {
                // Its time has come, and its provider has no room for it.
                left if left < 1.0 => waiting(),
                left => self.paint.yellow(&format!("retrying in {left:.0} s")),
            },
            Phase::Asking => self.paint.yellow("waiting for your answer"),
            Phase::Done { took, tokens, cost } => match detail {
                Detail::All => format!(
                    "done {} · {} tok · {}",
                    seconds(*took),
                    thousands(*tokens),
                    amount(*cost)
                ),
                Detail::Least => format!("{} · {}", seconds(*took), amount(*cost)),
            },
            Phase::Failed(reason) => self.paint.red(&format!("failed: {reason}")),
            Phase::Stopped => self.paint.dim("stopped"),
        }
    }

    fn run_line(&self, elapsed: Duration, width: usize) -> String {
        let (paint, time) = (self.paint, clock(elapsed));
        let spent = amount(self.spent);
        let estimate = self.estimate.filter(|estimate| *estimate != Cost::FREE);
        let against = estimate
            .map(|estimate| {
                format!(
                    " of {}{estimate:.2}",
                    if estimate.lower_bound { "" } else { "about " }
                )
            })
            .unwrap_or_default();
        let long = format!(
            "Round {} of {} · {} · {time} · {spent}{against}",
            self.round,
            self.rounds,
            round_title(self.round)
        );
        let short = format!("{}/{} · {time} · {spent}", self.round, self.rounds);
        let width = width.saturating_sub(1).max(8);
        let line = if measure_text_width(&long) <= width {
            long
        } else {
            short
        };
        paint.dim(&truncate_str(&line, width, "…"))
    }
}

/// How far an agent's calls are, the furthest of them for all, and to whom it was hedged.
fn at_work(stage: Stage, calls: &[UnderWay], waited: &str, detail: Detail) -> String {
    let stage = match (stage, detail) {
        (Stage::Connecting, _) => "connecting".to_owned(),
        (Stage::Thinking, _) => "thinking".to_owned(),
        (Stage::Writing { ascii, other }, Detail::All) => {
            format!("writing {} tokens", thousands(ascii.div_ceil(4) + other))
        }
        (Stage::Writing { ascii, other }, Detail::Least) => {
            format!("{} tok", thousands(ascii.div_ceil(4) + other))
        }
    };
    match calls {
        [_, hedge, ..] => format!("{stage} · {waited} · hedged to {}", hedge.model.model),
        [_] | [] => format!("{stage} · {waited}"),
    }
}

/// The text cut or filled up to a width.
fn pad(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    let missing = width.saturating_sub(measure_text_width(&cut));
    format!("{cut}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests;
