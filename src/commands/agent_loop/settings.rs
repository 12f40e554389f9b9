//! The thresholds in force: flags, else the configuration file, else the defaults.

use std::time::Duration;

use crate::agent_loop::settings::{LoopSetting, LoopSettings};
use crate::error::Error;
use crate::stopping::exit_check::breaker::BreakerRule;
use crate::stopping::exit_check::settings::{ExitPolicy, ExitSettings};
use crate::stopping::exit_check::thresholds::ExitThresholds;

/// The longest rest of a circuit, in minutes: a week.
const LONGEST_REST: u64 = 7 * 24 * 60;

/// A threshold that a flag sets. The flag is named like the key.
pub(crate) type ThresholdFlag = (LoopSetting, u64);

/// Returns the settings of the flags over those of the file, and those over the defaults.
pub(crate) fn with_flags(
    file: &LoopSettings,
    policy: ExitPolicy,
    flags: &[ThresholdFlag],
) -> Result<ExitSettings, Error> {
    let of_flag = |setting| flags.iter().find(|(flag, _)| *flag == setting);
    let mut thresholds = ExitThresholds::default();
    for (setting, threshold) in assignments(&mut thresholds) {
        let value = of_flag(setting).map(|(_, value)| *value);
        *threshold = value.or(file.get(setting)).unwrap_or(*threshold);
    }
    if let Err(error) = thresholds.validate() {
        let settings = assignments(&mut thresholds).map(|(setting, _)| setting);
        let setting = settings
            .into_iter()
            .find(|setting| setting.key() == error.setting);
        let place = setting.and_then(|setting| match of_flag(setting) {
            Some(_) => Some(format!("`--{}`", setting.key().replace('_', "-"))),
            None => file.origin(setting),
        });
        let hint = place.map(|place| format!("change {place}"));
        return Err(Error::usage(error).hint_if(hint));
    }
    Ok(ExitSettings {
        policy,
        thresholds,
        circuit: circuit(file, &thresholds)?,
    })
}

/// Returns each threshold with its setting.
fn assignments(of: &mut ExitThresholds) -> [(LoopSetting, &mut u64); 10] {
    use LoopSetting as Setting;

    [
        (Setting::MinConfidence, &mut of.min_confidence),
        (Setting::MinCompletion, &mut of.min_completion),
        (Setting::MaxErrors, &mut of.max_errors),
        (Setting::StagnationTurns, &mut of.stagnation_turns),
        (Setting::MaxTurns, &mut of.max_turns),
        (Setting::SameErrorTurns, &mut of.same_error_turns),
        (Setting::CompletionClaims, &mut of.completion_claims),
        (Setting::LowConfidenceTurns, &mut of.low_confidence_turns),
        (Setting::QuestionTurns, &mut of.question_turns),
        (Setting::FailedTurns, &mut of.failed_turns),
    ]
}

/// Returns the rule of the circuit. Where the file does not set its windows, they are not shorter
/// than those of the rules: the circuit would halt a loop that a rule still lets run.
fn circuit(file: &LoopSettings, thresholds: &ExitThresholds) -> Result<BreakerRule, Error> {
    use LoopSetting::{CircuitSameErrorTurns, CooldownMinutes, NoProgressTurns, ProbeMinutes};

    let usual = BreakerRule::default();
    let window = |setting, usual: u32, rule: u64| -> Result<u32, Error> {
        let turns = match file.get(setting) {
            Some(turns) => in_range(file, setting, turns, ExitThresholds::MOST_TURNS)?,
            None => u64::from(usual).max(rule),
        };
        Ok(u32::try_from(turns).unwrap_or(u32::MAX))
    };
    let rest = |setting, usual: Duration| match file.get(setting) {
        Some(minutes) => in_range(file, setting, minutes, LONGEST_REST)
            .map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
        None => Ok(usual),
    };
    let (stagnation, same_error) = (thresholds.stagnation_turns, thresholds.same_error_turns);
    Ok(BreakerRule {
        no_progress_turns: window(NoProgressTurns, usual.no_progress_turns, stagnation)?,
        same_error_turns: window(CircuitSameErrorTurns, usual.same_error_turns, same_error)?,
        cooldown: rest(CooldownMinutes, usual.cooldown)?,
        permit: rest(ProbeMinutes, usual.permit)?,
    })
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
