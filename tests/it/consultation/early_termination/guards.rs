//! The guards against a weak agreement.

use conclave::consultation::event::{Answer, DecidedBy};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::domain::ids::ModelRef;
use conclave::stopping::early_termination::Policy;
use serde_json::json;

use super::{
    ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, answers_with, early_plan, fold, offer, states, synthesis,
    unmet_guards,
};
use crate::support::script::{Player, failure, reply};

/// Checks that these guards continue an unattended run, and that a user who sees them can still end
/// the run early.
fn assert_guards(
    plan: &dyn Fn(ConsentMode) -> Plan,
    answers: &dyn Fn(&Ask) -> Outcome,
    guards: &[&str],
) {
    let mut player = Player::started(plan(ConsentMode::NonInteractive));
    player.finish(answers);
    let decision = fold(&player).early_end.unwrap();
    assert!(!decision.ended);
    assert_eq!(decision.by, DecidedBy::Guards);
    assert_eq!(unmet_guards(&decision.findings), guards);
    assert_eq!(states(&player), ALL_ROUNDS);
    let mut player = Player::started(plan(ConsentMode::Interactive));
    while player.question.is_none() {
        let ask = player
            .open
            .first()
            .expect("a call is open until the question")
            .clone();
        player.answer(0, answers(&ask));
    }
    assert_eq!(unmet_guards(&offer(&player)), guards);
    let before = fold(&player).calls.len();
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(states(&player), TWO_ROUNDS);
    assert_eq!(fold(&player).calls.len(), before);
}

fn strong_answers(ask: &Ask) -> Outcome {
    answers_with(&synthesis(&[0.95], &ALL_EXPERTS, &[]))(ask)
}

#[test]
fn single_remaining_answer_triggers_guards() {
    let answers = |ask: &Ask| {
        let fails =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() != "anthropic";
        if fails {
            failure(FailureClass::Auth, "bad key")
        } else {
            strong_answers(ask)
        }
    };
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &answers,
        &["answers", "families", "troubled_seats"],
    );
}

#[test]
fn one_model_family_triggers_the_families_guard() {
    let one_family = |consent_mode| {
        let mut plan = early_plan(Policy::Ask, consent_mode, 0.90);
        for (at, seat) in plan.panel.seats.iter_mut().enumerate() {
            seat.model = ModelRef::new("anthropic", format!("claude-{at}"));
            let price = plan.prices.0.values().next().copied().unwrap();
            plan.prices.0.insert(seat.model.clone(), price);
        }
        plan
    };
    assert_guards(&one_family, &strong_answers, &["families"]);
}

#[test]
fn failed_or_degraded_seat_triggers_the_troubled_seats_guard() {
    let failed = |ask: &Ask| {
        let fails =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() == "google";
        if fails {
            failure(FailureClass::Auth, "bad key")
        } else {
            strong_answers(ask)
        }
    };
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &failed,
        &["troubled_seats"],
    );
    let prose = |ask: &Ask| {
        let prose =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() == "google";
        if prose {
            reply("I would stay.")
        } else {
            strong_answers(ask)
        }
    };
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &prose,
        &["troubled_seats"],
    );
}

#[test]
fn partly_supported_point_triggers_the_support_guard() {
    let two = |ask: &Ask| answers_with(&synthesis(&[0.95], &["Expert A", "Expert C"], &[]))(ask);
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &two,
        &["support"],
    );
}

#[test]
fn severe_tension_triggers_the_high_tensions_guard() {
    let tense = |ask: &Ask| answers_with(&synthesis(&[0.95], &ALL_EXPERTS, &["low", "high"]))(ask);
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &tense,
        &["high_tensions"],
    );
}

#[test]
fn identical_confident_answers_trigger_the_rubber_stamp_guard() {
    let independent = json!({
        "position": "Use OAuth with short lived tokens and rotate the keys every day.",
        "key_points": ["Tokens can be revoked at once."],
        "rationale": "Revocation decides it.",
        "confidence": 0.9,
    });
    let same = |ask: &Ask| match ask.answer {
        AnswerKind::Independent => reply(&independent.to_string()),
        _ => strong_answers(ask),
    };
    assert_guards(
        &|consent_mode| early_plan(Policy::Ask, consent_mode, 0.90),
        &same,
        &["rubber_stamp"],
    );
}
