//! Scripted consultations without input or output: plans, model replies and the player that feeds
//! them to the machine.

mod log_text;
mod plan;
mod player;
mod replies;

pub use plan::{crowd, paid_by_plan, persona_named, personas, plan, with_fallback};
pub use player::{Notice, Player};
pub use replies::{failure, failure_with_hint, good, good_text, reply, stopped};
