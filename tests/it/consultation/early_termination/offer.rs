//! The offer to end early, and the user's answers to it.

use conclave::consultation::event::{AgentEvent, DecidedBy};
use conclave::consultation::plan::Control;
use conclave::domain::answer::confidence::Confidence;
use conclave::stopping::early_termination::{Policy, TerminationRule};
use serde_json::{Value, json};

use super::{
    ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, calls, early_plan, offer, play_to_offer, states,
    synthesis, unmet_guards,
};
use crate::consultation::prelude::*;

#[test]
fn accepted_offer_ends_after_round_2_with_the_provisional_answer() {
    let mut player = play_to_offer(
        early_plan(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.88, 0.96], &ALL_EXPERTS, &["medium"]),
    );
    let findings = offer(&player);
    assert_eq!(findings.confidence.unwrap().to_string(), "92%");
    assert_eq!(unmet_guards(&findings), [""; 0]);
    assert_eq!(findings.rounds_skipped, 2);
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(states(&player), TWO_ROUNDS);
    assert_eq!(calls(&player), [3, 1, 0, 0]);
    let transcript = fold(&player);
    let record = record_json(&transcript);
    assert_eq!(record["recommendation"], "The point of all.");
    assert_eq!(record["verdict_source"], "synthesis");
    assert_eq!(record["confidence"], 0.72);
    assert_eq!(record["early_termination_evaluation"]["confidence"], 0.92);
    assert_eq!(record["early_termination"], true);
    let expected = "high_confidence_after_synthesis";
    assert_eq!(record["early_termination_reason"], expected);
    assert_eq!(record["rounds_completed"], 2);
    assert_eq!(record["completed_rounds"], json!([1, 2]));
    assert_eq!(record["rounds_skipped"], 2);
    assert_eq!(record["status"], "complete");
    assert_eq!(record["actual_cost"], json!(4.0 * 0.0012));
    assert_eq!(record["early_termination_evaluation"]["by"], "person");
    assert!(record["estimated_cost_saved"].as_f64().unwrap() > 0.0);
    let expected = json!(["Point of 0.88.", "Point of 0.96."]);
    assert_eq!(record["evidence"], expected);
    let expected = json!([]);
    assert_eq!(record["dissent"], expected, "no expert has seen the answer");
    assert_eq!(record["open_points"][0]["topic"], json!("A medium one"));
    insta::assert_snapshot!("early_end", player.log_text());
}

#[test]
fn declined_offer_runs_all_rounds_and_is_recorded() {
    let mut player = play_to_offer(
        early_plan(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.95], &ALL_EXPERTS, &[]),
    );
    player.give(Input::Answered(Answer::No));
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(states(&player), ALL_ROUNDS);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    let record = record_json(&fold(&player));
    assert_eq!(record["early_termination"], false);
    assert_eq!(record["early_termination_reason"], Value::Null);
    assert_eq!(record["rounds_completed"], 4);
    assert_eq!(record["rounds_skipped"], 0);
    assert_eq!(record["estimated_cost_saved"], Value::Null);
    assert_eq!(record["early_termination_evaluation"]["ended"], false);
}

#[test]
fn guards_decide_when_the_user_is_gone() {
    for (severity, ends) in [("low", true), ("high", false)] {
        let mut player = play_to_offer(
            early_plan(Policy::Ask, ConsentMode::Interactive, 0.90),
            &synthesis(&[0.95], &ALL_EXPERTS, &[severity]),
        );
        player.give(Input::Answered(Answer::Gone));
        let decision = fold(&player).early_end.unwrap();
        assert_eq!(decision.ended, ends);
        assert_eq!(decision.by, DecidedBy::NobodyThere);
        player.finish(good);
    }
}

#[test]
fn second_answer_to_the_offer_changes_nothing() {
    let mut player = play_to_offer(
        early_plan(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.95], &ALL_EXPERTS, &[]),
    );
    player.give(Input::Answered(Answer::No));
    let before = player.log.len();
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(player.log.len(), before);
    assert_eq!(player.machine.state(), StateName::CrossExam);
    let judge_calls = fold(&player)
        .calls
        .iter()
        .filter(|call| call.agent_id == AgentId::Judge)
        .count();
    assert_eq!(judge_calls, 1);
}

#[test]
fn resume_repeats_an_interrupted_offer_unless_the_policy_is_never() {
    let agreement = synthesis(&[0.95], &ALL_EXPERTS, &[]);
    let mut player = play_to_offer(
        early_plan(Policy::Ask, ConsentMode::Interactive, 0.90),
        &agreement,
    );
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    assert_eq!(offer(&resumed).confidence, Confidence::new(0.95));
    resumed.give(Input::Answered(Answer::Yes));
    assert_eq!(resumed.machine.state(), StateName::Complete);
    assert_eq!(calls(&resumed), [3, 1, 0, 0]);
    let control = resumed.machine.plan().control.clone();
    let never = Control {
        early_termination: TerminationRule {
            policy: Policy::Never,
            ..control.early_termination.clone()
        },
        ..control
    };
    let mut resumed_without_offer =
        Player::resumed(&player.log, Duration::from_secs(60), Some(never)).unwrap();
    assert_eq!(resumed_without_offer.finish(good), StateName::Complete);
    assert_eq!(calls(&resumed_without_offer), [3, 1, 4, 1]);
}

#[test]
fn abort_in_round_2_makes_no_offer_and_starts_no_round() {
    let mut plan = early_plan(Policy::Ask, ConsentMode::Interactive, 0.90);
    plan.control.strict = true;
    let mut player = Player::started(plan);
    let end = player.finish(|ask| {
        if ask.answer == AnswerKind::Synthesis {
            reply("They agree.")
        } else {
            good(ask)
        }
    });
    let transcript = fold(&player);
    assert_eq!(end, StateName::Aborted);
    let expected = AbortReason::Strict;
    assert_eq!(transcript.abort.as_ref().unwrap().reason, expected);
    assert_eq!(transcript.abort.unwrap().during, StateName::Synthesis);
    assert_eq!(transcript.early_end, None);
    assert!(player.log.iter().all(|envelope| !matches!(
        &envelope.event,
        Event::Agent(AgentEvent::Thinking {
            round_number: 3,
            ..
        })
    )));
}
