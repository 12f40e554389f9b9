//! What the live display shows, as a value: it follows the events of a consultation and is turned into lines. Pure.
//! Times count from the start of the run, or from when it went on.

use std::fmt::Write as _;
use std::time::Duration;

use console::{measure_text_width, truncate_str};

use crate::consultation::event::{Event, Purpose, StateName, SubstitutionReason, WhySubstituted};
use crate::domain::ids::{CallId, ModelRef, SeatId};
use crate::domain::money::Cost;
use crate::engine::ports::Delta;

use super::escape::one_line;
use super::lines;
use super::paint::Paint;
use super::words::{amount, clock, round_title, seconds, thousands};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Columns of `done 12.3s · 12,345 tok · $0.0131`.
const LONGEST_PHASE: usize = 33;
pub(super) const FRAME: Duration = Duration::from_millis(100);

/// All that is on the display.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    paint: Paint,
    hidden: bool,
    rows: Vec<Row>,
    /// Widths that names and models take at least, so that the columns of all rounds stand under each other.
    columns: (usize, usize),
    round: u8,
    rounds: u8,
    spent: Cost,
    estimate: Option<Cost>,
}

/// One agent in one round.
#[derive(Clone, Debug)]
struct Row {
    agent: SeatId,
    name: String,
    model: ModelRef,
    since: Duration,
    phase: Phase,
}

/// What an agent is at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// With these calls under way: none while its provider has no room for one, two when one is hedged.
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
            (Self::Connecting | Self::Thinking, Delta::Connected | Delta::Thinking) => Self::Thinking,
            (writing @ Self::Writing { .. }, Delta::Connected | Delta::Thinking) => writing,
            (before, Delta::Text(piece)) => {
                let all = piece.chars().count() as u64;
                let new = piece.chars().filter(char::is_ascii).count() as u64;
                let (ascii, other) = match before {
                    Self::Writing { ascii, other } => (ascii, other),
                    Self::Connecting | Self::Thinking => (0, 0),
                };
                Self::Writing { ascii: ascii + new, other: other + all - new }
            }
        }
    }
}

