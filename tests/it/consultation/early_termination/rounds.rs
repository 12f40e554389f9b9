//! Runs with fewer rounds by request, and their answers.

use conclave::consultation::plan::options::Rounds;
use conclave::consultation::policy::mode::Mode;
use conclave::stopping::early_termination::Policy;
use conclave::terminal::report::report;
use serde_json::{Value, json};

use super::{ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, calls, early_plan, play, states, synthesis};
use crate::consultation::prelude::*;

fn plan_of(rounds: u8, policy: Policy, threshold: f64) -> Plan {
    let mut plan = early_plan(policy, ConsentMode::NonInteractive, threshold);
    plan.debate.rounds = Rounds::new(rounds).unwrap();
    plan
}

/// The number of rounds, with the expected states, calls by round and source of the answer.
type RoundsCase<'a> = (u8, &'a [StateName], [usize; 4], Value);

#[test]
fn requested_number_of_rounds_is_run_and_sets_the_source_of_the_answer() {
    let mut one_round = TWO_ROUNDS[..4].to_vec();
    one_round[3] = StateName::Complete;
    let cases: [RoundsCase<'_>; 3] = [
        (1, &one_round, [3, 0, 0, 0], Value::Null),
        (2, &TWO_ROUNDS, [3, 1, 0, 0], json!("synthesis")),
        (4, &ALL_ROUNDS, [3, 1, 4, 1], json!("judge")),
    ];
    for (number, sequence, calls_by_round, source) in cases {
        // Two of three experts support the point, so the guards prevent an early end.
        let player = play(
            plan_of(number, Policy::Auto, 0.0),
            &synthesis(&[0.95], &["Expert A", "Expert B"], &["medium"]),
        );
        assert_eq!(states(&player), sequence, "{number} rounds");
        assert_eq!(calls(&player), calls_by_round, "{number} rounds");
        let transcript = fold(&player);
        let record = record_json(&transcript);
        assert_eq!(record["verdict_source"], source, "{number} rounds");
        assert_eq!(record["recommendation"].is_null(), number == 1);
        assert_eq!(transcript.planned_rounds(), number);
        assert_eq!(
            transcript.estimate.as_ref().unwrap().calls.len(),
            transcript.calls.len(),
            "the estimate has the calls that were made"
        );
        assert_eq!(
            record["early_termination"],
            json!(false),
            "the plan itself has fewer rounds"
        );
    }
}

#[test]
fn three_rounds_end_with_the_answer_of_the_third() {
    let plan = plan_of(3, Policy::Ask, 0.99);
    let player = play(plan, &synthesis(&[0.8, 0.9], &ALL_EXPERTS, &["high"]));
    assert_eq!(states(&player)[..5], ALL_ROUNDS[..5]);
    assert_eq!(states(&player)[5..], [StateName::Complete]);
    assert_eq!(calls(&player), [3, 1, 4, 0]);
    let transcript = fold(&player);
    let record = record_json(&transcript);
    assert_eq!(
        record["recommendation"],
        "Use OAuth, and rotate its tokens."
    );
    assert_eq!(record["confidence"], 0.8);
    assert_eq!(record["verdict_source"], "cross_examination");
    assert_eq!(record["dissent"], json!([]));
    assert_eq!(record["open_points"][0]["topic"], "Effort");
    assert_eq!(record["open_points"][1], Value::Null);
    assert_eq!(
        transcript
            .early_end
            .as_ref()
            .unwrap()
            .findings
            .rounds_skipped,
        1
    );
}

#[test]
fn missing_answer_of_round_3_leaves_that_of_round_2() {
    let plan = plan_of(3, Policy::Never, 0.9);
    let mut player = Player::started(plan);
    player.finish(|ask| match ask.answer {
        AnswerKind::CrossExam => reply(r#"{"challenges":[],"rebuttals":[],"unresolved":[]}"#),
        _ => good(ask),
    });
    let transcript = fold(&player);
    assert_eq!(calls(&player), [3, 1, 4, 0], "no repair is asked for");
    assert_eq!(transcript.degradations(), [""; 0]);
    let record = transcript.stored_record();
    let (round, given) = record.provisional_answer().unwrap();
    assert_eq!(round, 2);
    assert_eq!(Some(&given.answer), record.recommendation.as_ref());
}

#[test]
fn evidence_never_repeats_the_answer() {
    let point = "Tokens must be short-lived.";
    let same = good_text(AnswerKind::Synthesis).replace(
        "Use OAuth with short-lived tokens, for now.",
        "Tokens must be **short-lived**",
    );
    assert!(same.matches("short-lived").count() == 2 && same.contains(point));
    let player = play(plan_of(2, Policy::Never, 0.9), &reply(&same));
    let record = fold(&player).stored_record();
    assert_eq!(record.evidence, [""; 0]);
    let text = report(&record);
    assert!(!text.contains("They agree on"), "{text}");
}

#[test]
fn explore_mode_ends_with_the_judges_short_menu() {
    let mut plan = plan_of(2, Policy::Ask, 0.9);
    plan.debate.mode = Mode::Explore;
    let player = play(plan, &synthesis(&[0.8], &ALL_EXPERTS, &["low"]));
    let record = record_json(&fold(&player));
    assert_eq!(record["recommendation"], "The point of all.");
    assert_eq!(record["recommendations"], json!([]));
}
