//! Runs with fewer rounds by request, and the verdicts composed for them.

use conclave::consultation::plan::options::Rounds;
use conclave::consultation::policy::mode::Mode;
use conclave::domain::answer::artifact::Source;
use conclave::domain::answer::confidence::Confidence;
use conclave::stopping::early_termination::Policy;
use serde_json::json;

use super::{ALL_EXPERTS, ALL_ROUNDS, TWO_ROUNDS, calls, early_plan, play, states, synthesis};
use crate::consultation::prelude::*;

fn plan_of(rounds: u8, policy: Policy, threshold: f64) -> Plan {
    let mut plan = early_plan(policy, ConsentMode::NonInteractive, threshold);
    plan.debate.rounds = Rounds::new(rounds).unwrap();
    plan
}

/// The number of rounds, with the expected states, calls by round and source of the verdict.
type RoundsCase<'a> = (u8, &'a [StateName], [usize; 4], Option<Source>);

#[test]
fn requested_number_of_rounds_is_run_and_sets_the_verdict_source() {
    let mut one_round = TWO_ROUNDS[..4].to_vec();
    one_round[3] = StateName::Complete;
    let cases: [RoundsCase<'_>; 3] = [
        (1, &one_round, [3, 0, 0, 0], None),
        (2, &TWO_ROUNDS, [3, 1, 0, 0], Some(Source::Synthesis)),
        (4, &ALL_ROUNDS, [3, 1, 4, 1], None),
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
        assert_eq!(
            transcript
                .verdict()
                .and_then(|verdict| verdict.composed_from),
            source,
            "{number} rounds"
        );
        assert_eq!(transcript.verdict().is_none(), number == 1);
        assert_eq!(transcript.planned_rounds(), number);
        assert_eq!(
            transcript.estimate.as_ref().unwrap().calls.len(),
            transcript.calls.len(),
            "the estimate has the calls that were made"
        );
        assert_eq!(
            record_json(&transcript)["early_termination"],
            json!(false),
            "the plan itself has fewer rounds"
        );
    }
}

#[test]
fn three_rounds_compose_the_verdict_from_the_cross_exam() {
    let plan = plan_of(3, Policy::Ask, 0.99);
    let player = play(plan, &synthesis(&[0.8, 0.9], &ALL_EXPERTS, &["high"]));
    assert_eq!(states(&player)[..5], ALL_ROUNDS[..5]);
    assert_eq!(states(&player)[5..], [StateName::Complete]);
    assert_eq!(calls(&player), [3, 1, 4, 0]);
    let transcript = fold(&player);
    let verdict = transcript.verdict().unwrap();
    assert_eq!(verdict.recommendation, "Point of 0.9.");
    assert_eq!(verdict.composed_from, Some(Source::CrossExam));
    assert!(verdict.dissent.is_empty(), "{:?}", verdict.dissent);
    let open_points = transcript.stored_record().open_points;
    let topics: Vec<&str> = open_points
        .iter()
        .map(|point| point.topic.as_str())
        .collect();
    assert_eq!(topics, ["Effort"]);
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
fn composed_menu_has_one_option_per_expert() {
    let mut plan = plan_of(2, Policy::Ask, 0.9);
    plan.debate.mode = Mode::Explore;
    let player = play(plan, &synthesis(&[0.8], &ALL_EXPERTS, &["low"]));
    let transcript = fold(&player);
    let verdict = transcript.verdict().unwrap();
    assert_eq!(verdict.recommendations.len(), 3);
    assert_eq!(verdict.confidence, None);
    assert_eq!(verdict.composed_from, Some(Source::Synthesis));
    let first = &verdict.recommendations[0];
    assert_eq!(first.option, "Use OAuth.");
    assert_eq!(first.description, "Revocation decides it.");
    assert_eq!(first.pros.len(), 0);
    assert_eq!(first.confidence, Confidence::new(0.8));
}
