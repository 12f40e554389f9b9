//! What a failed call means for its provider, its cost and its repetition: one row for each class
//! of failures.

use super::health::Signal;
use crate::consultation::protocol::call::FailureClass;

/// The meaning of a class of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureMeaning {
    /// What it shows of the provider's health; `None` if the failure is the program's own.
    pub signal: Option<Signal>,
    pub remedy: Remedy,
    pub bill: Bill,
    /// Whether the next call to the same provider would fail in the same way.
    pub counts_against_provider: bool,
    /// Whether it says nothing of the model or the request.
    pub is_infrastructure: bool,
    /// Whether the call did not reach a model: the key is refused, or there is no connection.
    pub is_about_access: bool,
}

/// The response to a class of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A transient failure: wait as long as the provider asks, or back off.
    Wait,
    /// A limit that ends at a known time: wait as long as the provider asks, or not at all.
    WaitAsAsked,
    /// A reply without any content, from a cold start: wait once, unless thinking was paid for.
    WaitOnce,
    /// The provider leaves out what was refused.
    Reform,
    Nothing,
}

/// Whether a failed call was billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bill {
    /// Not, beyond the reported usage.
    Nothing,
    /// As reported; unknown without a report.
    Reported,
    /// Unknown, unless the provider reports that nothing was used.
    Unknown,
}

/// The request was refused, and would be refused again.
const REFUSED: FailureMeaning = FailureMeaning {
    signal: Some(Signal::Healthy),
    remedy: Remedy::Nothing,
    bill: Bill::Nothing,
    counts_against_provider: false,
    is_infrastructure: false,
    is_about_access: false,
};

/// The provider failed after content had arrived, which would be paid for twice.
const BROKEN: FailureMeaning = FailureMeaning {
    signal: Some(Signal::Failed),
    remedy: Remedy::Nothing,
    bill: Bill::Unknown,
    counts_against_provider: true,
    is_infrastructure: true,
    is_about_access: false,
};

impl FailureClass {
    pub fn meaning(self) -> FailureMeaning {
        match self {
            Self::ModelMissing | Self::BadRequest | Self::Context | Self::Policy => REFUSED,
            Self::Unsupported => FailureMeaning {
                remedy: Remedy::Reform,
                ..REFUSED
            },
            Self::Empty => FailureMeaning {
                remedy: Remedy::WaitOnce,
                bill: Bill::Reported,
                ..REFUSED
            },
            Self::RateLimit => FailureMeaning {
                signal: Some(Signal::Strained),
                remedy: Remedy::Wait,
                is_infrastructure: true,
                ..REFUSED
            },
            Self::Quota => FailureMeaning {
                signal: Some(Signal::Strained),
                remedy: Remedy::WaitAsAsked,
                is_about_access: true,
                ..REFUSED
            },
            Self::Auth | Self::Billing => FailureMeaning {
                bill: Bill::Nothing,
                is_infrastructure: false,
                is_about_access: true,
                ..BROKEN
            },
            Self::Overload => FailureMeaning {
                remedy: Remedy::Wait,
                bill: Bill::Nothing,
                ..BROKEN
            },
            Self::Transport | Self::Timeout => FailureMeaning {
                remedy: Remedy::Wait,
                is_about_access: true,
                ..BROKEN
            },
            Self::Interrupted => BROKEN,
            Self::Malformed => FailureMeaning {
                counts_against_provider: false,
                is_infrastructure: false,
                ..BROKEN
            },
            Self::Internal => FailureMeaning {
                signal: None,
                counts_against_provider: false,
                is_infrastructure: false,
                ..BROKEN
            },
        }
    }
}
