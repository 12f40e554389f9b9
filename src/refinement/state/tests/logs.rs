//! Logs whose events do not follow from each other.

use crate::domain::ids::ConsultationId;
use crate::domain::log::Fold as _;
use crate::refinement::event::{RefinementEventKind, StopCause, TextHash};
use crate::refinement::state::{LoopPhase, NextStep, RefinementState};
use crate::stopping::convergence::Criteria;

use super::player::{DOCUMENT, Player, begun, criteria, event, spend};

fn refused(player: &Player, kind: RefinementEventKind) -> String {
    let mut state = player.state.clone();
    let error = state.apply(&event(kind)).unwrap_err();
    assert_eq!(state, player.state, "a refused event changes the state");
    error.to_string()
}

fn iteration(iteration: u64) -> RefinementEventKind {
    RefinementEventKind::IterationStarted {
        iteration,
        document: TextHash::of(DOCUMENT),
    }
}

fn resumed() -> RefinementEventKind {
    RefinementEventKind::Resumed {
        criteria: criteria(),
    }
}

#[test]
fn a_log_begins_with_a_beginning() {
    let begun = RefinementState::begin(&event(RefinementEventKind::Ended));
    let error = begun.unwrap_err().to_string();
    assert_eq!(error, "its first event is not the beginning of a loop");
}

#[test]
fn criteria_that_allow_more_take_an_end_back() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.play();
    let ended = player.current().next_iteration();
    let more = Criteria {
        min_iterations: ended + 1,
        max_iterations: ended + 1,
        ..criteria()
    };
    player.record(RefinementEventKind::Resumed { criteria: more });
    let (_, now) = player.now();
    let next = NextStep::StartIteration { iteration: ended };
    assert_eq!(player.current().next_step(&now), next);
}

#[test]
fn nothing_else_but_a_beginning_follows_an_end() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.play();
    assert_eq!(
        refused(&player, resumed()),
        "a loop continues after its end"
    );
    let written = player.state.last_written().cloned();
    player.record(begun(&player.file));
    assert_eq!(player.current().phase, LoopPhase::Open);
    assert_eq!(player.current().iterations, []);
    assert_eq!(player.state.loops().count(), 2);
    assert_eq!(player.state.last_written().cloned(), written);
}

#[test]
fn a_loop_can_be_given_up_for_another() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.step();
    player.record(begun(DOCUMENT));
    player.play();
    assert_eq!(player.current().phase, LoopPhase::Ended);
}

#[test]
fn a_stopped_loop_must_be_resumed() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.record(RefinementEventKind::Stopped {
        cause: StopCause::CostCeiling,
        message: "the ceiling".to_owned(),
    });
    let error = refused(&player, iteration(1));
    assert_eq!(error, "a loop continues after a stop and is not resumed");
    player.record(resumed());
    player.record(iteration(1));
}

#[test]
fn iterations_are_numbered_in_order() {
    let player = Player::new(DOCUMENT, 1, 1);
    assert_eq!(
        refused(&player, iteration(2)),
        "iteration 2 begins, but iteration 1 is due"
    );
}

#[test]
fn unknown_consultations_do_not_end() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.step();
    let unknown = ConsultationId::from_unique("unknown");
    let cut_off = RefinementEventKind::ConsultationCutOff {
        consultation: unknown.clone(),
        spend: spend(),
    };
    let expected = format!("`{unknown}` ends, but was not in flight");
    assert_eq!(refused(&player, cut_off), expected);
}

#[test]
fn a_consultation_begins_once() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.step();
    player.step();
    let again = player.log.last().unwrap().kind.clone();
    let error = refused(&player, again);
    assert!(error.ends_with("begins twice"), "{error}");
}

#[test]
fn an_iteration_in_flight_is_neither_merged_nor_begun() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.step();
    player.step();
    let error = refused(&player, iteration(1));
    assert_eq!(
        error,
        "an iteration begins or is merged while a consultation is in flight"
    );
}

#[test]
fn nothing_is_written_that_was_not_merged() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.step();
    let written = RefinementEventKind::DocumentWritten {
        document: TextHash::of("other"),
    };
    let error = refused(&player, written);
    assert_eq!(error, "a text is written that no merge made");
    let error = refused(&player, RefinementEventKind::Ended);
    assert_eq!(
        error,
        "a loop ends before an iteration is merged and written"
    );
}
