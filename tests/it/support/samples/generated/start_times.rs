//! Start times over a year and a half, often just before, at or after a time at which a day, a
//! month, a year or summer time starts or ends in Berlin.

use conclave::domain::time::Timestamp;

/// 2025-06-01T00:00:00Z.
const FROM: i64 = 1_748_736_000_000;

/// 2026-11-21T08:00:00Z.
const UNTIL: i64 = 1_795_248_000_000;

/// Midnights in Berlin, and the times at which its clocks change.
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

/// Returns this many start times, the earliest first.
pub(super) fn start_times(seed: u64, count: usize) -> Vec<Timestamp> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let borders = BORDERS.map(|border| border.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let mut times: Vec<Timestamp> = (0..count)
        .map(|_| match rng.u8(..8) {
            0 => {
                borders[rng.usize(..borders.len())]
                    + [-1_800_000, -1, 0, 1, 1_800_000, 3_600_000][rng.usize(..6)]
            }
            _ => rng.i64(FROM..UNTIL),
        })
        .map(Timestamp)
        .collect();
    times.sort_unstable();
    times
}
