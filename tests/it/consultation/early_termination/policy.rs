//! The policies and the threshold, without a question.

use conclave::consultation::event::DecidedBy;
use conclave::consultation::policy::mode::Mode;
use conclave::stopping::early_termination::Policy;

use super::{ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, calls, early_plan, play, states, synthesis};
use crate::consultation::prelude::*;

#[test]
fn auto_policy_and_unattended_runs_end_early_without_a_question() {
    for (policy, consent_mode) in [
        (Policy::Ask, ConsentMode::NonInteractive),
        (Policy::Ask, ConsentMode::PreApproved),
        (Policy::Auto, ConsentMode::NonInteractive),
        (Policy::Auto, ConsentMode::PreApproved),
        (Policy::Auto, ConsentMode::Interactive),
    ] {
        let player = play(
            early_plan(policy, consent_mode, 0.90),
            &synthesis(&[0.95], &ALL_EXPERTS, &["low"]),
        );
        let decision = fold(&player).early_end.unwrap();
        assert!(decision.ended, "{policy:?} {consent_mode:?}");
        let expected = DecidedBy::Guards;
        assert_eq!(decision.by, expected, "{policy:?} {consent_mode:?}");
        assert_eq!(states(&player), TWO_ROUNDS, "{policy:?} {consent_mode:?}");
        assert_eq!(calls(&player), [3, 1, 0, 0], "{policy:?} {consent_mode:?}");
    }
}

#[test]
fn never_policy_runs_all_rounds_and_records_no_decision() {
    let player = play(
        early_plan(Policy::Never, ConsentMode::Interactive, 0.0),
        &synthesis(&[1.0], &ALL_EXPERTS, &[]),
    );
    assert_eq!(states(&player), ALL_ROUNDS);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    assert_eq!(fold(&player).early_end, None);
}

#[test]
fn explore_mode_never_ends_early() {
    let mut plan = early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.0);
    plan.debate.mode = Mode::Explore;
    let player = play(plan, &synthesis(&[1.0], &ALL_EXPERTS, &[]));
    assert_eq!(states(&player), ALL_ROUNDS);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    let transcript = fold(&player);
    assert!(transcript.early_end.is_none());
    assert!(transcript.calibrated().is_none());
    assert_eq!(transcript.verdict().unwrap().recommendations.len(), 2);
}
