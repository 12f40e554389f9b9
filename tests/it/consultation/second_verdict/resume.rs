//! Resuming in Round 4.

use std::time::Duration;

use conclave::consultation::event::{AbortReason, StateName};
use conclave::consultation::machine::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass};

use super::{
    CHANGED_VERDICT, agent_of, agents, comparison, fold, play_to_verdict, second_pass,
    two_pass_plan, verdict,
};
use crate::support::script::{Player, failure, good, reply};

#[test]
fn resume_repeats_a_failed_judge_but_not_the_second_verdict() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge-2", verdict());
    player.answer_agent(
        "judge",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    player.answer_agent("judge", failure(FailureClass::ModelMissing, "nor this one"));
    let abort = fold(&player).abort.unwrap();
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(abort.reason, AbortReason::JudgeFailed);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(agents(&resumed), ["judge"]);
    assert_eq!(resumed.finish(good), StateName::Complete);
    assert_eq!(second_pass(&resumed).held.consistent, Some(true));
}

#[test]
fn resume_repeats_both_passes_interrupted_before_a_verdict() {
    let mut player = play_to_verdict(two_pass_plan());
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(agents(&resumed), ["judge", "judge-2"]);
    resumed.finish(good);
    assert_eq!(second_pass(&resumed).held.consistent, Some(true));
}

#[test]
fn resume_after_any_event_of_round_4_ends_as_uninterrupted() {
    let mut uninterrupted = play_to_verdict(two_pass_plan());
    let answer_of = |ask: &Ask, agent: &str| match ask.answer {
        AnswerKind::Verdict if agent == "judge-2" => reply(CHANGED_VERDICT),
        AnswerKind::Consistency => comparison("significant_change"),
        _ => good(ask),
    };
    let play_on = |player: &mut Player| {
        while !player.machine.state().is_terminal() {
            let ask = player.open[0].clone();
            let agent = agent_of(player, &ask);
            player.answer(0, answer_of(&ask, &agent));
        }
    };
    let began = uninterrupted.log.len();
    play_on(&mut uninterrupted);
    for cut in began - 4..uninterrupted.log.len() {
        let mut resumed = Player::resumed(&uninterrupted.log[..cut], Duration::ZERO, None).unwrap();
        play_on(&mut resumed);
        assert_eq!(
            second_pass(&resumed),
            second_pass(&uninterrupted),
            "resumed after event {cut}: {}",
            resumed.log_text()
        );
        let calls = |player: &Player| fold(player).calls.len();
        assert_eq!(calls(&resumed), calls(&uninterrupted));
    }
}
