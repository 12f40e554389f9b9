//! What answers cost: money, tokens, calls and time.

use serde::Serialize;

use crate::benchmark::result::CaseResult;
use crate::benchmark::state::PendingCaseRun;
use crate::benchmark::statistics::{median, nearest_rank};
use crate::domain::cost::money::{Cost, CostInDollars, MicroUsd};
use crate::domain::record::stored_record::spend::ConsultationSpend;

/// The spend of many case runs. Sums include case runs without an answer or a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpendFigures {
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    pub cost: Cost,
    /// By case run with a result; `None` without them.
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "Option<CostInDollars>"))]
    pub cost_per_case: Option<Cost>,
    /// By right answer; `None` without right answers.
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "Option<CostInDollars>"))]
    pub cost_per_right: Option<Cost>,
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// By right answer, input and output; `None` without right answers.
    pub tokens_per_right: Option<u64>,
    /// True if a provider did not report its tokens.
    pub estimated: bool,
}

impl SpendFigures {
    pub(super) fn of<'a>(
        results: impl IntoIterator<Item = &'a CaseResult>,
        unfinished: &[&PendingCaseRun],
    ) -> Self {
        let (mut cases, mut right) = (0, 0);
        let mut sum = ConsultationSpend::default();
        for result in results {
            cases += 1;
            right += u64::from(result.is_right());
            sum.add(&result.spend);
        }
        for pending in unfinished {
            sum.add(&pending.spend);
        }
        Self {
            cost: sum.cost,
            cost_per_case: shared_by(sum.cost, cases),
            cost_per_right: shared_by(sum.cost, right),
            calls: sum.calls,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            tokens_per_right: (sum.input_tokens + sum.output_tokens).checked_div(right),
            estimated: sum.estimated,
        }
    }
}

/// Rounded to the nearest micro-dollar; `None` for no answers.
pub(super) fn shared_by(cost: Cost, number: u64) -> Option<Cost> {
    let share = (cost.known.0.saturating_add(number / 2)).checked_div(number)?;
    Some(Cost {
        known: MicroUsd(share),
        ..cost
    })
}

/// Time for one case, over the case runs with a result. Percentiles are by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeFigures {
    pub median_ms: u64,
    pub p90_ms: u64,
}

impl TimeFigures {
    pub(super) fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Option<Self> {
        let mut times: Vec<u64> = results.into_iter().map(|run| run.duration_ms).collect();
        times.sort_unstable();
        Some(Self {
            median_ms: median(&times)?,
            p90_ms: nearest_rank(&times, 90)?,
        })
    }
}
