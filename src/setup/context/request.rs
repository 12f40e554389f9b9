//! The request for a context, as plain data.

use std::path::PathBuf;

use crate::context::sources::SourceLimits;

/// The context that a person names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextRequest {
    /// Files, in their order in the prompt.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) stdin: StdinRequest,
    pub(crate) limits: SourceLimits,
    pub(crate) project: Option<ProjectRequest>,
    pub(crate) stance: StanceRequest,
}

/// The project that belongs to a question.
#[derive(Clone, Debug)]
pub(crate) struct ProjectRequest {
    pub(crate) folder: PathBuf,
    /// The most tokens of its description.
    pub(crate) tokens: u64,
}

/// Whether answers may follow the patterns of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StanceRequest {
    /// They do if it has some.
    #[default]
    Detected,
    /// They do not.
    Greenfield,
}

/// The part of standard input in the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StdinRequest {
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
pub(crate) enum Scrubbing {
    #[default]
    On,
    /// With `--no-scrub`.
    Off,
}
