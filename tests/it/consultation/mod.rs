//! The machine: scenarios with their exact logs, invariants under random scripts, and resuming at
//! any point.

mod scenarios;
mod properties;
mod resume;
mod truncated;
mod contradictions;
mod pacing;
mod control;
mod persona_selection;
mod early_termination;
mod comparison;
mod debate_value;
mod second_verdict;
mod seat_names;
mod rejudge;
mod estimates;
mod context;
