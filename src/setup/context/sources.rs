//! The context of a question: its request as plain data, and the reading of files, standard input and
//! the project's description, before anything is asked or spent.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::env::Environment;
use crate::config::paths::{Home, git_excludes};
use crate::context::project::{ProjectDescription, ProjectError, describe};
use crate::context::sources::error::SourcesError;
use crate::context::sources::files::{LeftOut, NamedBy, read_files};
use crate::context::sources::stdin::{self, StdinError, StdinKind, StdinPause, StdinSource};
use crate::context::sources::{SourceSize, SourceText};
use crate::domain::context::{ProjectContext, ProjectStance, SourceKind};
use crate::engine::ports::Face;
use crate::error::Error;
use crate::setup::settings;
use crate::text::clean::count;

/// The sources of a context, as read, and what follows from the project among them.
#[derive(Debug)]
pub struct ReadSources {
    pub texts: Vec<SourceText>,
    pub project: ProjectTerms,
    pub stdin: StdinState,
}

/// Standard input after the sources were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinState {
    /// Nothing was read, and nothing can come.
    Free,
    /// It carried the question or a source.
    Read,
    /// Nothing came in time.
    Unread,
}

impl StdinState {
    /// Warns of data that came on standard input during the run.
    pub fn warn_of_late_data(self, face: &dyn Face) {
        if self == Self::Unread && stdin::has_data() {
            face.warning(
                "Warning: text arrived on standard input during the run; it is not part of the \
                 context",
            );
        }
    }
}

pub fn read_sources(
    request: &ContextRequest,
    environment: &Environment,
    face: &dyn Face,
) -> Result<ReadSources, Error> {
    let excludes = git_excludes(environment);
    let named_by = NamedBy::Person(excludes.as_deref());
    let read = read_files(&request.files, request.limits, named_by);
    let mut read = read.map_err(|error| explain(error, face))?;
    for left_out in &read.left_out {
        face.note(&left_out_notice(left_out));
    }
    let left = request.limits.bytes.saturating_sub(read.size.bytes);
    let stdin = match request.stdin {
        StdinRequest::Taken => StdinState::Read,
        StdinRequest::Named => {
            if stdin::kind() == StdinKind::Terminal {
                face.lines("Type the context, end with Ctrl-D");
            }
            read_stdin(None, left, &mut read.texts, face)?
        }
        StdinRequest::IfPresent => match stdin::kind() {
            StdinKind::Terminal => StdinState::Free,
            StdinKind::File | StdinKind::Pipe | StdinKind::Other => {
                let home = Home::find(environment).map_err(Error::usage)?;
                let wait = settings::load(&home, environment)?.stdin_wait;
                read_stdin(Some(wait), left, &mut read.texts, face)?
            }
        },
    };
    let project = read_project(request, &mut read.texts, face)?;
    Ok(ReadSources {
        texts: read.texts,
        project,
        stdin,
    })
}

fn read_stdin(
    first_byte: Option<Duration>,
    limit: u64,
    texts: &mut Vec<SourceText>,
    face: &dyn Face,
) -> Result<StdinState, Error> {
    let report = |pause| match pause {
        StdinPause::BeforeData => {
            face.note("Waiting for standard input… (if there is none, run with `< /dev/null`)");
        }
        StdinPause::WithinData => face.note("Reading standard input to its end…"),
    };
    match stdin::read(first_byte, limit, &report) {
        Ok(StdinSource::Text(text)) => {
            texts.push(text);
            Ok(StdinState::Read)
        }
        Ok(StdinSource::Empty) => match first_byte {
            Some(_) => Ok(StdinState::Free),
            None => Err(Error::usage("standard input, named as `-`, is empty")),
        },
        Ok(StdinSource::NoData) => {
            if stdin::kind() == StdinKind::Pipe {
                face.warning(
                    "Warning: no data on standard input in time; the question is asked without it",
                );
            }
            Ok(StdinState::Unread)
        }
        Err(error) => Err(match &error {
            StdinError::TooLarge(_) => Error::usage(error).hint(
                "send less context, or raise the limit of all sources together with \
                 `--max-context-mb`",
            ),
            StdinError::NotText(_) | StdinError::Read(_) => {
                Error::usage(error).hint("send text, or leave it out with `< /dev/null`")
            }
        }),
    }
}

