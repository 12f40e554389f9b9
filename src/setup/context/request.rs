//! The request for a context, as plain data.

use std::path::PathBuf;

use crate::context::sources::SourceLimits;
use crate::domain::context::ProjectStance;

/// The context that a person names.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// Files, in their order in the prompt.
    pub files: Vec<PathBuf>,
    pub stdin: StdinRequest,
    pub limits: SourceLimits,
    pub project: Option<ProjectRequest>,
    /// Whether answers follow the patterns of the project; as detected if absent.
    pub stance: Option<ProjectStance>,
}

/// The project that belongs to a question.
#[derive(Clone, Debug)]
pub struct ProjectRequest {
    pub folder: PathBuf,
    /// The most tokens of its description.
    pub tokens: u64,
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
