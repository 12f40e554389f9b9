//! Parts of a suite for several machines. They follow from the ids of all its cases, in any order,
//! so that machines agree without talking to each other, and differ in size by one case at most.

use std::collections::BTreeSet;
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

    /// Returns its cases of all these: they are dealt out in the order of the SHA-256 of their ids,
    /// which mixes the topics of a suite.
    ///
    /// This never changes: parts that ran on different versions are merged.
    pub fn of<'c>(self, cases: impl Iterator<Item = &'c CaseId>) -> BTreeSet<&'c CaseId> {
        let mut cases: Vec<&CaseId> = cases.collect();
        cases.sort_by_cached_key(|case| (Sha256::digest(case.as_str().as_bytes()), *case));
        let parts = (1..=self.count).cycle();
        let own = parts.zip(cases).filter(|(part, _)| *part == self.index);
        own.map(|(_, case)| case).collect()
    }
}

/// Reads `2/8`, or `hash:2/8` as test runners write it.
impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let text = text.trim();
        let parts = text.strip_prefix("hash:").unwrap_or(text);
        let (index, count) = parts.split_once('/').ok_or(PartitionError::Form)?;
        match (number(index)?, number(count)?) {
            (0, _) | (_, 0) => Err(PartitionError::Zero),
            (_, count) if count > Self::MOST => Err(PartitionError::TooMany),
            (index, count) if index > count => Err(PartitionError::Beyond { index, count }),
            (index, count) => Ok(Self { index, count }),
        }
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
        let cases = ["capital-1", "capital-2", "geo/3", "Größe", "e"].map(id);
        let part = |index| {
            let part = Partition { index, count: 3 }.of(cases.iter());
            part.into_iter().map(CaseId::as_str).collect::<Vec<_>>()
        };
        assert_eq!(part(1), ["Größe", "e"]);
        assert_eq!(part(2), ["capital-1", "capital-2"]);
        assert_eq!(part(3), ["geo/3"]);
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_and_complete_and_of_one_size(
            ids in proptest::collection::btree_set("[a-zA-Z0-9äß/ _.-]{1,20}", 0..60),
            count in 1..20_u32,
        ) {
            let cases: BTreeSet<CaseId> = ids.iter().filter_map(|text| CaseId::parse(text)).collect();
            let mut seen = BTreeSet::new();
            for index in 1..=count {
                let part = Partition { index, count };
                let own = part.of(cases.iter());
                prop_assert_eq!(&own, &part.of(cases.iter().rev()));
                let least = cases.len() / usize::try_from(count).unwrap();
                prop_assert!((least..=least + 1).contains(&own.len()));
                for case in own {
                    prop_assert!(seen.insert(case.clone()), "{case} is in two parts");
                }
            }
            prop_assert_eq!(seen, cases);
        }
    }
}
