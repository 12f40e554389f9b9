//! Limits per provider: how many calls may be in flight at once, and how long a backoff lasts.
//!
//! A rate limit delays every call to that provider. Afterwards calls go out one at a time, and one
//! more with each success, so that they do not reach the limit together again.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

/// A backoff that a provider asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    pub until: Timestamp,
    /// The provider's message.
    pub reason: String,
    /// The time since which it has answered only with rate limits.
    pub since: Timestamp,
}

/// The limits of every provider that has been called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderLimits(BTreeMap<ProviderId, ConcurrencyLimit>);

/// The calls in flight at one provider, and their limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ConcurrencyLimit {
    in_flight: u32,
    /// The reduced limit after a rate limit; `None` if only the provider's usual limit applies.
    window: Option<u32>,
    backoff: Option<Backoff>,
    /// The number of consecutive rate limits.
    refusals: u32,
    /// The time of the first of them.
    refused_since: Option<Timestamp>,
}

/// The decision whether a call may go out now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Now,
    /// The limit of calls in flight is reached; tried again when one of them ends.
    Full,
    /// Not before the backoff ends.
    BackingOff(Backoff),
}

/// The end of a call, as far as it matters to its provider's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The provider answered.
    Answered,
    /// The call ended otherwise, which says nothing about the provider's limits.
    Other,
}

impl ProviderLimits {
    /// Decides on a call to a provider with a limit of `limit` calls in flight.
    pub fn admit(&self, provider: &ProviderId, limit: u32, now: Timestamp) -> Admission {
        let Some(known) = self.0.get(provider) else {
            return Admission::Now;
        };
        match &known.backoff {
            Some(backoff) if backoff.until > now => Admission::BackingOff(backoff.clone()),
            Some(_) | None
                if known.in_flight >= known.window.unwrap_or(limit).min(limit).max(1) =>
            {
                Admission::Full
            }
            Some(_) | None => Admission::Now,
        }
    }

    /// Counts a call that goes out.
    pub fn begin(&mut self, provider: &ProviderId) {
        let known = self.limit(provider);
        known.in_flight = known.in_flight.saturating_add(1);
    }

    /// Counts a call that came back or was dropped. The answer to a call that went out before a
    /// backoff says nothing about the time after it.
    pub fn end(&mut self, provider: &ProviderId, limit: u32, how: CallEnd, now: Timestamp) {
        let known = self.limit(provider);
        known.in_flight = known.in_flight.saturating_sub(1);
        let is_backing_off = known
            .backoff
            .as_ref()
            .is_some_and(|backoff| backoff.until > now);
        if how == CallEnd::Answered && !is_backing_off {
            known.refusals = 0;
            known.refused_since = None;
            known.window = known
                .window
                .map(|window| window.saturating_add(1))
                .filter(|window| *window < limit);
        }
    }

    /// Records a backoff that a provider asks for; it never shortens a longer one. Returns the
    /// backoff if it lengthens the wait.
    pub fn back_off(
        &mut self,
        provider: &ProviderId,
        until: Timestamp,
        reason: &str,
        now: Timestamp,
    ) -> Option<Backoff> {
        let known = self.limit(provider);
        known.window = Some(1);
        let since = *known.refused_since.get_or_insert(now);
        known.refusals = known.refusals.saturating_add(1);
        let is_longer = known
            .backoff
            .as_ref()
            .is_none_or(|backoff| backoff.until < until);
        is_longer.then(|| {
            let reason = reason.to_owned();
            known
                .backoff
                .insert(Backoff {
                    until,
                    reason,
                    since,
                })
                .clone()
        })
    }

    /// Returns the backoff in force.
    pub fn backoff(&self, provider: &ProviderId, now: Timestamp) -> Option<Backoff> {
        let backoff = self.0.get(provider)?.backoff.clone()?;
        (backoff.until > now).then_some(backoff)
    }

    /// Returns the number of calls in flight at a provider.
    #[cfg(test)]
    pub fn in_flight(&self, provider: &ProviderId) -> u32 {
        self.0.get(provider).map_or(0, |known| known.in_flight)
    }

    /// Returns the number of consecutive rate limits of a provider.
    pub fn refusals(&self, provider: &ProviderId) -> u32 {
        self.0.get(provider).map_or(0, |known| known.refusals)
    }

