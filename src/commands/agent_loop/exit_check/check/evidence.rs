//! Gathers the evidence of a turn: files and standard input, the working tree, the tests.
//!
//! All that can be wrong with the command line is found before the tests run.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent_loop::checklist;
use crate::agent_loop::git::{self, GitError, GitSnapshot, WorkingTree};
use crate::agent_loop::response::{self, AgentResponse};
use crate::agent_loop::signals::{self, SignalOptions};
use crate::agent_loop::store::Store;
use crate::agent_loop::test_command::{self, TestError};
use crate::commands::agent_loop::UnmaskedTexts;
use crate::engine::clock::Clock;
use crate::engine::interrupts;
use crate::error::{Error, Exit};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::evidence::{SeedTasks, TurnEvidence};

use super::{CheckArgs, EvidenceFlags};

/// The name of standard input among the files.
const STDIN: &str = "-";

/// A plan or a prompt.
const LARGEST_TEXT: SizeLimit = SizeLimit::of_bytes(16 << 20);

/// A response. An agent's output is mostly kilobytes to a few megabytes.
const LARGEST_RESPONSE: SizeLimit = SizeLimit::of_bytes(64 << 20);

/// The files of a check.
#[derive(Debug)]
pub(super) struct CheckFiles {
    response: PathBuf,
    plan: Option<PathBuf>,
    prompt: Option<PathBuf>,
}

/// What is known of a turn, and what else the check has to do with it.
#[derive(Debug, Default)]
pub(super) struct GatheredEvidence {
    /// Without the errors, whose secrets are not masked yet.
    pub(super) evidence: TurnEvidence,
    pub(super) unmasked: UnmaskedTexts,
    /// The check that the number of changed files counts from.
    pub(super) changed_since: Option<String>,
    /// The working tree, for the next check.
    pub(super) tree: Option<WorkingTree>,
    pub(super) test_warning: Option<&'static str>,
    pub(super) response_warning: Option<&'static str>,
}

const UNKNOWN_JSON: &str =
    "⚠ The response is JSON of no known agent program; it is read as text, and says little so";

impl CheckFiles {
    /// Returns the files that the flags name, or those of the folder of the state.
    pub(super) fn new(args: &CheckArgs, store: &Store) -> Result<Self, Error> {
        let response = match (&args.response, store.default_response()) {
            (Some(response), _) => response.clone(),
            (None, Some(response)) => response,
            (None, None) => {
                return Err(Error::usage("no response to check")
                    .hint("name the file with the agent's last response, as in `conclave exit-check response.md`")
                    .hint("or pipe it, as in `claude -p … | conclave exit-check -`"));
            }
        };
        let files = Self {
            response,
            plan: args
                .plan
                .clone()
                .or_else(|| args.evidence.checklist.clone())
                .or_else(|| {
                    let plan = store.default_plan();
                    plan.filter(|plan| plan.exists())
                }),
            prompt: args.evidence.prompt.clone(),
        };
        let on_stdin = files.all().filter(|path| is_stdin(path)).count();
        if on_stdin > 1 {
            let error = "`-` is named twice; standard input is read once";
            return Err(Error::usage(error).hint("write one of the texts to a file"));
        }
        if on_stdin == 1 && io::stdin().is_terminal() {
            let error = "`-` reads standard input, which is a terminal here";
            return Err(Error::usage(error)
                .hint("pipe a text, as in `claude -p … | conclave exit-check -`"));
        }
        Ok(files)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let others = [self.plan.as_ref(), self.prompt.as_ref()];
        std::iter::once(&self.response).chain(others.into_iter().flatten())
    }
}

pub(super) fn gather(
    args: &CheckArgs,
    files: &CheckFiles,
    store: &Store,
    clock: &Clock,
) -> Result<GatheredEvidence, Error> {
    let flags = &args.evidence;
    let prompt = files.prompt.as_ref().map(|path| read_text(path, "prompt"));
    let prompt = prompt.transpose()?;
    // Of the two texts, the one on standard input comes last: its writer may take long to fail.
    let read_plan = |is_last: bool| {
        let plan = files.plan.as_ref().filter(|path| is_stdin(path) == is_last);
        plan.map(|path| read_text(path, "plan")).transpose()
    };
    let plan = read_plan(false)?;
    let response = read_response(args, &files.response)?;
    let plan = read_plan(true)?.or(plan);
    let options = SignalOptions {
        prompt: prompt.as_deref(),
        promise: flags.promise.as_deref(),
    };
    let (of_texts, errors) = signals::read(&response, &options);
    let mut gathered = GatheredEvidence {
        evidence: TurnEvidence {
            checklist: plan.as_deref().and_then(checklist::read),
            seed_tasks: plan.as_deref().map(SeedTasks::count),
            agent_exit: flags.agent_exit,
            ..of_texts
        },
        ..GatheredEvidence::default()
    };
    // The object that a prompt asks for is an answer as well.
    let is_unknown = response.is_unknown_json && gathered.evidence.status.is_none();
    gathered.response_warning = is_unknown.then_some(UNKNOWN_JSON);
    gathered.unmasked.errors = errors;
    if flags.git || flags.tests.is_some() {
        let mut ignored = store.own_files();
        // The loop itself writes these, which are no changes of the work. What changes in the plan
        // is counted by its tasks.
        ignored.extend(files.all().filter(|path| !is_stdin(path)).cloned());
        run_programs(flags, store, &ignored, clock, &mut gathered)?;
    }
    Ok(gathered)
}

