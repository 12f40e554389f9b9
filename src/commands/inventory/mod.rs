//! The commands that show which models and personas can be asked, at what prices, and which of them
//! work here; and the dialogue that writes the settings.

pub mod models;
pub mod personas;
pub mod doctor;
pub mod login;
pub mod setup;
