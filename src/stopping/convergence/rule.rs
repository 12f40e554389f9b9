//! The names of the rules, in the order in which their tree lists them.

/// A rule of convergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConvergenceRule {
    MinimumIterations,
    MaximumIterations,
    QuestionStability,
    LowQuestions,
    HighConfidence,
    OpenBlockers,
    Parsed,
    Oscillation,
    NothingToAsk,
}

impl ConvergenceRule {
    pub const ALL: [Self; 9] = [
        Self::MinimumIterations,
        Self::MaximumIterations,
        Self::QuestionStability,
        Self::LowQuestions,
        Self::HighConfidence,
        Self::OpenBlockers,
        Self::Parsed,
        Self::Oscillation,
        Self::NothingToAsk,
    ];

    /// Returns its name in an evaluation.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinimumIterations => "minimum_iterations",
            Self::MaximumIterations => "maximum_iterations",
            Self::QuestionStability => "question_stability",
            Self::LowQuestions => "low_questions",
            Self::HighConfidence => "high_confidence",
            Self::OpenBlockers => "open_blockers",
            Self::Parsed => "parsed",
            Self::Oscillation => "oscillation",
            Self::NothingToAsk => "nothing_to_ask",
        }
    }
}
