//! `conclave consult-stats`.

mod calibration;
mod statistics;
