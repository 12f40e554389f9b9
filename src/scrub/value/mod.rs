//! What a value looks like: random, a password, a dummy, a name of another value.

pub(super) mod words;
pub(super) mod name;
pub(super) mod dummy;
pub(super) mod random;
pub(super) mod password;
pub(super) mod reference;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Quoted,
    /// Quoted, and passed to a call or beside the name, not assigned to it.
    Argument,
    /// Without quotes, from `name: ` or `name = ` to the end of the line.
    Line,
    /// `NAME=value` on a line of its own, before a command, or among others as in `a=b;c=d`.
    EnvironmentLine,
    /// Without quotes, amid other text.
    Inline,
    /// Without quotes, after a colon, where code has types: `password: value,`.
    Annotation,
    /// Without quotes, in a sentence: `the password is value`.
    Sentence,
}

impl ValueForm {
    pub(super) fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted | Self::Argument)
    }

    /// Returns whether the value stands where code has names and types.
    pub(super) fn is_code(self) -> bool {
        matches!(self, Self::Inline | Self::Annotation)
    }

    /// Returns whether the value stands beside the name, and is not assigned to it.
    pub(super) fn is_beside(self) -> bool {
        matches!(self, Self::Argument | Self::Sentence)
    }

    /// Returns whether the value is surely assigned to the name: as a literal or as a setting.
    pub(super) fn is_assigned(self) -> bool {
        matches!(self, Self::Quoted | Self::Line | Self::EnvironmentLine)
    }
}
