//! The second pass of the judge, with the experts in the opposite order: whether the verdict is
//! consistent, and what happens when that cannot be determined.

mod passes;
mod consistency;
mod failures;
mod resume;
mod rejudge;

use conclave::consultation::event::{CallEvent, CallStarted, Event, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::options::{DebateOptions, JudgePasses};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ModelRef;
use conclave::domain::second_pass::SecondPass;

use crate::support::script::{Player, good, good_text, plan, reply};

const CHANGED_VERDICT: &str = r#"{"summary":"It turned.","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Use JWT, as Expert A says.","confidence":0.6}"#;

fn helper() -> ModelRef {
    ModelRef::new("google", "gemini-4-flash")
}

/// Returns the usual plan with two passes of the judge and a helper.
fn two_pass_plan() -> Plan {
    let debate = DebateOptions {
        judge_passes: JudgePasses::Twice,
        helper: Some(helper()),
        ..DebateOptions::default()
    };
    let mut plan = Plan { debate, ..plan() };
    let price = plan.prices.0[&plan.panel.seats[2].model];
    plan.prices.0.insert(helper(), price);
    plan
}

fn plan_without_helper() -> Plan {
    let mut plan = two_pass_plan();
    plan.debate.helper = None;
    plan
}

/// Plays until the verdict is requested.
fn play_to_verdict(plan: Plan) -> Player {
    let mut player = Player::started(plan);
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(0, good(&ask));
    }
    player
}

fn agents(player: &Player) -> Vec<String> {
    player
        .open
        .iter()
        .map(|ask| agent_of(player, ask))
        .collect()
}

fn agent_of(player: &Player, ask: &Ask) -> String {
    let started = player
        .log
        .iter()
        .find_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started(CallStarted { call, agent_id, .. }))
                if *call == ask.call =>
            {
                Some(agent_id.to_string())
            }
            _ => None,
        });
    started.unwrap()
}

fn verdict() -> Outcome {
    reply(good_text(AnswerKind::Verdict))
}

fn comparison(magnitude: &str) -> Outcome {
    reply(&format!(
        r#"{{"comparisons":[{{"pair":"Verdict","reasoning":"They differ so.","magnitude":"{magnitude}"}}],"key_insights":[]}}"#
    ))
}

fn fold(player: &Player) -> Transcript {
    Transcript::fold(&player.log).unwrap()
}

fn second_pass(player: &Player) -> SecondPass {
    fold(player).second_pass.expect("a second pass is recorded")
}

/// Checks that consistency is unknown for this reason and that the first verdict is unchanged.
fn assert_unknown(player: &Player, why: &str) {
    assert_eq!(
        player.machine.state(),
        StateName::Complete,
        "{}",
        player.log_text()
    );
    let transcript = fold(player);
    let second = transcript.second_pass.clone().unwrap();
    assert_eq!(second.held.consistent, None);
    assert_eq!(second.held.magnitude, None);
    assert!(
        second
            .held
            .reason
            .as_deref()
            .is_some_and(|reason| reason.contains(why)),
        "{:?}",
        second.held.reason
    );
    assert_eq!(
        transcript.verdict().unwrap().recommendation,
        "Use OAuth with short-lived tokens."
    );
    assert!(
        transcript.degradations().is_empty(),
        "{:?}",
        transcript.degradations()
    );
}
