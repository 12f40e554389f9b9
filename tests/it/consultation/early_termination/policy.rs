//! The policies and the threshold, without a question.

use std::time::Duration;

use conclave::consultation::event::{DecidedBy, StateName};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::mode::Mode;
use conclave::domain::confidence::Confidence;
use conclave::stopping::early_termination::Policy;

use super::{
    ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, answers_with, calls, early_plan, fold, play, states,
    synthesis,
};
use crate::support::script::Player;

#[test]
fn threshold_is_met_at_equality_and_not_just_below() {
    for (confidences, threshold, is_met) in [
        (&[0.95, 0.85][..], 0.90, true),
        (&[0.9, 0.8], 0.85, true),
        (&[0.7, 0.8, 0.9], 0.8, true),
        (&[0.9, 0.8], 0.850_001, false),
        (&[0.1], 0.0, true),
        (&[1.0], 1.0, true),
    ] {
        let player = play(
            early_plan(Policy::Auto, ConsentMode::NonInteractive, threshold),
            &synthesis(confidences, &ALL_EXPERTS, &[]),
        );
        assert_eq!(
            fold(&player).early_end.unwrap().ended,
            is_met,
            "{confidences:?} at {threshold}"
        );
    }
}

#[test]
fn synthesis_without_consensus_has_zero_confidence_and_continues() {
    let player = play(
        early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.90),
        &synthesis(&[], &ALL_EXPERTS, &["low"]),
    );
    let decision = fold(&player).early_end.unwrap();
    assert!(!decision.ended);
    assert_eq!(decision.by, DecidedBy::Threshold);
    assert_eq!(decision.findings.confidence, Confidence::new(0.0));
    assert_eq!(states(&player), ALL_ROUNDS);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
}

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
        assert_eq!(
            decision.by,
            DecidedBy::Guards,
            "{policy:?} {consent_mode:?}"
        );
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

#[test]
fn resume_after_any_event_ends_early_with_the_same_verdict() {
    let agreement = synthesis(&[0.95], &ALL_EXPERTS, &["low"]);
    let uninterrupted = play(
        early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.90),
        &agreement,
    );
    for cut in 1..uninterrupted.log.len() {
        let mut player =
            Player::resumed(&uninterrupted.log[..cut], Duration::from_secs(5), None).unwrap();
        player.finish(answers_with(&agreement));
        assert_eq!(
            player.machine.state(),
            StateName::Complete,
            "resumed after event {cut}"
        );
        assert_eq!(
            fold(&player).verdict(),
            fold(&uninterrupted).verdict(),
            "resumed after event {cut}"
        );
        assert_eq!(calls(&player)[2..], [0, 0], "resumed after event {cut}");
    }
}
