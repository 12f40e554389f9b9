//! A helper that fails, is slow or cannot be asked: the default personas are used.

use conclave::consultation::machine::replay::replay;
use conclave::consultation::prompt::Size;

use super::{SELECTION, assert_usual_panel, helper, helper_replies, play, seats, selection_plan};
use conclave::domain::model::billing::Billing;

use crate::consultation::prelude::*;

/// Returns outcomes of the selection with the expected note and number of calls.
fn helper_failures() -> Vec<(&'static str, Outcome, usize)> {
    use FailureClass::{
        Auth, Billing, Context, Empty, Interrupted, Malformed, ModelMissing, Overload, Policy,
        RateLimit, Timeout, Transport,
    };
    let broken = |calls| move |class| ("gave no answer: broken", failure(class, "broken"), calls);
    let once = [
        Auth,
        Billing,
        Context,
        Interrupted,
        Malformed,
        ModelMissing,
        Policy,
    ];
    let twice = [Empty, Overload, RateLimit, Timeout, Transport];
    let pause = Duration::from_secs(20);
    let others = [
        (
            "asks for a pause",
            failure_with_hint(RateLimit, "slow down", pause),
            1,
        ),
        (
            "declined to answer",
            stopped("No.", StopReason::Refused(String::new())),
            1,
        ),
        ("could not be read", reply("It depends."), 2),
        (
            "could not be read",
            stopped("{\"task", StopReason::Length),
            2,
        ),
        ("the answer was empty", reply(" "), 1),
    ];
    let failures = once.into_iter().map(broken(1));
    failures.chain(twice.map(broken(2))).chain(others).collect()
}

#[test]
fn helper_failure_seats_the_usual_personas_without_degradation() {
    // Each failure under one of the policies.
    let policies = [OnFailure::Ask, OnFailure::Fail, OnFailure::Substitute];
    let policies = policies.into_iter().cycle();
    for ((why, outcome, calls), on_failure) in helper_failures().into_iter().zip(policies) {
        let mut plan = selection_plan();
        plan.control.strict = on_failure == OnFailure::Fail;
        plan.control.on_failure = on_failure;
        plan.control.consent.consent_mode = ConsentMode::Interactive;
        let player = play(plan, helper_replies(outcome));
        assert_eq!(helper_calls(&player), calls, "{why}");
        assert_usual_panel(&player, why);
        for absent in ["provider:held", "offered"] {
            assert!(!player.log_text().contains(absent), "{}", player.log_text());
        }
    }
}

#[test]
fn unreadable_selection_is_repaired_once() {
    let mut answers = [reply("It depends."), reply(SELECTION)].into_iter();
    let player = play(selection_plan(), |ask| {
        if ask.answer == AnswerKind::PersonaSelection {
            answers.next().unwrap()
        } else {
            good(ask)
        }
    });
    assert_eq!(helper_calls(&player), 2);
    assert_eq!(seats(&player)[0].as_str(), "accessibility");
}

#[test]
fn helper_failure_does_not_count_against_its_provider() {
    let mut plan = selection_plan();
    plan.debate.helper = Some(ModelRef::new("anthropic", "claude-sonnet-5-5"));
    plan.control.on_failure = OnFailure::Ask;
    let hint = Duration::from_secs(40);
    let mut player = Player::started(plan);
    player.answer_agent(
        "clerk",
        failure_with_hint(FailureClass::RateLimit, "slow down", hint),
    );
    assert_eq!(player.open.len(), 3, "{}", player.log_text());
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn helper_is_not_asked_when_the_ceiling_has_no_room() {
    let mut plan = selection_plan();
    if let Some(price) = plan.prices.0.get_mut(&helper()) {
        price.base.output = MicroUsd(10_000_000_000);
    }
    plan.control.max_cost = Some(MicroUsd(10_000_000));
    let player = play(plan, good);
    assert_eq!(helper_calls(&player), 0);
    assert_usual_panel(&player, "the ceiling does not allow it");
}

#[test]
fn usual_personas_sit_without_a_helper() {
    let mut plan = selection_plan();
    plan.debate.helper = None;
    let player = play(plan, good);
    assert_usual_panel(&player, "no model is available to select them");
}

#[test]
fn remote_helper_times_out_after_30_s_and_a_local_one_never() {
    let mut player = Player::started(selection_plan());
    let before = player.now;
    while player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::PersonaSelection)
    {
        assert!(player.fire(), "stuck: {}", player.log_text());
    }
    assert_eq!(player.now.since(before), Duration::from_secs(30));
    assert_logged(&player, "call:cancelled 1 TooLate");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_usual_panel(&player, "no answer within 30 s");
    assert_eq!(replay(&player.log).unwrap().consultation, player.machine);

    let mut plan = selection_plan();
    plan.models.insert(
        helper(),
        ModelTerms {
            billing: Billing::Free,
            size: Size::Small,
            ..ModelTerms::default()
        },
    );
    let mut local = Player::started(plan);
    assert!(!local.fire(), "there is no timer");
    local.answer_agent("clerk", reply(SELECTION));
    assert_eq!(seats(&local)[0], "accessibility");
}
