//! What is stored: logs, and consultations that are over, listed, graded and counted.

pub mod stored_record;
pub mod history;
pub mod statistics;
pub mod log;
pub mod rejudgement;
pub mod outcome;
