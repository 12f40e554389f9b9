//! Reads the files and the standard input of a question, before anything is asked or spent.

use super::project::{ProjectTerms, read_project};
use super::request::{ContextRequest, StdinRequest};
use crate::config::env::Environment;
use crate::config::paths::{Home, git_excludes};
use crate::context::sources::SourceText;
use crate::context::sources::error::SourcesError;
use crate::context::sources::files::{LeftOut, NamedBy, read_files};
use crate::context::sources::stdin::{self, FirstByte, Pause, StdinError, StdinKind, StdinSource};
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

/// Reads files, standard input and the description of the project.
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
            read_stdin(FirstByte::Whenever, left, &mut read.texts, face)?
        }
        StdinRequest::IfPresent => match stdin::kind() {
            StdinKind::Terminal => StdinState::Free,
            StdinKind::File | StdinKind::Pipe | StdinKind::Other => {
                let home = Home::find(environment).map_err(Error::usage)?;
                let wait = settings::load(&home, environment)?.stdin_wait;
                read_stdin(FirstByte::Within(wait), left, &mut read.texts, face)?
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

/// Adds standard input to the sources, if it has data.
fn read_stdin(
    first_byte: FirstByte,
    limit: u64,
    texts: &mut Vec<SourceText>,
    face: &dyn Face,
) -> Result<StdinState, Error> {
    let report = |pause| match pause {
        Pause::BeforeData => {
            face.note("Waiting for standard input… (if there is none, run with `< /dev/null`)");
        }
        Pause::WithinData => face.note("Reading standard input to its end…"),
    };
    match stdin::read(first_byte, limit, &report) {
        Ok(StdinSource::Text(text)) => {
            texts.push(text);
            Ok(StdinState::Read)
        }
        Ok(StdinSource::Empty) => match first_byte {
            FirstByte::Within(_) => Ok(StdinState::Free),
            FirstByte::Whenever => Err(Error::usage("standard input, named as `-`, is empty")),
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
    const MOST_NAMED: usize = 3;
    let number = left_out.files.len();
    let named: Vec<&str> = left_out
        .files
        .iter()
        .take(MOST_NAMED)
        .map(String::as_str)
        .collect();
    let more = if number > MOST_NAMED { ", …" } else { "" };
    format!(
        "`{}`: skipped {} that {} not text: {}{more}",
        left_out.path,
        count(number, "file"),
        if number == 1 { "is" } else { "are" },
        named.join(", "),
    )
}

/// Prints each path that cannot be used, and returns the error of the command.
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
