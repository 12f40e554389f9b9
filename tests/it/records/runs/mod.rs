//! Runs of benchmarks: their state, and the store.

mod sample;
mod state;
mod store;
mod version_1;
mod stop_conditions;
