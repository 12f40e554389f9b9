//! The helper's comparison of positions after Round 3; its failure changes nothing else.

mod result;
mod failures;
mod resume;

use conclave::domain::record::stored_record::DebateValue;

use crate::consultation::prelude::*;
use crate::support::comparison::moving_debate;

/// How long the end of a run waits for the helper.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Plays the debate to its end with these replies of the helper.
fn play_with_helper(plan: &Plan, mut helper: impl FnMut() -> Outcome) -> Player {
    let mut player = Player::started(plan.clone());
    let state = player.finish(|ask| {
        if ask.answer == AnswerKind::Comparison {
            helper()
        } else {
            moving_debate(plan, ask)
        }
    });
    assert_eq!(state, StateName::Complete);
    player
}

fn value(log: &[Envelope]) -> DebateValue {
    Transcript::fold(log).unwrap().debate_value()
}

/// Answers all calls except the helper's.
fn answer_all_but_helper(player: &mut Player, plan: &Plan) {
    while let Some(at) = place(player, |ask| ask.answer != AnswerKind::Comparison) {
        let outcome = moving_debate(plan, &player.open[at].clone());
        player.pass(Duration::from_millis(100));
        player.answer(at, outcome);
    }
}
