//! Decides after each turn of an agent's loop whether the loop may stop.
//!
//! A turn is one run of an agent program. [`evidence`] is what can be known of one turn: signals in
//! its last message, the checklist, facts about the working tree and the tests. Reading them is
//! [`crate::agent_loop`]'s business; nothing here reads files or knows the formats of agents.

pub mod run;
pub mod evidence;
pub mod breaker;
