//! Consultations on a fleet: the worker, which does the jobs of others, and the submitting side,
//! which has its own done.

mod consultation;
pub mod worker;
mod run_log;
pub mod executor;
pub mod run;
pub mod status;