fn run_programs(
    flags: &EvidenceFlags,
    store: &Store,
    ignored: &[PathBuf],
    clock: &Clock,
    gathered: &mut GatheredEvidence,
) -> Result<(), Error> {
    let signals = interrupts::listen(1, Exit::Interrupted.code(), || ()).map_err(Error::failed)?;
    let signals = RefCell::new(signals);
    let has_been = Cell::new(false);
    let is_interrupted = &|| {
        let has_come = signals.borrow_mut().try_recv().is_ok();
        has_been.set(has_been.get() || has_come);
        has_been.get()
    };
    if flags.git {
        let here = Path::new(".");
        let tree = git::measure(here, ignored, is_interrupted).map_err(git_error)?;
        let earlier = GitSnapshot::read(&store.path);
        let earlier_tree = earlier.as_ref().map(|earlier| &earlier.tree);
        let state = tree.state(here, earlier_tree, is_interrupted);
        gathered.evidence.git = Some(state.map_err(git_error)?);
        gathered.changed_since = earlier.map(|earlier| earlier.check);
        gathered.tree = Some(tree);
    }
    if let Some(command) = &flags.tests {
        let time_limit = flags.tests_timeout.map(Duration::from_secs);
        let time_limit = time_limit.unwrap_or(test_command::TIME_LIMIT);
        let now = &|| clock.now();
        let tests = test_command::result(command, time_limit, now, is_interrupted);
        let tests = tests.map_err(test_error)?;
        gathered.evidence.tests = Some(tests.result);
        gathered.test_warning = tests.warning;
        gathered.unmasked.test_output = tests.output;
    }
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Replaces bytes that are not UTF-8: they are no task and no signal.
fn read_text(path: &Path, what: &str) -> Result<String, Error> {
    let bytes = read(path, what, LARGEST_TEXT)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_response(args: &CheckArgs, path: &Path) -> Result<AgentResponse, Error> {
    let bytes = read(path, "response", LARGEST_RESPONSE)?;
    response::read(&bytes, args.evidence.format).map_err(|error| {
        Error::usage(format!("{}: {error}", shown(path)))
            .hint("leave out `--format`, and the content decides")
    })
}

/// Reads at most as much as the limit.
fn read(path: &Path, what: &str, limit: SizeLimit) -> Result<Vec<u8>, Error> {
    let bytes = open(path, limit).and_then(|text| files::read_to_end(text, limit));
    bytes.map_err(|error| unreadable(path, what, &error))
}

/// Opens standard input, a file, or a pipe that the shell has opened for this process:
/// `<(command)`.
fn open(path: &Path, limit: SizeLimit) -> io::Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let descriptors = ["/dev/fd", "/proc/self/fd", "/dev/stdin"];
    let is_descriptor = descriptors.iter().any(|folder| path.starts_with(folder));
    Ok(Box::new(if is_descriptor {
        File::open(path)?
    } else {
        files::open(path, limit)?
    }))
}

fn unreadable(path: &Path, what: &str, error: &io::Error) -> Error {
    let error = Error::usage(format!("cannot read the {what} {}: {error}", shown(path)));
    match path.to_str() {
        Some(name @ ("check" | "state" | "history" | "reset")) => error.hint(format!(
            "the command `{name}` comes before all flags, as in `conclave exit-check {name}`"
        )),
        Some(_) | None => error,
    }
}

fn shown(path: &Path) -> String {
    if is_stdin(path) {
        "on standard input".to_owned()
    } else {
        format!("`{}`", path.display())
    }
}

fn git_error(error: GitError) -> Error {
    match error {
        GitError::NotARepository => Error::usage(error)
            .hint("run it in the project, after `git init`, or leave out `--git`"),
        GitError::Unstartable(_) => Error::usage(error).hint("install Git, or leave out `--git`"),
        GitError::TooManyFiles => Error::failed(error)
            .hint("commit them, or name what is built or downloaded in `.gitignore`"),
        GitError::Interrupted => Error::new(Exit::Interrupted, error),
        GitError::Failed { .. } | GitError::TooSlow { .. } => Error::failed(error),
    }
}

fn test_error(error: TestError) -> Error {
    match error {
        TestError::Interrupted => Error::new(Exit::Interrupted, error),
        TestError::Shell(_) => Error::failed(error),
    }
}
