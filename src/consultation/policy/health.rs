//! A provider's health, from its answers, by the thresholds of the original design.
//!
//! A provider that answers is healthy, whatever the answer: a refused request says nothing about
//! its health. One that refuses the key or asks for payment is useless as a fallback and counts as
//! failed; one that limits its rate is reachable but under strain. Only a check shows how fast a
//! provider is: the duration of a call depends on the model's thinking.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of signals stored for a provider: with one check every 30 s and no calls, those of
/// five minutes.
pub const REMEMBERED: usize = 10;
/// The latency from which a provider is slow.
pub const SLOW: Duration = Duration::from_secs(3);
/// The latency above which a provider is too slow to be useful.
pub const TOO_SLOW: Duration = Duration::from_secs(10);
/// Failures without a success between them that make a provider unhealthy.
const FAILURES_IN_A_ROW: u32 = 3;

/// A provider's health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// Never checked.
    #[default]
    Unknown,
    /// Answers in less than 3 s and has not failed recently.
    Healthy,
    /// Takes 3 to 10 s, or has failed once or twice recently.
    Degraded,
    /// Takes more than 10 s, or has failed three times in a row.
    Unhealthy,
}

/// The result of one check or call for a provider's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The provider answered.
    Healthy,
    /// The provider answered with a rate limit. It is reachable, which ends a row of failures, and
    /// degraded as long as this signal is stored.
    Strained,
    /// The provider did not answer, or refuses this user.
    Failed,
}

/// The health of one provider, from its recent signals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The newest last.
    signals: VecDeque<Signal>,
    pub consecutive_failures: u32,
    pub latency: Option<Duration>,
    checked: bool,
}

impl Health {
    /// `check` is the duration of a check; `None` for a call.
    pub fn record(&mut self, signal: Signal, check: Option<Duration>) {
        if self.signals.len() == REMEMBERED {
            self.signals.pop_front();
        }
        self.signals.push_back(signal);
        self.consecutive_failures = match signal {
            Signal::Failed => self.consecutive_failures.saturating_add(1),
            Signal::Healthy | Signal::Strained => 0,
        };
        self.checked |= check.is_some();
        // The time to a failure says nothing, unless it was a timeout.
        let tells = |took: &Duration| signal != Signal::Failed || *took > TOO_SLOW;
        self.latency = check.filter(tells).or(self.latency);
    }

    /// Unknown after calls alone: only a check shows how fast a provider is.
    pub fn status(&self) -> HealthStatus {
        if !self.checked {
            return HealthStatus::Unknown;
        }
        let latency = self.latency.unwrap_or_default();
        if latency > TOO_SLOW || self.consecutive_failures >= FAILURES_IN_A_ROW {
            HealthStatus::Unhealthy
        } else if latency >= SLOW || self.signals.iter().any(|signal| *signal != Signal::Healthy) {
            HealthStatus::Degraded
        } else {
            HealthStatus::Healthy
        }
    }

    /// 0 to 1, in hundredths.
    pub fn error_rate(&self) -> f64 {
        let failed = self
            .signals
            .iter()
            .filter(|signal| **signal == Signal::Failed)
            .count();
        let hundredths = (failed * 100 + self.signals.len() / 2)
            .checked_div(self.signals.len())
            .unwrap_or(0);
        u32::try_from(hundredths).map_or(1.0, |hundredths| f64::from(hundredths) / 100.0)
    }
}

