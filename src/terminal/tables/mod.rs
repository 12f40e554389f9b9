//! Screens of rows and columns, one module for each command.

pub mod history;
pub mod doctor;
pub mod calibration;
pub mod replay;
pub mod dashboard;
pub mod circuit;
pub mod exit_state;
