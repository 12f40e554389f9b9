//! Each expert on its own: how right its first answer is, and at what cost.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::benchmark::result::{CaseResult, ExpertResult};
use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::money::{Cost, CostInDollars};

use super::accuracy::Accuracy;
use super::debate::AnswerChanges;
use super::spend::shared_by;

/// The figures of one expert, by its answers of Round 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpertFigures {
    pub seat: SeatId,
    /// The model that answered. A seat with a fallback has figures for each model.
    pub model: ModelRef,
    /// Whether the model is of demonstration quality.
    pub demonstration: bool,
    /// Right answers of Round 1 among the case runs that it took part in; without an answer it is
    /// not right.
    pub accuracy: Accuracy,
    /// By case run, for Round 1; `None` if the cost of one is unknown.
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "Option<CostInDollars>"))]
    pub cost_per_case: Option<Cost>,
    /// Its answers in Rounds 1 and 3.
    pub changes: AnswerChanges,
}

/// Returns the figures of all experts, by seat and model.
pub(super) fn experts(results: &[&CaseResult]) -> Vec<ExpertFigures> {
    let mut experts: BTreeMap<(&SeatId, &ModelRef), Vec<(&CaseResult, &ExpertResult)>> =
        BTreeMap::new();
    for result in results {
        for expert in &result.experts {
            let answers = experts.entry((&expert.seat, &expert.model)).or_default();
            answers.push((result, expert));
        }
    }
    experts
        .into_iter()
        .filter_map(|((seat, model), answers)| figures(seat, model, &answers))
        .collect()
}

fn figures(
    seat: &SeatId,
    model: &ModelRef,
    answers: &[(&CaseResult, &ExpertResult)],
) -> Option<ExpertFigures> {
    let is_right = |result: &CaseResult| {
        let mut own = result.experts.iter();
        own.any(|expert| {
            expert.seat == *seat && expert.model == *model && expert.before == Some(true)
        })
    };
    let costs: Option<Vec<Cost>> = answers.iter().map(|(_, expert)| expert.cost).collect();
    let number = u64::try_from(answers.len()).unwrap_or(u64::MAX);
    Some(ExpertFigures {
        seat: seat.clone(),
        model: model.clone(),
        demonstration: model.is_demonstration(),
        accuracy: Accuracy::where_right(answers.iter().map(|(result, _)| *result), is_right)?,
        cost_per_case: costs.and_then(|costs| shared_by(costs.into_iter().sum(), number)),
        changes: AnswerChanges::of(
            answers
                .iter()
                .map(|(_, expert)| (expert.before, expert.after)),
        ),
    })
}
