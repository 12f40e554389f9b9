//! A debate in which positions move, and a clerk that says how far.

use conclave::consultation::event::{Envelope, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::options::DebateAnalysis;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, Outcome};
use conclave::domain::ids::{ModelRef, SeatId};

use super::script::{Player, good, good_text, plan, reply};

/// A panel with a clerk at a vendor of its own, which is to compare.
pub(crate) fn compared() -> Plan {
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

pub(crate) fn revised(position: &str, changed: bool, because_of: &str) -> Outcome {
    reply(&format!(
        r#"{{"challenges":[],"rebuttals":[],"changed":{changed},"because_of":{because_of},"revised_position":"{position}","revised_confidence":0.9}}"#
    ))
}

/// Security moves for the pragmatist's argument, the architect moves for none, the pragmatist holds
/// what it held.
pub(crate) fn debate(plan: &Plan, ask: &Ask) -> Outcome {
    let labels = plan.labels();
    let pragmatist = labels.label(&SeatId::new("pragmatic"));
    match (ask.answer, ask.model.provider.as_str()) {
        (AnswerKind::Revision, "anthropic") => revised(
            "Use sessions.",
            true,
            &format!(r#"[{{"agent":"{pragmatist}","argument":"It is simpler."}}]"#),
        ),
        (AnswerKind::Revision, "openai") => revised(
            "Use OAuth, and keep every one of the tokens short-lived.",
            true,
            "[]",
        ),
        (AnswerKind::Revision, _) => revised("use **OAuth**", false, "[]"),
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
            let (turned, refined) = (
                found(&one, "It turned round.", "significant_change"),
                found(&two, "A condition is new.", "minor_refinement"),
            );
            reply(&format!(
                r#"{{"comparisons":[{turned},{refined}],"key_insights":["Effort is what is contested."]}}"#
            ))
        }
        (_, _) => good(ask),
    }
}

pub(crate) fn found(pair: &str, reasoning: &str, magnitude: &str) -> String {
    format!(r#"{{"pair":"{pair}","reasoning":"{reasoning}","magnitude":"{magnitude}"}}"#)
}

/// The log of this debate, from its beginning to its end.
pub(crate) fn events() -> Vec<Envelope> {
    let plan = compared();
    let mut player = Player::started(plan.clone());
    assert_eq!(player.finish(|ask| debate(&plan, ask)), StateName::Complete);
    player.log
}