/// Returns whether all statuses are known and none is healthy.
pub fn none_healthy(statuses: impl IntoIterator<Item = HealthStatus>) -> bool {
    let mut statuses = statuses.into_iter().peekable();
    statuses.peek().is_some()
        && statuses.all(|status| matches!(status, HealthStatus::Degraded | HealthStatus::Unhealthy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::protocol::call::FailureClass;

    const QUICK: Option<Duration> = Some(Duration::from_millis(100));

    fn after(signals: &[(Signal, Option<Duration>)]) -> Health {
        let mut health = Health::default();
        for (signal, check) in signals {
            health.record(*signal, *check);
        }
        health
    }

    #[test]
    fn latency_thresholds_are_exact() {
        let cases = [
            (Duration::ZERO, HealthStatus::Healthy),
            (Duration::from_nanos(2_999_999_999), HealthStatus::Healthy),
            (SLOW, HealthStatus::Degraded),
            (TOO_SLOW, HealthStatus::Degraded),
            (TOO_SLOW + Duration::from_nanos(1), HealthStatus::Unhealthy),
        ];
        for (took, status) in cases {
            let health = after(&[(Signal::Healthy, Some(took))]);
            assert_eq!(health.status(), status, "{took:?}");
        }
    }

    #[test]
    fn the_third_failure_in_a_row_makes_a_provider_unhealthy() {
        // `.` is a success, `x` a failure.
        let cases = [
            (".", HealthStatus::Healthy, 0),
            ("x", HealthStatus::Degraded, 1),
            (".xx", HealthStatus::Degraded, 2),
            (".xxx", HealthStatus::Unhealthy, 3),
            ("xxxx", HealthStatus::Unhealthy, 4),
            ("xxx.", HealthStatus::Degraded, 0),
            ("xx.xx", HealthStatus::Degraded, 2),
        ];
        for (checks, status, in_a_row) in cases {
            let mut health = Health::default();
            for check in checks.chars() {
                let signal = [Signal::Healthy, Signal::Failed][usize::from(check == 'x')];
                health.record(signal, QUICK);
            }
            assert_eq!(health.status(), status, "{checks}");
            assert_eq!(health.consecutive_failures, in_a_row, "{checks}");
        }
    }

    #[test]
    fn a_failure_is_forgotten_after_ten_signals() {
        let mut health = after(&[(Signal::Failed, QUICK)]);
        for _ in 1..REMEMBERED {
            health.record(Signal::Healthy, QUICK);
            assert_eq!(health.status(), HealthStatus::Degraded);
        }
        assert!((health.error_rate() - 0.1).abs() < f64::EPSILON);
        health.record(Signal::Healthy, QUICK);
        assert_eq!(health.status(), HealthStatus::Healthy);
        assert_eq!(health.error_rate().to_bits(), 0);
    }

    #[test]
    fn a_provider_without_checks_is_unknown_but_its_calls_are_stored() {
        assert_eq!(Health::default().status(), HealthStatus::Unknown);
        let mut health = after(&[(Signal::Failed, None), (Signal::Failed, None)]);
        assert_eq!(health.status(), HealthStatus::Unknown);
        health.record(Signal::Failed, QUICK);
        assert_eq!(health.status(), HealthStatus::Unhealthy);
        assert_eq!(health.error_rate().to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_call_counts_but_its_duration_does_not() {
        let mut health = after(&[(Signal::Healthy, QUICK), (Signal::Healthy, None)]);
        assert_eq!(health.status(), HealthStatus::Healthy);
        assert_eq!(health.latency, QUICK);
        health.record(Signal::Failed, None);
        assert_eq!(health.status(), HealthStatus::Degraded);
    }

    #[test]
    fn a_rate_limit_degrades_but_never_makes_unhealthy() {
        let health = after(&[
            (Signal::Failed, QUICK),
            (Signal::Failed, QUICK),
            (Signal::Strained, QUICK),
            (Signal::Strained, QUICK),
        ]);
        assert_eq!(health.status(), HealthStatus::Degraded);
        assert_eq!(health.consecutive_failures, 0);
        let health = after(&[(Signal::Strained, QUICK); REMEMBERED]);
        assert_eq!(health.status(), HealthStatus::Degraded);
        assert_eq!(health.error_rate().to_bits(), 0);
    }

    #[test]
    fn the_duration_of_a_failed_check_is_no_latency() {
        let slow = Some(Duration::from_secs(4));
        let mut health = after(&[(Signal::Healthy, slow), (Signal::Failed, QUICK)]);
        assert_eq!(health.latency, slow);
        let given_up = Some(TOO_SLOW + Duration::from_millis(500));
        health.record(Signal::Failed, given_up);
        assert_eq!(health.latency, given_up);
        assert_eq!(health.status(), HealthStatus::Unhealthy);
        health.record(Signal::Healthy, QUICK);
        assert_eq!(health.status(), HealthStatus::Degraded);
    }

    #[test]
    fn a_refused_request_is_no_failure_of_the_provider() {
        let signals = [
            (FailureClass::Auth, Some(Signal::Failed)),
            (FailureClass::Billing, Some(Signal::Failed)),
            (FailureClass::Transport, Some(Signal::Failed)),
            (FailureClass::Timeout, Some(Signal::Failed)),
            (FailureClass::Overload, Some(Signal::Failed)),
            (FailureClass::Interrupted, Some(Signal::Failed)),
            (FailureClass::Malformed, Some(Signal::Failed)),
            (FailureClass::RateLimit, Some(Signal::Strained)),
            (FailureClass::BadRequest, Some(Signal::Healthy)),
            (FailureClass::Policy, Some(Signal::Healthy)),
            (FailureClass::Context, Some(Signal::Healthy)),
            (FailureClass::ModelMissing, Some(Signal::Healthy)),
            (FailureClass::Unsupported, Some(Signal::Healthy)),
            (FailureClass::Empty, Some(Signal::Healthy)),
            (FailureClass::Internal, None),
        ];
        for (class, signal) in signals {
            assert_eq!(class.meaning().signal, signal, "{class:?}");
        }
    }

    #[test]
    fn none_healthy_requires_known_statuses() {
        let [unknown, healthy, degraded] = [
            after(&[]),
            after(&[(Signal::Healthy, QUICK)]),
            after(&[(Signal::Failed, QUICK)]),
        ]
        .map(|health: Health| health.status());
        assert!(!none_healthy([]));
        assert!(!none_healthy([unknown, degraded]));
        assert!(!none_healthy([healthy, degraded]));
        assert!(none_healthy([degraded, degraded]));
    }
}
