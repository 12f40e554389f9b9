//! Tests of the embedded local model: getting its file, and, where this build has the engine and
//! the machine has a model, asking it.

#[cfg(feature = "local")]
mod engine;
mod hub;
#[cfg(feature = "local")]
mod wheels;

/// Prints why a test did nothing.
#[cfg(feature = "local")]
#[expect(
    clippy::print_stderr,
    reason = "a test that is skipped must not look like one that passed"
)]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
