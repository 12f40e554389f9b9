//! The limits of a run: request before settings, settings before defaults.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::config::setting::{ALWAYS_ALLOW_UNDER, HEDGE_AFTER, MAX_CALLS};
use crate::config::settings::Settings;
use crate::consultation::event::AbortReason;
use crate::consultation::plan::options::{DebateOptions, JudgePasses, Rounds};
use crate::consultation::plan::{Control, ControlRequest};
use crate::consultation::policy::consent::{ConsentMode, ConsentRule, Month};
use crate::consultation::policy::hedging::{HedgeAfter, HedgeRule};
use crate::domain::cost::money::MicroUsd;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::records::month::spent_in_month;
use crate::records::statistics::experience::Experience;
use crate::setup::request::DebateRequest;
use crate::stopping::early_termination::TerminationRule;

pub(super) fn control(
    request: &ControlRequest,
    settings: &Settings,
    month: Option<Month>,
    experience: &Experience,
) -> Control {
    // A delay that is set holds for every model; otherwise, models with enough experience have
    // their own.
    let has_delay = settings.origins.contains_key(HEDGE_AFTER);
    let unseen = unseen(request, settings);
    let by_settings = Control {
        consent: ConsentRule {
            always_allow_under: settings.always_allow_under,
            consent_mode: request.consent_mode,
            month,
            asks_first_cost: !experience.has_cost
                && !settings.origins.contains_key(ALWAYS_ALLOW_UNDER),
        },
        max_cost: settings.max_cost.into_iter().chain(unseen).min(),
        max_calls: settings.max_calls,
        on_failure: settings.on_failure,
        strict: false,
        hedge: HedgeRule {
            after: delay(settings.hedge_after),
            by_model: if has_delay {
                BTreeMap::new()
            } else {
                experience.hedge_delays()
            },
        },
        pulse: Some(settings.pulse).filter(|pulse| !pulse.is_zero()),
        max_wait: settings.max_wait,
        early_termination: TerminationRule {
            policy: settings.early_termination,
            threshold: settings.confidence_threshold,
            experience: experience.by_agreement.clone(),
        },
    };
    requested(by_settings, request)
}

/// Returns the ceiling where what a repository asks for is not seen: what needs no consent at all,
/// unless the user has a ceiling.
fn unseen(request: &ControlRequest, settings: &Settings) -> Option<MicroUsd> {
    let own = &settings.repository.as_ref()?.own;
    let is_seen = request.consent_mode == ConsentMode::Interactive || own.max_cost.is_some();
    (!is_seen).then_some(settings.always_allow_under)
}

/// Of each limit on cost, the stricter one applies: the one of the run or of the settings.
pub(super) fn resumed(
    mut control: Control,
    abort: Option<AbortReason>,
    request: &ControlRequest,
    settings: &Settings,
) -> Control {
    let consent = &mut control.consent;
    consent.always_allow_under = consent.always_allow_under.min(settings.always_allow_under);
    let limits = [
        control.max_cost,
        settings.max_cost,
        unseen(request, settings),
    ];
    control.max_cost = limits.into_iter().flatten().min();
    if settings.origins.contains_key(MAX_CALLS) {
        control.max_calls = control.max_calls.min(settings.max_calls);
    }
    // A resume after a strict abort accepts the result, unless `--strict` is given again.
    control.strict &= abort != Some(AbortReason::Strict);
    requested(control, request)
}

/// A strict run is never hedged.
fn requested(mut control: Control, request: &ControlRequest) -> Control {
    // Without a person to ask, an endless answer must end somewhere.
    let unattended = match request.consent_mode {
        ConsentMode::PreApproved | ConsentMode::NonInteractive => Some(Duration::from_secs(3_600)),
        ConsentMode::Interactive => None,
    };
    control.consent.consent_mode = request.consent_mode;
    control.max_cost = request.max_cost.or(control.max_cost);
    control.max_calls = request.max_calls.unwrap_or(control.max_calls);
    control.on_failure = request.on_failure.unwrap_or(control.on_failure);
    control.max_wait = request
        .max_wait
        .map(Duration::from_secs)
        .or(control.max_wait)
        .or(unattended);
    control.strict |= request.strict;
    let early = &mut control.early_termination;
    early.policy = request.early_termination.unwrap_or(early.policy);
    early.threshold = request.confidence_threshold.unwrap_or(early.threshold);
    if let Some(hedge_after) = request.hedge_after {
        control.hedge = HedgeRule {
            after: delay(hedge_after),
            by_model: BTreeMap::new(),
        };
    }
    if control.strict {
        control.hedge.after = None;
    }
    control
}

