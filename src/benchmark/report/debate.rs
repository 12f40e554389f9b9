//! The figures of the debate: answers before and after its rounds, debates that ended early, and
//! each expert alone.

use std::collections::BTreeMap;

use serde::Serialize;

use super::accuracy::Accuracy;
use super::spend::shared_by;
use crate::benchmark::case::CaseId;
use crate::benchmark::result::{CaseResult, ExpertResult};
use crate::benchmark::statistics::paired::PairedCounts;
use crate::benchmark::statistics::proportion::Proportion;
use crate::domain::cost::money::{Cost, CostInDollars};
use crate::domain::ids::{ModelRef, SeatId};

/// Answers before and after a part of the debate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerChanges {
    /// Pairs with a graded answer before and after.
    pub compared: u64,
    pub both_right: u64,
    pub right_to_wrong: u64,
    pub wrong_to_right: u64,
    /// Both wrong, with the same answer or another.
    pub both_wrong: u64,
}

impl AnswerChanges {
    /// A missing answer is not compared.
    pub(super) fn of(pairs: impl IntoIterator<Item = (Option<bool>, Option<bool>)>) -> Self {
        let compared = pairs
            .into_iter()
            .filter_map(|(before, after)| before.zip(after));
        let pairs = PairedCounts::of(compared);
        Self {
            compared: pairs.total(),
            both_right: pairs.both_right,
            right_to_wrong: pairs.only_first,
            wrong_to_right: pairs.only_second,
            both_wrong: pairs.both_wrong,
        }
    }
}

/// What the rounds change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DebateFigures {
    /// The answer that most experts give in Round 1, against the answer of the consultation.
    pub vote_to_verdict: AnswerChanges,
    /// The leading point of Round 2 against the verdict, for debates that did not end early: what
    /// Rounds 3 and 4 change.
    pub synthesis_to_verdict: AnswerChanges,
    /// The experts' own answers in Rounds 1 and 3.
    pub experts: AnswerChanges,
    /// Right answers after each stage, among those that can be graded.
    pub stages: StageCounts,
}

/// Right answers after each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageCounts {
    /// The answer that most experts give in Round 1.
    pub vote: Proportion,
    /// The leading point of Round 2.
    pub synthesis: Proportion,
    /// The answer that most experts give after Round 3.
    pub revised_vote: Proportion,
    /// The answer of the consultation.
    pub verdict: Proportion,
}

impl DebateFigures {
    /// Without Round 4 there is no verdict to compare with the leading point, which is the answer
    /// itself.
    pub(super) fn of(results: &[&CaseResult], rounds: u8) -> Self {
        let stages = || results.iter().map(|result| result.stages);
        let has_verdict = |result: &&&CaseResult| rounds == 4 && !result.early_stop;
        let full_debates = results.iter().filter(has_verdict);
        let experts = results.iter().flat_map(|result| &result.experts);
        Self {
            vote_to_verdict: AnswerChanges::of(stages().map(|stage| (stage.vote, stage.verdict))),
            synthesis_to_verdict: AnswerChanges::of(
                full_debates.map(|result| (result.stages.synthesis, result.stages.verdict)),
            ),
            experts: AnswerChanges::of(experts.map(|expert| (expert.before, expert.after))),
            stages: StageCounts {
                vote: Proportion::of(stages().filter_map(|stage| stage.vote)),
                synthesis: Proportion::of(stages().filter_map(|stage| stage.synthesis)),
                revised_vote: Proportion::of(stages().filter_map(|stage| stage.revised_vote)),
                verdict: Proportion::of(stages().filter_map(|stage| stage.verdict)),
            },
        }
    }
}

/// Debates that ended after Round 2, and those that did not, with their right answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyStopFigures {
    pub stopped: Proportion,
    pub full: Proportion,
    /// The estimated cost of the rounds that were saved, over the early stops with an estimate.
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    pub saved: Cost,
    /// Early stops with an estimate of what they saved.
    pub saved_known: u64,
}

impl EarlyStopFigures {
    pub(super) fn of(results: &[&CaseResult]) -> Self {
        let (stopped, full): (Vec<&CaseResult>, Vec<&CaseResult>) =
            results.iter().partition(|result| result.early_stop);
        let right_of = |results: &[&CaseResult]| {
            Proportion::of(results.iter().map(|result| result.is_right()))
        };
        let saved: Vec<Cost> = stopped.iter().filter_map(|result| result.saved).collect();
        Self {
            stopped: right_of(&stopped),
            full: right_of(&full),
            saved_known: saved.len() as u64,
            saved: saved.into_iter().sum(),
        }
    }
}

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
    let mut experts: BTreeMap<_, Vec<(&CaseId, &ExpertResult)>> = BTreeMap::new();
    for result in results {
        for expert in &result.experts {
            let answers = experts.entry((&expert.seat, &expert.model)).or_default();
            answers.push((&result.run.case, expert));
        }
    }
    let figures = experts.into_iter().filter_map(|((seat, model), answers)| {
        let right = answers
            .iter()
            .map(|(case, expert)| (*case, expert.before == Some(true)));
        let changes = answers
            .iter()
            .map(|(_, expert)| (expert.before, expert.after));
        let costs: Option<Vec<Cost>> = answers.iter().map(|(_, expert)| expert.cost).collect();
        let cost = costs.map(|costs| costs.into_iter().sum());
        Some(ExpertFigures {
            seat: seat.clone(),
            model: model.clone(),
            demonstration: model.is_demonstration(),
            accuracy: Accuracy::of_answers(right)?,
            cost_per_case: cost.and_then(|cost| shared_by(cost, answers.len() as u64)),
            changes: AnswerChanges::of(changes),
        })
    });
    figures.collect()
}