    /// Returns how long a provider has answered only with rate limits.
    pub fn refused_for(&self, provider: &ProviderId, now: Timestamp) -> Duration {
        self.0
            .get(provider)
            .and_then(|known| known.refused_since)
            .map_or(Duration::ZERO, |since| now.since(since))
    }

    fn limit(&mut self, provider: &ProviderId) -> &mut ConcurrencyLimit {
        self.0.entry(provider.clone()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u32 = 3;

    fn provider() -> ProviderId {
        ProviderId::new("anthropic")
    }

    fn admitted(limits: &mut ProviderLimits, now: i64) -> u32 {
        let mut admitted = 0;
        while limits.admit(&provider(), LIMIT, Timestamp(now)) == Admission::Now {
            limits.begin(&provider());
            admitted += 1;
        }
        admitted
    }

    fn back_off(limits: &mut ProviderLimits, until: i64, now: i64) -> Option<Backoff> {
        limits.back_off(&provider(), Timestamp(until), "slow down", Timestamp(now))
    }

    fn backoff(until: i64, since: i64) -> Backoff {
        Backoff {
            until: Timestamp(until),
            reason: "slow down".to_owned(),
            since: Timestamp(since),
        }
    }

    #[test]
    fn a_finished_call_frees_a_place_under_the_limit() {
        let mut limits = ProviderLimits::default();
        assert_eq!(admitted(&mut limits, 0), LIMIT);
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(0)),
            Admission::Full
        );
        let other = ProviderId::new("openai");
        assert_eq!(limits.admit(&other, LIMIT, Timestamp(0)), Admission::Now);
        limits.end(&provider(), LIMIT, CallEnd::Other, Timestamp(0));
        assert_eq!(admitted(&mut limits, 0), 1);
    }

    #[test]
    fn a_backoff_admits_one_call_after_its_end() {
        let mut limits = ProviderLimits::default();
        assert_eq!(
            back_off(&mut limits, 1_000, 0),
            Some(backoff(1_000, 0)),
            "the first is in force"
        );
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(999)),
            Admission::BackingOff(backoff(1_000, 0))
        );
        assert_eq!(admitted(&mut limits, 1_000), 1);
    }

    #[test]
    fn each_success_after_a_backoff_admits_one_more_call() {
        let mut limits = ProviderLimits::default();
        back_off(&mut limits, 1, 0);
        for at_once in [1, 2, 3, 3] {
            assert_eq!(admitted(&mut limits, 1), at_once);
            limits.end(&provider(), LIMIT, CallEnd::Answered, Timestamp(1));
            for _ in 1..at_once {
                limits.end(&provider(), LIMIT, CallEnd::Other, Timestamp(1));
            }
        }
    }

    #[test]
    fn an_answer_during_a_backoff_does_not_end_it() {
        let mut limits = ProviderLimits::default();
        admitted(&mut limits, 0);
        back_off(&mut limits, 1_000, 0);
        for _ in 0..LIMIT {
            limits.end(&provider(), LIMIT, CallEnd::Answered, Timestamp(500));
        }
        assert_eq!(limits.refusals(&provider()), 1);
        assert_eq!(admitted(&mut limits, 1_000), 1);
    }

    #[test]
    fn a_longer_backoff_outweighs_a_shorter_one() {
        let mut limits = ProviderLimits::default();
        assert!(back_off(&mut limits, 2_000, 0).is_some());
        assert_eq!(back_off(&mut limits, 1_000, 0), None);
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(1_500)),
            Admission::BackingOff(backoff(2_000, 0))
        );
        assert_eq!(limits.refusals(&provider()), 2);
        let refused_for = limits.refused_for(&provider(), Timestamp(1_500));
        assert_eq!(refused_for.as_millis(), 1_500);
    }

    #[test]
    fn an_answer_after_a_backoff_resets_the_refusals() {
        let mut limits = ProviderLimits::default();
        back_off(&mut limits, 2_000, 0);
        limits.begin(&provider());
        limits.end(&provider(), LIMIT, CallEnd::Answered, Timestamp(2_000));
        assert_eq!(limits.refusals(&provider()), 0);
        let refused_for = limits.refused_for(&provider(), Timestamp(9_000));
        assert_eq!(refused_for, Duration::ZERO);
    }
}
