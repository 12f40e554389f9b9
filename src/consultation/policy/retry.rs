//! Decides whether and when a failed call is retried.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failure::Remedy;
use super::pacing::Backoff;
use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::time::Timestamp;

/// How long a plan counts as used up whose reset is not known: one call in that time finds out.
const UNKNOWN_RESET: Duration = Duration::from_secs(15 * 60);

/// The number and the timing of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryRule {
    /// The number of retries after the first attempt.
    pub most: u32,
    /// The longest first backoff; each further one may be twice as long.
    pub base: Duration,
    /// The longest hint of a provider that is waited for.
    pub longest_hint: Duration,
    /// The time after which a provider that answers only with rate limits is given up.
    pub patience: Duration,
    /// The number of requests with a simpler schema for one answer. No provider has as many forms.
    pub most_forms: u32,
}

impl Default for RetryRule {
    /// Two retries, backing off from 1 s, hints up to 30 s; two minutes of nothing but rate limits.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            most: 2,
            base: seconds(1),
            longest_hint: seconds(30),
            patience: seconds(120),
            most_forms: 8,
        }
    }
}

/// The attempts so far for one answer of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// Retries after transient failures.
    pub retries: u32,
    /// Attempts in another form.
    pub forms: u32,
}

/// The decision on a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Retry after this time.
    After(Duration),
    /// Retry at once, in the form that the provider has learnt.
    Reformed,
    /// The provider asks for a longer backoff than allowed.
    HintTooLong,
    /// The same request would fail the same way or be paid twice, or the allowed attempts are used
    /// up.
    Never,
}

fn remedy(failure: &Failure) -> Remedy {
    let is_paid = failure
        .usage
        .as_deref()
        .is_some_and(|usage| usage.output > 0);
    match failure.class.meaning().remedy {
        Remedy::WaitOnce if is_paid => Remedy::Nothing,
        remedy => remedy,
    }
}

impl RetryRule {
    /// `jitter` is a number from 0 to 1 that spreads the backoff over its whole length; a
    /// provider's hint is followed exactly.
    pub fn decide(&self, failure: &Failure, tried: RetryCounts, jitter: f64) -> Retry {
        let most = match remedy(failure) {
            Remedy::Reform if tried.forms < self.most_forms => return Retry::Reformed,
            Remedy::Reform | Remedy::Nothing => return Retry::Never,
            Remedy::WaitAsAsked if failure.retry_after.is_none() => return Retry::Never,
            Remedy::Wait | Remedy::WaitAsAsked | Remedy::WaitOnce => self.most_retries(failure),
        };
        match failure.retry_after {
            Some(hint) if hint > self.longest_hint => Retry::HintTooLong,
            _ if tried.retries >= most => Retry::Never,
            Some(hint) => Retry::After(hint),
            None => Retry::After(self.backoff(tried.retries, jitter)),
        }
    }

    pub fn most_retries(&self, failure: &Failure) -> u32 {
        match remedy(failure) {
            Remedy::Wait | Remedy::WaitAsAsked => self.most,
            Remedy::WaitOnce => self.most.min(1),
            Remedy::Reform | Remedy::Nothing => 0,
        }
    }

    /// Returns how long all calls to the provider are held back after a failure of one; `None` if
    /// it concerns only that call. `refusals` counts the provider's earlier consecutive rate
    /// limits, which have lasted for `refused_for`.
    pub fn hold(
        &self,
        failure: &Failure,
        refusals: u32,
        refused_for: Duration,
        jitter: f64,
    ) -> Option<Duration> {
        let wait = match (failure.class, failure.retry_after) {
            (
                FailureClass::RateLimit | FailureClass::Overload | FailureClass::Quota,
                Some(hint),
            ) => hint,
            (FailureClass::Quota, None) => UNKNOWN_RESET,
            (FailureClass::RateLimit, None) => self.backoff(refusals, jitter),
            (_, _) => return None,
        };
        // Too long to wait for, even the part that remains after a backoff.
        let given_up = self
            .longest_hint
            .saturating_mul(2)
            .saturating_add(Duration::from_secs(1));
        Some(if refused_for > self.patience {
            wait.max(given_up)
        } else {
            wait
        })
    }

    pub fn is_too_long(&self, backoff: &Backoff, now: Timestamp) -> bool {
        backoff.until.since(now) > self.longest_hint
    }

    /// Returns how long a provider has refused every call, once that is too long to keep asking.
    pub fn given_up(&self, backoff: &Backoff, now: Timestamp) -> Option<Duration> {
        Some(now.since(backoff.since)).filter(|refused_for| *refused_for > self.patience)
    }