fn delay(hedge_after: HedgeAfter) -> Option<Duration> {
    match hedge_after {
        HedgeAfter::After(time) => Some(time),
        HedgeAfter::Off => None,
    }
}

/// `None` without a budget; then no record is read.
pub(super) fn month(settings: &Settings, logs: &Path, now: Timestamp) -> Option<Month> {
    let budget = settings.monthly_budget?;
    Some(Month {
        budget,
        spent: spent_in_month(logs, now, &TimeZone::system()),
    })
}

/// `None` until four fifths of the budget are spent.
pub(super) fn month_notice(month: Month) -> Option<String> {
    let Month { budget, spent } = month;
    (month.is_nearly_spent() && budget.0 > 0)
        .then(|| format!("{spent:.2} of this month's budget of {budget:.2} has been spent"))
}

/// The helper model is chosen later: that takes the panel.
pub(super) fn options(request: DebateRequest, settings: &Settings) -> Result<DebateOptions, Error> {
    let rounds = request.rounds.unwrap_or(settings.rounds);
    Ok(DebateOptions {
        mode: request.mode.unwrap_or(settings.mode),
        rounds,
        judge_passes: judge_passes(request.judge_passes, settings, rounds)?,
        debate_analysis: request.analysis.unwrap_or(settings.debate_analysis),
        ..DebateOptions::default()
    })
}