fn left_out_notice(left_out: &LeftOut) -> String {
    const MAX_NAMED: usize = 3;
    let number = left_out.files.len();
    let named: Vec<&str> = left_out
        .files
        .iter()
        .take(MAX_NAMED)
        .map(String::as_str)
        .collect();
    let more = if number > MAX_NAMED { ", …" } else { "" };
    format!(
        "`{}`: skipped {} that {} not text: {}{more}",
        left_out.path,
        count(number, "file"),
        if number == 1 { "is" } else { "are" },
        named.join(", "),
    )
}

fn explain(error: SourcesError, face: &dyn Face) -> Error {
    match &error {
        SourcesError::Paths(paths) => {
            for path in paths {
                face.warning(&format!("❌ {path}"));
            }
            face.lines("\nValid paths must exist and be readable.");
            Error::usage(error)
        }
        SourcesError::Limits { found, limits } => {
            let mut flags = Vec::new();
            if found.files > limits.files {
                flags.push(format!("--max-context-files {}", found.files));
            }
            if found.bytes > limits.bytes {
                flags.push(format!(
                    "--max-context-mb {}",
                    found.bytes.div_ceil(1 << 20)
                ));
            }
            let hint = format!(
                "send less context, or raise the limit with `{}`",
                flags.join(" ")
            );
            Error::usage(error).hint(hint)
        }
    }
}

/// The context that a person names.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// Files, in their order in the prompt.
    pub files: Vec<PathBuf>,
    pub stdin: StdinRequest,
    pub limits: SourceSize,
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

const BROWNFIELD: &str = "🏗️ Brownfield project detected. Biasing toward existing patterns.";
const GREENFIELD: &str = "🆕 Greenfield project. Recommendations based on current best practices.";
const IGNORED: &str = "🔧 Ignoring existing patterns (--greenfield mode)";

/// What a plan takes from the project of its question.
#[derive(Clone, Debug, Default)]
pub struct ProjectTerms {
    pub context: Option<Box<ProjectContext>>,
    /// Whether answers follow the patterns of the project.
    pub stance: Option<ProjectStance>,
    /// The stack in words, one line each: `Framework: Next.js 14 App Router`.
    pub stack: Vec<String>,
}

/// Describes the project that a person names, adds the description to the sources, and prints what
/// follows for the answers.
///
/// # Errors
///
/// When the folder cannot be read.
fn read_project(
    request: &ContextRequest,
    sources: &mut Vec<SourceText>,
    face: &dyn Face,
) -> Result<ProjectTerms, Error> {
    let stance = request.stance;
    let Some(request) = &request.project else {
        if stance.is_some() {
            face.note(IGNORED);
        }
        return Ok(ProjectTerms {
            stance,
            ..ProjectTerms::default()
        });
    };
    let described = describe(&request.folder, request.tokens).map_err(explain_project)?;
    let ProjectDescription {
        mut context,
        text,
        stance: detected,
        stack,
    } = described;
    let stance = stance.unwrap_or(detected);
    face.note(match (stance, detected) {
        (ProjectStance::Brownfield, _) => BROWNFIELD,
        (ProjectStance::Greenfield, ProjectStance::Brownfield) => IGNORED,
        (ProjectStance::Greenfield, ProjectStance::Greenfield) => GREENFIELD,
    });
    context.set_stance(stance);
    sources.push(SourceText {
        kind: SourceKind::Project,
        name: request.folder.display().to_string(),
        text,
    });
    Ok(ProjectTerms {
        context: Some(Box::new(context)),
        stance: Some(stance),
        stack,
    })
}

fn explain_project(error: ProjectError) -> Error {
    let hint = match &error {
        ProjectError::NotFound(_) => {
            "`--project` takes the next word as its folder: `--project . \"…\"`, or `--project` \
             after the question"
        }
        ProjectError::NotAFolder(_) => "name its folder, or send a single file with `--file`",
        ProjectError::Unreadable { .. } => "check the permissions of the folder",
        ProjectError::Rules(_) => return Error::failed(error),
    };
    Error::usage(error).hint(hint)
}
