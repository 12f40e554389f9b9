//! Statistics: single cases, and each figure against one that was computed by hand.

mod cases;
mod figures;
