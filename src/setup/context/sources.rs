//! The context of a question: its request as plain data, and the reading of files, standard input and
//! the project's description, before anything is asked or spent.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use crate::config::env::Environment;
use crate::config::paths::{Home, git_excludes};
use crate::config::settings::{Repository, SettingOrigin, Settings};
use crate::context::project::{ProjectDescription, ProjectError, describe};
use crate::context::sources::error::SourcesError;
use crate::context::sources::files::{LeftOut, NamedBy, read_files};
use crate::context::sources::stdin::{self, StdinError, StdinPause};
use crate::context::sources::{SourceSize, SourceText};
use crate::domain::context::{ProjectContext, ProjectStance, SourceKind};
use crate::engine::ports::Face;
use crate::error::Error;
use crate::files::resolved::within;
use crate::setup::settings;
use crate::text::clean::count;

/// The sources of a context, as read, and what follows from the project among them.
#[derive(Debug)]
pub struct ReadSources {
    pub texts: Vec<SourceText>,
    pub project: ProjectTerms,
    /// Standard input carried the question or a source.
    pub uses_stdin: bool,
}

pub fn read_sources(
    request: &ContextRequest,
    environment: &Environment,
    face: &dyn Face,
) -> Result<ReadSources, Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = settings::load(&home, environment)?;
    let excludes = git_excludes(environment);
    let named_by = NamedBy::Person(excludes.as_deref());
    let mut files = request.files.clone();
    if files.is_empty() {
        files = of_settings(&settings)?;
    }
    let read = read_files(&files, request.limits, named_by);
    let mut read = read.map_err(|error| explain(error, face))?;
    for left_out in &read.left_out {
        face.note(&left_out_notice(left_out));
    }
    let left = request.limits.bytes.saturating_sub(read.size.bytes);
    let files = read.texts.len();
    let is_terminal = io::stdin().is_terminal();
    match request.stdin {
        StdinRequest::Taken => {}
        StdinRequest::Named => {
            if is_terminal {
                face.lines("Type the context, end with Ctrl-D");
            }
            let text = read_stdin(None, left, face)?;
            let empty = "standard input, named with `-` or `--stdin`, is empty";
            read.texts.push(text.ok_or_else(|| Error::usage(empty))?);
        }
        StdinRequest::IfPresent if is_terminal => {}
        StdinRequest::IfPresent => {
            let text = read_stdin(Some(settings.stdin_wait), left, face)?;
            read.texts.extend(text);
        }
    }
    let uses_stdin = request.stdin == StdinRequest::Taken || read.texts.len() > files;
    let project = read_project(request, &mut read.texts, face)?;
    Ok(ReadSources {
        texts: read.texts,
        project,
        uses_stdin,
    })
}

/// Waits for standard input that a person names.
pub fn wait_for_stdin(face: &dyn Face) {
    stdin::wait(&|pause| report_pause(pause, face));
}

fn report_pause(pause: StdinPause, face: &dyn Face) {
    face.note(match pause {
        StdinPause::BeforeData => {
            "Waiting for standard input… (if there is none, run with `< /dev/null`)"
        }
        StdinPause::WithinData => "Reading standard input to its end…",
    });
}

/// Returns the files that the settings name. Those of a repository are in it, and not hidden there,
/// as Git's own files are.
fn of_settings(settings: &Settings) -> Result<Vec<PathBuf>, Error> {
    let named = settings.context.iter().flatten().map(PathBuf::from);
    let (Some(Repository { file, .. }), Some(SettingOrigin::Repository(..))) =
        (&settings.repository, settings.origins.get("context"))
    else {
        return Ok(named.collect());
    };
    let shown = file.shown();
    let path = |named: PathBuf| {
        let resolved = within(&file.root, &file.path.with_file_name(&named));
        let inside = resolved.as_ref().ok();
        let inside = inside.and_then(|path| path.strip_prefix(&file.root).ok());
        let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
        if inside.is_some_and(|path| !path.iter().any(is_hidden)) {
            return Ok(file.folder.join(named));
        }
        let (named, file) = (named.display(), shown.display());
        let wrong = "is no file or folder of the repository, or hidden";
        Err(
            Error::usage(format!("`{named}` in `context` of {file} {wrong}"))
                .hint("fix it there, or name other files with `--context`"),
        )
    };
    named.map(path).collect()
}

fn read_stdin(
    first_byte: Option<Duration>,
    limit: u64,
    face: &dyn Face,
) -> Result<Option<SourceText>, Error> {
    let read = stdin::read(first_byte, limit, &|pause| report_pause(pause, face));
    read.map_err(|error| {
        let hint = match &error {
            StdinError::TooLarge(_) => {
                "send less context, or raise the limit of all sources together with \
                 `--max-context-mb`"
            }
            StdinError::NotText(_) | StdinError::Read(_) => {
                "send text, or leave it out with `< /dev/null`"
            }
            StdinError::Silent(_) => {
                let wait = "or wait for it, however long it takes, with `--stdin`";
                let leave_out = "if nothing is to be read, run with `< /dev/null`";
                return Error::usage(error).hint(leave_out).hint(wait);
            }
        };
        Error::usage(error).hint(hint)
    })
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
