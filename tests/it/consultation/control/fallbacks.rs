//! Fallback models: when one takes over, and what `--on-failure` and `--strict` change.

use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, Answer, Purpose, StateName, SubstitutionReason, WhySubstituted,
};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::protocol::{Input, Question};
use conclave::domain::ids::{ModelRef, SeatId};

use super::{fold, grok, plan_with_fallbacks, substitutions};
use crate::support::script::{Player, failure, good, stopped};

fn asking_plan(mut plan: Plan) -> Plan {
    plan.control.on_failure = OnFailure::Ask;
    plan.control.consent.consent_mode = ConsentMode::Interactive;
    plan
}

#[test]
fn permanent_failure_replaces_the_model_for_the_rest_of_the_run() {
    let mut player = Player::started(plan_with_fallbacks());
    player.answer_agent("security", failure(FailureClass::Billing, "no credit"));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(
        substitutions(&player),
        [(
            "security".into(),
            grok(),
            SubstitutionReason::Known(WhySubstituted::Failure)
        )]
    );
    let models: Vec<_> = transcript
        .calls
        .iter()
        .filter(|call| call.agent_id.as_str() == "security")
        .map(|call| (call.model.clone(), call.purpose))
        .collect();
    let anthropic = ModelRef::new("anthropic", "claude-sonnet-5-5");
    assert_eq!(
        models,
        [
            (anthropic, Purpose::Answer),
            (grok(), Purpose::Fallback),
            (grok(), Purpose::Answer)
        ]
    );
    assert_eq!(transcript.failures, []);
}

#[test]
fn agent_fails_when_every_fallback_fails() {
    let mut player = Player::started(plan_with_fallbacks());
    for _ in 0..3 {
        player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
    }
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(fold(&player).failures.len(), 1);
    assert_eq!(substitutions(&player).len(), 2);
}

#[test]
fn user_decides_whether_a_fallback_takes_over() {
    for (answer, state, substituted, failed) in [
        (Answer::Yes, StateName::Complete, 1, 0),
        (Answer::Gone, StateName::Complete, 1, 0),
        (Answer::No, StateName::Complete, 0, 1),
        (Answer::Fail, StateName::Aborted, 0, 0),
    ] {
        let mut player = Player::started(asking_plan(plan_with_fallbacks()));
        player.answer_agent(
            "security",
            failure(FailureClass::Timeout, "sent nothing for 120 s"),
        );
        for _ in 0..2 {
            player.rest();
            player.answer_agent(
                "security",
                failure(FailureClass::Timeout, "sent nothing for 120 s"),
            );
        }
        let Some(Question::Substitution { name, offered }) = player.question.clone() else {
            panic!()
        };
        assert_eq!(name.as_str(), "Security Expert");
        assert_eq!(offered.original.provider.as_str(), "anthropic");
        assert_eq!(offered.substitute, grok());
        assert_eq!(
            offered.reason,
            SubstitutionReason::Known(WhySubstituted::Timeout)
        );
        player.give(Input::Answered(answer));
        if !player.machine.state().is_terminal() {
            player.finish(good);
        }
        let transcript = fold(&player);
        assert_eq!(transcript.state, state, "{answer:?}");
        assert_eq!(transcript.substitutions.len(), substituted, "{answer:?}");
        assert_eq!(transcript.failures.len(), failed, "{answer:?}");
        if answer == Answer::Fail {
            let abort = transcript.abort.unwrap();
            assert_eq!(abort.reason, AbortReason::UserCancelled);
            assert!(
                abort
                    .message
                    .starts_with("Consultation cancelled by user after "),
                "{}",
                abort.message
            );
        }
    }
}

#[test]
fn questions_are_asked_one_at_a_time() {
    let mut player = Player::started(asking_plan(plan_with_fallbacks()));
    player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
    player.answer_agent("pragmatic", failure(FailureClass::Auth, "bad key"));
    let question_about = |player: &Player| match player.question.clone() {
        Some(Question::Substitution { offered, .. }) => offered.agent_id,
        other => panic!("{other:?}"),
    };
    assert_eq!(question_about(&player), SeatId::new("security"));
    player.give(Input::Answered(Answer::No));
    assert_eq!(question_about(&player), SeatId::new("pragmatic"));
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(player.question, None);
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn skip_and_fail_ask_no_question() {
    for (on_failure, state, failures) in [
        (OnFailure::Skip, StateName::Complete, 1),
        (OnFailure::Fail, StateName::Aborted, 0),
    ] {
        let mut plan = asking_plan(plan_with_fallbacks());
        plan.control.on_failure = on_failure;
        let mut player = Player::started(plan);
        player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
        assert_eq!(player.question, None);
        if !player.machine.state().is_terminal() {
            player.finish(good);
        }
        let transcript = fold(&player);
        assert_eq!(transcript.state, state);
        assert_eq!(transcript.failures.len(), failures);
        assert_eq!(transcript.substitutions.len(), 0);
        assert_eq!(
            transcript.abort.map(|abort| abort.reason),
            (state == StateName::Aborted).then_some(AbortReason::AgentFailed)
        );
    }
}

#[test]
fn strict_rejects_fallbacks_and_prose_answers() {
    for outcome in [
        failure(FailureClass::Auth, "bad key"),
        stopped("It depends.", StopReason::Other("odd".into())),
    ] {
        let mut plan = plan_with_fallbacks();
        plan.control.strict = true;
        let mut player = Player::started(plan);
        player.answer_agent("security", outcome);
        let transcript = fold(&player);
        assert_eq!(transcript.state, StateName::Aborted);
        assert_eq!(
            transcript.abort.as_ref().unwrap().reason,
            AbortReason::Strict
        );
        assert_eq!(transcript.substitutions.len(), 0);
    }
}

#[test]
fn ending_consultation_announces_no_further_agents() {
    for judged in [StateName::Synthesis, StateName::CrossExam] {
        let mut plan = plan_with_fallbacks();
        plan.control.strict = true;
        let mut player = Player::started(plan);
        while player.machine.state() != judged
            || player.open.len() != 1
            || player.open[0].answer == AnswerKind::Revision
        {
            player.answer(0, good(&player.open[0].clone()));
        }
        let announced = player.log_text().matches("agent:thinking").count();
        player.answer(0, stopped("It depends.", StopReason::Other("odd".into())));
        assert_eq!(fold(&player).abort.unwrap().reason, AbortReason::Strict);
        assert_eq!(
            player.log_text().matches("agent:thinking").count(),
            announced,
            "{}",
            player.log_text()
        );
        // A resume without --strict accepts the answers, and the next agents start.
        let mut control = player.machine.plan().control.clone();
        control.strict = false;
        let mut resumed = Player::resumed(&player.log, Duration::ZERO, Some(control)).unwrap();
        assert!(resumed.log_text().matches("agent:thinking").count() > announced);
        assert_eq!(resumed.finish(good), StateName::Complete);
    }
}
