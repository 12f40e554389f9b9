//! Sums over consultations. The summary of two days is the sum of theirs, in either order: all
//! numbers are whole, and confidences and agreements are in millionths.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;

/// The sums over some consultations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) sums: ConsultationSums,
    pub(super) extremes: Extremes,
    /// Of completed consultations, in milliseconds, unsorted.
    pub(super) durations: Vec<u32>,
    /// By provider, then by model.
    pub(super) models: BTreeMap<String, BTreeMap<String, ModelSums>>,
}

/// Counts and sums, named as their columns in `days`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConsultationSums {
    pub(super) total: i64,
    pub(super) completed: i64,
    pub(super) aborted: i64,
    pub(super) micro_usd: i64,
    pub(super) lower_bound: i64,
    pub(super) tokens: i64,
    pub(super) duration_ms: i64,
    pub(super) with_confidence: i64,
    pub(super) confidence: i64,
    pub(super) high_confidence: i64,
    pub(super) low_confidence: i64,
    pub(super) with_dissent: i64,
    pub(super) with_agreement: i64,
    pub(super) agreement: i64,
    pub(super) degraded: i64,
    pub(super) debates: i64,
    pub(super) experts_heard: i64,
    pub(super) experts_changed: i64,
    pub(super) confidence_rise: i64,
    pub(super) confidence_rise_of: i64,
    pub(super) high_value: i64,
    pub(super) compared: i64,
    pub(super) verdict_changed: i64,
    pub(super) later_rounds_micro_usd: i64,
    pub(super) later_rounds_lower_bound: i64,
    pub(super) early_terminations: i64,
    pub(super) saved_micro_usd: i64,
}

impl ConsultationSums {
    /// Returns each number with its column: the one list for adding, reading and writing.
    pub(super) fn columns(&mut self) -> [(&'static str, &mut i64); 27] {
        [
            ("total", &mut self.total),
            ("completed", &mut self.completed),
            ("aborted", &mut self.aborted),
            ("micro_usd", &mut self.micro_usd),
            ("lower_bound", &mut self.lower_bound),
            ("tokens", &mut self.tokens),
            ("duration_ms", &mut self.duration_ms),
            ("with_confidence", &mut self.with_confidence),
            ("confidence", &mut self.confidence),
            ("high_confidence", &mut self.high_confidence),
            ("low_confidence", &mut self.low_confidence),
            ("with_dissent", &mut self.with_dissent),
            ("with_agreement", &mut self.with_agreement),
            ("agreement", &mut self.agreement),
            ("degraded", &mut self.degraded),
            ("debates", &mut self.debates),
            ("experts_heard", &mut self.experts_heard),
            ("experts_changed", &mut self.experts_changed),
            ("confidence_rise", &mut self.confidence_rise),
            ("confidence_rise_of", &mut self.confidence_rise_of),
            ("high_value", &mut self.high_value),
            ("compared", &mut self.compared),
            ("verdict_changed", &mut self.verdict_changed),
            ("later_rounds_micro_usd", &mut self.later_rounds_micro_usd),
            (
                "later_rounds_lower_bound",
                &mut self.later_rounds_lower_bound,
            ),
            ("early_terminations", &mut self.early_terminations),
            ("saved_micro_usd", &mut self.saved_micro_usd),
        ]
    }

    pub(super) fn add(&mut self, mut other: Self) {
        for ((_, mine), (_, theirs)) in self.columns().into_iter().zip(other.columns()) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}

/// A consultation by its key, with its extreme value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extreme {
    pub(super) number: i64,
    pub(super) value: i64,
    pub(super) lower_bound: bool,
}

/// The consultations with the extreme values. Of two equal values the lesser key wins, which is the
/// earlier consultation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) fastest: Option<Extreme>,
    pub(super) slowest: Option<Extreme>,
    pub(super) dearest: Option<Extreme>,
    pub(super) cheapest: Option<Extreme>,
}

