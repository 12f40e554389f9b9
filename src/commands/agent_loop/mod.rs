//! The commands about the loop of an agent, and what they share: the folder of its state, its run,
//! and its thresholds.

pub mod exit_check;
pub mod circuit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent_loop::settings::{CIRCUIT, EXIT_DECISION, LoopSettings};
use crate::agent_loop::signals::signature;
use crate::agent_loop::store::{Store, StoreError, Update};
use crate::agent_loop::test_command::last_lines;
use crate::config::env::Environment;
use crate::error::{Error, whole};
use crate::files::log::LogError;
use crate::setup::context::scrubber;
use crate::stopping::exit_check::breaker::BreakerRule;
use crate::stopping::exit_check::event::{ExitPolicy, ExitSettings};
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::stopping::exit_check::run::LoopRunId;
use crate::stopping::exit_check::run_state::LoopRun;
use crate::stopping::exit_check::state::LoopState;
use crate::stopping::exit_check::thresholds::ExitThresholds;
use crate::terminal::output::printer::Printer;
use crate::text::clean::shortened;

/// The loop of an agent: where its state is kept, and which run of the loop it is.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoopFlags {
    #[command(flatten)]
    pub(crate) folder: StateFolderFlag,

    /// The run of the loop, by a name of your choice; a new name begins a new run
    #[arg(long, value_name = "ID", value_parser = run_id)]
    pub(crate) run: Option<String>,
}

/// A report on the loop.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoopReportFlags {
    #[command(flatten)]
    pub(crate) run: LoopFlags,

    /// Write JSON; the folder schemas describes it
    #[arg(long)]
    pub(crate) json: bool,
}

