//! An agent's activity in words: in full, and in shorter forms of the same truth for narrow
//! terminals.

use std::time::Duration;

use super::LiveView;
use super::row::{
    AgentPhase, AgentRow, CallReply, CallStage, FinishedWork, OpenCall, PendingRetry,
};
use crate::consultation::event::Purpose;
use crate::engine::ports::LocalProgress;
use crate::terminal::output::format::{amount, clock, seconds, thousands};
use crate::terminal::output::style::Paint;

/// An activity.
#[derive(Clone, Debug)]
pub(super) struct PhaseText {
    /// The longest form first.
    pub(super) forms: Vec<String>,
    pub(super) tone: Tone,
}

/// The weight of an activity on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// No work is done meanwhile.
    Waiting,
    Failed,
    Stopped,
}

impl Tone {
    pub(super) fn paint(self, paint: Paint, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Waiting => paint.yellow(text),
            Self::Failed => paint.red(text),
            Self::Stopped => paint.dim(text),
        }
    }
}

impl LiveView {
    /// Describes the activity of an agent.
    pub(super) fn phase_text(&self, row: &AgentRow, elapsed: Duration) -> PhaseText {
        let (forms, tone) = match &row.phase {
            AgentPhase::Working(calls) => {
                match calls.iter().max_by_key(|open_call| open_call.stage) {
                    None => (self.waiting(row, elapsed), Tone::Waiting),
                    Some(furthest) => {
                        let waited = clock(elapsed.saturating_sub(row.since));
                        (call_forms(furthest, calls, &waited), Tone::Plain)
                    }
                }
            }
            AgentPhase::Retrying(retry) => (self.retrying(row, retry, elapsed), Tone::Waiting),
            AgentPhase::Asking => {
                let forms = ["waiting for your answer", "your answer?"];
                (forms.map(str::to_owned).to_vec(), Tone::Waiting)
            }
            AgentPhase::Done(work) => (done(work), Tone::Plain),
            AgentPhase::Failed(reason) => (vec![format!("failed: {reason}")], Tone::Failed),
            AgentPhase::Stopped => (vec!["stopped".to_owned()], Tone::Stopped),
        };
        PhaseText { forms, tone }
    }

    /// Describes what an agent without an open call waits for.
    fn waiting(&self, row: &AgentRow, elapsed: Duration) -> Vec<String> {
        let provider = &row.model.provider;
        if let Some(hold) = self.holds.get(provider).filter(|hold| hold.until > elapsed) {
            let left = whole_seconds(hold.until.saturating_sub(elapsed));
            return vec![
                format!("waiting {left} as {provider} asks ({})", hold.cause),
                format!("waiting {left} ({})", hold.cause),
                format!("waiting {left}"),
            ];
        }
        let waited = clock(elapsed.saturating_sub(row.since));
        if self.is_full(provider) {
            vec![
                format!("waiting for a free slot at {provider} · {waited}"),
                format!("waiting for a slot · {waited}"),
                format!("no slot · {waited}"),
            ]
        } else {
            let activity = match row.last_reply {
                None => "not sent yet",
                Some(CallReply::Answer) => "reading the answer",
                Some(CallReply::Failure) => "the call failed",
            };
            vec![format!("{activity} · {waited}")]
        }
    }

    fn retrying(&self, row: &AgentRow, retry: &PendingRetry, elapsed: Duration) -> Vec<String> {
        let hold = self.holds.get(&row.model.provider);
        let until = hold.map_or(retry.until, |hold| hold.until.max(retry.until));
        if until <= elapsed {
            return self.waiting(row, elapsed);
        }
        let left = whole_seconds(until.saturating_sub(elapsed));
        let cause = &retry.cause;
        match retry.attempt {
            Some(attempt) => {
                let number = format!("{} of {}", attempt.number, attempt.of);
                vec![
                    format!("retrying {number} in {left} ({cause})"),
                    format!("retrying {number} in {left}"),
                    format!("retry in {left}"),
                ]
            }
            None => vec![
                format!("retrying in {left} ({cause})"),
                format!("retry in {left}"),
            ],
        }
    }
}