impl Screen {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, hidden: false, rows: Vec::new(), columns: (0, 0), round: 0, rounds: 4, spent: Cost::FREE, estimate: None }
    }

    /// Takes the display away; it goes on following.
    pub(super) fn hide(&mut self) {
        self.hidden = true;
    }

    pub(super) fn show(&mut self) {
        self.hidden = false;
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// True when there is nothing to see.
    pub(super) fn is_blank(&self) -> bool {
        self.hidden || self.rows.is_empty()
    }

    /// Takes a sign of life.
    pub(super) fn on(&mut self, call: CallId, delta: &Delta) {
        let calls = self.rows.iter_mut().filter_map(|row| match &mut row.phase {
            Phase::AtWork(calls) => Some(calls),
            Phase::Retrying { .. } | Phase::Asking | Phase::Done { .. } | Phase::Failed(_) | Phase::Stopped => None,
        });
        if let Some(found) = calls.flatten().find(|under_way| under_way.call == call) {
            found.stage = found.stage.on(delta);
        }
    }

    /// Takes an event that happens now. Rows stay until the next round begins, or they are taken away.
    pub(super) fn follow(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Started(terms) => self.columns = lines::columns(&terms.panel),
            Event::CostEstimated(estimate) => {
                self.estimate = Some(estimate.cost);
                self.rounds = estimate.calls.iter().map(|call| call.round_number).max().unwrap_or(4);
            }
            Event::RoundStarted { round_number } => {
                self.clear();
                self.round = *round_number;
            }
            Event::AgentThinking { agent_id, name, model, .. } => {
                let row =
                    Row { agent: agent_id.clone(), name: one_line(name), model: model.clone(), since: now, phase: Phase::AtWork(vec![]) };
                match self.row(agent_id) {
                    Some(same) => *same = row,
                    None => self.rows.push(row),
                }
            }
            Event::AgentCompleted { agent_id, duration_ms, tokens, cost, .. } => {
                let done = Phase::Done { took: Duration::from_millis(*duration_ms), tokens: tokens.total(), cost: *cost };
                self.set(agent_id, done);
            }
            Event::AgentFailed { agent_id, error, .. } => self.set(agent_id, Phase::Failed(one_line(&error.message))),
            Event::SubstitutionOffered { agent_id, .. } => self.set(agent_id, Phase::Asking),
            Event::ProviderSubstituted { agent_id, substitute, reason, .. } => {
                if let Some(row) = self.row(agent_id) {
                    row.model = substitute.clone();
                    // Who was faster is under way already.
                    if *reason != SubstitutionReason::Known(WhySubstituted::Hedge) {
                        row.phase = Phase::AtWork(vec![]);
                    }
                }
            }
            Event::CallStarted { call, agent_id, purpose, model, .. } => {
                if let Some(row) = self.row(agent_id) {
                    let new = UnderWay { call: *call, model: model.clone(), stage: Stage::Connecting };
                    match &mut row.phase {
                        Phase::AtWork(calls) if *purpose == Purpose::Hedge => calls.push(new),
                        phase => *phase = Phase::AtWork(vec![new]),
                    }
                }
            }
            Event::CallRetried { agent_id, wait_ms, .. } => {
                if let Some(row) = self.row(agent_id).filter(|row| matches!(&row.phase, Phase::AtWork(calls) if calls.is_empty())) {
                    row.phase = Phase::Retrying { until: now + Duration::from_millis(*wait_ms) };
                }
            }
            Event::CallFinished(call) => {
                self.spent += call.cost;
                self.drop_call(call.call);
            }
            Event::CallCancelled { call, .. } => self.drop_call(*call),
            Event::Resumed(resumed) => self.go_on(resumed.state, now),
            Event::UserConsent { .. }
            | Event::StateChanged { .. }
            | Event::RoundArtifact { .. }
            | Event::RoundCompleted { .. }
            | Event::Completed { .. }
            | Event::Aborted { .. }
            | Event::CostGate { .. }
            | Event::CeilingReached { .. }
            | Event::PulseAsked { .. }
            | Event::PulseAnswered { .. }
            | Event::HealthCheckStarted { .. }
            | Event::HealthUpdated(_)
            | Event::ProviderHeld { .. }
            | Event::CallHedged { .. }
            | Event::CallNotHedged { .. } => {}
        }
    }

    fn row(&mut self, agent: &SeatId) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| &row.agent == agent)
    }

    fn set(&mut self, agent: &SeatId, phase: Phase) {
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
    pub(super) fn stop_all(&mut self) {
        for row in self.rows.iter_mut().filter(|row| !row.phase.has_ended()) {
            row.phase = Phase::Stopped;
        }
    }

    /// Those who have no answer yet are at work again.
    fn go_on(&mut self, state: StateName, now: Duration) {
        self.round = lines::round_of(state).unwrap_or(self.round);
        for row in self.rows.iter_mut().filter(|row| !matches!(row.phase, Phase::Done { .. } | Phase::Failed(_))) {
            (row.since, row.phase) = (now, Phase::AtWork(vec![]));
        }
    }

    /// The display as lines, none of them wider than the terminal, and not more than it has rows.
    pub(super) fn lines(&self, elapsed: Duration, width: usize, height: usize) -> Vec<String> {
        if self.is_blank() {
            return Vec::new();
        }
        let mut lines = self.row_lines(elapsed, width);
        let room = height.saturating_sub(3).max(1);
        if lines.len() > room {
            // Those at work are worth the room.
            let (ended, at_work): (Vec<_>, Vec<_>) = lines.into_iter().zip(&self.rows).partition(|(_, row)| row.phase.has_ended());
            let done = ended.len();
            lines = at_work.into_iter().chain(ended).map(|(line, _)| line).take(room).collect();
            let rest = format!("… {} more, {done} of {} done", self.rows.len() - room, self.rows.len());
            lines.push(self.paint.dim(&truncate_str(&rest, width.saturating_sub(1).max(8), "…")));
        }
        lines.push(self.run_line(elapsed, width));
        lines
    }

    /// The lines of the agents.
    pub(super) fn row_lines(&self, elapsed: Duration, width: usize) -> Vec<String> {
        // A last column left free: some terminals wrap as soon as it is filled.
        let width = width.saturating_sub(1).max(8);
        let widest = |text: fn(&Row) -> &String, at_least: usize| {
            self.rows.iter().map(|row| measure_text_width(text(row))).max().unwrap_or(0).max(at_least)
        };
        let names = widest(|row| &row.name, self.columns.0);
        let detail = if 2 + names + 2 + LONGEST_PHASE <= width { Detail::All } else { Detail::Least };
        let phases: Vec<String> = self.rows.iter().map(|row| self.phase(row, elapsed, detail)).collect();
        // A reason for failing is cut rather than the names beside it.
        let phase = phases.iter().map(|phase| measure_text_width(phase)).max().unwrap_or(0).min(LONGEST_PHASE);
        let name = names.min(width.saturating_sub(phase + 4).clamp(6, 28));
        let model = Some(widest(|row| &row.model.model, self.columns.1)).filter(|model| 2 + name + 2 + model + 2 + phase.max(24) <= width);
        let row = |(row, phase): (&Row, &String)| {
            let mut line = format!("{} {}  ", self.sign(row, elapsed), self.paint.bold(&pad(&row.name, name)));
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
                let frame = usize::try_from(elapsed.as_millis() / FRAME.as_millis()).unwrap_or(0) % FRAMES.len();
                self.paint.cyan(FRAMES.get(frame).copied().unwrap_or("·"))
            }
        }
    }

    fn phase(&self, row: &Row, elapsed: Duration, detail: Detail) -> String {
        let waited = clock(elapsed.saturating_sub(row.since));
        let waiting = || match detail {
            Detail::All => self.paint.yellow(&format!("waiting for {} · {waited}", row.model.provider)),
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
                Detail::All => format!("done {} · {} tok · {}", seconds(*took), thousands(*tokens), amount(*cost)),
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
        let against =
            estimate.map(|estimate| format!(" of {}{estimate:.2}", if estimate.lower_bound { "" } else { "about " })).unwrap_or_default();
        let long = format!("Round {} of {} · {} · {time} · {spent}{against}", self.round, self.rounds, round_title(self.round));
        let short = format!("{}/{} · {time} · {spent}", self.round, self.rounds);
        let width = width.saturating_sub(1).max(8);
        let line = if measure_text_width(&long) <= width { long } else { short };
        paint.dim(&truncate_str(&line, width, "…"))
    }
}

