//! Parses the command line, runs the command, and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    conclave::cli::main()
}
