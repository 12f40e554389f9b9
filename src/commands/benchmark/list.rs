//! `conclave benchmark list`: the runs, newest first.

/// List runs, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Write JSON
    #[arg(long)]
    pub(super) json: bool,
}
