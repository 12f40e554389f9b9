//! The guards against a weak agreement.

use conclave::consultation::event::{Answer, DecidedBy};
use conclave::consultation::machine::Input;
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
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

fn local() -> ModelRef {
    ModelRef::new("local", "qwen2.5-coder-0.5b-instruct")
}

/// Gives the seats these models, at the price of the plan's own.
fn with_seats(mut plan: Plan, models: &[(&str, &str)]) -> Plan {
    let price = plan.prices.0.values().next().copied().unwrap();
    for (seat, (provider, model)) in plan.panel.seats.iter_mut().zip(models) {
        seat.model = ModelRef::new(*provider, *model);
        plan.prices.0.insert(seat.model.clone(), price);
    }
    plan
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
fn one_maker_at_two_providers_triggers_the_families_guard() {
    let resold = |consent_mode| {
        let models = [
            ("anthropic", "claude-sonnet-5-5"),
            ("openrouter", "anthropic/claude-opus-5.5"),
            ("work", "claude-haiku"),
        ];
        with_seats(early_plan(Policy::Ask, consent_mode, 0.90), &models)
    };
    assert_guards(&resold, &strong_answers, &["families"]);
}

#[test]
fn two_makers_at_one_server_are_two_families() {
    let models = [
        ("ollama", "llama3"),
        ("ollama", "qwen3"),
        ("ollama", "mine"),
    ];
    let plan = early_plan(Policy::Ask, ConsentMode::NonInteractive, 0.90);
    let mut player = Player::started(with_seats(plan, &models));
    player.finish(strong_answers);
    assert!(fold(&player).early_end.unwrap().ended);
}

#[test]
fn seat_of_the_embedded_model_triggers_the_troubled_seats_guard() {
    let mixed = |consent_mode| {
        let models = [
            ("local", "qwen2.5-coder-0.5b-instruct"),
            ("ollama", "llama3"),
            ("google", "gemini-4-argon"),
        ];
        with_seats(early_plan(Policy::Ask, consent_mode, 0.90), &models)
    };
    assert_guards(&mixed, &strong_answers, &["troubled_seats"]);
}

#[test]
fn embedded_judge_makes_no_offer_even_at_threshold_zero() {
    for threshold in [0.0, 0.90] {
        let mut plan = early_plan(Policy::Ask, ConsentMode::Interactive, threshold);
        plan.panel.judges = vec![local()];
        let price = plan.prices.0.values().next().copied().unwrap();
        plan.prices.0.insert(local(), price);
        let mut player = Player::started(plan);
        player.finish(strong_answers);
        assert_eq!(states(&player), ALL_ROUNDS);
        let transcript = fold(&player);
        assert_eq!(transcript.calibrated(), None);
        let decision = transcript.early_end.unwrap();
        assert!(!decision.ended);
        assert_eq!(decision.by, DecidedBy::Threshold);
        assert_eq!(decision.findings.confidence, None);
        assert_eq!(decision.findings.calibrated, None);
    }
}

#[test]
fn numbers_of_the_embedded_model_are_in_no_calibrated_confidence() {
    let calibrated = |confidence: f64| {
        let models = [
            ("local", "qwen2.5-coder-0.5b-instruct"),
            ("openai", "gpt-6.1-sol"),
            ("google", "gemini-4-argon"),
        ];
        let plan = early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.90);
        let mut player = Player::started(with_seats(plan, &models));
        player.finish(|ask| {
            if ask.answer == AnswerKind::Independent && ask.model.provider.is_local() {
                let held = json!({
                    "position": "Ask Expert A first.",
                    "key_points": ["It knows."],
                    "rationale": "It said so.",
                    "confidence": confidence,
                });
                return reply(&held.to_string());
            }
            strong_answers(ask)
        });
        fold(&player).calibrated().unwrap().probability
    };
    let (low, high) = (calibrated(0.05), calibrated(0.95));
    assert!((low - high).abs() < f64::EPSILON, "{low} {high}");
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
