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
mod commands;
mod consultation;
mod context;
mod docs;
mod engine;
mod help;
mod layers;
mod local;
mod pictures;
mod project;
mod providers;
mod reading;
mod records;
mod support;
mod terminal;
mod vocabulary;
