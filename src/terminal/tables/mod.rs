//! Screens of rows and columns, one module for each command.

pub mod history;
pub mod models;
pub mod personas;
pub mod settings;
pub mod model_files;
pub mod doctor;
pub mod calibration;
pub mod replay;
pub mod dashboard;
pub mod circuit;
pub mod exit_state;
