//! The flags of the context: files beside the question.

use std::path::PathBuf;

use crate::setup::request::ContextRequest;

/// The context of the question.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Context")]
pub(super) struct ContextFlags {
    /// Files that the panel reads before it answers, separated by commas; may be repeated
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    context: Vec<PathBuf>,

    /// A file that the panel reads before it answers, such as one with a comma in its name; may be
    /// repeated
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
}

impl ContextFlags {
    /// Returns the flags as setup takes them: the files of `--context` come first.
    pub(super) fn request(&self) -> ContextRequest {
        ContextRequest {
            files: self.context.iter().chain(&self.file).cloned().collect(),
            ..ContextRequest::default()
        }
    }
}
