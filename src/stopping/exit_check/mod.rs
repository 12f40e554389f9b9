//! Decides after each turn of an agent's loop whether the loop may stop.
//!
//! A turn is one run of an agent program. [`evidence`] is what can be known of one turn: signals in
//! its last message, the checklist, facts about the working tree and the tests. Reading them is
//! [`crate::agent_loop`]'s business; nothing here reads files or knows the formats of agents.
//!
//! [`state::LoopState`] is the fold of the log's events. Its `check` adds a turn to the counters of
//! its run, lets [`rules`] or [`strict_seed`] decide, and returns the event to be logged:
//!
//! ```
//! use conclave::domain::time::Timestamp;
//! use conclave::stopping::exit_check::evidence::{Checklist, TurnEvidence, Words};
//! use conclave::stopping::exit_check::state::LoopState;
//!
//! let mut state = LoopState::default();
//! let now = Timestamp(0);
//! let run = state.next_run(None, now);
//! let evidence = TurnEvidence {
//!     words: Some(Words::default()),
//!     checklist: Some(Checklist { completed: 5, ..Checklist::default() }),
//!     ..TurnEvidence::default()
//! };
//! let event = state.check(run, now, evidence, Default::default());
//! let record = event.turn().expect("a check gives a turn");
//! assert_eq!(record.evaluation.deciding_rule(), Some("all_tasks_done"));
//! state.apply(&event);
//! ```

pub mod run;
pub mod evidence;
pub mod breaker;
pub mod thresholds;
pub mod progress;
pub mod run_state;
pub mod rules;
pub mod strict_seed;
pub mod totals;
pub mod event;
pub mod state;
#[cfg(test)]
mod tests;
