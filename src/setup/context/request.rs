//! The request for a context, as plain data.

use std::path::PathBuf;

use crate::context::sources::SourceLimits;

/// The context that a person names.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// Files, in their order in the prompt.
    pub files: Vec<PathBuf>,
    pub stdin: StdinRequest,
    pub limits: SourceLimits,
    pub project: Option<ProjectRequest>,
    pub stance: StanceRequest,
}

/// The project that belongs to a question.
#[derive(Clone, Debug)]
pub struct ProjectRequest {
    pub folder: PathBuf,
    /// The most tokens of its description.
    pub tokens: u64,
}

/// Whether answers may follow the patterns of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StanceRequest {
    /// They do if it has some.
    #[default]
    Detected,
    /// They do not.
    Greenfield,
}

/// The part of standard input in the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StdinRequest {
    /// It is a source when it carries data.
    #[default]
    IfPresent,
    /// It is named as a source.
    Named,
    /// It holds the question.
    Taken,
}

/// Whether secrets are masked in what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scrubbing {
    #[default]
    On,
    /// With `--no-scrub`.
    Off,
}
