//! Resuming before and after the selection, also from older journals.

use super::{SELECTION, helper_replies, seats, selection_plan};
use conclave::domain::model::billing::Billing;

use crate::consultation::prelude::*;

#[test]
fn interrupted_selection_is_repeated_and_a_finished_one_is_not() {
    let mut player = Player::started(selection_plan());
    player.give(Input::Interrupted);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    assert_eq!(resumed.open.len(), 1);
    assert_eq!(resumed.open[0].answer, AnswerKind::PersonaSelection);
    assert!(
        !resumed.fire()
            || resumed
                .open
                .iter()
                .any(|ask| ask.answer == AnswerKind::PersonaSelection),
        "it has its full time again"
    );
    let expected = StateName::Complete;
    assert_eq!(resumed.finish(helper_replies(reply(SELECTION))), expected);
    assert_eq!(helper_calls(&resumed), 2);
    assert_eq!(seats(&resumed)[0].as_str(), "accessibility");

    let mut player = Player::started(selection_plan());
    player.answer_agent("clerk", reply(SELECTION));
    player.give(Input::Interrupted);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    assert_eq!(resumed.open.len(), 3);
    assert_eq!(resumed.finish(good), StateName::Complete);
    assert_eq!(helper_calls(&resumed), 1);
    assert_eq!(seats(&resumed)[0].as_str(), "accessibility");
}

#[test]
fn run_ended_by_the_selection_resumes_with_its_personas() {
    let mut plan = selection_plan();
    // The helper's reply costs more than 1.5 times the estimate of the whole consultation.
    plan.models = plan
        .panel
        .seats
        .iter()
        .map(|seat| {
            (
                seat.model.clone(),
                ModelTerms {
                    billing: Billing::Free,
                    ..ModelTerms::default()
                },
            )
        })
        .collect();
    let mut player = Player::started(plan);
    let mut costly = reply(SELECTION).unwrap();
    costly.reported_cost = Some(MicroUsd(9_000_000));
    player.answer_agent("clerk", Ok(costly));
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(seats(&player)[0], "accessibility");
    let resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.open.len(), 3, "{}", resumed.log_text());
    assert_eq!(helper_calls(&resumed), 1, "{}", resumed.log_text());
}
