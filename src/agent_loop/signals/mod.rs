//! What the texts of one turn say: status blocks and tags, stated confidence, words, errors, and
//! obstacles. All of it is read without judging it: [`crate::stopping::exit_check`] decides.

mod status;
mod numbers;
mod words;
mod phrases;
mod seed_words;
mod admissions;
mod errors;
mod obstacle;

use std::ops::Range;

pub use errors::signature;

use super::response::AgentResponse;
use super::text::{Block, Message};
use crate::stopping::exit_check::evidence::{StatedState, TurnEvidence, Words};

/// What a person says about the texts of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignalOptions<'a> {
    /// The prompt of the loop; where the message repeats it, it is ignored.
    pub prompt: Option<&'a str>,
    /// The text of `<promise>…</promise>` that means done, instead of the common ones.
    pub promise: Option<&'a str>,
}

/// The bytes at the end of a message whose words count, from the beginning of a block. What an
/// agent says long before the end, such as a plan that it has carried out since, is over.
const ENDING: usize = 32_768;

/// The longest text that is handed over for masking, in characters. What is recorded of it is far
/// shorter, so that no secret is cut before it is masked.
const LONGEST_UNMASKED: usize = 2_000;

/// Reads the texts of one turn: the parts of the evidence that they state, and the lines of distinct
/// errors, whose secrets are not masked yet.
pub fn read(response: &AgentResponse, options: &SignalOptions<'_>) -> (TurnEvidence, Vec<String>) {
    let message = Message::read(&response.last_message, options.prompt);
    let has_message = !message.text.trim().is_empty();
    let obstacle = obstacle::read(response, &message);
    let status = status::read(&message, options.promise);
    let prose = ending(&message, &status.ranges);
    let is_done = status
        .signal
        .as_ref()
        .is_some_and(|signal| signal.state == StatedState::Done);
    // The message of a program that could not work is not the agent's.
    let speaks = has_message && obstacle.is_none() && !obstacle::is_program_failure(&message);
    let errors = errors::read(response, &message, obstacle.as_ref());
    let evidence = TurnEvidence {
        stated_confidence: numbers::read(&prose).or(status.confidence),
        words: has_message.then(|| {
            if speaks {
                words::read(&message, &prose, is_done)
            } else {
                Words::default()
            }
        }),
        seed_words: has_message.then(|| seed_words::count(&response.last_message)),
        status: status.signal,
        obstacle,
        ..TurnEvidence::default()
    };
    (evidence, errors)
}

fn ending<'a>(message: &'a Message, signals: &[Range<usize>]) -> Vec<&'a Block> {
    let start = message.text.len().saturating_sub(ENDING);
    let blocks = message.blocks.iter();
    let blocks = blocks.skip_while(|block| block.range.end <= start);
    blocks.filter(|block| !overlaps(block, signals)).collect()
}

/// A signal's words are not prose.
fn overlaps(block: &Block, signals: &[Range<usize>]) -> bool {
    let signal = signals
        .iter()
        .find(|signal| signal.start < block.range.end && block.range.start < signal.end);
    // A tag at the end of a sentence leaves the sentence.
    signal.is_some_and(|signal| {
        let own = block.range.len().saturating_sub(signal.len());
        own < signal.len() || signal.start <= block.range.start
    })
}

#[cfg(test)]
mod tests;