/// How far an agent's calls are, the furthest of them for all, and to whom it was hedged.
fn at_work(stage: Stage, calls: &[UnderWay], waited: &str, detail: Detail) -> String {
    let stage = match (stage, detail) {
        (Stage::Connecting, _) => "connecting".to_owned(),
        (Stage::Thinking, _) => "thinking".to_owned(),
        (Stage::Writing { ascii, other }, Detail::All) => format!("writing {} tokens", thousands(ascii.div_ceil(4) + other)),
        (Stage::Writing { ascii, other }, Detail::Least) => format!("{} tok", thousands(ascii.div_ceil(4) + other)),
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
mod tests {
    use super::*;
    use crate::consultation::answer::AnswerKind;
    use crate::consultation::call::FailureClass;
    use crate::consultation::event::{AgentError, CancelReason, Resumed};
    use crate::consultation::plan::Control;
    use crate::consultation::policy::consent::Standing;
    use crate::domain::money::MicroUsd;
    use crate::domain::tokens::Usage;

    const START: Duration = Duration::from_secs(2);

    /// Follows events that all happen two seconds after the start.
    fn screen(events: &[Event]) -> Screen {
        let mut screen = Screen::new(Paint::Plain);
        screen.follow(&Event::RoundStarted { round_number: 1 }, START);
        for event in events {
            screen.follow(event, START);
        }
        screen
    }

    fn shown(screen: &Screen) -> String {
        screen.lines(Duration::from_millis(10_400), 100, 24).join("\n")
    }

    fn thinking(agent: &str, name: &str, model: &str) -> Event {
        let (agent_id, model) = (SeatId::new(agent), ModelRef::new("openai", model));
        Event::AgentThinking { agent_id, name: name.to_owned(), round_number: 1, answer: AnswerKind::Independent, model }
    }

    fn started(call: u32, agent: &str, model: &str, purpose: Purpose) -> Event {
        Event::CallStarted {
            call: CallId(call),
            agent_id: SeatId::new(agent),
            round_number: 1,
            answer: AnswerKind::Independent,
            purpose,
            model: ModelRef::new("xai", model),
            room: 1,
            prompt_sha256: String::new(),
            worst_case: None,
            tokens_saved: 0,
        }
    }

    fn done(agent: &str) -> Event {
        Event::AgentCompleted {
            agent_id: SeatId::new(agent),
            name: String::new(),
            round_number: 1,
            answer: AnswerKind::Independent,
            duration_ms: 8_200,
            tokens: Usage { output: 1_204, ..Usage::default() },
            cost: Cost::exactly(MicroUsd(13_100)),
        }
    }

    fn failed(agent: &str) -> Event {
        Event::AgentFailed {
            agent_id: SeatId::new(agent),
            name: String::new(),
            round_number: 1,
            answer: AnswerKind::Independent,
            model: ModelRef::new("p", "m"),
            error: AgentError { class: Some(FailureClass::Billing), message: "no credit left".to_owned() },
        }
    }

    fn cancelled(call: u32) -> Event {
        Event::CallCancelled { call: CallId(call), reason: CancelReason::HedgeLost }
    }

    fn four() -> Screen {
        let mut screen = screen(&[
            thinking("security", "Security Expert", "claude-sonnet-5-5"),
            thinking("architect", "Architect", "gpt-6.1-sol"),
            thinking("pragmatic", "Pragmatist", "gemini-3-pro"),
            thinking("skeptic", "建築家 with a very long name indeed", "m"),
            done("security"),
            started(2, "architect", "gpt-6.1-sol", Purpose::Answer),
            Event::CallRetried { call: CallId(3), agent_id: SeatId::new("pragmatic"), wait_ms: 12_000, reason: String::new() },
            failed("skeptic"),
        ]);
        screen.on(CallId(2), &Delta::Text("a".repeat(400) + "é日"));
        screen.spent = Cost::exactly(MicroUsd(13_100));
        screen.estimate = Some(Cost::at_least(MicroUsd(300_000)));
        screen
    }

    #[test]
    fn each_agent_has_a_line_that_says_what_it_is_at() {
        insta::assert_snapshot!(shown(&four()), @r"
        ✔ Security Expert               claude-sonnet-5-5  done 8.2s · 1,204 tok · $0.0131
        ⠼ Architect                     gpt-6.1-sol        writing 102 tokens · 0:08
        ⠼ Pragmatist                    gemini-3-pro       retrying in 4 s
        ✘ 建築家 with a very long nam…  m                  failed: no credit left
        Round 1 of 4 · independent answers · 0:10 · $0.0131 of ≥ $0.30
        ");
    }

    #[test]
    fn an_agent_waits_for_its_provider_or_for_the_person() {
        let offered = Event::SubstitutionOffered {
            agent_id: SeatId::new("b"),
            round_number: 1,
            original: ModelRef::new("p", "m"),
            substitute: ModelRef::new("q", "n"),
            reason: SubstitutionReason::Known(WhySubstituted::Timeout),
            message: String::new(),
        };
        let mut screen = screen(&[
            thinking("a", "Architect", "sol"),
            thinking("b", "Pragmatist", "sol"),
            thinking("c", "Skeptic", "sol"),
            offered,
            started(1, "c", "sol", Purpose::Answer),
        ]);
        insta::assert_snapshot!(shown(&screen), @r"
        ⠼ Architect   sol  waiting for openai · 0:08
        ⠼ Pragmatist  sol  waiting for your answer
        ⠼ Skeptic     sol  connecting · 0:08
        Round 1 of 4 · independent answers · 0:10 · $0.00
        ");
        screen.on(CallId(1), &Delta::Connected);
        assert!(shown(&screen).contains("Skeptic     sol  thinking · 0:08"));
        assert!(screen.lines(START, 40, 24)[0].ends_with("waiting · 0:00"));
    }

    #[test]
    fn a_hedge_is_named_until_one_of_the_two_is_gone() {
        let begin =
            [thinking("a", "Architect", "sol"), started(1, "a", "sol", Purpose::Answer), started(2, "a", "grok-4.7", Purpose::Hedge)];
        let mut hedged = screen(&begin);
        assert!(shown(&hedged).contains("sol  connecting · 0:08 · hedged to grok-4.7\n"), "{}", shown(&hedged));
        hedged.on(CallId(2), &Delta::Text("four".to_owned()));
        assert!(shown(&hedged).contains("sol  writing 1 tokens · 0:08 · hedged to grok-4.7\n"), "{}", shown(&hedged));
        hedged.follow(&cancelled(1), START);
        hedged.follow(
            &Event::ProviderSubstituted {
                agent_id: SeatId::new("a"),
                round_number: 1,
                original: ModelRef::new("openai", "sol"),
                substitute: ModelRef::new("xai", "grok-4.7"),
                reason: SubstitutionReason::Known(WhySubstituted::Hedge),
                message: String::new(),
            },
            START,
        );
        assert!(shown(&hedged).contains("Architect  grok-4.7  writing 1 tokens · 0:08\n"), "{}", shown(&hedged));
        let mut lost = screen(&begin);
        lost.follow(&cancelled(2), START);
        assert!(shown(&lost).contains("sol  connecting · 0:08\n"), "{}", shown(&lost));
    }

    #[test]
    fn who_takes_over_has_the_line_of_who_failed() {
        let mut screen = screen(&[thinking("a", "Architect", "sol"), failed("a")]);
        let substituted = Event::ProviderSubstituted {
            agent_id: SeatId::new("a"),
            round_number: 1,
            original: ModelRef::new("openai", "sol"),
            substitute: ModelRef::new("xai", "grok"),
            reason: SubstitutionReason::Known(WhySubstituted::Failure),
            message: String::new(),
        };
        screen.follow(&substituted, START);
        assert!(shown(&screen).starts_with("⠼ Architect  grok  waiting for xai · 0:08\nRound"), "{}", shown(&screen));
        screen.follow(&thinking("a", "Architect", "grok"), START);
        assert_eq!(shown(&screen).lines().count(), 2);
    }

    #[test]
    fn what_was_interrupted_goes_on_where_it_was() {
        let mut screen = screen(&[thinking("a", "Architect", "sol"), thinking("b", "Skeptic", "sol"), done("a")]);
        screen.stop_all();
        assert!(shown(&screen).contains("· Skeptic    sol  stopped\n"), "{}", shown(&screen));
        let resumed = Resumed {
            state: StateName::Independent,
            lost_calls: vec![],
            control: Control::usual(Standing::Granted),
            tool_version: String::new(),
        };
        screen.follow(&Event::Resumed(Box::new(resumed)), Duration::from_secs(10));
        let lines = shown(&screen);
        assert!(lines.contains("✔ Architect") && lines.contains("Skeptic    sol  waiting for openai · 0:00\n"), "{lines}");
    }

    #[test]
    fn a_narrow_terminal_drops_the_model_first_and_no_line_is_wider_than_it() {
        insta::assert_snapshot!(four().lines(Duration::from_millis(10_400), 50, 24).join("\n"), @r"
        ✔ Security Expert          8.2s · $0.0131
        ⠼ Architect                102 tok · 0:08
        ⠼ Pragmatist               retrying in 4 s
        ✘ 建築家 with a very lon…  failed: no credit left
        1/4 · 0:10 · $0.0131
        ");
        let mut screen = four();
        screen.follow(&started(4, "architect", "a-model-with-a-long-name", Purpose::Hedge), START);
        for width in 10..130 {
            for line in screen.lines(Duration::from_secs(3_700), width, 24) {
                assert!(measure_text_width(&line) < width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_low_terminal_shows_who_is_at_work_and_how_the_run_stands() {
        insta::assert_snapshot!(four().lines(Duration::from_millis(10_400), 60, 5).join("\n"), @r"
        ⠼ Architect                     102 tok · 0:08
        ⠼ Pragmatist                    retrying in 4 s
        … 2 more, 2 of 4 done
        1/4 · 0:10 · $0.0131
        ");
    }
}
