//! The second pass of the judge, with the experts in the opposite order: whether the verdict is
//! consistent, and what happens when that cannot be determined.

mod passes;
mod consistency;
mod failures;
pub(super) mod rejudge;

use conclave::consultation::plan::options::JudgePasses;
use conclave::domain::answer::second_pass::SecondPass;

use crate::consultation::prelude::*;

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
    play_to(&mut player, StateName::Verdict);
    player
}

fn verdict() -> Outcome {
    reply(good_text(AnswerKind::Verdict))
}

fn comparison(magnitude: &str) -> Outcome {
    reply(&format!(
        r#"{{"comparisons":[{{"pair":"Verdict","reasoning":"They differ so.","magnitude":"{magnitude}"}}],"key_insights":[]}}"#
    ))
}

fn second_pass(player: &Player) -> SecondPass {
    fold(player).second_pass.expect("a second pass is recorded")
}

/// Checks that consistency is unknown for this reason and that the first verdict is unchanged.
fn assert_unknown(player: &Player, why: &str) {
    let expected = StateName::Complete;
    assert_eq!(player.machine.state(), expected, "{}", player.log_text());
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
    let expected = "Use OAuth with short-lived tokens.";
    assert_eq!(transcript.verdict().unwrap().recommendation, expected);
    assert!(
        transcript.degradations().is_empty(),
        "{:?}",
        transcript.degradations()
    );
}
