//! A consultation of a loop, from its start to its result.

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::refinement::event::{Extraction, TextHash};

/// How far a consultation is. `T` is what it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsultationProgress<T> {
    InFlight,
    /// It was cut off, in flight when its process ended, or failed before the loop was resumed;
    /// then with the reason. It can be taken over.
    LeftOver(Option<String>),
    Answered(T),
    /// It has no answer, for this reason, and is not taken over before the loop is resumed.
    NoAnswer(String),
    /// Another consultation gets its questions; with the reason if it ended without an answer.
    Repeated(Option<String>),
}

/// The extraction of claims and questions from a plain document.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractionRecord {
    pub consultation: ConsultationId,
    /// The text that it reads.
    pub document: TextHash,
    pub progress: ConsultationProgress<Extraction>,
    pub spend: ConsultationSpend,
}

impl<T> ConsultationProgress<T> {
    /// Returns the result; `None` before it or without one.
    pub fn answer(&self) -> Option<&T> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::InFlight | Self::LeftOver(_) | Self::NoAnswer(_) | Self::Repeated(_) => None,
        }
    }

    /// Returns why there is no answer; `None` if there is one, or the consultation did not end.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::NoAnswer(error) => Some(error),
            Self::LeftOver(error) | Self::Repeated(error) => error.as_deref(),
            Self::InFlight | Self::Answered(_) => None,
        }
    }

    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self, Self::InFlight)
    }

    pub(super) fn is_left_over(&self) -> bool {
        matches!(self, Self::LeftOver(_))
    }

    /// Returns whether it may still end.
    pub(super) fn is_open(&self) -> bool {
        self.is_in_flight() || self.is_left_over()
    }

    /// It was cut off, or its process has ended.
    pub(super) fn leave(&mut self) {
        if self.is_in_flight() {
            *self = Self::LeftOver(None);
        }
    }

    /// Another consultation gets its questions, unless it has an answer.
    pub(super) fn repeat(&mut self) {
        match self {
            Self::InFlight => *self = Self::Repeated(None),
            Self::LeftOver(error) => *self = Self::Repeated(error.take()),
            Self::NoAnswer(error) => *self = Self::Repeated(Some(std::mem::take(error))),
            Self::Answered(_) | Self::Repeated(_) => {}
        }
    }

    /// The loop continues in another process: what has no answer is due again.
    pub(super) fn resume(&mut self) {
        match self {
            Self::InFlight => *self = Self::LeftOver(None),
            Self::NoAnswer(error) => *self = Self::LeftOver(Some(std::mem::take(error))),
            Self::LeftOver(_) | Self::Answered(_) | Self::Repeated(_) => {}
        }
    }
}
