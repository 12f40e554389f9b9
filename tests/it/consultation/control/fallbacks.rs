//! Fallback models: when one takes over, and what `--on-failure` and `--strict` change.

use conclave::consultation::event::{AgentEvent, WhySubstituted};
use conclave::consultation::machine::{Question, SubstitutionOffer};

use super::{grok, plan_with_fallbacks, substitutions};
use crate::consultation::prelude::*;

fn asking_plan(mut plan: Plan) -> Plan {
    plan.control.on_failure = OnFailure::Ask;
    plan.control.consent.consent_mode = ConsentMode::Interactive;
    plan
}

fn offers(player: &Player) -> Vec<SubstitutionOffer> {
    match &player.question {
        Some(Question::Substitution { offers }) => offers.clone(),
        other => panic!("{other:?}"),
    }
}

fn agents_asked_about(player: &Player) -> Vec<String> {
    let offers = offers(player).into_iter();
    offers
        .map(|offer| offer.offered.agent_id.as_str().to_owned())
        .collect()
}

#[test]
fn permanent_failure_replaces_the_model_for_the_rest_of_the_run() {
    let mut player = Player::started(plan_with_fallbacks());
    player.answer_agent("security", failure(FailureClass::Billing, "no credit"));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    let expected = [("security".into(), grok(), WhySubstituted::Failure)];
    assert_eq!(substitutions(&player), expected);
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
        player.answer_agent("security", bad_key());
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
        for nth in 0..3 {
            if nth > 0 {
                player.rest();
            }
            let silence = failure(FailureClass::Timeout, "sent nothing for 120 s");
            player.answer_agent("security", silence);
        }
        let [SubstitutionOffer { name, offered }] = &offers(&player)[..] else {
            panic!()
        };
        assert_eq!(name, "Security Expert");
        assert_eq!(offered.original.provider.as_str(), "anthropic");
        assert_eq!(offered.substitute, grok());
        assert_eq!(offered.reason, WhySubstituted::Timeout);
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
fn all_failed_seats_are_one_question() {
    let mut player = Player::started(asking_plan(plan_with_fallbacks()));
    player.answer_agent("pragmatic", bad_key());
    assert_eq!(agents_asked_about(&player), ["pragmatic"]);
    player.answer_agent("security", bad_key());
    assert_eq!(agents_asked_about(&player), ["security", "pragmatic"]);
    let mut declined = player.clone();
    declined.give(Input::Answered(Answer::No));
    assert_eq!(declined.finish(good), StateName::Complete);
    assert_eq!(fold(&declined).failures.len(), 2);
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(player.question, None);
    assert_eq!(substitutions(&player).len(), 2);
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn offer_of_a_vendor_whose_key_is_refused_meanwhile_is_replaced() {
    let mut plan = asking_plan(plan_with_fallbacks());
    let openai = plan.panel.seats[1].model.clone();
    let fallbacks = vec![openai, grok()];
    plan.fallbacks.insert(SeatId::new("security"), fallbacks);
    let mut player = Player::started(plan);
    player.answer_agent("security", bad_key());
    assert_eq!(
        offers(&player)[0].offered.substitute.provider.as_str(),
        "openai"
    );
    player.answer_agent("architecture", bad_key());
    let offered: Vec<_> = offers(&player)
        .into_iter()
        .map(|offer| offer.offered.substitute)
        .collect();
    assert_eq!(offered, [grok(), grok()]);
}

#[test]
fn no_question_is_left_when_every_offer_has_become_useless() {
    let mut plan = asking_plan(plan_with_fallbacks());
    let seats = plan.panel.seats.iter();
    let models: Vec<_> = seats.map(|seat| seat.model.clone()).collect();
    for seat in &plan.panel.seats {
        plan.fallbacks.insert(seat.id.clone(), models.clone());
    }
    let mut player = Player::started(plan);
    for (agent, class, message) in [
        ("security", FailureClass::Auth, "bad key (HTTP 401)"),
        (
            "architecture",
            FailureClass::Billing,
            "no credit (HTTP 402)",
        ),
        ("pragmatic", FailureClass::Auth, "bad key (HTTP 403)"),
    ] {
        player.answer_agent(agent, failure(class, message));
    }
    assert_eq!(player.question, None);
    let abort = fold(&player).abort.unwrap();
    assert_eq!(abort.reason, AbortReason::AllAgentsFailed);
    assert_eq!(
        abort.message,
        "All agents failed. Unable to provide consultation.\n\
         Anthropic: key refused: bad key (HTTP 401)\n\
         Google: key refused: bad key (HTTP 403)\n\
         OpenAI: payment required: no credit (HTTP 402)"
    );
    assert_eq!(substitutions(&player), []);
}

#[test]
fn time_at_a_question_is_not_the_runs_time() {
    let mut player = Player::started(asking_plan(plan_with_fallbacks()));
    player.answer_agent("security", bad_key());
    // Two experts still work: this second is the run's, and not the asking seat's.
    player.pass(Duration::from_secs(1));
    player.answer_agent("architecture", good(&player.open[0].clone()));
    player.answer_agent("pragmatic", good(&player.open[0].clone()));
    player.pass(Duration::from_secs(40));
    player.give(Input::Answered(Answer::Yes));
    player.pass(Duration::from_secs(2));
    player.answer_agent("security", good(&player.open[0].clone()));
    let transcript = fold(&player);
    assert_eq!(transcript.waited_for_person, Duration::from_secs(40));
    assert_eq!(transcript.duration, Duration::from_secs(3));
    assert_eq!(transcript.rounds, [(1, Duration::from_secs(3))]);
    let seat_ms = player
        .log
        .iter()
        .find_map(|envelope| match &envelope.event {
            Event::Agent(AgentEvent::Completed {
                agent_id,
                duration_ms,
                ..
            }) if agent_id.as_str() == "security" => Some(*duration_ms),
            _ => None,
        });
    assert_eq!(seat_ms, Some(2_000));
}

#[test]
fn max_wait_does_not_run_while_only_the_user_is_waited_for() {
    let mut plan = asking_plan(plan_with_fallbacks());
    plan.control.max_wait = Some(Duration::from_secs(90));
    plan.control.hedge.after = None;
    let mut player = Player::started(plan);
    player.answer_agent("security", bad_key());
    player.answer_agent("architecture", good(&player.open[0].clone()));
    player.answer_agent("pragmatic", good(&player.open[0].clone()));
    player.pass(Duration::from_secs(200));
    player.rest();
    assert!(player.question.is_some());
    player.give(Input::Answered(Answer::Yes));
    let answered = player.now;
    fire_to_the_end(&mut player);
    let transcript = fold(&player);
    assert_eq!(transcript.abort.unwrap().reason, AbortReason::Timeout);
    assert_eq!(player.now, answered.after(Duration::from_secs(90)));
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
        player.answer_agent("security", bad_key());
        assert_eq!(player.question, None);
        if !player.machine.state().is_terminal() {
            player.finish(good);
        }
        let transcript = fold(&player);
        assert_eq!(transcript.state, state);
        assert_eq!(transcript.failures.len(), failures);
        assert_eq!(transcript.substitutions.len(), 0);
        let expected = (state == StateName::Aborted).then_some(AbortReason::AgentFailed);
        assert_eq!(transcript.abort.map(|abort| abort.reason), expected);
    }
}

#[test]
fn strict_rejects_fallbacks_and_prose_answers() {
    for outcome in [
        bad_key(),
        stopped("It depends.", StopReason::Other("odd".into())),
    ] {
        let mut plan = plan_with_fallbacks();
        plan.control.strict = true;
        let mut player = Player::started(plan);
        player.answer_agent("security", outcome);
        let transcript = fold(&player);
        assert_eq!(transcript.state, StateName::Aborted);
        let expected = AbortReason::Strict;
        assert_eq!(transcript.abort.as_ref().unwrap().reason, expected);
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
        let count = player.log_text().matches("agent:thinking").count();
        assert_eq!(count, announced, "{}", player.log_text());
        // A resume without --strict accepts the answers, and the next agents start.
        let mut control = player.machine.plan().control.clone();
        control.strict = false;
        let mut resumed = Player::resumed(&player.log, Duration::ZERO, Some(control)).unwrap();
        assert!(resumed.log_text().matches("agent:thinking").count() > announced);
        assert_eq!(resumed.finish(good), StateName::Complete);
    }
}