fn done(work: &FinishedWork) -> Vec<String> {
    let (tokens, cost) = (thousands(work.tokens), amount(work.cost));
    match work.took {
        Some(took) => vec![
            format!("done {} · {tokens} tok · {cost}", seconds(took)),
            format!("{} · {cost}", seconds(took)),
            seconds(took),
        ],
        None => vec![
            format!("done earlier · {tokens} tok · {cost}"),
            "done earlier".to_owned(),
        ],
    }
}

/// Describes an agent's open calls by the one that is furthest, and names the model of a hedge.
fn call_forms(furthest: &OpenCall, calls: &[OpenCall], waited: &str) -> Vec<String> {
    let stages = stage_forms(furthest, waited);
    let shortest = stages.last().cloned().unwrap_or_default();
    if let [_, hedge, ..] = calls {
        let hedged = format!("hedged to {}", hedge.model.model);
        let mut forms: Vec<String> = stages
            .iter()
            .map(|stage| format!("{stage} · {hedged}"))
            .collect();
        forms.extend([format!("{shortest} · hedged"), shortest]);
        return forms;
    }
    let mut forms = Vec::with_capacity(stages.len() + 1);
    if let (Some(note), Some(stage)) = (purpose_note(furthest), stages.first()) {
        forms.push(format!("{stage} · {note}"));
    }
    forms.extend(stages);
    forms
}

/// Describes the stage of a call, the longest form first.
fn stage_forms(call: &OpenCall, waited: &str) -> Vec<String> {
    match call.stage {
        CallStage::Sent if call.model.provider.is_local() => vec![
            format!("waiting for the local model · {waited}"),
            format!("waiting · {waited}"),
        ],
        CallStage::Sent => vec![
            format!("waiting for the first byte · {waited}"),
            format!("no byte yet · {waited}"),
        ],
        CallStage::Thinking => vec![format!("thinking · {waited}")],
        CallStage::Reading(progress) => {
            let LocalProgress { tokens, of, .. } = progress;
            let (tokens, of) = (thousands(tokens), thousands(of));
            local_forms(
                progress,
                [
                    format!("reading {tokens} of {of} tokens"),
                    format!("read {tokens} of {of}"),
                ],
            )
        }
        CallStage::Writing { ascii, other } => {
            let tokens = thousands(ascii.div_ceil(4) + other);
            vec![
                format!("writing {tokens} tokens · {waited}"),
                format!("{tokens} tok · {waited}"),
            ]
        }
        CallStage::WritingLocally(progress) => {
            let LocalProgress { tokens, of, .. } = progress;
            let (tokens, of) = (thousands(tokens), thousands(of));
            local_forms(
                progress,
                [
                    format!("writing {tokens} of at most {of} tokens"),
                    format!("{tokens} of ≤ {of} tok"),
                ],
            )
        }
    }
}

/// Adds the estimate of the time that is left to both forms.
fn local_forms(progress: LocalProgress, [long, short]: [String; 2]) -> Vec<String> {
    match progress.left.map(clock) {
        Some(left) => vec![
            format!("{long} · about {left} left"),
            format!("{long} · ~{left} left"),
            format!("{short} · ~{left} left"),
            short,
        ],
        None => vec![long, short],
    }
}

/// Says why a call is not the first one for its answer.
fn purpose_note(call: &OpenCall) -> Option<String> {
    match (call.purpose, call.attempt) {
        (Purpose::Retry, Some(attempt)) => {
            Some(format!("attempt {} of {}", attempt.number, attempt.of))
        }
        (Purpose::Repair, _) => Some("repairs its answer".to_owned()),
        (Purpose::MoreRoom, _) => Some("again, with a higher limit".to_owned()),
        (
            Purpose::Answer
            | Purpose::Retry
            | Purpose::Reformed
            | Purpose::Fallback
            | Purpose::Hedge
            | Purpose::Resumed,
            _,
        ) => None,
    }
}

/// Formats the time until something happens: `4 s`, and a clock from a minute on.
fn whole_seconds(left: Duration) -> String {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        clock(Duration::from_secs(seconds))
    }
}
