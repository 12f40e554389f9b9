//! The panel against the single model on the same cases.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::benchmark::case::CaseId;
use crate::benchmark::result::CaseResult;
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::Interval;
use crate::benchmark::statistics::paired::PairedCounts;
use crate::domain::cost::money::{Cost, CostInDollars};

use super::words::{p_value, points, times};

/// The panel (first) against the single model (second). Only case runs that have a result in both
/// arms are compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmComparison {
    /// Pairs of case runs, of the same case and repetition. The panel is the first, the single
    /// model the second.
    pub pairs: PairedCounts,
    /// The cases that have a pair.
    pub cases: u64,
    /// The panel's share of right answers less that of the single model, from -1 to 1; `None`
    /// without pairs.
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub difference: Option<f64>,
    /// The 95% interval of the difference (Newcombe 1998). With repetitions, each case counts once.
    pub interval: Option<Interval>,
    /// McNemar's exact p, two-sided. With repetitions, over the cases that one arm answers right
    /// more often.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub p: Option<f64>,
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    pub panel_cost: Cost,
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    pub single_cost: Cost,
    /// The panel's cost by that of the single model, over the pairs; `None` unless both are known
    /// and not zero.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cost_ratio: Option<f64>,
    /// What the figures mean, in one sentence.
    pub sentence: String,
}

/// Below this p, a difference counts as clear.
const CLEAR: f64 = 0.05;

/// With fewer cases that differ, p cannot fall below [`CLEAR`].
const MIN_DIFFERENT: u64 = 6;

impl ArmComparison {
    pub(super) fn of(results: &[CaseResult]) -> Self {
        let pairs = paired(results);
        let graded = pairs
            .iter()
            .map(|(one, other)| (one.is_right(), other.is_right()));
        let counts = PairedCounts::of(graded);
        let by_case = by_case(&pairs);
        let cases = by_case.total();
        let difference = counts.difference_over(cases);
        let cost_of = |arm: fn(&(&CaseResult, &CaseResult)) -> Cost| pairs.iter().map(arm).sum();
        let panel_cost: Cost = cost_of(|(panel, _)| panel.spend.cost);
        let single_cost: Cost = cost_of(|(_, single)| single.spend.cost);
        let is_known = [panel_cost, single_cost]
            .iter()
            .all(|cost| !cost.lower_bound && cost.known.0 > 0);
        let mut comparison = Self {
            pairs: counts,
            cases,
            difference: difference.map(|(difference, _)| difference),
            interval: difference.map(|(_, interval)| interval),
            p: (cases > 0).then(|| by_case.mcnemar_p()),
            panel_cost,
            single_cost,
            cost_ratio: is_known.then(|| panel_cost.known.usd() / single_cost.known.usd()),
            sentence: String::new(),
        };
        comparison.sentence = comparison.sentence(by_case.only_first + by_case.only_second);
        comparison
    }

    /// `different` is the number of cases that one arm answers right more often.
    fn sentence(&self, different: u64) -> String {
        let (Some(difference), Some(interval), Some(p)) = (self.difference, self.interval, self.p)
        else {
            return "No case has a result in both arms: there is nothing to compare.".to_owned();
        };
        let (only_first, only_second) = (self.pairs.only_first, self.pairs.only_second);
        let pairs = self.pairs.total();
        let cases = match (pairs, self.cases) {
            (1, _) => "1 case".to_owned(),
            (_, cases) if cases == pairs => format!("{pairs} cases"),
            (_, 1) => format!("{pairs} answers to 1 case"),
            (_, cases) => format!("{pairs} answers to {cases} cases"),
        };
        let apart = only_first.abs_diff(only_second);
        let result = match only_first.cmp(&only_second) {
            Ordering::Greater => format!("The panel was right in {apart} more of {cases}"),
            Ordering::Less => format!("The panel was right in {apart} fewer of {cases}"),
            Ordering::Equal => {
                format!("The panel and the single model were right equally often in {cases}")
            }
        };
        let judgement = match p < CLEAR {
            true if only_first > only_second => "clearly better",
            true => "clearly worse",
            false if different < MIN_DIFFERENT => "too few cases differ to tell",
            false => "no clear difference",
        };
        let price = self.cost_ratio.map_or_else(String::new, |ratio| {
            format!(", at {} times the cost", times(ratio))
        });
        format!(
            "{result} ({} points, 95% interval {} to {}, {}): {judgement}{price}.",
            points(difference),
            points(interval.low),
            points(interval.high),
            p_value(p),
        )
    }
}

fn paired(results: &[CaseResult]) -> Vec<(&CaseResult, &CaseResult)> {
    let mut runs: BTreeMap<(&CaseId, u32), [Option<&CaseResult>; 2]> = BTreeMap::new();
    for result in results {
        let arms = runs.entry((&result.run.case, result.run.repetition));
        let [panel, single] = arms.or_default();
        match result.run.arm {
            Arm::Panel => *panel = Some(result),
            Arm::Single => *single = Some(result),
        }
    }
    let pairs = runs.into_values();
    pairs
        .filter_map(|[panel, single]| panel.zip(single))
        .collect()
}

/// By the arm that answers it right more often.
fn by_case(pairs: &[(&CaseResult, &CaseResult)]) -> PairedCounts {
    let mut cases: BTreeMap<&CaseId, (u64, u64)> = BTreeMap::new();
    for (panel, single) in pairs {
        let (first, second) = cases.entry(&panel.run.case).or_default();
        *first += u64::from(panel.is_right());
        *second += u64::from(single.is_right());
    }
    // Equal cases count for neither arm, whether right or wrong.
    let better = cases.into_values();
    PairedCounts::of(better.map(|(first, second)| (first > second, second > first)))
}
