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
#![expect(
    clippy::needless_pass_by_value,
    reason = "helpers take what `json!` makes where it is made"
)]

mod commands;
mod consultation;
mod context;
mod engine;
mod local;
mod providers;
mod reading;
mod records;
mod repository;
mod support;
mod terminal;
mod traces;
