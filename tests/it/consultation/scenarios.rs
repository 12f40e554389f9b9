//! The machine, input by input, in the main cases.

use conclave::consultation::protocol::call::{Failure, Reply};
use conclave::domain::answer::artifact::Content;
use conclave::domain::ids::ProviderId;
use conclave::domain::model::billing::Billing;
use conclave::terminal::report::report;

use crate::consultation::prelude::*;

#[test]
fn four_rounds_take_nine_calls_and_log_every_step() {
    let mut player = Player::started(plan());
    assert_eq!(player.open.len(), 3, "Round 1 asks all experts at once");
    assert_eq!(player.finish(good), StateName::Complete);
    insta::assert_snapshot!(player.log_text());
    let transcript = fold(&player);
    assert_eq!(transcript.calls.len(), 9);
    assert_eq!(transcript.total().cost.known, MicroUsd(9 * 1_200));
    let expected = "Use OAuth with short-lived tokens.";
    assert_eq!(transcript.verdict().unwrap().recommendation, expected);
    assert_eq!(transcript.cross_exam().unwrap().positions.len(), 3);
    assert!(transcript.degradations().is_empty());
}

#[test]
fn failed_agent_sits_out_while_the_others_continue() {
    let mut player = Player::started(plan());
    player.answer_agent("security", failure(FailureClass::Auth, "invalid x-api-key"));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(transcript.calls.len(), 3 + 1 + 2 + 1 + 1);
    let expected = ["Security Expert gave no answer in Round 1: invalid x-api-key"];
    assert_eq!(transcript.degradations(), expected);
}

#[test]
fn overload_is_retried_twice_after_the_providers_hint() {
    let mut player = Player::started(plan());
    let overloaded = || {
        Err(Failure {
            retry_after: Some(Duration::from_secs(7)),
            ..Failure::new(FailureClass::Overload, "overloaded")
        })
    };
    let asked_at = player.now;
    player.answer_agent("security", overloaded());
    assert!(player.rest());
    assert_eq!(player.now.since(asked_at), Duration::from_secs(7));
    player.answer_agent("security", overloaded());
    assert!(player.rest());
    player.answer_agent("security", overloaded());
    player.rest();
    assert!(
        player.open.iter().all(|ask| !is_at(ask, "anthropic")),
        "no third retry"
    );
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(fold(&player).failures.len(), 1);
}

#[test]
fn unreadable_answer_gets_one_repair_showing_its_text() {
    let mut player = Player::started(plan());
    player.answer_agent("security", reply("I would say OAuth, no doubt."));
    let repair = player.open.last().unwrap().clone();
    let expected = "I would say OAuth, no doubt.";
    assert!(repair.prompt.text().contains(expected));
    player.answer_agent("security", reply(good_text(AnswerKind::Independent)));
    assert_eq!(player.finish(good), StateName::Complete);
    assert!(fold(&player).degradations().is_empty());
}

#[test]
fn unreadable_answer_after_repair_is_used_as_prose() {
    let mut player = Player::started(plan());
    player.answer_agent("security", reply("I would say OAuth, no doubt."));
    player.answer_agent("security", reply("As I said: OAuth."));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    let mut artifacts = transcript.artifacts.iter();
    let prose = artifacts.find(|artifact| artifact.degraded).unwrap();
    let Content::Independent(answer) = &prose.content else {
        panic!("{:?}", prose.content)
    };
    assert_eq!(answer.position, "I would say OAuth, no doubt.");
    let revisions = transcript.revisions().count();
    assert_eq!(revisions, 3, "the agent stays in the debate");
}

#[test]
fn failed_repair_leaves_the_prose_answer() {
    let mut player = Player::started(plan());
    player.answer_agent("security", reply("OAuth."));
    player.answer_agent("security", failure(FailureClass::Billing, "no credit"));
    assert_eq!(player.finish(good), StateName::Complete);
    assert!(fold(&player).failures.is_empty());
}

