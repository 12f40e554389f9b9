//! The flags of the context: files and a project beside the question.

use std::path::PathBuf;

use crate::error::Error;
use crate::setup::request::{ContextRequest, ProjectRequest, StanceRequest};

/// The most tokens of a project's description, unless said otherwise.
const PROJECT_TOKENS: u64 = 4_000;

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

    /// Describe the project in this folder to the panel, and prefer its patterns if it has some
    /// [default: none; without a value the current folder]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,

    /// The most tokens of the project's description
    #[arg(
        long,
        value_name = "TOKENS",
        default_value_t = PROJECT_TOKENS,
        value_parser = clap::value_parser!(u64).range(500..=1_000_000),
        requires = "project"
    )]
    project_tokens: u64,

    /// Recommend current best practices, whatever the project uses
    #[arg(long)]
    greenfield: bool,
}

impl ContextFlags {
    /// Returns the flags as setup takes them: the files of `--context` come first.
    pub(super) fn request(&self) -> ContextRequest {
        ContextRequest {
            files: self.context.iter().chain(&self.file).cloned().collect(),
            project: self.project.as_ref().map(|folder| ProjectRequest {
                folder: folder.clone(),
                tokens: self.project_tokens,
            }),
            stance: if self.greenfield {
                StanceRequest::Greenfield
            } else {
                StanceRequest::Detected
            },
            ..ContextRequest::default()
        }
    }

    /// Fails when `--project` took the question for its folder.
    pub(super) fn check_question(&self, words: &[String]) -> Result<(), Error> {
        match &self.project {
            Some(folder) if words.is_empty() && !folder.exists() => {
                let folder = folder.display();
                let error = format!(
                    "`{folder}` was taken as the folder of `--project`, which is not found"
                );
                Err(Error::usage(error).hint(
                    "name the folder first, as in `--project . \"…\"`, or put `--project` behind \
                     the question",
                ))
            }
            _ => Ok(()),
        }
    }
}
