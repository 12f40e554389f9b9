//! Resuming with a comparison open.

use std::time::Duration;

use conclave::consultation::event::{CallEvent, Event, StateName};
use conclave::consultation::machine::Input;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::FailureClass;
use conclave::consultation::transcript::Transcript;
use conclave::domain::money::MicroUsd;

use super::{GRACE_PERIOD, answer_all_but_helper, helper_calls, value};
use crate::support::comparison::{comparison_plan, moving_debate};
use crate::support::script::{Player, failure};

#[test]
fn resume_repeats_an_interrupted_comparison() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while !player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::Verdict)
    {
        let at = player
            .open
            .iter()
            .position(|ask| ask.answer != AnswerKind::Comparison)
            .unwrap();
        let outcome = moving_debate(&plan, &player.open[at].clone());
        player.answer(at, outcome);
    }
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(player.open.len(), 0);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    let mut open_kinds: Vec<AnswerKind> = resumed.open.iter().map(|ask| ask.answer).collect();
    open_kinds.sort();
    assert_eq!(open_kinds, [AnswerKind::Verdict, AnswerKind::Comparison]);
    assert_eq!(
        resumed.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    assert_eq!(value(&resumed.log).agents_changed_position, Some(2));
}

#[test]
fn resume_after_any_event_yields_the_same_comparison() {
    let plan = comparison_plan();
    let mut uninterrupted = Player::started(plan.clone());
    answer_all_but_helper(&mut uninterrupted, &plan);
    let outcome = moving_debate(&plan, &uninterrupted.open[0].clone());
    uninterrupted.answer(0, outcome);
    let expected = value(&uninterrupted.log);
    for cut in 5..=uninterrupted.log.len() {
        let mut resumed =
            match Player::resumed(&uninterrupted.log[..cut], Duration::from_secs(60), None) {
                Ok(resumed) => resumed,
                Err(error) => panic!("resuming after event {cut}: {error}"),
            };
        answer_all_but_helper(&mut resumed, &plan);
        assert_eq!(
            resumed.finish(|ask| moving_debate(&plan, ask)),
            StateName::Complete,
            "resumed after event {cut}"
        );
        let value = value(&resumed.log);
        assert_eq!(value.agents, expected.agents, "resumed after event {cut}");
        assert_eq!(
            value.key_insights, expected.key_insights,
            "resumed after event {cut}"
        );
        assert!(replay(&resumed.log).is_ok(), "resumed after event {cut}");
    }
}

#[test]
fn cancelled_comparison_replays_and_an_open_one_is_repeated() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    let log_at_verdict = player.log.clone();
    while !player.machine.state().is_terminal() {
        player.fire();
    }
    assert_eq!(
        replay(&player.log).unwrap().consultation.state(),
        StateName::Complete
    );
    let mut resumed = Player::resumed(&log_at_verdict, Duration::from_secs(86_400), None).unwrap();
    assert_eq!(resumed.machine.state(), StateName::Verdict);
    assert_eq!(resumed.open.len(), 1, "the comparison is requested again");
    let resumed_at = resumed.now;
    while !resumed.machine.state().is_terminal() {
        assert!(resumed.fire());
    }
    assert_eq!(resumed.now.since(resumed_at), GRACE_PERIOD);
}

#[test]
fn failed_judge_cancels_the_comparison_and_resume_repeats_it() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while !player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::CrossExam)
    {
        let outcome = moving_debate(&plan, &player.open[0].clone());
        player.answer(0, outcome);
    }
    while !player.machine.state().is_terminal() {
        let at = player
            .open
            .iter()
            .position(|ask| ask.answer == AnswerKind::CrossExam)
            .unwrap();
        player.answer(at, failure(FailureClass::ModelMissing, "no such model"));
    }
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    assert_eq!(
        resumed.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    assert_eq!(helper_calls(&resumed.log), 2);
    assert_eq!(value(&resumed.log).agents_changed_position, Some(2));
}

#[test]
fn resume_after_any_ceiling_has_the_comparison() {
    let mut plan = comparison_plan();
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
    let worst_cases = log.iter().filter_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Started(call)) => Some(call.worst_case.known.0),
        _ => None,
    });
    let worst = worst_cases.max().unwrap();
    let mut reached_in_round_3 = 0;
    for step in 0..=60 {
        let stopped = run_under(Some(MicroUsd(worst + total * step / 60)));
        if stopped.machine.state() == StateName::Complete {
            continue;
        }
        let transcript = Transcript::fold(&stopped.log).unwrap();
        let from = transcript.abort.unwrap().during;
        reached_in_round_3 += usize::from(from == StateName::CrossExam);
        let unlimited = Some(plan.control.clone());
        let mut resumed =
            Player::resumed(&stopped.log, Duration::from_secs(60), unlimited).unwrap();
        resumed.finish(|ask| moving_debate(&plan, ask));
        assert_eq!(
            value(&resumed.log).agents_changed_position,
            Some(2),
            "{step}"
        );
    }
    assert!(reached_in_round_3 > 0);
}
