//! Parts of a suite for several machines. A case's part follows from its id alone, so that machines
//! agree without talking to each other, and a case stays in its part when others are added.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::case::CaseId;
use super::run::Partition;

/// A text that is no part of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    #[error("it must be `i/n`: part i of n, such as `1/4`")]
    Form,
    #[error("there is no part 0: parts are counted from 1")]
    Zero,
    #[error("there is no part {index} of {count}")]
    Beyond { index: u32, count: u32 },
    #[error("more than {} parts are not possible", Partition::MOST)]
    TooMany,
}

impl Partition {
    /// The most parts.
    pub const MOST: u32 = 10_000;

    pub fn contains(self, case: &CaseId) -> bool {
        part_of(case, self.count) == self.index
    }
}

/// Returns the part of a case, from 1 to `count`.
///
/// The first eight bytes of the SHA-256 of its id as a big-endian number, modulo `count`, plus one.
/// This never changes: parts that ran on different versions are merged.
fn part_of(case: &CaseId, count: u32) -> u32 {
    let digest = Sha256::digest(case.as_str().as_bytes());
    let number = digest
        .iter()
        .take(8)
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let part = number.checked_rem(count.into()).unwrap_or(0);
    u32::try_from(part).map_or(1, |part| part + 1)
}

/// Reads `2/8`, or `hash:2/8` as test runners write it.
impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let text = text.trim();
        let parts = text.strip_prefix("hash:").unwrap_or(text);
        let (index, count) = parts.split_once('/').ok_or(PartitionError::Form)?;
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || count == 0 {
            return Err(PartitionError::Zero);
        }
        if count > Self::MOST {
            return Err(PartitionError::TooMany);
        }
        if index > count {
            return Err(PartitionError::Beyond { index, count });
        }
        Ok(Self { index, count })
    }
}

fn number(text: &str) -> Result<u32, PartitionError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(PartitionError::Form);
    }
    text.parse().map_err(|_| PartitionError::TooMany)
}

/// Shows `2/8`.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn id(text: &str) -> CaseId {
        CaseId::parse(text).unwrap()
    }

    #[test]
    fn a_part_is_read_with_and_without_its_kind() {
        let part = Partition { index: 2, count: 8 };
        assert_eq!("2/8".parse(), Ok(part));
        assert_eq!("hash:2/8".parse(), Ok(part));
        assert_eq!(part.to_string(), "2/8");
        assert_eq!("1/1".parse(), Ok(Partition { index: 1, count: 1 }));
    }

    #[test]
    fn texts_that_are_no_part_are_refused_with_the_reason() {
        let error = |text: &str| text.parse::<Partition>().unwrap_err();
        for text in [
            "",
            "2",
            "2/",
            "/8",
            "a/8",
            "2/b",
            "-1/8",
            "+1/8",
            "1/2/3",
            "count:1/2",
        ] {
            assert_eq!(error(text), PartitionError::Form, "{text}");
        }
        assert_eq!(error("0/8"), PartitionError::Zero);
        assert_eq!(error("0/0"), PartitionError::Zero);
        assert_eq!(error("9/8"), PartitionError::Beyond { index: 9, count: 8 });
        assert_eq!(error("1/10001"), PartitionError::TooMany);
        assert_eq!(error("1/99999999999"), PartitionError::TooMany);
        assert_eq!(error("9/8").to_string(), "there is no part 9 of 8");
    }

    #[test]
    fn parts_of_cases_never_change() {
        let parts = ["capital-1", "capital-2", "geo/3", "Größe"]
            .map(|case| (part_of(&id(case), 4), part_of(&id(case), 8)));
        assert_eq!(parts, [(4, 4), (1, 1), (2, 6), (3, 7)]);
    }

    #[test]
    fn parts_of_a_large_suite_are_of_about_the_same_size() {
        let mut sizes = [0_u32; 8];
        for number in 0..8_000 {
            let part = part_of(&id(&format!("case-{number}")), 8);
            sizes[usize::try_from(part).unwrap() - 1] += 1;
        }
        for size in sizes {
            assert!((900..=1_100).contains(&size), "{sizes:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_and_complete(
            ids in proptest::collection::btree_set("[a-zA-Z0-9äß/ _.-]{1,20}", 0..60),
            count in 1..20_u32,
        ) {
            let cases: BTreeSet<CaseId> = ids.iter().filter_map(|text| CaseId::parse(text)).collect();
            let mut seen = BTreeSet::new();
            for index in 1..=count {
                for case in cases.iter().filter(|case| Partition { index, count }.contains(case)) {
                    prop_assert!(seen.insert(case.clone()), "{case} is in two parts");
                }
            }
            prop_assert_eq!(seen, cases);
        }
    }
}
