//! Decides whether enough experts answered for a round to count.

/// The decision on a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// Enough answered.
    Met,
    /// No expert answered.
    NoAnswers,
}

/// One answer is enough: a failed expert does not stop the others.
pub fn quorum(answered: usize) -> Quorum {
    match answered {
        0 => Quorum::NoAnswers,
        1.. => Quorum::Met,
    }
}
