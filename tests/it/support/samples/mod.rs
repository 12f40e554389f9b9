//! Sample consultations, benchmarks and loops, made up or drawn from a seed.

pub(crate) mod comparison;
pub(crate) mod filled_home;
pub(crate) mod generated;
pub(crate) mod sample_events;
pub(crate) mod sample_results;
pub(crate) mod sample_screens;
pub(crate) mod saved;
pub(crate) mod simulated_batches;
pub(crate) mod simulated_loops;
