//! What the texts of one turn say: status blocks and tags, stated confidence, words, errors, and
//! obstacles. All of it is read without judging it: [`crate::stopping::exit_check`] decides.

use super::response::AgentResponse;
use crate::stopping::exit_check::evidence::{
    ErrorSignature, Obstacle, SeedWords, StatusSignal, Words,
};

/// What a person says about the texts of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignalOptions<'a> {
    /// The prompt of the loop; where the message repeats it, it is ignored.
    pub prompt: Option<&'a str>,
    /// The text of `<promise>…</promise>` that means done, instead of the common ones.
    pub promise: Option<&'a str>,
}

/// The parts of the evidence that are read from texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEvidence {
    /// The last status block or tag of the last message.
    pub status: Option<StatusSignal>,
    /// The confidence that the agent states as a number, in percent, at most 100.
    pub stated_confidence: Option<u8>,
    /// `None` without a message.
    pub words: Option<Words>,
    /// `None` without a message.
    pub seed_words: Option<SeedWords>,
    /// Distinct and sorted.
    pub errors: Vec<ErrorSignature>,
    pub obstacle: Option<Obstacle>,
}

/// Reads the texts of one turn.
pub fn read(response: &AgentResponse, options: &SignalOptions<'_>) -> TextEvidence {
    let _ = options;
    let has_message = !response.last_message.trim().is_empty();
    TextEvidence {
        words: has_message.then(Words::default),
        seed_words: has_message.then(SeedWords::default),
        ..TextEvidence::default()
    }
}
