//! A kept consultation as a Markdown document.

use crate::domain::ids::SeatId;
use crate::domain::kept::Kept;

/// What of it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub round: Option<u8>,
    pub agent: Option<SeatId>,
}

/// Writes the document.
pub fn markdown(kept: &Kept, _selection: Selection) -> String {
    format!("# Consultation Summary\n\n{}\n", kept.question)
}
