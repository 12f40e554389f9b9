//! How far a run may go by itself: flags before settings, settings before what is usual.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::config::hedge_after::HedgeAfter;
use crate::config::setting::HEDGE_AFTER;
use crate::config::settings::Settings;
use crate::consultation::event::AbortReason;
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::{ConsentMode, ConsentRule, Month};
use crate::consultation::policy::hedging::HedgeRule;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::records::experience::Experience;
use crate::records::month::spent_in_month;
use crate::stopping::early_termination::{EarlyStop, Policy};

use crate::commands::consult::flags::ControlFlags;

/// Lays the flags over the settings.
pub(crate) fn control(
    flags: &ControlFlags,
    settings: &Settings,
    consent_mode: ConsentMode,
    month: Option<Month>,
    experience: &Experience,
) -> Result<Control, Error> {
    Ok(Control {
        consent: ConsentRule {
            always_allow_under: settings.always_allow_under,
            consent_mode,
            month,
        },
        max_cost: flags.max_cost.or(settings.max_cost),
        on_failure: flags
            .on_failure
            .map_or(settings.on_failure, OnFailure::from),
        strict: flags.strict,
        hedge: hedge(flags, settings, experience)?,
        pulse: Some(settings.pulse).filter(|pulse| !pulse.is_zero()),
        max_wait: flags
            .max_wait
            .map(Duration::from_secs)
            .or(settings.max_wait),
        early_termination: early_termination(flags, settings, experience),
    })
}

/// Lays the flags over the terms on which a consultation was last run, which `ended` then.
pub(crate) fn renewed(
    mut control: Control,
    ended: Option<AbortReason>,
    flags: &ControlFlags,
    consent_mode: ConsentMode,
) -> Result<Control, Error> {
    control.consent.consent_mode = consent_mode;
    control.max_cost = flags.max_cost.or(control.max_cost);
    control.on_failure = flags.on_failure.map_or(control.on_failure, OnFailure::from);
    control.max_wait = flags.max_wait.map(Duration::from_secs).or(control.max_wait);
    // Who goes on with what strictness refused accepts it, unless they say again that they do not.
    control.strict = flags.strict || (control.strict && ended != Some(AbortReason::Strict));
    control.early_termination.policy = flags
        .early_stop
        .map_or(control.early_termination.policy, Policy::from);
    control.early_termination.threshold = flags
        .confidence_threshold
        .unwrap_or(control.early_termination.threshold);
    match said_of_hedges(flags)? {
        None => {}
        Some(HedgeAfter::Off) => control.hedge.after = None,
        Some(HedgeAfter::After(time)) => {
            control.hedge = HedgeRule {
                after: Some(time),
                by_model: BTreeMap::new(),
            }
        }
    }
    if control.strict {
        control.hedge.after = None;
    }
    Ok(control)
}

/// The month's budget and what of it is gone; `None` without a budget, and then nothing is read.
pub(crate) fn month(settings: &Settings, logs: &Path, now: Timestamp) -> Option<Month> {
    let budget = settings.monthly_budget?;
    Some(Month {
        budget,
        spent: spent_in_month(logs, now, &TimeZone::system()),
    })
}

/// What is said when four fifths of the budget are gone.
pub(crate) fn month_notice(month: Month) -> Option<String> {
    let Month { budget, spent } = month;
    (month.is_nearly_spent() && budget.0 > 0)
        .then(|| format!("{spent:.2} of this month's budget of {budget:.2} has been spent"))
}

/// A delay that the user has set is kept for every model; without one, models of which enough is
/// known have their own. A run that refuses substitutes has no use for a second answer.
fn hedge(
    flags: &ControlFlags,
    settings: &Settings,
    experience: &Experience,
) -> Result<HedgeRule, Error> {
    let said = said_of_hedges(flags)?;
    let is_own = said.is_some() || settings.origins.contains_key(HEDGE_AFTER);
    let after = match said.unwrap_or(settings.hedge_after) {
        _ if flags.strict => None,
        HedgeAfter::Off => None,
        HedgeAfter::After(time) => Some(time),
    };
    Ok(HedgeRule {
        after,
        by_model: if is_own {
            BTreeMap::new()
        } else {
            experience.hedge_delays()
        },
    })
}

fn early_termination(
    flags: &ControlFlags,
    settings: &Settings,
    experience: &Experience,
) -> EarlyStop {
    EarlyStop {
        policy: flags.early_stop.map_or(settings.early_stop, Policy::from),
        threshold: flags
            .confidence_threshold
            .unwrap_or(settings.confidence_threshold),
        correlation: settings.error_correlation,
        experience: experience.by_agreement().to_vec(),
    }
}

