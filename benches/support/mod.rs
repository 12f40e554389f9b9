//! Shared parts of the benches: figures and their table, a server with fixed delays, and
//! consultations without the command.

#![expect(
    dead_code,
    unused_imports,
    reason = "each bench uses a part, and so do the tests of the server"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench fails by panicking, reads the clock and prints its figures"
)]

pub(crate) mod engine;
pub(crate) mod figures;
pub(crate) mod requests;

#[path = "../../tests/it/support/servers/provider_server/mod.rs"]
pub(crate) mod provider_server;
#[path = "../../tests/it/support/servers/server_thread.rs"]
pub(crate) mod server_thread;
#[path = "../../tests/it/support/timeout.rs"]
pub(crate) mod timeout;

/// Creates a temporary folder on the disk of the target directory.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}
