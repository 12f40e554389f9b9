//! `conclave benchmark --replay`: stop rules on recorded answers.

use std::path::PathBuf;

use crate::error::Error;
use crate::terminal::output::printer::Printer;

/// Recorded answers instead of a run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Replay")]
pub(super) struct ReplayFlags {
    /// Show what stop rules would have saved on recorded answers: a table with a question in each
    /// row, its right answer, and the answer of each model
    #[arg(long, value_name = "CSV")]
    pub(super) replay: Option<PathBuf>,
}

pub(super) fn run(_flags: &ReplayFlags, _printer: &Printer) -> Result<(), Error> {
    Err(Error::failed(
        "the replay of recorded answers is not available",
    ))
}
