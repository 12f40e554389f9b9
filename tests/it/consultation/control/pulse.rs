//! Slow rounds: the pulse question and `--max-wait`.

use conclave::consultation::machine::Question;
use conclave::consultation::transcript::summary::Status;
use conclave::domain::ids::ProviderId;

use crate::consultation::prelude::*;

fn plan_with_pulse(consent_mode: ConsentMode) -> Plan {
    let mut plan = plan();
    plan.control.pulse = Some(Duration::from_secs(60));
    plan.control.consent.consent_mode = consent_mode;
    plan
}

#[test]
fn slow_round_asks_the_user_and_names_the_waiting_agents() {
    let mut player = Player::started(plan_with_pulse(ConsentMode::Interactive));
    player.answer(1, good(&player.open[1].clone()));
    player.rest();
    let Some(Question::Pulse {
        waiting,
        may_go_on_without,
    }) = player.question.clone()
    else {
        panic!()
    };
    assert!(may_go_on_without, "one expert has answered");
    let waiting: Vec<_> = waiting
        .iter()
        .map(|agent| (agent.name.as_str(), agent.elapsed_ms))
        .collect();
    let expected = [("Security Expert", 60_000), ("Pragmatist", 60_000)];
    assert_eq!(waiting, expected);
    player.pass(Duration::from_secs(5));
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(
        player.timers.iter().next_back().unwrap().0,
        player.now.after(Duration::from_secs(60)),
        "the next question comes after the same time"
    );
    player.rest();
    assert!(player.question.is_some());
    player.answer(0, good(&player.open[0].clone()));
    assert_eq!(player.question, None, "an answer closes it");
    assert!(player.log_text().contains("pulse:answered Superseded"));
    player.rest();
    player.pass(Duration::from_secs(2));
    player.give(Input::Answered(Answer::No));
    let transcript = fold(&player);
    let abort = transcript.abort.unwrap();
    assert_eq!(abort.reason, AbortReason::UserCancelled);
    assert_eq!(abort.message, "Consultation cancelled by user after 187s");
}

fn may_go_on_without(player: &Player) -> bool {
    match player.question {
        Some(Question::Pulse {
            may_go_on_without, ..
        }) => may_go_on_without,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn going_on_without_slow_agents_preserves_the_finished_answers() {
    let mut player = Player::started(plan_with_pulse(ConsentMode::Interactive));
    player.answer_agent("architecture", good(&player.open[1].clone()));
    player.answer_agent("pragmatic", good(&player.open[1].clone()));
    player.rest();
    player.pass(Duration::from_secs(12));
    player.give(Input::Answered(Answer::GoOnWithout));
    assert!(player.log_text().contains("call:cancelled 1 TooLate"));
    assert!(player.log_text().contains("pulse:answered GoOnWithout"));
    assert_eq!(player.machine.state(), StateName::Synthesis);
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(
        transcript.degradations(),
        ["Security Expert gave no answer in Round 1: left out at the user's request after 72 s"]
    );
    assert_eq!(transcript.status(), Status::Degraded);
    assert!(
        transcript.total().cost.lower_bound,
        "the cost of the cancelled call is unknown"
    );
    assert_eq!(transcript.waited_for_person, Duration::ZERO, "calls ran");
}

#[test]
fn going_on_is_offered_only_when_the_answers_are_enough() {
    let mut player = Player::started(plan_with_pulse(ConsentMode::Interactive));
    player.rest();
    assert!(!may_go_on_without(&player), "no expert has answered");

    let mut plan = plan_with_pulse(ConsentMode::Interactive);
    plan.control.strict = true;
    let mut player = Player::started(plan);
    player.answer(1, good(&player.open[1].clone()));
    player.rest();
    assert!(!may_go_on_without(&player), "--strict wants all answers");

    let mut player = Player::started(plan_with_pulse(ConsentMode::Interactive));
    play_to(&mut player, StateName::Synthesis);
    player.rest();
    assert!(!may_go_on_without(&player), "no round without its judge");
}

#[test]
fn user_is_not_asked_to_wait_for_the_embedded_model() {
    let mut plan = plan_with_pulse(ConsentMode::Interactive);
    plan.panel.seats[0].model = ModelRef::new(ProviderId::LOCAL, "qwen");
    let mut player = Player::started(plan);
    // The model has no price, so its cost is asked about.
    player.give(Input::Answered(Answer::Yes));
    player.answer_agent("architecture", good(&player.open[0].clone()));
    player.answer_agent("pragmatic", good(&player.open[0].clone()));
    player.rest();
    assert_eq!(player.question, None);
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn unattended_pulse_only_reports_and_keeps_waiting() {
    for consent_mode in [ConsentMode::NonInteractive, ConsentMode::PreApproved] {
        let mut player = Player::started(plan_with_pulse(consent_mode));
        player.rest();
        player.rest();
        assert_eq!(player.question, None);
        let count = player
            .log_text()
            .matches("pulse:asked 1 3 waiting, user not asked")
            .count();
        assert_eq!(count, 2);
        assert_eq!(player.finish(good), StateName::Complete);
    }
}

#[test]
fn max_wait_ends_a_slow_round() {
    let mut plan = plan_with_pulse(ConsentMode::NonInteractive);
    plan.control.max_wait = Some(Duration::from_secs(90));
    let mut player = Player::started(plan);
    fire_to_the_end(&mut player);
    let transcript = fold(&player);
    let expected = AbortReason::Timeout;
    assert_eq!(transcript.abort.as_ref().unwrap().reason, expected);
    assert_eq!(transcript.duration, Duration::from_secs(90));
    assert_eq!(transcript.lost_calls.len(), 3);
    assert_eq!(transcript.total().cost, Cost::at_least(MicroUsd::ZERO));
}
