//! L4: one file a command: its arguments and what it does, by putting the layers below together.

mod clerk;
pub mod completions;
pub mod config;
pub mod consult;
pub mod consult_stats;
mod control;
pub mod doctor;
mod giving;
pub mod history;
mod index;
mod local;
pub mod man;
pub mod model;
pub mod models;
mod naming;
mod panel;
pub mod personas;
mod reach;
pub mod resume;
mod servers;
mod stand_ins;
