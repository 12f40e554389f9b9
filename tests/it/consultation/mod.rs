//! The machine: scenarios with their exact logs, invariants under random scripts, and restoring at any point.

mod control;
mod estimates;
mod pacing;
mod properties;
mod resume;
mod resuming;
mod scenarios;
