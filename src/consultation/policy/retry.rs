//! Whether a failed call is tried again, and when.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::consultation::call::{Failure, FailureClass};

/// How often and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryRule {
    /// Retries after the first try.
    pub most: u32,
    /// The first backoff at its longest; each further one may be twice as long.
    pub base: Duration,
    /// A provider's hint beyond this is not waited for.
    pub longest_hint: Duration,
}

impl Default for RetryRule {
    /// Two retries, backing off from 1 s, hints up to 30 s.
    fn default() -> Self {
        Self { most: 2, base: Duration::from_secs(1), longest_hint: Duration::from_secs(30) }
    }
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    After(Duration),
    Never(NoRetry),
}

/// Why a call is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRetry {
    /// The same request would fail the same way, or would be paid twice.
    Hopeless,
    /// It has been tried as often as allowed.
    Exhausted,
    /// The provider wants to be left alone for longer than anyone would wait.
    HintTooLong,
}

impl RetryRule {
    /// Decides on a failure after `done` retries. `jitter` is a number from 0 to 1 that spreads the backoff over its whole length;
    /// a provider's hint is kept to exactly instead.
    pub fn decide(&self, failure: &Failure, done: u32, jitter: f64) -> Retry {
        let passes = match failure.class {
            FailureClass::RateLimit | FailureClass::Overload | FailureClass::Transport => true,
            FailureClass::Auth
            | FailureClass::Billing
            | FailureClass::ModelMissing
            | FailureClass::BadRequest
            | FailureClass::Context
            | FailureClass::Policy
            | FailureClass::Unsupported
            | FailureClass::Interrupted
            | FailureClass::Empty
            | FailureClass::Malformed
            | FailureClass::Internal => false,
        };
        match (passes, failure.retry_after) {
            (false, _) => Retry::Never(NoRetry::Hopeless),
            (true, _) if done >= self.most => Retry::Never(NoRetry::Exhausted),
            (true, Some(hint)) if hint > self.longest_hint => Retry::Never(NoRetry::HintTooLong),
            (true, Some(hint)) => Retry::After(hint),
            (true, None) => Retry::After(self.base.saturating_mul(2u32.saturating_pow(done)).mul_f64(jitter.clamp(0.0, 1.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: FailureClass, hint: Option<u64>) -> Failure {
        Failure { retry_after: hint.map(Duration::from_millis), ..Failure::new(class, "x") }
    }

    #[test]
    fn what_may_pass_is_tried_twice_more_with_jittered_backoff() {
        let rule = RetryRule::default();
        let overload = failure(FailureClass::Overload, None);
        assert_eq!(rule.decide(&overload, 0, 0.5), Retry::After(Duration::from_millis(500)));
        assert_eq!(rule.decide(&overload, 1, 1.0), Retry::After(Duration::from_secs(2)));
        assert_eq!(rule.decide(&overload, 2, 1.0), Retry::Never(NoRetry::Exhausted));
    }

    #[test]
    fn a_hint_is_kept_to_exactly_and_a_long_one_is_not_waited_for() {
        let rule = RetryRule::default();
        assert_eq!(rule.decide(&failure(FailureClass::Overload, Some(7_001)), 0, 0.1), Retry::After(Duration::from_millis(7_001)));
        assert_eq!(rule.decide(&failure(FailureClass::Overload, Some(30_001)), 0, 0.1), Retry::Never(NoRetry::HintTooLong));
    }

    #[test]
    fn what_cannot_pass_is_never_tried_again() {
        use FailureClass::{Auth, BadRequest, Billing, Context, Empty, Internal, Interrupted, Malformed, ModelMissing, Policy};
        for class in [Auth, BadRequest, Billing, Context, Empty, Internal, Interrupted, Malformed, ModelMissing, Policy] {
            assert_eq!(RetryRule::default().decide(&failure(class, Some(1)), 0, 0.0), Retry::Never(NoRetry::Hopeless), "{class:?}");
        }
    }
}
