//! The commands about the loop of an agent, and what they share: the folder of its state, its run,
//! and its thresholds.

pub mod exit_check;
pub mod circuit;
pub(crate) mod settings;
pub(crate) mod masking;

use std::path::{Path, PathBuf};

use crate::agent_loop::store::{StateFolder, Store, StoreError, Update};
use crate::config::env::Environment;
use crate::error::{Error, whole};
use crate::setup::context::scrubber;
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::run_state::RunState;
use crate::stopping::exit_check::state::LoopState;
use crate::terminal::output::printer::Printer;

/// The loop of an agent: where its state is kept, and which run of the loop it is.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoopFlags {
    #[command(flatten)]
    pub(crate) folder: StateFolderFlag,

    /// The run of the loop, by a name of your choice; a new name begins a new run
    #[arg(long, value_name = "ID", value_parser = run_id)]
    pub(crate) run: Option<String>,
}

impl LoopFlags {
    /// Returns the run that they name, or the one that was used last.
    pub(crate) fn of<'a>(&self, state: &'a LoopState) -> Option<&'a RunState> {
        match &self.run {
            Some(name) => state.run(&RunId(name.clone())),
            None => state.current(),
        }
    }
}

/// The folder of the state.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StateFolderFlag {
    /// The folder of the state [default: .conclave, or .ralph if that alone exists]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl StateFolderFlag {
    /// Opens the state, which need not exist yet.
    pub(crate) fn open(&self) -> Result<Store, Error> {
        let folder = match &self.state {
            Some(folder) if folder.as_os_str().is_empty() => {
                return Err(Error::usage("`--state` is empty")
                    .hint("name a folder, as in `--state .conclave`"));
            }
            Some(folder) => StateFolder::named(folder),
            None => StateFolder::find(Path::new("")),
        };
        Ok(Store::open(folder)?)
    }
}

/// Explains why a state cannot be read or written.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::FolderLink(path) => Some(format!(
                "if it leads where you want, name it: `--state {}`",
                path.display()
            )),
            StoreError::DamagedLog { path, .. } | StoreError::DamagedState { path, .. } => Some(
                format!("move it away with `mv {0} {0}.damaged`", path.display()),
            ),
            StoreError::OtherVersion { .. } => {
                Some("name another folder with `--state`".to_owned())
            }
            StoreError::LogsLink(_)
            | StoreError::Lock { .. }
            | StoreError::Io { .. }
            | StoreError::Write(_) => None,
        };
        Self::failed(error).hint_if(hint)
    }
}

/// Returns what was recorded, and warns if the file of the state does not have it.
pub(crate) fn recorded(
    update: Result<Update, StoreError>,
    printer: &Printer,
) -> Result<Update, Error> {
    let update = update?;
    if let Some(error) = &update.stale_file {
        printer.warning(&format!("⚠ Recorded, but {}", whole(error)));
    }
    Ok(update)
}

/// Returns the id of a run without the secrets in it: it is stored and printed.
fn run_id(text: &str) -> Result<String, String> {
    const LONGEST: usize = 100;
    if text.trim().is_empty() || text.len() > LONGEST || text.contains(char::is_control) {
        return Err(format!(
            "must be one line with 1 to {LONGEST} characters, such as \"$$\" in a shell"
        ));
    }
    Ok(scrubber::of_messages(&Environment::read())(text))
}
