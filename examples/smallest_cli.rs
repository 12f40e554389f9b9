//! The smallest program that parses arguments with clap: what `benches/process.rs` compares the
//! start-up of `conclave` with.

use clap::Parser;

/// Does nothing.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {}

fn main() {
    Cli::parse();
}
