//! `conclave refine` end to end, on the local provider server.

mod screens;
