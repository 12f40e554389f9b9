//! The thresholds in force: flags, else the configuration file, else the defaults.

use std::time::Duration;

use crate::agent_loop::settings::{LoopSetting, LoopSettings};
use crate::error::Error;
use crate::stopping::exit_check::breaker::BreakerRule;
use crate::stopping::exit_check::settings::{ExitPolicy, ExitSettings};
use crate::stopping::exit_check::thresholds::ExitThresholds;

/// The longest rest of a circuit, in minutes: a week.
const LONGEST_REST: u64 = 7 * 24 * 60;

/// A threshold that a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThresholdFlag {
    pub(crate) setting: LoopSetting,
    /// With its dashes.
    pub(crate) flag: &'static str,
    pub(crate) value: u64,
}

/// Returns the settings of the file over the defaults.
pub(crate) fn of_file(file: &LoopSettings) -> Result<ExitSettings, Error> {
    with_flags(file, ExitPolicy::default(), &[])
}

/// Returns the settings of the flags over those of the file.
pub(crate) fn with_flags(
    file: &LoopSettings,
    policy: ExitPolicy,
    flags: &[ThresholdFlag],
) -> Result<ExitSettings, Error> {
    let mut thresholds = ExitThresholds::default();
    for (setting, _, threshold) in assignments(&mut thresholds) {
        let flag = flags.iter().find(|flag| flag.setting == setting);
        let value = flag.map(|flag| flag.value).or(file.get(setting));
        *threshold = value.unwrap_or(*threshold);
    }
    if let Err(error) = thresholds.validate() {
        let place = place(file, flags, error.setting);
        let error = Error::usage(error);
        return Err(match place {
            Some(place) => error.hint(format!("change {place}")),
            None => error,
        });
    }
    Ok(ExitSettings {
        policy,
        thresholds,
        circuit: circuit(file, &thresholds)?,
    })
}

/// Returns each threshold with its setting and its name.
fn assignments(thresholds: &mut ExitThresholds) -> [(LoopSetting, &'static str, &mut u64); 10] {
    let ExitThresholds {
        min_confidence,
        min_completion,
        max_errors,
        stagnation_turns,
        max_turns,
        same_error_turns,
        completion_claims,
        low_confidence_turns,
        question_turns,
        failed_turns,
    } = thresholds;
    [
        (LoopSetting::MinConfidence, "min_confidence", min_confidence),
        (LoopSetting::MinCompletion, "min_completion", min_completion),
        (LoopSetting::MaxErrors, "max_errors", max_errors),
        (
            LoopSetting::StagnationTurns,
            "stagnation_turns",
            stagnation_turns,
        ),
        (LoopSetting::MaxTurns, "max_turns", max_turns),
        (
            LoopSetting::SameErrorTurns,
            "same_error_turns",
            same_error_turns,
        ),
        (
            LoopSetting::CompletionClaims,
            "completion_claims",
            completion_claims,
        ),
        (
            LoopSetting::LowConfidenceTurns,
            "low_confidence_turns",
            low_confidence_turns,
        ),
        (LoopSetting::QuestionTurns, "question_turns", question_turns),
        (LoopSetting::FailedTurns, "failed_turns", failed_turns),
    ]
}

/// Returns where a threshold is set, for people; `None` for a default.
fn place(file: &LoopSettings, flags: &[ThresholdFlag], name: &str) -> Option<String> {
    let mut thresholds = ExitThresholds::default();
    let all = assignments(&mut thresholds).map(|(setting, name, _)| (setting, name));
    let (setting, _) = all.into_iter().find(|(_, other)| *other == name)?;
    let flag = flags.iter().find(|flag| flag.setting == setting);
    flag.map(|flag| format!("`{}`", flag.flag))
        .or_else(|| file.origin(setting))
}

/// Returns the rule of the circuit. Where the file does not set its windows, they are not shorter
/// than those of the rules: the circuit would halt a loop that a rule still lets run.
fn circuit(file: &LoopSettings, thresholds: &ExitThresholds) -> Result<BreakerRule, Error> {
    let usual = BreakerRule::default();
    let window = |setting, usual: u32, rule: u64| match file.get(setting) {
        Some(turns) => in_range(file, setting, turns, ExitThresholds::MOST_TURNS),
        None => Ok(u64::from(usual).max(rule)),
    };
    let no_progress = window(
        LoopSetting::NoProgressTurns,
        usual.no_progress_turns,
        thresholds.stagnation_turns,
    )?;
    let same_error = window(
        LoopSetting::CircuitSameErrorTurns,
        usual.same_error_turns,
        thresholds.same_error_turns,
    )?;
    let rest = |setting, usual: Duration| match file.get(setting) {
        Some(minutes) => in_range(file, setting, minutes, LONGEST_REST).map(minutes_of),
        None => Ok(usual),
    };
    Ok(BreakerRule {
        no_progress_turns: u32::try_from(no_progress).unwrap_or(u32::MAX),
        same_error_turns: u32::try_from(same_error).unwrap_or(u32::MAX),
        cooldown: rest(LoopSetting::CooldownMinutes, usual.cooldown)?,
        permit: rest(LoopSetting::ProbeMinutes, usual.permit)?,
    })
}

fn minutes_of(minutes: u64) -> Duration {
    Duration::from_secs(minutes.saturating_mul(60))
}

fn in_range(
    file: &LoopSettings,
    setting: LoopSetting,
    value: u64,
    most: u64,
) -> Result<u64, Error> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    let origin = file.origin(setting).unwrap_or_default();
    Err(Error::usage(format!(
        "{origin}, is {value}, but must be between 1 and {most}"
    )))
}
