//! The estimated cost of the skipped rounds.

use conclave::consultation::plan::options::JudgePasses;
use conclave::domain::cost::tokens::estimate_tokens;
use conclave::stopping::early_termination::Policy;

use super::{ALL_EXPERTS, answers_with, early_plan, play, synthesis};
use crate::consultation::prelude::*;

#[test]
fn estimated_saving_matches_the_cost_of_the_skipped_rounds() {
    let agreement = synthesis(&[0.95], &ALL_EXPERTS, &[]);
    let saving = |plan: Plan| {
        fold(&play(plan, &agreement))
            .early_end
            .unwrap()
            .findings
            .estimated_cost_saved
    };
    let mut micro_usd = 0;
    let mut player = Player::started(early_plan(Policy::Never, ConsentMode::NonInteractive, 0.9));
    let mut answers = answers_with(&agreement);
    player.finish(|ask| {
        if ask.answer.round() > 2 {
            // Input costs $1 and output $2 per million tokens; every answer has 100 tokens.
            micro_usd += estimate_tokens(&ask.prompt.text()) + 2 * 100;
        }
        answers(ask)
    });
    let single_pass = saving(early_plan(Policy::Auto, ConsentMode::NonInteractive, 1.0));
    assert!(
        !single_pass.lower_bound && single_pass.known.0.abs_diff(micro_usd) < micro_usd / 5,
        "{single_pass:?} of {micro_usd}"
    );
    let mut two_passes = early_plan(Policy::Auto, ConsentMode::NonInteractive, 1.0);
    two_passes.debate.judge_passes = JudgePasses::Twice;
    assert!(
        saving(two_passes).known > single_pass.known,
        "the saving includes the second pass"
    );
}

#[test]
fn unpriced_model_makes_the_saving_a_lower_bound() {
    let mut plan = early_plan(Policy::Auto, ConsentMode::PreApproved, 0.9);
    plan.prices
        .0
        .remove(&ModelRef::new("google", "gemini-4-argon"));
    let transcript = fold(&play(plan, &synthesis(&[0.95], &ALL_EXPERTS, &[])));
    let decision = transcript.early_end.as_ref().unwrap();
    let saving: Cost = decision.findings.estimated_cost_saved;
    assert!(saving.lower_bound && saving.known > MicroUsd::ZERO);
    let record = transcript.stored_record();
    assert!(record.estimated_cost_saved_lower_bound);
    assert_eq!(record.cost_saved(), Some(saving));
    assert!(record.actual_cost_lower_bound);
}
