//! One integration test binary, with a folder for each part of the tool.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]
#![expect(
    unreachable_pub,
    reason = "support modules are shared with the benches, which see another crate root"
)]

mod agent_loops;
mod benchmark;
#[cfg(unix)]
mod commands;
mod consultation;
mod context;
#[cfg(unix)]
mod docs;
mod engine;
#[cfg(unix)]
mod exit_check;
#[cfg(unix)]
mod help;
mod layers;
mod local;
#[cfg(unix)]
mod pictures;
#[cfg(unix)]
mod project;
mod providers;
mod reading;
mod records;
mod refinement;
#[cfg(unix)]
mod refine;
mod support;
mod terminal;
mod vocabulary;
