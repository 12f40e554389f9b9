//! The commands that show what can be asked: models with their prices, personas, and what works of
//! it here; and the dialogue that makes settings of it.

pub mod models;
pub mod personas;
pub mod doctor;
pub mod setup;