/// Without a fourth round there is no verdict to repeat. The setting applies only to
/// consultations that have one.
fn judge_passes(
    requested: Option<JudgePasses>,
    settings: &Settings,
    rounds: Rounds,
) -> Result<JudgePasses, Error> {
    match (requested, rounds < Rounds::ALL) {
        (Some(JudgePasses::Twice), true) => {
            let rounds = rounds.number();
            let error =
                format!("`--judge-passes 2` needs a verdict, and {rounds} rounds have none");
            Err(Error::usage(error).hint("hold all four rounds, or leave out `--judge-passes`"))
        }
        (_, true) => Ok(JudgePasses::Once),
        (requested, false) => Ok(requested.unwrap_or(settings.judge_passes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Environment;
    use crate::consultation::policy::substitution::OnFailure;
    use crate::domain::cost::money::{Cost, MicroUsd};
    use crate::setup::samples;

    fn request() -> ControlRequest {
        ControlRequest::new(ConsentMode::NonInteractive)
    }

    fn control_of(
        request: &ControlRequest,
        config: &str,
        variables: &[(&'static str, &str)],
    ) -> Control {
        let environment = Environment::of(variables.iter().copied());
        let settings = samples::settings(config)
            .with_environment(&environment)
            .unwrap();
        control(request, &settings, None, &Experience::default())
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn after(time: u64) -> HedgeAfter {
        HedgeAfter::After(seconds(time))
    }

    #[test]
    fn a_resumed_run_keeps_its_limits_except_those_given_again() {
        let first = ControlRequest {
            max_cost: Some(MicroUsd(1_000_000)),
            max_wait: Some(60),
            on_failure: Some(OnFailure::Fail),
            ..request()
        };
        let before = control_of(&first, "{}", &[]);
        let pre_approved = ControlRequest::new(ConsentMode::PreApproved);
        let expected = Control {
            consent: ConsentRule {
                consent_mode: ConsentMode::PreApproved,
                ..before.consent
            },
            ..before.clone()
        };
        let abort = Some(AbortReason::CostCeiling);
        let settings = samples::settings("{}");
        assert_eq!(
            resumed(before.clone(), abort, &pre_approved, &settings),
            expected
        );

        let second = ControlRequest {
            max_cost: Some(MicroUsd(2_000_000)),
            max_wait: Some(90),
            on_failure: Some(OnFailure::Skip),
            hedge_after: Some(after(4)),
            ..pre_approved.clone()
        };
        let control = resumed(before.clone(), None, &second, &settings);
        assert_eq!(control.max_cost, Some(MicroUsd(2_000_000)));
        assert_eq!(control.max_wait, Some(seconds(90)));
        assert_eq!(control.on_failure, OnFailure::Skip);
        assert_eq!(control.hedge.after, Some(seconds(4)));
        let off = ControlRequest {
            hedge_after: Some(HedgeAfter::Off),
            ..pre_approved
        };
        assert_eq!(resumed(before, None, &off, &settings).hedge.after, None);
    }

    #[test]
    fn resumed_run_has_the_stricter_limits_on_cost() {
        let limits = |control: Control| (control.max_cost, control.consent.always_allow_under);
        let stricter = (Some(MicroUsd(1_000_000)), MicroUsd(100_000));
        let strict = r#"{"max_cost": 1, "always_allow_under": 0.1}"#;
        let lax = r#"{"max_cost": 2, "always_allow_under": 0.9}"#;
        for (before, today) in [(strict, lax), (lax, strict), ("{}", strict), (strict, "{}")] {
            let before = control_of(&request(), before, &[]);
            let control = resumed(before, None, &request(), &samples::settings(today));
            assert_eq!(limits(control), stricter, "{today}");
        }
        let by_flag = ControlRequest {
            max_cost: Some(MicroUsd(3_000_000)),
            ..request()
        };
        let before = control_of(&request(), strict, &[]);
        let control = resumed(before, None, &by_flag, &samples::settings(strict));
        assert_eq!(control.max_cost, Some(MicroUsd(3_000_000)));
    }

    #[test]
    fn calls_of_a_plan_are_limited_by_request_settings_or_default() {
        let with = |max_calls| ControlRequest {
            max_calls,
            ..request()
        };
        let few = r#"{"max_calls": 20}"#;
        for (first, config, then, today, expected) in [
            (None, "{}", None, "{}", 60),
            (None, few, None, "{}", 20),
            (Some(90), few, None, "{}", 90),
            (Some(90), "{}", None, few, 20),
            (None, few, Some(90), few, 90),
        ] {
            let before = control_of(&with(first), config, &[]);
            let control = resumed(before, None, &with(then), &samples::settings(today));
            assert_eq!(
                control.max_calls, expected,
                "{first:?} {config} {then:?} {today}"
            );
        }
    }

    #[test]
    fn strictness_stays_unless_it_ended_the_run() {
        let strict = ControlRequest {
            strict: true,
            ..request()
        };
        let before = control_of(&strict, "{}", &[]);
        let settings = samples::settings("{}");
        let is_strict = |abort, request: &ControlRequest| {
            resumed(before.clone(), Some(abort), request, &settings).strict
        };
        assert!(is_strict(AbortReason::Interrupted, &request()));
        assert!(!is_strict(AbortReason::Strict, &request()));
        assert!(is_strict(AbortReason::Strict, &strict));
        let hedged = ControlRequest {
            hedge_after: Some(after(4)),
            ..strict
        };
        let control = resumed(control_of(&request(), "{}", &[]), None, &hedged, &settings);
        assert!(control.strict);
        assert_eq!(control.hedge.after, None);
    }

    #[test]
    fn an_empty_request_gives_the_defaults() {
        let interactive = ConsentMode::Interactive;
        let mut usual = Control::usual(interactive);
        usual.consent.asks_first_cost = true;
        assert_eq!(
            control_of(&ControlRequest::new(interactive), "{}", &[]),
            usual
        );
    }

    #[test]
    fn a_threshold_of_the_user_is_consent_to_the_first_cost() {
        let asks = |config, variables: &[_]| {
            control_of(&request(), config, variables)
                .consent
                .asks_first_cost
        };
        assert!(asks("{}", &[]));
        assert!(!asks(r#"{"always_allow_under": 0.5}"#, &[]));
        assert!(!asks("{}", &[("CONCLAVE_ALWAYS_ALLOW_UNDER", "0.5")]));
    }

    #[test]
    fn a_round_has_a_limit_where_the_person_cannot_be_asked() {
        let by_settings = |mode| control_of(&ControlRequest::new(mode), "{}", &[]);
        let hour = Some(seconds(3_600));
        assert_eq!(by_settings(ConsentMode::NonInteractive).max_wait, hour);
        assert_eq!(by_settings(ConsentMode::PreApproved).max_wait, hour);
        let at_a_terminal = by_settings(ConsentMode::Interactive);
        assert_eq!(at_a_terminal.max_wait, None);
        let settings = samples::settings("{}");
        let control = resumed(at_a_terminal, None, &request(), &settings);
        assert_eq!(control.max_wait, hour);
    }

    #[test]
    fn the_request_comes_before_the_environment_and_that_before_the_file() {
        let shown = |control: &Control| {
            let (hedge, failure) = (control.hedge.after, control.on_failure);
            let cost = control.max_cost.map(|cost| cost.0);
            format!("{cost:?} {hedge:?} {failure:?} {:?}", control.max_wait)
        };
        let file = r#"{"max_cost": 1, "hedge_after": 5, "on_failure": "skip", "max_wait_seconds": 60, "pulse_seconds": 0}"#;
        let by_file = control_of(&request(), file, &[]);
        assert_eq!(shown(&by_file), "Some(1000000) Some(5s) Skip Some(60s)");
        assert_eq!(by_file.pulse, None);
        let variables = [
            ("CONCLAVE_MAX_COST", "2"),
            ("CONCLAVE_HEDGE_AFTER", "6"),
            ("CONCLAVE_ON_FAILURE", "fail"),
        ];
        let by_variable = control_of(&request(), file, &variables);
        assert_eq!(shown(&by_variable), "Some(2000000) Some(6s) Fail Some(60s)");
        let requested = ControlRequest {
            max_cost: Some(MicroUsd::ZERO),
            hedge_after: Some(HedgeAfter::Off),
            on_failure: Some(OnFailure::Ask),
            max_wait: Some(7),
            ..request()
        };
        let by_request = control_of(&requested, file, &variables);
        assert_eq!(shown(&by_request), "Some(0) None Ask Some(7s)");
    }

    #[test]
    fn a_strict_run_is_never_hedged_and_zero_hedges_at_once() {
        let strict = ControlRequest {
            strict: true,
            hedge_after: Some(after(3)),
            ..request()
        };
        assert_eq!(control_of(&strict, "{}", &[]).hedge.after, None);
        let at_once = ControlRequest {
            hedge_after: Some(after(0)),
            ..request()
        };
        assert_eq!(
            control_of(&at_once, "{}", &[]).hedge.after,
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn a_notice_comes_when_four_fifths_of_the_budget_are_spent() {
        let notice = |spent| {
            month_notice(Month {
                budget: MicroUsd(10_000_000),
                spent: Cost::exactly(MicroUsd(spent)),
            })
        };
        assert_eq!(notice(7_999_999), None);
        assert_eq!(
            notice(8_000_000).unwrap(),
            "$8.00 of this month's budget of $10.00 has been spent"
        );
    }

    fn passes(
        rounds: Option<u8>,
        requested: Option<JudgePasses>,
        setting: JudgePasses,
    ) -> Result<JudgePasses, String> {
        let request = DebateRequest {
            rounds: rounds.and_then(Rounds::new),
            judge_passes: requested,
            ..DebateRequest::default()
        };
        let settings = Settings {
            judge_passes: setting,
            ..Settings::default()
        };
        options(request, &settings)
            .map(|debate| debate.judge_passes)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn requested_judge_passes_override_the_setting_and_need_a_verdict() {
        use JudgePasses::{Once, Twice};
        assert_eq!(passes(None, None, Twice), Ok(Twice));
        assert_eq!(passes(None, Some(Twice), Once), Ok(Twice));
        assert_eq!(passes(None, Some(Once), Twice), Ok(Once));
        assert_eq!(passes(Some(2), None, Twice), Ok(Once));
        assert_eq!(passes(Some(3), Some(Once), Twice), Ok(Once));
        assert_eq!(
            passes(Some(3), Some(Twice), Once),
            Err("`--judge-passes 2` needs a verdict, and 3 rounds have none".to_owned())
        );
    }
}