#[test]
fn truncated_answer_is_retried_once_with_twice_the_token_limit() {
    let mut player = Player::started(plan());
    let limit = player.open[0].max_output_tokens;
    player.answer_agent(
        "security",
        stopped(r#"{"position":"Use OA"#, StopReason::Length),
    );
    assert_eq!(player.open.last().unwrap().max_output_tokens, limit * 2);
    player.answer_agent("security", stopped("", StopReason::Length));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(
        transcript
            .artifacts
            .iter()
            .filter(|artifact| artifact.degraded)
            .count(),
        1,
        "the first text is used"
    );
}

#[test]
fn truncated_answer_at_the_limit_of_its_model_is_used_and_not_paid_twice() {
    let mut plan = plan();
    let limit = ModelTerms::default().max_output_tokens;
    for seat in &plan.panel.seats {
        let terms = ModelTerms {
            output_limit: limit,
            ..ModelTerms::default()
        };
        plan.models.insert(seat.model.clone(), terms);
    }
    let mut player = Player::started(plan);
    let cut = r#"{"position":"Use OA"#;
    player.answer_agent("security", stopped(cut, StopReason::Length));
    assert_eq!(player.open.len(), 2, "the other experts");
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn refusal_is_recorded_as_an_abstention() {
    let mut player = Player::started(plan());
    player.answer_agent(
        "pragmatic",
        stopped("", StopReason::Refused("This is about weapons.".into())),
    );
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    let expected = "declined to answer: This is about weapons.";
    assert_eq!(transcript.failures[0].error.message, expected);
    assert_eq!(transcript.failures[0].error.class, None);
}

#[test]
fn failed_judge_is_replaced_in_order_and_reported() {
    let mut player = Player::started(plan());
    for seat in ["security", "architecture", "pragmatic"] {
        player.answer_agent(seat, reply(good_text(AnswerKind::Independent)));
    }
    player.answer_agent("judge", no_such_model());
    let expected = "anthropic:claude-sonnet-5-5";
    assert_eq!(player.open[0].model.to_string(), expected);
    assert_eq!(player.finish(good), StateName::Complete);
    let degradations = fold(&player).degradations();
    assert_eq!(
        degradations,
        [
            "anthropic:claude-sonnet-5-5 took over from openai:gpt-6.1-sol as the judge in Round 2 and later: no such model"
        ]
    );
}

#[test]
fn run_without_a_judge_aborts_and_keeps_its_artifacts() {
    let mut player = Player::started(plan());
    let end = player.finish(|ask| {
        if ask.answer == AnswerKind::CrossExam {
            bad_key()
        } else {
            good(ask)
        }
    });
    assert_eq!(end, StateName::Aborted);
    let transcript = fold(&player);
    let expected = "The judge failed in Round 3 (CrossExam): bad key";
    assert_eq!(transcript.abort.as_ref().unwrap().message, expected);
    assert_eq!(transcript.artifacts.len(), 3 + 1 + 3);
}

#[test]
fn verdict_uses_the_earlier_rounds_when_round_3_fails() {
    let mut player = Player::started(plan());
    let end = player.finish(|ask| {
        if ask.answer == AnswerKind::Revision {
            bad_key()
        } else {
            good(ask)
        }
    });
    assert_eq!(end, StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(transcript.failures.len(), 3);
    assert!(
        transcript
            .calls
            .iter()
            .all(|call| call.answer != AnswerKind::CrossExam),
        "there is nothing to merge"
    );
}

#[test]
fn no_call_is_made_without_consent() {
    for (consent_mode, input) in [
        (ConsentMode::Interactive, Some(Input::Answered(Answer::No))),
        (ConsentMode::NonInteractive, None),
    ] {
        let mut plan = plan();
        plan.control.consent.always_allow_under = MicroUsd::ZERO;
        plan.control.consent.consent_mode = consent_mode;
        let mut player = Player::started(plan);
        let expected = consent_mode == ConsentMode::Interactive;
        assert_eq!(player.question.is_some(), expected);
        if let Some(input) = input {
            player.give(input);
        }
        assert_eq!(player.machine.state(), StateName::Aborted);
        assert_eq!(started(&player.log).count(), 0);
    }
}

#[test]
fn late_answers_and_stale_inputs_change_nothing() {
    let mut player = Player::started(plan());
    let ask = player.open[0].clone();
    player.answer(0, good(&ask));
    let before = player.machine.clone();
    player.give(Input::Replied {
        call: ask.call,
        outcome: good(&ask),
        updates: Vec::new(),
    });
    player.give(Input::Answered(Answer::Yes));
    player.give(Input::Start);
    assert_eq!(player.machine, before);
}

#[test]
fn time_to_the_first_token_is_measured_from_the_call() {
    let mut player = Player::started(plan());
    let call = player.open[0].call;
    player.pass(Duration::from_millis(300));
    player.give(Input::FirstToken { call });
    player.pass(Duration::from_millis(500));
    let ask = player.open[0].clone();
    player.answer(0, good(&ask));
    let finished = player
        .log
        .iter()
        .rev()
        .find_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Finished(finished)) => Some((
                finished.first_token_ms,
                finished.duration_ms,
                finished.purpose,
            )),
            _ => None,
        });
    assert_eq!(finished, Some((Some(300), 800, Purpose::Answer)));
}

