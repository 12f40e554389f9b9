//! Slow rounds: the pulse question and `--max-wait`.

use std::time::Duration;

use conclave::consultation::event::{AbortReason, Answer, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::{Input, Question};
use conclave::domain::money::{Cost, MicroUsd};

use super::fold;
use crate::support::script::{Player, good, plan};

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
    let Some(Question::Pulse { waiting }) = player.question.clone() else {
        panic!()
    };
    let waiting: Vec<_> = waiting
        .iter()
        .map(|agent| (agent.name.as_str(), agent.elapsed_ms))
        .collect();
    assert_eq!(
        waiting,
        [("Security Expert", 60_000), ("Pragmatist", 60_000)]
    );
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

#[test]
fn unattended_pulse_only_reports_and_keeps_waiting() {
    for consent_mode in [ConsentMode::NonInteractive, ConsentMode::PreApproved] {
        let mut player = Player::started(plan_with_pulse(consent_mode));
        player.rest();
        player.rest();
        assert_eq!(player.question, None);
        assert_eq!(
            player
                .log_text()
                .matches("pulse:asked 1 3 waiting, user not asked")
                .count(),
            2
        );
        assert_eq!(player.finish(good), StateName::Complete);
    }
}

#[test]
fn max_wait_ends_a_slow_round() {
    let mut plan = plan_with_pulse(ConsentMode::NonInteractive);
    plan.control.max_wait = Some(Duration::from_secs(90));
    let mut player = Player::started(plan);
    while !player.machine.state().is_terminal() {
        player.rest();
    }
    let transcript = fold(&player);
    assert_eq!(
        transcript.abort.as_ref().unwrap().reason,
        AbortReason::Timeout
    );
    assert_eq!(transcript.duration, Duration::from_secs(90));
    assert_eq!(transcript.lost_calls.len(), 3);
    assert_eq!(transcript.total().cost, Cost::at_least(MicroUsd::ZERO));
}