impl Extremes {
    pub(super) fn add(&mut self, other: &Self) {
        let least = |one: Option<Extreme>, other: Option<Extreme>| {
            one.into_iter()
                .chain(other)
                .min_by_key(|one| (one.value, one.number))
        };
        let greatest = |one: Option<Extreme>, other: Option<Extreme>| {
            one.into_iter()
                .chain(other)
                .min_by_key(|one| (Reverse(one.value), one.number))
        };
        self.fastest = least(self.fastest, other.fastest);
        self.slowest = greatest(self.slowest, other.slowest);
        self.dearest = greatest(self.dearest, other.dearest);
        self.cheapest = least(self.cheapest, other.cheapest);
    }
}

/// The calls of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelSums {
    pub(super) calls: i64,
    pub(super) failures: i64,
    pub(super) hedges_won: i64,
    pub(super) micro_usd: i64,
    /// Calls that cost at least what is known.
    pub(super) lower_bound: i64,
    pub(super) tokens: i64,
    /// Milliseconds to the first token, unsorted.
    pub(super) first_tokens: Vec<u32>,
}

impl ModelSums {
    pub(super) fn columns(&mut self) -> [(&'static str, &mut i64); 6] {
        [
            ("calls", &mut self.calls),
            ("failures", &mut self.failures),
            ("hedges_won", &mut self.hedges_won),
            ("micro_usd", &mut self.micro_usd),
            ("lower_bound", &mut self.lower_bound),
            ("tokens", &mut self.tokens),
        ]
    }

    /// Adds the counts and sums; the caller adds the first tokens.
    pub(super) fn add(&mut self, mut other: Self) {
        for ((_, mine), (_, theirs)) in self.columns().into_iter().zip(other.columns()) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}

impl Summary {
    /// Adds to the sums of a model.
    pub(super) fn add_to_model(
        &mut self,
        provider: &str,
        model: &str,
        add: impl FnOnce(&mut ModelSums),
    ) {
        // Looked up by borrowed names first: this runs once per call.
        if let Some(sums) = self
            .models
            .get_mut(provider)
            .and_then(|models| models.get_mut(model))
        {
            return add(sums);
        }
        add(self
            .models
            .entry(provider.to_owned())
            .or_default()
            .entry(model.to_owned())
            .or_default());
    }
}

/// Returns percentiles by nearest rank, for percentages in rising order: the smallest value with
/// that share of all values at or below it. Sorts only as much as necessary.
pub(super) fn percentiles<const N: usize>(
    values: &mut [u32],
    percents: [usize; N],
) -> [Option<u64>; N] {
    let all = values.len();
    let (mut above, mut passed, mut found) = (values, 0, None);
    percents.map(|percent| {
        let rank = (all * percent).div_ceil(100).max(1);
        // Two percentages of a few values can have the same rank.
        if (passed + 1..=all).contains(&rank) {
            let (_, value, rest) = mem::take(&mut above).select_nth_unstable(rank - passed - 1);
            (above, passed, found) = (rest, rank, Some(u64::from(*value)));
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentile_is_a_measured_value() {
        assert_eq!(percentiles(&mut [], [50, 95]), [None, None]);
        assert_eq!(percentiles(&mut [7], [50, 95, 99]), [Some(7); 3]);
        assert_eq!(
            percentiles(&mut [4, 1, 3, 2], [25, 50, 51, 100]),
            [Some(1), Some(2), Some(3), Some(4)]
        );
    }

    proptest! {
        #[test]
        fn percentile_is_the_smallest_value_with_its_share(values in proptest::collection::vec(0..50u32, 1..200)) {
            for (percent, found) in [50, 95, 99].into_iter().zip(percentiles(&mut values.clone(), [50, 95, 99])) {
                let share = |value: u64| values.iter().filter(|other| u64::from(**other) <= value).count() * 100;
                let found = found.unwrap();
                prop_assert!(share(found) >= percent * values.len());
                prop_assert!(values.iter().any(|value| u64::from(*value) == found));
                prop_assert!(found == 0 || share(found - 1) < percent * values.len());
            }
        }
    }
}