#[test]
fn lost_call_makes_its_sums_lower_bounds_unless_it_was_free() {
    let interrupted = |billing: Billing| {
        let mut plan = plan();
        let terms = ModelTerms {
            billing,
            ..ModelTerms::default()
        };
        plan.models = plan
            .panel
            .seats
            .iter()
            .map(|seat| (seat.model.clone(), terms))
            .collect();
        let mut player = Player::started(plan);
        player.answer_agent("security", good(&player.open[0].clone()));
        player.give(Input::Interrupted);
        let transcript = fold(&player);
        let by_provider = transcript.spend_by(|_, _, model| model.provider.clone());
        let lower = |provider: &str| by_provider[&ProviderId::new(provider)].cost.lower_bound;
        (
            transcript.total().cost.lower_bound,
            lower("anthropic"),
            lower("openai"),
        )
    };
    assert_eq!(interrupted(Billing::Metered), (true, false, true));
    for billing in [Billing::Free, Billing::Plan] {
        assert_eq!(interrupted(billing), (false, false, false));
    }
}

#[test]
fn served_model_is_named_once_and_sets_the_price() {
    let mut player = Player::started(plan());
    player.finish(|ask| {
        let served_model = match ask.model.provider.as_str() {
            "google" => Some("gemini-3.8-flash".to_owned()),
            "openai" => Some("models/GPT-6.1-Sol".to_owned()),
            _ => None,
        };
        Ok(Reply {
            served_model,
            ..good(ask).unwrap()
        })
    });
    let transcript = fold(&player);
    let served: Vec<_> = transcript
        .served_otherwise()
        .into_iter()
        .map(|(asked, served)| format!("{asked} {served}"))
        .collect();
    assert_eq!(served, ["google:gemini-4-argon gemini-3.8-flash"]);
    let lower = |provider: &str| {
        transcript.spend_by(|_, _, model| model.provider.clone())[&ProviderId::new(provider)]
            .cost
            .lower_bound
    };
    assert!(lower("google"), "the other model has no price");
    assert!(!lower("openai"), "it is the same model under another name");
    let expected = "**Served:** google:gemini-4-argon was answered by gemini-3.8-flash";
    assert!(report(&transcript.stored_record()).contains(expected));
    assert_eq!(
        record_json(&transcript)["served_otherwise"][0]["served"],
        "gemini-3.8-flash"
    );
}

#[test]
fn expected_output_never_exceeds_the_token_limit() {
    let mut plan = plan();
    let model = plan.panel.seats[0].model.clone();
    plan.models.insert(
        model.clone(),
        ModelTerms {
            max_output_tokens: 300,
            ..ModelTerms::default()
        },
    );
    let estimate = Transcript::fold(&Player::started(plan).log)
        .unwrap()
        .estimate
        .unwrap();
    let expected = |of: &conclave::domain::ids::ModelRef| {
        estimate
            .calls
            .iter()
            .find(|call| call.model == *of)
            .unwrap()
            .output_tokens
    };
    assert_eq!(expected(&model), 300);
    assert_eq!(expected(&estimate.calls[1].model), 2_000);
}
