//! `conclave benchmark merge`: puts the parts of a run together.

/// Put runs of parts of one suite together, as one run with all results
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The runs: their ids, unique prefixes, or folders
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(super) runs: Vec<String>,

    #[command(flatten)]
    pub(super) output: super::flags::ReportFlags,
}
