//! Whether the two verdicts are consistent.

use conclave::consultation::policy::mode::Mode;
use conclave::domain::answer::artifact::Magnitude;

use super::{
    CHANGED_VERDICT, assert_unknown, comparison, helper, plan_without_helper, play_to_verdict,
    second_pass, two_pass_plan, verdict,
};
use crate::consultation::prelude::*;

#[test]
fn equal_verdicts_need_no_comparison() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent(
        "judge-2",
        reply(&good_text(AnswerKind::Verdict).replace("Use OAuth with", "use  **OAuth** with")),
    );
    assert_eq!(
        player.machine.state(),
        StateName::Verdict,
        "the first verdict is still open"
    );
    player.answer_agent("judge", verdict());
    assert_eq!(player.machine.state(), StateName::Complete);
    let second = second_pass(&player);
    assert_eq!(second.held.consistent, Some(true));
    assert_eq!(second.held.magnitude, Some(Magnitude::Same));
    let transcript = fold(&player);
    assert_eq!(
        transcript.calls.len(),
        10,
        "nine calls and the second verdict"
    );
    let mut first_order = transcript.terms.expert_order.clone();
    first_order.reverse();
    assert_eq!(second.expert_order, first_order);
}

#[test]
fn helper_decides_whether_different_verdicts_are_consistent() {
    for (magnitude, is_consistent) in [
        ("same", true),
        ("minor_refinement", true),
        ("moderate_shift", false),
        ("significant_change", false),
    ] {
        let mut player = play_to_verdict(two_pass_plan());
        player.answer_agent("judge", verdict());
        player.answer_agent("judge-2", reply(CHANGED_VERDICT));
        assert_eq!(agents(&player), ["clerk"]);
        assert_eq!(player.open[0].model, helper());
        assert_eq!(player.open[0].answer, AnswerKind::Consistency);
        let prompt = &player.open[0].prompt.task;
        assert!(
            prompt.contains("Use OAuth with short-lived tokens.")
                && prompt.contains("Use JWT, as Expert C says."),
            "{prompt}"
        );
        player.answer(0, comparison(magnitude));
        assert_eq!(player.machine.state(), StateName::Complete);
        let second = second_pass(&player);
        assert_eq!(second.held.consistent, Some(is_consistent));
        assert_eq!(second.held.reason.as_deref(), Some("They differ so."));
        let transcript = fold(&player);
        assert_eq!(
            transcript.verdict().unwrap().recommendation,
            "Use OAuth with short-lived tokens.",
            "the first verdict is the verdict"
        );
        assert_eq!(transcript.calls.len(), 11);
        let last = transcript.calls.last().unwrap();
        assert_eq!(last.round_number, 4);
        assert_eq!(last.agent_id, AgentId::Helper);
        // The record translates the swapped labels back to those of the first pass.
        let expected = "Use JWT, as Expert C says.";
        assert_eq!(second.verdict.unwrap().recommendation, expected);
    }
}

#[test]
fn menus_are_compared_by_options_and_recommendation() {
    let mut plan = two_pass_plan();
    plan.debate.mode = Mode::Explore;
    let mut player = play_to_verdict(plan);
    let menu = good_text(AnswerKind::Menu);
    player.answer_agent("judge", reply(menu));
    player.answer_agent(
        "judge-2",
        reply(&menu.replace(r#""option":"JWT""#, r#""option":"Sessions""#)),
    );
    let prompt = player.open[0].prompt.task.clone();
    for part in [
        "- OAuth: Use a provider.",
        "- JWT: Sign tokens.",
        "- Sessions: Sign tokens.",
        "Choose by the number of clients.",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    player.answer(0, comparison("moderate_shift"));
    assert_eq!(second_pass(&player).held.consistent, Some(false));
}

#[test]
fn consistency_is_unknown_without_a_comparison() {
    let mut player = play_to_verdict(plan_without_helper());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply(CHANGED_VERDICT));
    assert_unknown(&player, "no model was available to compare");

    for answer in [bad_key(), reply(r#"{"comparisons":[],"key_insights":[]}"#)] {
        let mut player = play_to_verdict(two_pass_plan());
        player.answer_agent("judge", verdict());
        player.answer_agent("judge-2", reply(CHANGED_VERDICT));
        player.finish(|_| answer.clone());
        assert_unknown(&player, "were not compared");
        let recommendation = second_pass(&player).verdict.unwrap().recommendation;
        assert_eq!(recommendation, "Use JWT, as Expert C says.");
    }
}
