//! Random numbers that a journal depends on: the order of labels and the jitter of retries. The
//! sequence is fixed by contract, because later versions replay the journal.
//!
//! `SplitMix64`, after Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators"
//! (2014), with the constants of Vigna's `splitmix64.c`.

/// A generator whose sequence depends only on its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, uniformly distributed; 0 if `bound` is 0. Draws that would
    /// favour small numbers are repeated.
    pub fn below(&mut self, bound: u64) -> u64 {
        let Some(rest) = bound.wrapping_neg().checked_rem(bound) else {
            return 0;
        };
        loop {
            let drawn = self.next_u64();
            if drawn >= rest {
                return drawn % bound;
            }
        }
    }

    /// Returns a number from 0 up to but not including 1: the upper 53 bits of the next number.
    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits are what an f64 holds exactly"
    )]
    pub fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 / STEPS
    }

    /// Shuffles by Fisher and Yates, from the last item to the second.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last).map_or(u64::MAX, |last| last + 1);
            let other = usize::try_from(self.below(bound)).unwrap_or(last);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        let sequence: [u64; 5] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            sequence,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn bounded_draws_stay_below_their_bound() {
        let mut random = SplitMix64::new(1);
        for bound in [1, 2, 3, 7, 1 << 40, u64::MAX] {
            for _ in 0..100 {
                assert!(random.below(bound) < bound);
            }
        }
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn every_number_below_a_bound_is_equally_likely() {
        let mut random = SplitMix64::new(2);
        let mut counts = [0_u32; 3];
        for _ in 0..30_000 {
            counts[usize::try_from(random.below(3)).unwrap()] += 1;
        }
        for count in counts {
            assert!((9_700..=10_300).contains(&count), "{counts:?}");
        }
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..60_000 {
            let mut items = [0, 1, 2];
            SplitMix64::new(seed).shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        for count in counts.values() {
            assert!((9_600..=10_400).contains(count), "{counts:?}");
        }
    }

    #[test]
    fn draws_and_orders_never_change() {
        let mut items = ["a", "b", "c", "d", "e"];
        SplitMix64::new(7).shuffle(&mut items);
        assert_eq!(items.concat(), "ebdac");
        assert_eq!(SplitMix64::new(7).unit().to_string(), "0.3898297483912715");
    }
}
