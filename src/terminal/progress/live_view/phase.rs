//! An agent's activity in words. Where the row is narrow, the words are cut; their clock stays.

use std::time::Duration;

use super::LiveView;
use super::row::{AgentPhase, AgentRow, CallStage, OpenCall, PendingRetry};
use crate::consultation::event::Purpose;
use crate::engine::ports::LocalProgress;
use crate::terminal::output::format::{clock, thousands};
use crate::terminal::output::style::Tone;
use crate::terminal::progress::judge_stream::CallResult;

/// An activity.
#[derive(Clone, Debug)]
pub(super) struct PhaseText {
    pub(super) words: String,
    /// What follows the words however narrow the row is: a time.
    pub(super) clock: Option<String>,
    pub(super) tone: Tone,
}

impl PhaseText {
    fn new(words: impl Into<String>, tone: Tone) -> Self {
        Self {
            words: words.into(),
            clock: None,
            tone,
        }
    }

    fn with(self, clock: String) -> Self {
        Self {
            clock: Some(clock),
            ..self
        }
    }
}

impl LiveView {
    pub(super) fn phase_text(&self, row: &AgentRow, elapsed: Duration) -> PhaseText {
        match &row.phase {
            AgentPhase::Working(calls) => {
                match calls.iter().max_by_key(|open_call| open_call.stage) {
                    None => self.waiting(row, elapsed),
                    Some(furthest) => {
                        let waited = clock(elapsed.saturating_sub(row.since));
                        call_text(furthest, calls, waited)
                    }
                }
            }
            AgentPhase::Retrying(retry) => self.retrying(row, retry, elapsed),
            AgentPhase::Asking => PhaseText::new("waiting for your answer", Tone::Warning),
            AgentPhase::Failed(reason) => PhaseText::new(format!("failed: {reason}"), Tone::Bad),
            AgentPhase::Stopped => PhaseText::new("stopped", Tone::Quiet),
        }
    }

    fn waiting(&self, row: &AgentRow, elapsed: Duration) -> PhaseText {
        let provider = &row.model.provider;
        if let Some(hold) = self.holds.get(provider).filter(|hold| hold.until > elapsed) {
            let left = whole_seconds(hold.until.saturating_sub(elapsed));
            let words = format!("waiting {left} as {provider} asks ({})", hold.cause);
            return PhaseText::new(words, Tone::Warning);
        }
        let words = if self.is_full(provider) {
            format!("waiting for a free slot at {provider}")
        } else {
            let activity = match row.last_result {
                None => "not sent yet",
                Some(CallResult::Answer) => "reading the answer",
                Some(CallResult::Nothing) => "the call failed",
            };
            activity.to_owned()
        };
        let waited = clock(elapsed.saturating_sub(row.since));
        PhaseText::new(words, Tone::Warning).with(waited)
    }

    fn retrying(&self, row: &AgentRow, retry: &PendingRetry, elapsed: Duration) -> PhaseText {
        let hold = self.holds.get(&row.model.provider);
        let until = hold.map_or(retry.until, |hold| hold.until.max(retry.until));
        if until <= elapsed {
            return self.waiting(row, elapsed);
        }
        let left = whole_seconds(until.saturating_sub(elapsed));
        let attempt = retry.attempt;
        let number = attempt.map(|attempt| format!(" {} of {}", attempt.number, attempt.of));
        let number = number.unwrap_or_default();
        let words = format!("retrying{number} in {left} ({})", retry.cause);
        PhaseText::new(words, Tone::Warning)
    }
}

/// Describes an agent's open calls by the one that is furthest: its stage, why it is not the first
/// one for its answer, or the model of a hedge.
fn call_text(furthest: &OpenCall, calls: &[OpenCall], waited: String) -> PhaseText {
    let (stage, clock) = stage(furthest, waited);
    let note = match (calls, furthest.purpose, furthest.attempt) {
        ([_, hedge, ..], ..) => Some(format!("hedged to {}", hedge.model.model)),
        (_, Purpose::Retry, Some(attempt)) => {
            Some(format!("attempt {} of {}", attempt.number, attempt.of))
        }
        (_, Purpose::Repair, _) => Some("repairs its answer".to_owned()),
        (_, Purpose::MoreRoom, _) => Some("again, with a higher limit".to_owned()),
        (
            _,
            Purpose::Answer
            | Purpose::Retry
            | Purpose::Reformed
            | Purpose::Fallback
            | Purpose::Hedge
            | Purpose::Resumed,
            _,
        ) => None,
    };
    let words = std::iter::once(stage).chain(note).collect::<Vec<_>>();
    PhaseText {
        words: words.join(" · "),
        clock,
        tone: Tone::Plain,
    }
}

/// With the time waited, or left.
fn stage(call: &OpenCall, waited: String) -> (String, Option<String>) {
    let local = |words,
                 LocalProgress {
                     tokens, of, left, ..
                 }: LocalProgress| {
        let left = left.map(|left| format!("about {} left", clock(left)));
        let (tokens, of) = (thousands(tokens), thousands(of));
        let [verb, between] = words;
        (format!("{verb} {tokens} of {between}{of} tokens"), left)
    };
    let words = match call.stage {
        CallStage::Unknown | CallStage::Sent if call.model.provider.is_local() => {
            "waiting for the local model".to_owned()
        }
        CallStage::Unknown => "waiting for the first token".to_owned(),
        CallStage::Sent => "waiting for the first byte".to_owned(),
        CallStage::Answering => "answering".to_owned(),
        CallStage::Thinking => "thinking".to_owned(),
        CallStage::Reading(progress) => return local(["reading", ""], progress),
        CallStage::Writing { ascii, other } => {
            format!("writing {} tokens", thousands(ascii.div_ceil(4) + other))
        }
        CallStage::WritingLocally(progress) => return local(["writing", "at most "], progress),
    };
    (words, Some(waited))
}

/// `4 s`, and a clock from a minute on.
fn whole_seconds(left: Duration) -> String {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        clock(Duration::from_secs(seconds))
    }
}
