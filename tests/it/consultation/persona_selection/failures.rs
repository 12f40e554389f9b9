//! A helper that fails, is slow or cannot be asked: the default personas are used.

use std::time::Duration;

use conclave::consultation::event::StateName;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::options::DebateOptions;
use conclave::consultation::plan::{ModelTerms, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::prompt::Size;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, Outcome, StopReason};
use conclave::domain::ids::ModelRef;
use conclave::domain::money::MicroUsd;

use super::{
    SELECTION, assert_usual_panel, helper, helper_calls, helper_replies, play, seats,
    selection_plan,
};
use crate::support::script::{Player, failure, failure_with_hint, good, reply, stopped};

/// Returns outcomes of the selection with the expected note and number of calls.
fn helper_failures() -> Vec<(&'static str, Outcome, usize)> {
    use FailureClass::{
        Auth, Billing, Context, Empty, Interrupted, Malformed, ModelMissing, Overload, Policy,
        RateLimit, Timeout, Transport,
    };
    let mut failures: Vec<_> = [
        Auth,
        Billing,
        Context,
        Interrupted,
        Malformed,
        ModelMissing,
        Policy,
    ]
    .into_iter()
    .map(|class| ("gave no answer: broken", failure(class, "broken"), 1))
    .collect();
    failures.extend(
        [Empty, Overload, RateLimit, Timeout, Transport]
            .map(|class| ("gave no answer: broken", failure(class, "broken"), 2)),
    );
    failures.push((
        "asks for a pause",
        failure_with_hint(
            FailureClass::RateLimit,
            "slow down",
            Duration::from_secs(20),
        ),
        1,
    ));
    failures.push((
        "declined to answer",
        stopped("No.", StopReason::Refused(String::new())),
        1,
    ));
    failures.push(("could not be read", reply("It depends."), 2));
    failures.push((
        "could not be read",
        stopped("{\"task", StopReason::Length),
        2,
    ));
    failures.push(("the answer was empty", reply(" "), 1));
    failures
}

#[test]
fn helper_failure_seats_the_usual_personas_without_degradation() {
    for on_failure in [OnFailure::Ask, OnFailure::Fail, OnFailure::Substitute] {
        for (why, outcome, calls) in helper_failures() {
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
    plan.models.insert(
        helper(),
        ModelTerms {
            max_output_tokens: 30_000_000,
            output_limit: 30_000_000,
            ..ModelTerms::default()
        },
    );
    plan.control.max_cost = Some(MicroUsd(10_000_000));
    let player = play(plan, good);
    assert_eq!(helper_calls(&player), 0);
    assert_usual_panel(&player, "the ceiling does not allow it");
}

#[test]
fn usual_personas_sit_without_a_helper() {
    let player = play(
        Plan {
            debate: DebateOptions {
                helper: None,
                ..selection_plan().debate
            },
            ..selection_plan()
        },
        good,
    );
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
    assert!(
        player.log_text().contains("call:cancelled 1 TooLate"),
        "{}",
        player.log_text()
    );
    assert_eq!(player.finish(good), StateName::Complete);
    assert_usual_panel(&player, "no answer within 30 s");
    assert_eq!(replay(&player.log).unwrap().consultation, player.machine);

    let mut plan = selection_plan();
    plan.models.insert(
        helper(),
        ModelTerms {
            free: true,
            size: Size::Small,
            ..ModelTerms::default()
        },
    );
    let mut local = Player::started(plan);
    assert!(!local.fire(), "there is no timer");
    local.answer_agent("clerk", reply(SELECTION));
    assert_eq!(seats(&local)[0], "accessibility");
}
