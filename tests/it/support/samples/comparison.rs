//! A debate in which positions move, and a helper model that rates how far.

use conclave::consultation::event::{Envelope, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::options::DebateAnalysis;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, Outcome};
use conclave::domain::ids::{ModelRef, SeatId};

use crate::support::script::{Player, good, good_text, plan, reply};

/// Returns a plan whose helper model, at a vendor of its own, compares the positions.
pub(crate) fn comparison_plan() -> Plan {
    let mut plan = plan();
    let helper = ModelRef::new("mistral", "tiny");
    let price = plan
        .prices
        .price(&plan.panel.seats[0].model)
        .copied()
        .unwrap();
    plan.prices.0.insert(helper.clone(), price);
    plan.debate.helper = Some(helper);
    plan.debate.debate_analysis = DebateAnalysis::On;
    plan
}

/// Returns the reply of an expert in Round 3.
fn revision_reply(position: &str, changed: bool, because_of: &str) -> Outcome {
    reply(&format!(
        r#"{{"challenges":[],"rebuttals":[],"changed":{changed},"because_of":{because_of},"revised_position":"{position}","revised_confidence":0.9}}"#
    ))
}

/// Answers any ask: the security expert changes its position because of the pragmatist's argument,
/// the architect changes its position without a reason, and the pragmatist keeps its position.
pub(crate) fn moving_debate(plan: &Plan, ask: &Ask) -> Outcome {
    let labels = plan.labels();
    let pragmatist = labels.label(&SeatId::new("pragmatic"));
    match (ask.answer, ask.model.provider.as_str()) {
        (AnswerKind::Revision, "anthropic") => revision_reply(
            "Use sessions.",
            true,
            &format!(r#"[{{"agent":"{pragmatist}","argument":"It is simpler."}}]"#),
        ),
        (AnswerKind::Revision, "openai") => revision_reply(
            "Use OAuth, and keep every one of the tokens short-lived.",
            true,
            "[]",
        ),
        (AnswerKind::Revision, _) => revision_reply("use **OAuth**", false, "[]"),
        (AnswerKind::Synthesis, _) => {
            let [one, two] = ["security", "pragmatic"].map(|seat| labels.label(&SeatId::new(seat)));
            reply(
                &good_text(AnswerKind::Synthesis)
                    .replace("\"Expert A\",\"Expert B\"", &format!("\"{one}\",\"{two}\"")),
            )
        }
        (AnswerKind::Comparison, _) => {
            let [one, two] =
                ["security", "architecture"].map(|seat| labels.label(&SeatId::new(seat)));
            let (changed, refined) = (
                comparison_entry(&one, "It turned round.", "significant_change"),
                comparison_entry(&two, "A condition is new.", "minor_refinement"),
            );
            reply(&format!(
                r#"{{"comparisons":[{changed},{refined}],"key_insights":["Effort is what is contested."]}}"#
            ))
        }
        (_, _) => good(ask),
    }
}

/// Returns one entry of the helper model's comparison.
pub(crate) fn comparison_entry(pair: &str, reasoning: &str, magnitude: &str) -> String {
    format!(r#"{{"pair":"{pair}","reasoning":"{reasoning}","magnitude":"{magnitude}"}}"#)
}

/// Returns the whole log of this debate.
pub(crate) fn debate_events() -> Vec<Envelope> {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    assert_eq!(
        player.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    player.log
}
