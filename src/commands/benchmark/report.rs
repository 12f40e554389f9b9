//! `conclave benchmark report`: prints the report of a run again.

/// Print the report of a run, in any format
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: its id, a unique prefix, its folder, or `last`
    #[arg(default_value = "last", value_name = "RUN")]
    pub(super) run: String,

    #[command(flatten)]
    pub(super) output: super::flags::ReportFlags,
}
