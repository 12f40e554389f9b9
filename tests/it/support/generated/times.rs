//! When they begin: over a year and a half, and often just before, at or after a moment at which a
//! day, a month, a year or summer time begins or ends in Berlin.

use conclave::domain::time::Timestamp;

/// 2025-06-01T00:00:00Z.
const FROM: i64 = 1_748_736_000_000;

/// 2026-11-21T08:00:00Z.
const UNTIL: i64 = 1_795_248_000_000;

/// Midnights in Berlin, and the hours at which its clocks change.
const BORDERS: [&str; 16] = [
    "2025-06-30T22:00:00Z",
    "2025-10-25T22:00:00Z",
    "2025-10-26T00:00:00Z",
    "2025-10-26T01:00:00Z",
    "2025-10-26T23:00:00Z",
    "2025-12-31T23:00:00Z",
    "2026-01-01T00:00:00Z",
    "2026-01-31T23:00:00Z",
    "2026-02-28T23:00:00Z",
    "2026-03-28T23:00:00Z",
    "2026-03-29T01:00:00Z",
    "2026-03-29T22:00:00Z",
    "2026-03-31T22:00:00Z",
    "2026-10-25T01:00:00Z",
    "2026-10-31T23:00:00Z",
    "2026-11-20T23:00:00Z",
];

/// So many moments, the earliest first.
pub(super) fn moments(seed: u64, count: usize) -> Vec<Timestamp> {
    let mut chance = fastrand::Rng::with_seed(seed);
    let borders = BORDERS.map(|border| border.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let mut moments: Vec<Timestamp> = (0..count)
        .map(|_| match chance.u8(..8) {
            0 => {
                borders[chance.usize(..borders.len())]
                    + [-1_800_000, -1, 0, 1, 1_800_000, 3_600_000][chance.usize(..6)]
            }
            _ => chance.i64(FROM..UNTIL),
        })
        .map(Timestamp)
        .collect();
    moments.sort_unstable();
    moments
}
