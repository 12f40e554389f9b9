//! Logs whose events do not follow from each other.

use crate::domain::ids::ConsultationId;
use crate::domain::record::log::Fold as _;
use crate::refinement::event::{RefinementEventKind, StopCause, TextHash};
use crate::refinement::state::{LoopPhase, NextStep, RefinementState};
use crate::stopping::convergence::Criteria;

use super::player::{DOCUMENT, Player, begun, criteria, event, next_step, spend};

#[track_caller]
fn assert_refused(player: &Player, kind: RefinementEventKind, why: &str) {
    let mut state = player.state.clone();
    let error = state.apply(&event(kind)).unwrap_err();
    assert_eq!(error.to_string(), why);
    assert_eq!(state, player.state, "a refused event changes the state");
}

/// Plays this many steps.
fn after(steps: usize) -> Player {
    let mut player = Player::new(DOCUMENT, 1, 1);
    for _ in 0..steps {
        player.step();
    }
    player
}

fn ended() -> Player {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.play();
    player
}

fn iteration(iteration: u64) -> RefinementEventKind {
    RefinementEventKind::IterationStarted {
        iteration,
        document: TextHash::of(DOCUMENT),
    }
}

fn resumed(criteria: Criteria) -> RefinementEventKind {
    RefinementEventKind::Resumed { criteria }
}

#[test]
fn a_log_begins_with_a_beginning() {
    let begun = RefinementState::begin(&event(RefinementEventKind::Ended));
    let error = begun.unwrap_err().to_string();
    assert_eq!(error, "its first event is not the beginning of a loop");
}

#[test]
fn events_that_do_not_follow_are_refused() {
    assert_refused(
        &after(0),
        iteration(2),
        "iteration 2 begins, but iteration 1 is due",
    );
    let unknown = ConsultationId::from_unique("unknown");
    let cut_off = RefinementEventKind::ConsultationCutOff {
        consultation: unknown.clone(),
        spend: spend(),
    };
    let why = format!("`{unknown}` ends, but was not in flight");
    assert_refused(&after(1), cut_off, &why);
    let written = RefinementEventKind::DocumentWritten {
        document: TextHash::of("other"),
    };
    let why = "a text is written that no merge made";
    assert_refused(&after(1), written, why);
    let why = "a loop ends before an iteration is merged and written";
    assert_refused(&after(1), RefinementEventKind::Ended, why);
    // A consultation is in flight.
    let asking = after(2);
    let why = "an iteration begins or is merged while a consultation is in flight";
    assert_refused(&asking, iteration(1), why);
    let again = asking.log.last().unwrap().kind.clone();
    let RefinementEventKind::BatchStarted(started) = &again else {
        panic!("{again:?}")
    };
    let why = format!("`{}` begins twice", started.consultation);
    assert_refused(&asking, again, &why);
}

#[test]
fn criteria_that_allow_more_take_an_end_back() {
    let mut player = ended();
    let next = player.current().next_iteration();
    player.record(resumed(Criteria {
        min_iterations: next + 1,
        max_iterations: next + 1,
        ..criteria()
    }));
    let start = NextStep::StartIteration { iteration: next };
    assert_eq!(next_step(&player), start);
}

#[test]
fn nothing_else_but_a_beginning_follows_an_end() {
    let mut player = ended();
    let why = "a loop continues after its end";
    assert_refused(&player, resumed(criteria()), why);
    let written = player.state.last_written().cloned();
    player.record(begun(&player.file));
    assert_eq!(player.current().phase, LoopPhase::Open);
    assert_eq!(player.current().iterations, []);
    assert_eq!(player.state.loops().count(), 2);
    assert_eq!(player.state.last_written().cloned(), written);
}

#[test]
fn a_loop_can_be_given_up_for_another() {
    let mut player = after(1);
    player.record(begun(DOCUMENT));
    player.play();
    assert_eq!(player.current().phase, LoopPhase::Ended);
}

#[test]
fn a_stopped_loop_must_be_resumed() {
    let mut player = after(0);
    player.record(RefinementEventKind::Stopped {
        cause: StopCause::CostCeiling,
        message: "the ceiling".to_owned(),
    });
    let why = "a loop continues after a stop and is not resumed";
    assert_refused(&player, iteration(1), why);
    player.record(resumed(criteria()));
    player.record(iteration(1));
}