/// What the flags say of hedges.
fn said_of_hedges(flags: &ControlFlags) -> Result<Option<HedgeAfter>, Error> {
    let said = flags.hedge_after.as_deref().map(|text| {
        let bad = || {
            Error::usage(format!(
                "`--hedge-after` is `{text}`, and must be {}",
                HedgeAfter::EXPECTED
            ))
        };
        HedgeAfter::of_text(text).ok_or_else(|| bad().hint("for example: --hedge-after 15"))
    });
    said.transpose()
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;
    use crate::config::env::Environment;
    use crate::domain::money::{Cost, MicroUsd};

    fn made(
        arguments: &[&str],
        config: &str,
        variables: &[(&'static str, &str)],
    ) -> Result<Control, Error> {
        let command = ControlFlags::augment_args(Command::new("conclave"));
        let flags = ControlFlags::from_arg_matches(
            &command.get_matches_from(std::iter::once(&"conclave").chain(arguments)),
        )
        .unwrap();
        let environment = Environment::of(variables.iter().copied());
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap()
            .with_environment(&environment)
            .unwrap();
        control(
            &flags,
            &settings,
            ConsentMode::NonInteractive,
            None,
            &Experience::default(),
        )
    }

    fn again(
        arguments: &[&str],
        before: &Control,
        ended: Option<AbortReason>,
    ) -> Result<Control, Error> {
        let command = ControlFlags::augment_args(Command::new("conclave"));
        let flags = ControlFlags::from_arg_matches(
            &command.get_matches_from(std::iter::once(&"conclave").chain(arguments)),
        )
        .unwrap();
        renewed(before.clone(), ended, &flags, ConsentMode::PreApproved)
    }

    #[test]
    fn who_goes_on_keeps_the_terms_that_were_in_force_but_for_what_is_said_again() {
        let before = made(
            &[
                "--max-cost",
                "1",
                "--max-wait",
                "60",
                "--on-failure",
                "fail",
            ],
            "{}",
            &[],
        )
        .unwrap();
        let kept = again(&[], &before, Some(AbortReason::CostCeiling)).unwrap();
        assert_eq!(
            kept,
            Control {
                consent: ConsentRule {
                    consent_mode: ConsentMode::PreApproved,
                    ..before.consent
                },
                ..before.clone()
            }
        );
        let renewed = again(
            &[
                "--max-cost",
                "2",
                "--max-wait",
                "90",
                "--on-failure",
                "skip",
                "--hedge-after",
                "4",
            ],
            &before,
            None,
        )
        .unwrap();
        assert_eq!(
            (renewed.max_cost, renewed.max_wait),
            (Some(MicroUsd(2_000_000)), Some(Duration::from_secs(90)))
        );
        assert_eq!(
            (renewed.on_failure, renewed.hedge.after),
            (OnFailure::Skip, Some(Duration::from_secs(4)))
        );
        assert_eq!(
            again(&["--hedge-after", "off"], &before, None)
                .unwrap()
                .hedge
                .after,
            None
        );
        assert!(
            again(&["--hedge-after", "soon"], &before, None)
                .unwrap_err()
                .to_string()
                .contains("`soon`")
        );
    }

    #[test]
    fn strictness_stays_unless_it_was_what_ended_it() {
        let before = made(&["--strict"], "{}", &[]).unwrap();
        assert!(
            again(&[], &before, Some(AbortReason::Interrupted))
                .unwrap()
                .strict
        );
        assert!(
            !again(&[], &before, Some(AbortReason::Strict))
                .unwrap()
                .strict
        );
        assert!(
            again(&["--strict"], &before, Some(AbortReason::Strict))
                .unwrap()
                .strict
        );
        let strict = again(
            &["--strict", "--hedge-after", "4"],
            &made(&[], "{}", &[]).unwrap(),
            None,
        )
        .unwrap();
        assert_eq!((strict.strict, strict.hedge.after), (true, None));
    }

    #[test]
    fn without_flags_and_settings_it_is_as_usual() {
        assert_eq!(
            made(&[], "{}", &[]).unwrap(),
            Control::usual(ConsentMode::NonInteractive)
        );
    }

    #[test]
    fn flags_come_before_the_environment_and_the_environment_before_the_file() {
        let file = r#"{"max_cost": 1, "hedge_after": 5, "on_failure": "skip", "max_wait_seconds": 60, "pulse_seconds": 0}"#;
        let by_file = made(&[], file, &[]).unwrap();
        assert_eq!(
            (by_file.max_cost, by_file.hedge.after),
            (Some(MicroUsd(1_000_000)), Some(Duration::from_secs(5)))
        );
        assert_eq!(
            (by_file.on_failure, by_file.max_wait, by_file.pulse),
            (OnFailure::Skip, Some(Duration::from_secs(60)), None)
        );
        let variables = [
            ("CONCLAVE_MAX_COST", "2"),
            ("CONCLAVE_HEDGE_AFTER", "6"),
            ("CONCLAVE_ON_FAILURE", "fail"),
        ];
        let by_variable = made(&[], file, &variables).unwrap();
        assert_eq!(
            (by_variable.max_cost, by_variable.hedge.after),
            (Some(MicroUsd(2_000_000)), Some(Duration::from_secs(6)))
        );
        assert_eq!(by_variable.on_failure, OnFailure::Fail);
        let flags = [
            "--max-cost",
            "0",
            "--hedge-after",
            "off",
            "--on-failure",
            "ask",
            "--max-wait",
            "7",
        ];
        let by_flag = made(&flags, file, &variables).unwrap();
        assert_eq!(
            (by_flag.max_cost, by_flag.hedge.after, by_flag.on_failure),
            (Some(MicroUsd::ZERO), None, OnFailure::Ask)
        );
        assert_eq!(by_flag.max_wait, Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_strict_run_is_never_hedged_and_zero_hedges_at_once() {
        assert_eq!(
            made(&["--strict", "--hedge-after", "3"], "{}", &[])
                .unwrap()
                .hedge
                .after,
            None
        );
        assert_eq!(
            made(&["--hedge-after", "0"], "{}", &[])
                .unwrap()
                .hedge
                .after,
            Some(Duration::ZERO)
        );
        let error = made(&["--hedge-after", "soon"], "{}", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--hedge-after` is `soon`, and must be a number of seconds or `off`"
        );
        assert_eq!(error.hints(), ["for example: --hedge-after 15"]);
    }

    #[test]
    fn four_fifths_of_a_budget_are_told() {
        let told = |spent| {
            month_notice(Month {
                budget: MicroUsd(10_000_000),
                spent: Cost::exactly(MicroUsd(spent)),
            })
        };
        assert_eq!(told(7_999_999), None);
        assert_eq!(
            told(8_000_000).unwrap(),
            "$8.00 of this month's budget of $10.00 has been spent"
        );
    }
}
