//! L5: the commands: their arguments, and what they do with the layers below. `flags` and `face`
//! hold what several commands share.

pub mod consult;
pub mod resume;
pub mod history;
pub mod consult_stats;
pub mod doctor;
pub mod models;
pub mod model;
pub mod personas;
pub mod config;
pub mod completions;
pub mod man;
mod flags;
mod face;
