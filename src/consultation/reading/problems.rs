//! The problems that others have to recognise by more than their weight.

use crate::consultation::problem::{Problem, Weight};

/// What is said of an answer that stops in the middle.
const CUT_OFF: &str = "the answer is cut off before its end";

impl Problem {
    /// An answer that stops in the middle.
    pub fn cut_off() -> Self {
        Self::new(Weight::Fatal, "", CUT_OFF)
    }

    /// True for an answer that stops in the middle: more room helps, showing it to the model does not.
    pub fn is_cut_off(&self) -> bool {
        self.what == CUT_OFF
    }
}
