//! The commands that show what can be asked: models with their prices, personas, and what works of
//! it here.

pub mod models;
pub mod personas;
pub mod doctor;
