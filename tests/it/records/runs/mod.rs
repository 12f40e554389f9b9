//! Runs of benchmarks: their state, and the store.

mod sample;
mod state;
#[cfg(unix)]
mod store;
mod stop_conditions;
