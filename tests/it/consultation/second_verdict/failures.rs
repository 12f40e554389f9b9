//! A second pass that fails, is cut short or does not fit the ceiling.

use conclave::consultation::machine::Question;

use super::{
    CHANGED_VERDICT, assert_unknown, play_to_verdict, second_pass, two_pass_plan, verdict,
};
use crate::consultation::prelude::*;

#[test]
fn failed_second_pass_leaves_the_verdict_unchanged() {
    for (on_failure, strict) in [
        (OnFailure::Substitute, false),
        (OnFailure::Fail, false),
        (OnFailure::Skip, true),
        (OnFailure::Fail, true),
    ] {
        for is_first_there in [true, false] {
            let mut plan = two_pass_plan();
            (plan.control.on_failure, plan.control.strict) = (on_failure, strict);
            let mut player = play_to_verdict(plan);
            if is_first_there {
                player.answer_agent("judge", verdict());
            }
            while agents(&player).contains(&"judge-2".to_owned()) {
                player.answer_agent("judge-2", no_such_model());
            }
            if !is_first_there {
                player.answer_agent("judge", verdict());
            }
            assert_unknown(&player, "the second pass failed: no such model");
        }
    }
}

#[test]
fn unreadable_second_verdict_leaves_consistency_unknown() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply("OAuth, I would say."));
    player.answer_agent("judge-2", reply("As I said."));
    assert_unknown(&player, "could not be read as asked");
}

#[test]
fn judge_fallback_takes_over_the_second_pass_and_is_recorded() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge-2", no_such_model());
    let fallback = ModelRef::new("anthropic", "claude-sonnet-5-5");
    assert_eq!(player.open.last().unwrap().model, fallback);
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", verdict());
    let second = second_pass(&player);
    assert_eq!(second.held.consistent, Some(true));
    assert_eq!(second.model, Some(fallback));
    let transcript = fold(&player);
    assert!(
        transcript.degradations().is_empty(),
        "the first verdict is the judge's own"
    );
    let expected = "openai:gpt-6.1-sol";
    assert_eq!(transcript.judge().unwrap().to_string(), expected);
}

#[test]
fn first_verdict_stands_when_the_second_pass_is_cut_short() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge", verdict());
    player.give(Input::Interrupted);
    assert_unknown(&player, "interrupted");
    assert_eq!(second_pass(&player).verdict, None);

    let mut plan = two_pass_plan();
    plan.control.max_wait = Some(Duration::from_secs(30));
    let mut player = play_to_verdict(plan);
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply(CHANGED_VERDICT));
    while player.machine.state() == StateName::Verdict && player.fire() {}
    let recommendation = second_pass(&player).verdict.unwrap().recommendation;
    assert_eq!(recommendation, "Use JWT, as Expert C says.");
    assert_eq!(player.machine.state(), StateName::Complete);

    let mut plan = two_pass_plan();
    plan.control.pulse = Some(Duration::from_secs(10));
    let mut player = play_to_verdict(plan);
    player.answer_agent("judge", verdict());
    while player.question.is_none() {
        assert!(player.fire());
    }
    player.give(Input::Answered(Answer::No));
    assert_unknown(&player, "cancelled by user");
}

#[test]
fn second_pass_question_names_it_and_is_withdrawn_with_it() {
    let mut plan = two_pass_plan();
    plan.control.on_failure = OnFailure::Ask;
    let mut player = play_to_verdict(plan);
    player.answer_agent("judge-2", no_such_model());
    let Some(Question::Substitution { offers }) = &player.question else {
        panic!("{:?}", player.question)
    };
    let [offer] = offers.as_slice() else {
        panic!("{offers:?}")
    };
    assert_eq!(offer.offered.agent_id, AgentId::SecondJudge);
    assert_eq!(offer.name, "Judge (second pass)");
    let mut declined = player.clone();
    declined.answer_agent("judge", verdict());
    declined.give(Input::Answered(Answer::No));
    assert_unknown(&declined, "the second pass failed: no such model");
    player.answer_agent("judge", verdict());
    player.give(Input::Interrupted);
    assert_unknown(&player, "interrupted");
}

#[test]
fn ceiling_without_room_for_the_second_pass_does_not_abort() {
    let plan_with_ceiling = |max_cost: MicroUsd| {
        let mut plan = expect_short_answers(two_pass_plan());
        plan.control.max_cost = Some(max_cost);
        plan
    };
    let unlimited = play_to_verdict(plan_with_ceiling(MicroUsd(10_000_000)));
    assert_eq!(agents(&unlimited), ["judge", "judge-2"]);
    let (plan, ask) = (unlimited.machine.plan(), &unlimited.open[0]);
    let input = plan.worst_input(&ask.prompt, ask.answer);
    let least = plan.worst_case(&ask.model, input, plan.least_output(&ask.model, ask.answer));
    // The ceiling leaves room for one verdict after the earlier calls.
    let spent: Cost = fold(&unlimited).calls.iter().map(|call| call.cost).sum();
    let mut player = play_to_verdict(plan_with_ceiling((spent + least).known));
    assert_eq!(agents(&player), ["judge"], "the second verdict waits");
    player.answer_agent("judge", verdict());
    assert_unknown(&player, "the ceiling does not allow it");
    assert!(!player.log_text().contains("ceiling_reached"));
}

#[test]
fn interrupt_during_a_repair_keeps_the_second_verdict() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge", verdict());
    let doubt = r#"{"summary":"It turned.","evidence":[],"dissent":[],"recommendation":"Use JWT.","confidence":0.6}"#;
    player.answer_agent("judge-2", reply(doubt));
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_unknown(&player, "interrupted");
    let second = second_pass(&player).verdict.unwrap();
    assert_eq!(second.recommendation, "Use JWT.");
}

#[test]
fn resume_repeats_a_failed_judge_but_not_the_second_verdict() {
    let mut player = play_to_verdict(two_pass_plan());
    player.answer_agent("judge-2", verdict());
    player.answer_agent("judge", no_such_model());
    player.answer_agent("judge", failure(FailureClass::ModelMissing, "nor this one"));
    let abort = fold(&player).abort.unwrap();
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(abort.reason, AbortReason::JudgeFailed);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(agents(&resumed), ["judge"]);
    assert_eq!(resumed.finish(good), StateName::Complete);
    assert_eq!(second_pass(&resumed).held.consistent, Some(true));
}
