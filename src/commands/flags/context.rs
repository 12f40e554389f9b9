//! What the panel reads beside a question or a document: files and a project.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::context::sources::SourceSize;
use crate::domain::context::ProjectStance;
use crate::error::Error;
use crate::setup::context::sources::{ContextRequest, ProjectRequest, StdinRequest};
use crate::terminal::prompt::StdinUse;

/// The most tokens of a project's description, unless said otherwise.
const PROJECT_TOKENS: u64 = 4_000;

/// The context of a question or a document.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Context")]
pub(crate) struct ContextFlags {
    /// Files, folders and globs that the panel reads too, separated by commas; may be repeated
    #[arg(long, value_name = "PATHS", value_delimiter = ',', value_parser = path_parser())]
    context: Vec<PathBuf>,

    /// One such path, which may have commas; `-` is standard input; may be repeated
    #[arg(short, long, value_name = "PATH", value_parser = path_parser())]
    file: Vec<PathBuf>,

    /// Read standard input as context, however long it takes to begin; the same as `--file -`
    #[arg(long)]
    stdin: bool,

    /// How many files the context may have; more are an error [default: 1000]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    max_context_files: Option<u32>,

    /// How large all sources of the context may be together; more is an error [default: 16]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    max_context_mb: Option<u32>,

    /// Describe the project in this folder to the panel, and prefer its patterns if it has some
    /// [default: none; without a value the current folder]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,

    /// The most tokens of the project's description [default: 4000]
    #[arg(
        long,
        value_name = "TOKENS",
        default_value_t = PROJECT_TOKENS,
        hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(500..=1_000_000),
        requires = "project"
    )]
    project_tokens: u64,

    /// Recommend current best practices, whatever the project uses
    #[arg(long)]
    greenfield: bool,
}

impl ContextFlags {
    /// The paths of `--context` come first. A path `-` is standard input, unless that holds the
    /// question.
    pub(crate) fn request(&self, input: StdinUse) -> Result<ContextRequest, Error> {
        let is_stdin = |path: &&Path| path.as_os_str() == "-";
        let paths = self.paths()?;
        let stdin = match (self.stdin || paths.iter().any(is_stdin), input) {
            (true, StdinUse::Taken) => {
                return Err(Error::usage(
                    "standard input holds the question and cannot be a context file, too",
                )
                .hint("give the question as an argument: `conclave consult -f - \"…\"`"));
            }
            (true, StdinUse::Free) => StdinRequest::Named,
            (false, StdinUse::Taken) => StdinRequest::Taken,
            (false, StdinUse::Free) => StdinRequest::IfPresent,
        };
        let files = paths.into_iter().filter(|path| !is_stdin(path));
        let usual = SourceSize::LIMIT;
        let most_files = self.max_context_files.map(|number| number as usize);
        let most_bytes = self.max_context_mb.map(|number| u64::from(number) << 20);
        Ok(ContextRequest {
            files: files.map(Path::to_owned).collect(),
            stdin,
            limits: SourceSize {
                files: most_files.unwrap_or(usual.files),
                bytes: most_bytes.unwrap_or(usual.bytes),
            },
            project: self.project.as_ref().map(|folder| ProjectRequest {
                folder: folder.clone(),
                tokens: self.project_tokens,
            }),
            stance: self.greenfield.then_some(ProjectStance::Greenfield),
        })
    }

    /// Returns the paths of both flags. Two commas in a row, or one at an end, are forgiven; a flag
    /// without any path, as of an unset variable of the shell, is not.
    fn paths(&self) -> Result<Vec<&Path>, Error> {
        let is_empty = |path: &Path| path.as_os_str().is_empty();
        let listed = self.context.iter().map(|path| trimmed(path));
        let listed: Vec<&Path> = listed.filter(|path| !is_empty(path)).collect();
        if listed.is_empty() && !self.context.is_empty() {
            return Err(Error::usage("`--context` names no path")
                .hint("name files, folders or globs: `--context \"src,README.md\"`"));
        }
        if self.file.iter().any(|path| is_empty(path)) {
            return Err(Error::usage("`--file` names no path")
                .hint("name a file, a folder or a glob: `--file README.md`"));
        }
        let named = self.file.iter().map(PathBuf::as_path);
        Ok(listed.into_iter().chain(named).collect())
    }

    /// Fails when a file stands at either end of the question's words: a shell that expands
    /// `--file src/*.rs` gives the flag the first file only.
    pub(crate) fn check_words(&self, words: &[String]) -> Result<(), Error> {
        let ([first, .., last], false) = (words, self.context.is_empty() && self.file.is_empty())
        else {
            return Ok(());
        };
        let mut ends = [first, last].into_iter();
        let Some(file) = ends.find(|word| Path::new(word).is_file()) else {
            return Ok(());
        };
        let error = format!("`{file}` is a file, and stands among the words of the question");
        Err(Error::usage(error)
            .hint("quote a glob, so that the shell leaves it alone: `--file 'src/*.rs'`")
            .hint("or put the whole question in quotes"))
    }

    /// Fails when `--project` took the question for its folder.
    pub(crate) fn check_question(&self, words: &[String]) -> Result<(), Error> {
        match &self.project {
            Some(folder) if words.is_empty() && !folder.exists() => {
                let folder = folder.display();
                let error = format!(
                    "`{folder}` was taken as the folder of `--project`, which is not found"
                );
                Err(Error::usage(error).hint(
                    "name the folder first, as in `--project . \"…\"`, or put `--project` after the \
                     question",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Clap's own parser calls an empty one a missing value.
fn path_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

fn trimmed(path: &Path) -> &Path {
    path.to_str().map_or(path, |text| Path::new(text.trim()))
}
