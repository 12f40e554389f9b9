//! The machine: scenarios with their exact logs, invariants under random scripts, and restoring at
//! any point.

mod persona_selection;
mod comparison;
mod control;
mod truncated;
mod debate_value;
mod early_termination;
mod estimates;
mod rejudge;
mod second_verdict;
mod pacing;
mod properties;
mod resume;
mod scenarios;
