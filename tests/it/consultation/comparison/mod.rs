//! The helper's comparison of positions after Round 3; its failure changes nothing else.

mod result;
mod failures;
mod resume;

use std::time::Duration;

use conclave::consultation::event::{CallEvent, CallStarted, Envelope, Event, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::Outcome;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::AgentId;
use conclave::domain::stored_record::DebateValue;

use crate::support::comparison::moving_debate;
use crate::support::script::Player;

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

fn helper_calls(log: &[Envelope]) -> usize {
    let is_helper_call = |event: &Event| {
        matches!(event, Event::Call(CallEvent::Started(CallStarted { agent_id, .. }))
            if *agent_id == AgentId::Helper)
    };
    log.iter()
        .filter(|envelope| is_helper_call(&envelope.event))
        .count()
}

/// Answers all calls except the helper's.
fn answer_all_but_helper(player: &mut Player, plan: &Plan) {
    while let Some(at) = player
        .open
        .iter()
        .position(|ask| ask.answer != AnswerKind::Comparison)
    {
        let outcome = moving_debate(plan, &player.open[at].clone());
        player.pass(Duration::from_millis(100));
        player.answer(at, outcome);
    }
}
