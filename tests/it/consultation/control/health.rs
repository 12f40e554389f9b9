//! Providers that keep failing or reject their key.

use conclave::domain::ids::ProviderId;

use super::{grok, plan_with_fallbacks, substitutions};
use crate::consultation::prelude::*;

#[test]
fn unhealthy_provider_is_skipped_for_the_next_answer() {
    let mut player = Player::started(plan_with_fallbacks());
    for _ in 0..3 {
        player.answer_agent("security", failure(FailureClass::Overload, "overloaded"));
        while place(&player, |ask| {
            is_at(ask, "anthropic") || ask.model == grok()
        })
        .is_none()
        {
            assert!(player.rest());
        }
    }
    assert_eq!(substitutions(&player)[0].1, grok());
    // The judge's fallback is at the same, unhealthy provider and is skipped.
    while player.machine.state() != StateName::Synthesis {
        let at = player.open.len() - 1;
        player.answer(at, good(&player.open[at].clone()));
    }
    player.answer(0, bad_key());
    let transcript = fold(&player);
    assert_eq!(
        transcript.abort.as_ref().unwrap().reason,
        AbortReason::JudgeFailed,
        "there is no other judge"
    );
}

#[test]
fn provider_with_a_rejected_key_takes_over_only_after_resume() {
    let mut plan = plan_with_fallbacks();
    for fallbacks in plan.fallbacks.values_mut() {
        fallbacks.insert(0, ModelRef::new("google", "gemini-4-argon"));
    }
    let mut player = Player::started(plan);
    player.answer_agent("pragmatic", bad_key());
    player.answer_agent("security", no_such_model());
    let taken_over = |player: &Player| {
        substitutions(player)
            .into_iter()
            .map(|(agent, model, _)| format!("{agent} {model}"))
            .collect::<Vec<_>>()
    };
    let expected = ["pragmatic xai:grok-4.7", "security xai:grok-4.7"];
    assert_eq!(taken_over(&player), expected);
    player.give(Input::Interrupted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    resumed.answer_agent("architecture", no_such_model());
    assert_eq!(
        taken_over(&resumed)[2],
        "architecture google:gemini-4-argon",
        "a resumed run may have another key"
    );
}

#[test]
fn failing_provider_is_still_asked_when_no_fallback_may_take_over() {
    for skip in [true, false] {
        let mut plan = plan_with_fallbacks();
        plan.control.on_failure = if skip {
            OnFailure::Skip
        } else {
            OnFailure::Substitute
        };
        plan.control.strict = !skip;
        // Two seats share one provider with a limit of one call.
        plan.panel.seats[1].model = plan.panel.seats[0].model.clone();
        plan.in_flight.insert(ProviderId::new("anthropic"), 1);
        let mut player = Player::started(plan);
        let mut calls = 0;
        while let Some(at) = place(&player, |ask| is_at(ask, "anthropic")) {
            calls += 1;
            player.answer(at, failure(FailureClass::Overload, "overloaded"));
            while calls < 4 && place(&player, |ask| is_at(ask, "anthropic")).is_none() {
                assert!(player.rest(), "{}", player.log_text());
            }
        }
        assert!(
            calls >= 4,
            "it is asked after three failures in a row: {}",
            player.log_text()
        );
    }
}
