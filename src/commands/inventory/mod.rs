//! The commands that show which models and personas can be asked, at what prices, and which of them
//! work here; the dialogue that writes the settings; and a fleet, which asks them from many machines.

pub mod models;
pub mod personas;
pub mod doctor;
pub mod login;
pub mod setup;
#[cfg(feature = "fleet")]
pub mod fleet;
