//! Runs of benchmarks: their state, and the store.

mod sample;
mod state;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod version_1;
mod stop_conditions;
