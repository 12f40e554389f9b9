//! Consultations on a fleet: the worker, which does the jobs of others.

mod consultation;
pub mod worker;
