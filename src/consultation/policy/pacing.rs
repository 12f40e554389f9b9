//! Who may be called when: how many calls may be under way at a provider at once, and until when
//! one has asked to be left alone.
//!
//! What one call learns holds for all: a rate limit that one seat meets holds back every other call
//! to that provider, and after it calls go out one at a time, one more with each success, so that a
//! crowd does not run into the same wall together.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::TimerId;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

/// The state of every provider that has been called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderLimits(BTreeMap<ProviderId, Lane>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lane {
    under_way: u32,
    /// Calls that may be under way at once after a rate limit; `None` when only the provider's
    /// usual limit holds.
    window: Option<u32>,
    held: Option<Hold>,
    /// Rate limits in a row, without a success between them.
    refusals: u32,
    /// When the first of them was met.
    refused_since: Option<Timestamp>,
}

/// A provider is to be left alone for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub until: Timestamp,
    /// The provider's words.
    pub reason: String,
    /// Fires when the hold has passed.
    pub timer: TimerId,
}

/// The decision whether a call may go out now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Now,
    /// As many calls are under way as may be: it is tried again when one of them ends.
    Full,
    /// Not before the hold has passed.
    Held(Hold),
}

/// How a call ended, as far as its provider's pace is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The provider answered.
    Answered,
    /// It did not; this says nothing about its pace.
    Otherwise,
}

impl ProviderLimits {
    /// Decides on a call to a provider at which `limit` calls may be under way at once.
    pub fn admit(&self, provider: &ProviderId, limit: u32, now: Timestamp) -> Admission {
        let Some(lane) = self.0.get(provider) else {
            return Admission::Now;
        };
        match &lane.held {
            Some(hold) if hold.until > now => Admission::Held(hold.clone()),
            Some(_) | None if lane.under_way >= lane.window.unwrap_or(limit).min(limit).max(1) => {
                Admission::Full
            }
            Some(_) | None => Admission::Now,
        }
    }

    /// A call goes out.
    pub fn begin(&mut self, provider: &ProviderId) {
        let lane = self.lane(provider);
        lane.under_way = lane.under_way.saturating_add(1);
    }

    /// A call came back, or was dropped. An answer to a call that went out before a hold says
    /// nothing about the time after it.
    pub fn end(&mut self, provider: &ProviderId, limit: u32, ended: Ended, now: Timestamp) {
        let lane = self.lane(provider);
        lane.under_way = lane.under_way.saturating_sub(1);
        if ended == Ended::Answered && lane.held.as_ref().is_none_or(|hold| hold.until <= now) {
            lane.refusals = 0;
            lane.refused_since = None;
            lane.window = lane
                .window
                .map(|window| window.saturating_add(1))
                .filter(|window| *window < limit);
        }
    }

    /// A provider asks to be left alone. A shorter hold never shortens a longer one. True when this
    /// lengthens the wait.
    pub fn hold(&mut self, provider: &ProviderId, hold: Hold, now: Timestamp) -> bool {
        let lane = self.lane(provider);
        lane.window = Some(1);
        lane.refused_since.get_or_insert(now);
        lane.refusals = lane.refusals.saturating_add(1);
        let longer = lane
            .held
            .as_ref()
            .is_none_or(|held| held.until < hold.until);
        if longer {
            lane.held = Some(hold);
        }
        longer
    }

    /// Rate limits of a provider in a row.
    pub fn refusals(&self, provider: &ProviderId) -> u32 {
        self.0.get(provider).map_or(0, |lane| lane.refusals)
    }

    /// For how long a provider has answered nothing but that it is asked too often.
    pub fn refused_for(&self, provider: &ProviderId, now: Timestamp) -> Duration {
        self.0
            .get(provider)
            .and_then(|lane| lane.refused_since)
            .map_or(Duration::ZERO, |since| now.since(since))
    }

    fn lane(&mut self, provider: &ProviderId) -> &mut Lane {
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

    fn hold(until: i64) -> Hold {
        Hold {
            until: Timestamp(until),
            reason: "slow down".to_owned(),
            timer: TimerId(7),
        }
    }

    #[test]
    fn no_more_calls_than_allowed_are_under_way_and_an_end_makes_room() {
        let mut limits = ProviderLimits::default();
        assert_eq!(admitted(&mut limits, 0), LIMIT);
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(0)),
            Admission::Full
        );
        assert_eq!(
            limits.admit(&ProviderId::new("openai"), LIMIT, Timestamp(0)),
            Admission::Now,
            "another provider has its own lane"
        );
        limits.end(&provider(), LIMIT, Ended::Otherwise, Timestamp(0));
        assert_eq!(admitted(&mut limits, 0), 1);
    }

    #[test]
    fn a_hold_keeps_everyone_back_until_its_very_moment_and_then_lets_one_through() {
        let mut limits = ProviderLimits::default();
        assert!(limits.hold(&provider(), hold(1_000), Timestamp(0)));
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(999)),
            Admission::Held(hold(1_000))
        );
        assert_eq!(admitted(&mut limits, 1_000), 1);
    }

    #[test]
    fn each_success_after_a_hold_lets_one_more_through_up_to_the_limit() {
        let mut limits = ProviderLimits::default();
        limits.hold(&provider(), hold(1), Timestamp(0));
        for at_once in [1, 2, 3, 3] {
            assert_eq!(admitted(&mut limits, 1), at_once);
            limits.end(&provider(), LIMIT, Ended::Answered, Timestamp(1));
            (1..at_once)
                .for_each(|_| limits.end(&provider(), LIMIT, Ended::Otherwise, Timestamp(1)));
        }
    }

    #[test]
    fn an_answer_during_a_hold_says_nothing_about_the_time_after_it() {
        let mut limits = ProviderLimits::default();
        admitted(&mut limits, 0);
        limits.hold(&provider(), hold(1_000), Timestamp(0));
        (0..LIMIT).for_each(|_| limits.end(&provider(), LIMIT, Ended::Answered, Timestamp(500)));
        assert_eq!(
            (limits.refusals(&provider()), admitted(&mut limits, 1_000)),
            (1, 1)
        );
    }

    #[test]
    fn a_longer_hold_outweighs_a_shorter_one_and_not_the_other_way() {
        let mut limits = ProviderLimits::default();
        assert!(limits.hold(&provider(), hold(2_000), Timestamp(0)));
        assert!(!limits.hold(&provider(), hold(1_000), Timestamp(0)));
        assert_eq!(
            limits.admit(&provider(), LIMIT, Timestamp(1_500)),
            Admission::Held(hold(2_000))
        );
        assert_eq!(
            (
                limits.refusals(&provider()),
                limits
                    .refused_for(&provider(), Timestamp(1_500))
                    .as_millis()
            ),
            (2, 1_500)
        );
        limits.end(&provider(), LIMIT, Ended::Answered, Timestamp(2_000));
        assert_eq!(
            (
                limits.refusals(&provider()),
                limits
                    .refused_for(&provider(), Timestamp(9_000))
                    .as_millis()
            ),
            (0, 0)
        );
    }
}
