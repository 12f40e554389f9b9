//! Providers that keep failing or reject their key.

use std::time::Duration;

use conclave::consultation::event::{AbortReason, StateName};
use conclave::consultation::machine::Input;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::ids::{ModelRef, ProviderId};

use super::{fold, grok, plan_with_fallbacks, substitutions};
use crate::support::script::{Player, failure, good};

#[test]
fn unhealthy_provider_is_skipped_for_the_next_answer() {
    let mut player = Player::started(plan_with_fallbacks());
    for _ in 0..3 {
        player.answer_agent("security", failure(FailureClass::Overload, "overloaded"));
        while !player
            .open
            .iter()
            .any(|ask| ask.model.provider.as_str() == "anthropic" || ask.model == grok())
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
    player.answer(0, failure(FailureClass::Auth, "bad key"));
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
    player.answer_agent("pragmatic", failure(FailureClass::Auth, "bad key"));
    player.answer_agent(
        "security",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    let taken_over = |player: &Player| {
        substitutions(player)
            .into_iter()
            .map(|(agent, model, _)| format!("{agent} {model}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        taken_over(&player),
        ["pragmatic xai:grok-4.7", "security xai:grok-4.7"]
    );
    player.give(Input::Interrupted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    resumed.answer_agent(
        "architecture",
        failure(FailureClass::ModelMissing, "no such model"),
    );
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
        while let Some(at) = player
            .open
            .iter()
            .position(|ask| ask.model.provider.as_str() == "anthropic")
        {
            calls += 1;
            player.answer(at, failure(FailureClass::Overload, "overloaded"));
            while calls < 4
                && !player
                    .open
                    .iter()
                    .any(|ask| ask.model.provider.as_str() == "anthropic")
            {
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
