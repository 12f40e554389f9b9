//! Recorded answers to one question, in the order in which the voters are asked.

/// An answer, as the number that a table of answers has given it: equal answers have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerKey(pub u32);

/// One question with its right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedQuestion {
    pub gold: AnswerKey,
    /// One entry for each voter; `None` for a voter that was asked and gave no answer.
    pub answers: Vec<Option<AnswerKey>>,
    /// The number of answers that the question offers, if known.
    pub options: Option<usize>,
}
