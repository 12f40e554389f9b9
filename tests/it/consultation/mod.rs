//! The machine: scenarios with their exact logs, invariants under random scripts, and resuming at
//! any point.

mod scenarios;
mod properties;
mod resume;
mod contradictions;
mod control;
mod persona_selection;
mod early_termination;
mod comparison;
mod debate_value;
mod second_verdict;
mod seat_names;
mod estimates;
mod context;
