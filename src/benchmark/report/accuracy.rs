//! Shares of right answers with their intervals, and how consistent repeated answers are.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::benchmark::case::CaseId;
use crate::benchmark::result::CaseResult;
use crate::benchmark::statistics::Interval;
use crate::benchmark::statistics::proportion::{Proportion, wilson};

/// The share of right answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Accuracy {
    /// Case runs with a right answer.
    pub right: u64,
    /// Case runs that count.
    pub of: u64,
    /// `right` by `of`, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub share: f64,
    /// The 95% interval of the share (Wilson 1927).
    pub interval: Interval,
    /// The number of independent answers that the interval assumes: the cases. Answers to the same
    /// case are not independent, so that `--repeat` does not make the interval narrower.
    pub interval_cases: u64,
}

impl Accuracy {
    /// `None` if there are none.
    pub(super) fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Option<Self> {
        let results = results.into_iter();
        Self::of_answers(results.map(|result| (&result.run.case, result.is_right())))
    }

    /// Each answer with its case, and whether it is right.
    pub(super) fn of_answers<'a>(
        answers: impl IntoIterator<Item = (&'a CaseId, bool)>,
    ) -> Option<Self> {
        let mut cases = BTreeSet::new();
        let all = Proportion::of(answers.into_iter().map(|(case, is_right)| {
            cases.insert(case);
            is_right
        }));
        let share = all.share()?;
        let interval_cases = cases.len() as u64;
        Some(Self {
            right: all.part,
            of: all.whole,
            share,
            interval: wilson(share, interval_cases)?,
            interval_cases,
        })
    }
}

/// How often repeated answers to the same case are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Consistency {
    /// Cases with at least two counted repetitions.
    pub cases: u64,
    /// Cases that every repetition answers right.
    pub always_right: u64,
    /// Cases that some repetitions answer right and some do not.
    pub sometimes_right: u64,
    /// Cases that no repetition answers right.
    pub never_right: u64,
}

impl Consistency {
    /// `None` if no case has two.
    pub(super) fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Option<Self> {
        let mut cases: BTreeMap<&CaseId, Vec<bool>> = BTreeMap::new();
        for result in results {
            let answers = cases.entry(&result.run.case).or_default();
            answers.push(result.is_right());
        }
        let mut consistency = Self::default();
        for answers in cases.into_values().filter(|answers| answers.len() > 1) {
            consistency.cases += 1;
            match (answers.contains(&true), answers.contains(&false)) {
                (true, false) => consistency.always_right += 1,
                (true, true) => consistency.sometimes_right += 1,
                (false, _) => consistency.never_right += 1,
            }
        }
        (consistency.cases > 0).then_some(consistency)
    }
}
