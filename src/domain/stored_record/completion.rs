//! Whether a consultation ran to its end.

/// Whether a consultation ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Completion {
    Completed,
    Aborted,
    /// Its estimated cost was not agreed to, so nothing was asked or spent.
    Declined,
    /// Neither completed nor aborted: the process was killed or is still running.
    Unfinished,
}

impl Completion {
    /// Returns the completion for a recorded state.
    pub fn from_state(state: &str) -> Self {
        if state.eq_ignore_ascii_case("complete") {
            Self::Completed
        } else if state.eq_ignore_ascii_case("aborted") {
            Self::Aborted
        } else {
            Self::Unfinished
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Declined => "declined",
            Self::Unfinished => "unfinished",
        }
    }
}
