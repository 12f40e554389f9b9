//! What the guards against a weak agreement see of a consultation, and what they change.

use conclave::consultation::event::DecidedBy;
use conclave::stopping::early_termination::Policy;
use serde_json::json;

use super::{
    ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, answers_with, early_plan, offer, states, synthesis,
    unmet_guards,
};
use crate::consultation::prelude::*;

/// The models of three seats.
type Models = [(&'static str, &'static str); 3];

/// What some providers answer in Round 1.
type Exceptions = fn(&str) -> Option<Outcome>;

const USUAL: Models = [
    ("anthropic", "claude-sonnet-5-5"),
    ("openai", "gpt-6.1-sol"),
    ("google", "gemini-4-argon"),
];

#[test]
fn guards_continue_an_unattended_run_and_a_person_can_still_end_it() {
    let agreed = synthesis(&[0.95], &ALL_EXPERTS, &[]);
    let partly = synthesis(&[0.95], &["Expert A", "Expert C"], &[]);
    let tense = synthesis(&[0.95], &ALL_EXPERTS, &["low", "high"]);
    let one_family = [
        ("anthropic", "claude-0"),
        ("anthropic", "claude-1"),
        ("anthropic", "claude-2"),
    ];
    let resold = [
        ("anthropic", "claude-sonnet-5-5"),
        ("openrouter", "anthropic/claude-opus-5.5"),
        ("work", "claude-haiku"),
    ];
    let one_server = [
        ("ollama", "llama3"),
        ("ollama", "qwen3"),
        ("ollama", "mine"),
    ];
    let embedded = [
        ("local", "qwen2.5-coder-0.5b-instruct"),
        ("ollama", "llama3"),
        ("google", "gemini-4-argon"),
    ];
    let none: Exceptions = |_| None;
    let one_is_left: Exceptions = |provider| (provider != "anthropic").then(bad_key);
    let one_fails: Exceptions = |provider| (provider == "google").then(bad_key);
    let one_in_prose: Exceptions =
        |provider| (provider == "google").then(|| reply("I would stay."));
    let all_the_same: Exceptions = |_| {
        let answer = json!({
            "position": "Use OAuth with short lived tokens and rotate the keys every day.",
            "key_points": ["Tokens can be revoked at once."],
            "rationale": "Revocation decides it.",
            "confidence": 0.9,
        });
        Some(reply(&answer.to_string()))
    };
    let troubled: &[&str] = &["troubled_seats"];
    let alone: &[&str] = &["answers", "families", "troubled_seats"];
    for (models, exceptions, synthesis, guards) in [
        (USUAL, one_is_left, &agreed, alone),
        (one_family, none, &agreed, &["families"]),
        (resold, none, &agreed, &["families"]),
        (one_server, none, &agreed, &[]),
        (embedded, none, &agreed, troubled),
        (USUAL, one_fails, &agreed, troubled),
        (USUAL, one_in_prose, &agreed, troubled),
        (USUAL, none, &partly, &["support"]),
        (USUAL, none, &tense, &["high_tensions"]),
        (USUAL, all_the_same, &agreed, &["rubber_stamp"]),
    ] {
        let plan = |consent_mode| with_seats(early_plan(Policy::Ask, consent_mode, 0.90), &models);
        let mut usual_answers = answers_with(synthesis);
        let mut answers = |ask: &Ask| {
            let exception = exceptions(ask.model.provider.as_str());
            let exception = exception.filter(|_| ask.answer == AnswerKind::Independent);
            exception.unwrap_or_else(|| usual_answers(ask))
        };
        let mut player = Player::started(plan(ConsentMode::NonInteractive));
        player.finish(&mut answers);
        let decision = fold(&player).early_end.unwrap();
        assert_eq!(unmet_guards(&decision.findings), guards, "{models:?}");
        assert_eq!(decision.ended, guards.is_empty(), "{guards:?}");
        assert_eq!(decision.by, DecidedBy::Guards);
        if !guards.is_empty() {
            assert_eq!(states(&player), ALL_ROUNDS);
        }

        let mut player = Player::started(plan(ConsentMode::Interactive));
        while player.question.is_none() {
            let ask = player.open[0].clone();
            player.answer(0, answers(&ask));
        }
        assert_eq!(unmet_guards(&offer(&player)), guards);
        let before = fold(&player).calls.len();
        player.give(Input::Answered(Answer::Yes));
        assert_eq!(states(&player), TWO_ROUNDS);
        assert_eq!(fold(&player).calls.len(), before);
    }
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
fn embedded_experts_do_not_count_in_a_calibrated_confidence() {
    let calibrated = |first: (&str, &str)| {
        let models = [
            first,
            ("openai", "gpt-6.1-sol"),
            ("google", "gemini-4-argon"),
        ];
        let plan = early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.90);
        let mut player = Player::started(with_seats(plan, &models));
        player.finish(strong_answers);
        fold(&player).calibrated().is_some()
    };
    assert!(calibrated(("anthropic", "claude-sonnet-5-5")));
    assert!(
        !calibrated(("local", "qwen2.5-coder-0.5b-instruct")),
        "two answers are too few"
    );
}
