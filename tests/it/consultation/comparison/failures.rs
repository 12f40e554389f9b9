//! A helper that fails, is slow or is interrupted.

use conclave::domain::answer::debate_value::{ChangeMagnitude, ComparisonStatus};

use super::{GRACE_PERIOD, answer_all_but_helper, play_with_helper, value};
use crate::consultation::prelude::*;
use crate::support::comparison::{comparison_entry, comparison_plan, moving_debate};

/// A named reply of the helper.
type HelperReply = (&'static str, fn() -> Outcome);

#[test]
fn helper_failure_does_not_change_the_consultation() {
    let mut strict = comparison_plan();
    strict.control.strict = true;
    strict.control.on_failure = OnFailure::Fail;
    let mut off = comparison_plan();
    off.debate.helper = None;
    let without_helper = milestones(&play_with_helper(&off, || {
        unreachable!("there is no helper")
    }));
    let prose = || reply("I would rather not say.");
    let replies: [HelperReply; 7] = [
        ("failure", || failure(FailureClass::Auth, "invalid key")),
        ("refusal", || {
            stopped("", StopReason::Refused("not that".into()))
        }),
        ("unreadable", prose),
        ("empty", || reply("")),
        ("truncated", || stopped("{\"comp", StopReason::Length)),
        ("no pair", || {
            reply(r#"{"comparisons":[],"key_insights":[]}"#)
        }),
        ("unknown pair", || {
            reply(&format!(
                r#"{{"comparisons":[{}],"key_insights":[]}}"#,
                comparison_entry("Expert Z", "x", "same")
            ))
        }),
    ];
    for plan in [comparison_plan(), strict] {
        for (what, helper) in replies {
            let player = play_with_helper(&plan, helper);
            assert_eq!(milestones(&player), without_helper, "{what}");
            let transcript = fold(&player);
            assert!(
                transcript.degradations().is_empty(),
                "{what}: {:?}",
                transcript.degradations()
            );
            let value = transcript.debate_value();
            assert_eq!(value.status, ComparisonStatus::Failed, "{what}");
            assert_eq!(value.agents_compared, Some(0), "{what}");
            assert_eq!(value.change_rate, None, "{what}");
            let movers = value
                .agents
                .iter()
                .filter(|agent| agent.agent_id.as_str() != "pragmatic");
            assert!(
                movers
                    .clone()
                    .all(|agent| agent.magnitude == ChangeMagnitude::Unknown),
                "{what}"
            );
            assert!(
                value.reason.is_some_and(|reason| !reason.is_empty()),
                "{what}"
            );
            assert!(helper_calls(&player) <= 2, "{what}");
        }
    }
}

#[test]
fn slow_helper_is_cancelled_after_a_grace_period() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    let expected = StateName::Verdict;
    assert_eq!(player.machine.state(), expected, "the comparison is open");
    assert_eq!(player.open.len(), 1);
    assert!(fold(&player).verdict().is_some());
    let verdict_at = player.now;
    fire_to_the_end(&mut player);
    assert_eq!(player.now.since(verdict_at), GRACE_PERIOD);
    assert_eq!(player.machine.state(), StateName::Complete);
    let cancelled = player.log_text().matches("TooLate").count();
    assert_eq!(cancelled, 1);
    let value = value(&player.log);
    assert_eq!(value.status, ComparisonStatus::Failed);
    let expected = Some("had not answered when everything else was done");
    assert_eq!(value.reason.as_deref(), expected);
    assert!(
        value.comparison_cost.unwrap().lower_bound,
        "the cost of the cancelled call is unknown"
    );
    assert!(fold(&player).degradations().is_empty());
}

#[test]
fn helper_answer_within_the_grace_period_counts() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    player.pass(GRACE_PERIOD / 2);
    let outcome = moving_debate(&plan, &player.open[0].clone());
    player.answer(0, outcome);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(value(&player.log).agents_changed_position, Some(2));
}

#[test]
fn interrupt_during_the_grace_period_keeps_the_verdict() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(value(&player.log).status, ComparisonStatus::Failed);
}

/// Returns the lines of the log that show the course of the consultation.
fn milestones(player: &Player) -> Vec<String> {
    let prefixes = ["state:", "round:", "consultation:completed"];
    player
        .log_text()
        .lines()
        .filter(|line| prefixes.iter().any(|prefix| line.starts_with(prefix)))
        .map(ToOwned::to_owned)
        .collect()
}