impl LoopFlags {
    /// Returns the run that they name, or the one that was used last.
    pub(crate) fn of<'a>(&self, state: &'a LoopState) -> Option<&'a LoopRun> {
        match &self.run {
            Some(name) => state.run(&LoopRunId(name.clone())),
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
    /// The state need not exist yet.
    pub(crate) fn open(&self) -> Result<Store, Error> {
        match &self.state {
            Some(folder) if folder.as_os_str().is_empty() => {
                Err(Error::usage("`--state` is empty")
                    .hint("name a folder, as in `--state .conclave`"))
            }
            Some(folder) => Ok(Store::named(folder)?),
            None => Ok(Store::find(Path::new(""))?),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::FolderLink(path) => Some(format!(
                "if it leads where you want, name it: `--state {}`",
                path.display()
            )),
            StoreError::DamagedState { path, .. }
            | StoreError::Log(LogError::DamagedLine { path, .. }) => Some(format!(
                "move it away with `mv {0} {0}.damaged`",
                path.display()
            )),
            StoreError::OtherVersion { .. } | StoreError::Log(LogError::OtherVersion { .. }) => {
                Some("name another folder with `--state`".to_owned())
            }
            StoreError::LogsLink(_) | StoreError::Log(_) | StoreError::Write(_) => None,
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

/// The id is stored and printed.
fn run_id(text: &str) -> Result<String, String> {
    const LONGEST: usize = 100;
    if text.trim().is_empty() || text.len() > LONGEST || text.contains(char::is_control) {
        return Err(format!(
            "must be one line with 1 to {LONGEST} characters, such as \"$$\" in a shell"
        ));
    }
    Ok(scrubber::of_messages(&Environment::read())(text))
}

/// Texts that are not in the evidence before their secrets are masked.
#[derive(Debug, Default)]
pub(crate) struct UnmaskedTexts {
    pub(crate) errors: Vec<String>,
    pub(crate) test_output: String,
}

/// Adds the errors of the turn and the last lines of its tests to the evidence, and masks every
/// text in it.
///
/// Texts are cut after they are masked, and what the tests printed is masked as a whole: a piece of
/// a secret is not recognised.
///
/// # Errors
///
/// When the user's settings or rules for secrets cannot be used.
pub(crate) fn mask(
    evidence: &mut TurnEvidence,
    mut unmasked: UnmaskedTexts,
    environment: &Environment,
) -> Result<(), Error> {
    let (status, obstacle) = (&mut evidence.status, &mut evidence.obstacle);
    let words = &mut evidence.words;
    let mut run = evidence.tests.as_mut().and_then(|tests| tests.run.as_mut());
    let mut texts = vec![&mut unmasked.test_output];
    texts.extend(status.iter_mut().map(|status| &mut status.source));
    texts.extend(evidence.errors.iter_mut().map(|error| &mut error.0));
    texts.extend(obstacle.iter_mut().map(|obstacle| &mut obstacle.message));
    texts.extend(
        words
            .iter_mut()
            .filter_map(|words| words.admission.as_mut()),
    );
    texts.extend(run.iter_mut().map(|run| &mut run.command));
    texts.extend(&mut unmasked.errors);
    texts.retain(|text| !text.is_empty());
    if !texts.is_empty() {
        scrubber::load(environment)?.mask(texts);
    }
    let status = status.iter_mut().map(|status| &mut status.source);
    let obstacle = obstacle.iter_mut().map(|obstacle| &mut obstacle.message);
    let admission = words
        .iter_mut()
        .filter_map(|words| words.admission.as_mut());
    for text in status.chain(obstacle).chain(admission) {
        *text = shortened(text, TurnEvidence::LONGEST_TEXT);
    }
    if let Some(run) = run {
        run.last_lines = last_lines(&unmasked.test_output);
    }
    let errors = &mut evidence.errors;
    errors.extend(unmasked.errors.iter().map(|line| signature(line)));
    errors.sort();
    errors.dedup();
    Ok(())
}

/// The longest rest of a circuit, in minutes: a week.
const LONGEST_REST: u64 = 7 * 24 * 60;

/// A threshold that a flag sets. The flag is named like the key.
pub(crate) type ThresholdFlag = (&'static str, Option<u64>);

/// Returns the settings of the flags over those of the file, and those over the defaults.
pub(crate) fn with_flags(
    file: &LoopSettings,
    policy: ExitPolicy,
    flags: &[ThresholdFlag],
) -> Result<ExitSettings, Error> {
    let of_flag = |key| flags.iter().find(|(flag, _)| *flag == key)?.1;
    let of_flags = flags
        .iter()
        .filter_map(|(key, value)| Some((*key, (*value)?)));
    let values: BTreeMap<_, _> = file.section(EXIT_DECISION).chain(of_flags).collect();
    let thresholds = serde_json::to_value(values).and_then(serde_json::from_value);
    let thresholds: ExitThresholds = thresholds.map_err(Error::failed)?;
    if let Err(error) = thresholds.validate() {
        let place = match of_flag(error.setting) {
            Some(_) => Some(format!("`--{}`", error.setting.replace('_', "-"))),
            None => file.origin((EXIT_DECISION, error.setting)),
        };
        let hint = place.map(|place| format!("change {place}"));
        return Err(Error::usage(error).hint_if(hint));
    }
    Ok(ExitSettings {
        policy,
        thresholds,
        circuit: circuit(file, &thresholds)?,
    })
}

/// A window that the file does not set is not shorter than the window of the rule: the circuit would
/// halt a loop that the rule still lets run.
fn circuit(file: &LoopSettings, thresholds: &ExitThresholds) -> Result<BreakerRule, Error> {
    let usual = BreakerRule::default();
    let given = |key, most: u64| {
        let setting = (CIRCUIT, key);
        let value = file.get(setting);
        match value.filter(|value| !(1..=most).contains(value)) {
            None => Ok(value),
            Some(wrong) => Err(Error::usage(format!(
                "{}, is {wrong}, but must be between 1 and {most}",
                file.origin(setting).unwrap_or_default()
            ))),
        }
    };
    let window = |key, usual: u32, rule: u64| -> Result<u32, Error> {
        let turns = given(key, ExitThresholds::MAX_TURNS)?;
        let turns = turns.unwrap_or(u64::from(usual).max(rule));
        Ok(u32::try_from(turns).unwrap_or(u32::MAX))
    };
    let rest = |key, usual: Duration| -> Result<Duration, Error> {
        let minutes = given(key, LONGEST_REST)?;
        let seconds = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
        Ok(minutes.map_or(usual, seconds))
    };
    let (stagnation, same_error) = (thresholds.stagnation_turns, thresholds.same_error_turns);
    Ok(BreakerRule {
        no_progress_turns: window("no_progress_turns", usual.no_progress_turns, stagnation)?,
        same_error_turns: window("same_error_turns", usual.same_error_turns, same_error)?,
        cooldown: rest("cooldown_minutes", usual.cooldown)?,
        permit: rest("probe_minutes", usual.permit)?,
    })
}