    /// Exponential with full jitter, never longer than the longest hint.
    fn backoff(&self, done: u32, jitter: f64) -> Duration {
        let longest = self
            .base
            .saturating_mul(2u32.saturating_pow(done))
            .min(self.longest_hint);
        longest.mul_f64(jitter.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::tokens::Usage;

    fn failure(class: FailureClass, hint: Option<u64>) -> Failure {
        Failure {
            retry_after: hint.map(Duration::from_millis),
            ..Failure::new(class, "x")
        }
    }

    /// Decides on a failure after this many retries, with the longest backoff.
    fn decide(failure: &Failure, retries: u32) -> Retry {
        let tried = RetryCounts { retries, forms: 0 };
        RetryRule::default().decide(failure, tried, 1.0)
    }

    const fn after(milliseconds: u64) -> Retry {
        Retry::After(Duration::from_millis(milliseconds))
    }

    #[test]
    fn transient_failures_are_retried_twice_with_jittered_backoff() {
        for class in [
            FailureClass::RateLimit,
            FailureClass::Overload,
            FailureClass::Transport,
            FailureClass::Timeout,
        ] {
            let failure = failure(class, None);
            let half = RetryRule::default().decide(&failure, RetryCounts::default(), 0.5);
            assert_eq!(half, after(500), "{class:?}");
            assert_eq!(decide(&failure, 1), after(2_000), "{class:?}");
            assert_eq!(decide(&failure, 2), Retry::Never, "{class:?}");
        }
    }

    #[test]
    fn hints_are_followed_exactly_unless_too_long() {
        let cases = [
            (7_001, after(7_001)),
            (30_000, after(30_000)),
            (30_001, Retry::HintTooLong),
        ];
        for class in [FailureClass::RateLimit, FailureClass::Overload] {
            for (hint, decision) in cases {
                let failure = failure(class, Some(hint));
                let decided = RetryRule::default().decide(&failure, RetryCounts::default(), 0.1);
                assert_eq!(decided, decision, "{class:?}");
            }
        }
    }

    #[test]
    fn permanent_failures_are_never_retried() {
        for class in [
            FailureClass::Auth,
            FailureClass::BadRequest,
            FailureClass::Billing,
            FailureClass::Context,
            FailureClass::Internal,
            FailureClass::Interrupted,
            FailureClass::Malformed,
            FailureClass::ModelMissing,
            FailureClass::Policy,
        ] {
            let expected = Retry::Never;
            assert_eq!(decide(&failure(class, Some(1)), 0), expected, "{class:?}");
        }
    }

    #[test]
    fn an_empty_reply_is_retried_once_unless_thinking_was_paid() {
        let cold = failure(FailureClass::Empty, None);
        assert_eq!(decide(&cold, 0), after(1_000));
        assert_eq!(decide(&cold, 1), Retry::Never);
        let usage = Usage {
            output: 900,
            ..Usage::default()
        };
        let paid = Failure {
            usage: Some(Box::new(usage)),
            ..cold
        };
        assert_eq!(decide(&paid, 0), Retry::Never);
    }

    #[test]
    fn a_refused_form_is_replaced_at_once_a_limited_number_of_times() {
        let refused = failure(FailureClass::Unsupported, None);
        assert_eq!(decide(&refused, 2), Retry::Reformed);
        let tried = RetryCounts {
            retries: 0,
            forms: 8,
        };
        let decided = RetryRule::default().decide(&refused, tried, 1.0);
        assert_eq!(decided, Retry::Never);
    }

    #[test]
    fn only_rate_limits_and_hints_hold_back_other_calls() {
        let rule = RetryRule::default();
        let cases = [
            // Never earlier than the hint, however long it is.
            (FailureClass::RateLimit, Some(40_000), 0, Some(40_000)),
            (FailureClass::RateLimit, None, 0, Some(1_000)),
            (FailureClass::RateLimit, None, 3, Some(8_000)),
            (FailureClass::RateLimit, None, 30, Some(30_000)),
            (FailureClass::Overload, Some(5), 0, Some(5)),
            (FailureClass::Overload, None, 0, None),
            (FailureClass::Transport, None, 0, None),
            (FailureClass::Auth, Some(5), 0, None),
        ];
        for (class, hint, refusals, milliseconds) in cases {
            let hold = rule.hold(&failure(class, hint), refusals, Duration::ZERO, 1.0);
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(hold, expected, "{class:?} {hint:?} {refusals}");
        }
    }

    #[test]
    fn a_provider_that_only_limits_its_rate_is_given_up() {
        let rule = RetryRule::default();
        let limited = failure(FailureClass::RateLimit, Some(5));
        let hold = |seconds| rule.hold(&limited, 9, Duration::from_secs(seconds), 1.0);
        assert_eq!(hold(120), Some(Duration::from_millis(5)));
        assert!(hold(121).unwrap() > 2 * rule.longest_hint);
    }
}
