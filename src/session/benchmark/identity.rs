//! The ids of a run's consultations: the same for every process of the run, on whichever machine, so
//! that none is begun twice.

use serde::Serialize;
use ulid::Ulid;

use crate::benchmark::run::RunId;
use crate::domain::hash::sha256;
use crate::domain::ids::ConsultationId;

/// Hexadecimal digits of the part of an id that does not tell the time.
const DIGITS: usize = 20;

/// Returns the id of the consultation that `what` describes. It sorts by the time of its run, and
/// then by the position of its case run there, in which its short form differs from others.
pub(super) fn consultation_id(
    run: &RunId,
    position: usize,
    what: &impl Serialize,
) -> ConsultationId {
    let unique = run.as_str().trim_start_matches(RunId::PREFIX);
    let begun = Ulid::from_string(&unique.to_ascii_uppercase());
    let begun = begun.map_or(0, |run| run.timestamp_ms());
    let hash = sha256(&serde_json::to_string(&(run, what)).unwrap_or_default());
    let rest = hash.get(..DIGITS).unwrap_or_default();
    let rest = u128::from_str_radix(rest, 16).unwrap_or_default();
    let time = begun.saturating_add(u64::try_from(position).unwrap_or_default());
    ConsultationId::from_unique(&Ulid::from_parts(time, rest).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_follows_from_its_run_and_what_it_is_for() {
        let run = RunId::from_unique("01KB5X00000000000000000000");
        let id = |position, what: &str| consultation_id(&run, position, &what);
        assert_eq!(id(0, "a").as_str(), "consult-01kb5x00007bkd1sv41jk5tbct");
        assert_eq!(id(7, "a"), id(7, "a"));
        assert_ne!(id(7, "a"), id(7, "b"));
        assert!(id(6, "b") < id(7, "a") && id(7, "a") < id(8, "b"));
        assert_ne!(id(7, "a").short(), id(8, "a").short());
        let other = RunId::from_unique("01KB5X00000000000000000001");
        assert_ne!(id(7, "a"), consultation_id(&other, 7, &"a"));
    }
}
