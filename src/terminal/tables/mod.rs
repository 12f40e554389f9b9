//! Screens of rows and columns, one file a command.

pub mod history;
pub mod models;
pub mod personas;
pub mod doctor;
pub mod calibration;
pub mod dashboard;
