//! The machine: scenarios with their exact logs, invariants under random scripts, and restoring at
//! any point.

mod casting;
mod comparing;
mod control;
mod cut_off;
mod debate_value;
mod early_end;
mod estimates;
mod judging_anew;
mod judging_twice;
mod pacing;
mod properties;
mod resuming;
mod scenarios;
