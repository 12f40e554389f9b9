//! `conclave consult-stats`.

mod calibration;
mod index;
mod statistics;
