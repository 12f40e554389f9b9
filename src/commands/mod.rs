//! L4: one file a command: its arguments and what it does, by putting the layers below together.

pub mod completions;
pub mod config;
pub mod consult;
pub mod consult_stats;
pub mod doctor;
pub mod history;
pub mod man;
pub mod model;
pub mod models;
pub mod personas;
pub mod resume;
