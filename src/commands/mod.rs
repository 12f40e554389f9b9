//! L5: the commands, with their arguments. `flags` and `face` are shared by several of them.

pub mod consult;
pub mod resume;
pub mod history;
pub mod consult_stats;
pub mod refine;
pub mod benchmark;
pub mod agent_loop;
pub mod inventory;
pub mod scrub;
pub mod config;
pub mod completions;
mod flags;
mod face;
