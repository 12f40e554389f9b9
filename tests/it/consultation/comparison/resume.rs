//! Resuming with a comparison open.

use conclave::consultation::machine::replay::replay;

use super::{GRACE_PERIOD, answer_all_but_helper, value};
use crate::consultation::prelude::*;
use crate::support::comparison::{comparison_plan, moving_debate};

#[test]
fn cancelled_comparison_replays_and_an_open_one_is_repeated() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    let log_at_verdict = player.log.clone();
    fire_to_the_end(&mut player);
    let expected = StateName::Complete;
    assert_eq!(replay(&player.log).unwrap().consultation.state(), expected);
    let mut resumed = Player::resumed(&log_at_verdict, Duration::from_secs(86_400), None).unwrap();
    assert_eq!(resumed.machine.state(), StateName::Verdict);
    assert_eq!(resumed.open.len(), 1, "the comparison is requested again");
    let resumed_at = resumed.now;
    fire_to_the_end(&mut resumed);
    assert_eq!(resumed.now.since(resumed_at), GRACE_PERIOD);
}

#[test]
fn failed_judge_cancels_the_comparison_and_resume_repeats_it() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while place(&player, |ask| ask.answer == AnswerKind::CrossExam).is_none() {
        let outcome = moving_debate(&plan, &player.open[0].clone());
        player.answer(0, outcome);
    }
    while !player.machine.state().is_terminal() {
        let at = place(&player, |ask| ask.answer == AnswerKind::CrossExam).unwrap();
        player.answer(at, no_such_model());
    }
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    let expected = StateName::Complete;
    assert_eq!(resumed.finish(|ask| moving_debate(&plan, ask)), expected);
    assert_eq!(helper_calls(&resumed), 2);
    assert_eq!(value(&resumed.log).agents_changed_position, Some(2));
}

#[test]
fn resume_after_any_ceiling_has_the_comparison() {
    let mut plan = expect_short_answers(comparison_plan());
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let run_under = |max_cost: Option<MicroUsd>| {
        let mut plan = plan.clone();
        plan.control.max_cost = max_cost;
        let mut player = Player::started(plan.clone());
        player.finish(|ask| moving_debate(&plan, ask));
        player
    };
    let log = run_under(None).log;
    let total = Transcript::fold(&log).unwrap().total().cost.known.0;
    let least = plan.estimate().unwrap().smallest_ceiling(|call| call.low).0;
    let mut reached_in_round_3 = 0;
    for step in 0..=20 {
        let stopped = run_under(Some(MicroUsd(least + total * step / 20)));
        if stopped.machine.state() == StateName::Complete {
            continue;
        }
        let transcript = fold(&stopped);
        let from = transcript.abort.unwrap().during;
        reached_in_round_3 += usize::from(from == StateName::CrossExam);
        let unlimited = Some(plan.control.clone());
        let mut resumed =
            Player::resumed(&stopped.log, Duration::from_secs(60), unlimited).unwrap();
        resumed.finish(|ask| moving_debate(&plan, ask));
        let changed = value(&resumed.log).agents_changed_position;
        assert_eq!(changed, Some(2), "{step}");
    }
    assert!(reached_in_round_3 > 0);
}
