//! What happens when models are slow, broken or dear, and when a person has a say: hedges,
//! substitutes, ceilings, the pulse.

use std::collections::BTreeMap;
use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, Answer, CallEvent, Event, HealthUpdate, Purpose, StateName, SubstitutionReason,
    WhySubstituted,
};
use conclave::consultation::plan::{ModelTerms, OutputTokens, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::health::HealthStatus;
use conclave::consultation::policy::hedging::{HedgeRule, NoHedge};
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::protocol::{Input, Question};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ModelRef, ProviderId, SeatId};
use conclave::domain::money::{Cost, MicroUsd};

use crate::support::script::{Player, failure, good, good_text, plan, reply, stopped};

const TEN: Duration = Duration::from_secs(10);

fn grok() -> ModelRef {
    ModelRef::new("xai", "grok-4.7")
}

fn mistral() -> ModelRef {
    ModelRef::new("mistral", "mistral-large")
}

/// The plan of three, each seat with two stand-ins of other vendors, at the same price; hedges
/// after 10 s.
fn backed() -> Plan {
    let mut plan = plan();
    let price = *plan.prices.0.values().next().unwrap();
    plan.prices.0.extend([(grok(), price), (mistral(), price)]);
    plan.fallbacks = plan
        .panel
        .seats
        .iter()
        .map(|seat| (seat.id.clone(), vec![grok(), mistral()]))
        .collect::<BTreeMap<_, _>>();
    plan.control.hedge = HedgeRule::default();
    plan
}

fn asking(mut plan: Plan) -> Plan {
    plan.control.on_failure = OnFailure::Ask;
    plan.control.consent.consent_mode = ConsentMode::Interactive;
    plan
}

fn transcript(player: &Player) -> Transcript {
    Transcript::fold(&player.log).unwrap()
}

fn substitutions(player: &Player) -> Vec<(String, ModelRef, SubstitutionReason)> {
    let told = transcript(player).substitutions;
    told.into_iter()
        .map(|told| {
            (
                told.agent_id.as_str().to_owned(),
                told.substitute,
                told.reason,
            )
        })
        .collect()
}

fn not_hedged(player: &Player) -> Vec<NoHedge> {
    let reasons = player
        .log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::NotHedged { reason, .. }) => Some(*reason),
            _ => None,
        });
    reasons.collect()
}

fn answer_at(player: &mut Player, provider: &str) {
    let at = player
        .open
        .iter()
        .position(|ask| ask.model.provider.as_str() == provider)
        .unwrap();
    let kind = player.open[at].answer;
    player.answer(at, reply(good_text(kind)));
}

/// Lets all calls but those to one provider answer well.
fn all_but(player: &mut Player, provider: &str) {
    while let Some(at) = player
        .open
        .iter()
        .position(|ask| ask.model.provider.as_str() != provider)
    {
        let kind = player.open[at].answer;
        player.answer(at, reply(good_text(kind)));
    }
}

#[test]
fn silent_call_is_hedged_and_the_first_answer_wins() {
    let mut player = Player::started(backed());
    player.answer_agent("architecture", good(&player.open[1].clone()));
    player.answer_agent("pragmatic", good(&player.open[1].clone()));
    player.pass(TEN);
    player.rest();
    let hedge = player.open.last().unwrap().clone();
    assert_eq!(hedge.model, grok());
    assert_eq!(player.open.len(), 2);
    assert_eq!(hedge.prompt, player.open[0].prompt);
    assert_eq!(hedge.answer, player.open[0].answer);
    assert_eq!(hedge.max_output_tokens, player.open[0].max_output_tokens);
    answer_at(&mut player, "xai");
    assert!(
        player
            .open
            .iter()
            .all(|ask| ask.model.provider.as_str() != "anthropic"),
        "the loser is dropped"
    );
    assert_eq!(player.finish(good), StateName::Complete);
    let told = transcript(&player);
    assert_eq!(
        substitutions(&player),
        [(
            "security".into(),
            grok(),
            SubstitutionReason::Known(WhySubstituted::Hedge)
        )]
    );
    assert!(
        told.total().cost.lower_bound,
        "nobody knows what the loser cost"
    );
    assert!(
        player.log_text().contains("call:cancelled 1 HedgeLost"),
        "{}",
        player.log_text()
    );
    let third = told
        .calls
        .iter()
        .find(|call| call.agent_id.as_str() == "security" && call.round_number == 3)
        .unwrap();
    assert_eq!(
        third.model.provider.as_str(),
        "anthropic",
        "slow once is no reason to be replaced for good"
    );
}

#[test]
fn streaming_call_is_not_hedged_and_a_lost_hedge_degrades_nothing() {
    let mut player = Player::started(backed());
    for call in player.open.iter().map(|ask| ask.call).collect::<Vec<_>>() {
        player.give(Input::FirstToken { call });
    }
    player.pass(TEN);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), []);

    let mut player = Player::started(backed());
    all_but(&mut player, "anthropic");
    player.pass(TEN);
    player.rest();
    answer_at(&mut player, "anthropic");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(substitutions(&player), []);
    assert!(
        transcript(&player).degradations().is_empty(),
        "what the panel promised was kept"
    );
}

#[test]
fn one_failed_call_of_a_hedged_pair_leaves_it_to_the_other() {
    let mut player = Player::started(backed());
    all_but(&mut player, "anthropic");
    player.pass(TEN);
    player.rest();
    let hedge = player
        .open
        .iter()
        .position(|ask| ask.model == grok())
        .unwrap();
    player.answer(hedge, failure(FailureClass::Auth, "bad key"));
    assert_eq!(player.open.len(), 1, "the first goes on");
    answer_at(&mut player, "anthropic");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(substitutions(&player), []);

    let mut player = Player::started(backed());
    all_but(&mut player, "anthropic");
    player.pass(TEN);
    player.rest();
    player.answer(0, failure(FailureClass::Overload, "overloaded"));
    assert_eq!(
        player.open.len(),
        1,
        "it is not tried again while the hedge may answer"
    );
    answer_at(&mut player, "xai");
    assert_eq!(
        substitutions(&player),
        [(
            "security".into(),
            grok(),
            SubstitutionReason::Known(WhySubstituted::Hedge)
        )]
    );

    let mut player = Player::started(backed());
    all_but(&mut player, "anthropic");
    player.pass(TEN);
    player.rest();
    player.answer(0, failure(FailureClass::Overload, "overloaded"));
    player.answer(0, reply("I would rather not say."));
    player.rest();
    let again = &player.open[0];
    assert_eq!(
        again.model.provider.as_str(),
        "anthropic",
        "the first is tried again, as after any failure"
    );
}

#[test]
fn hedges_are_limited_to_a_quarter_and_refusals_have_reasons() {
    let mut player = Player::started(backed());
    player.pass(TEN);
    player.rest();
    assert_eq!(player.open.len(), 5, "nine calls are expected: two hedges");
    assert_eq!(not_hedged(&player), [NoHedge::QuotaUsed]);

    let mut player = Player::started(Plan {
        fallbacks: BTreeMap::new(),
        ..backed()
    });
    player.pass(TEN);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), [NoHedge::NoBackup; 3]);

    let mut player = Player::started(backed());
    for provider in ["xai", "mistral"] {
        player.give(Input::HealthChanged(ill(provider)));
    }
    player.pass(TEN);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), [NoHedge::NoHealthyBackup; 3]);

    for strict in [true, false] {
        let mut plan = backed();
        plan.control.strict = strict;
        if !strict {
            plan.control.hedge.after = None;
        }
        let mut player = Player::started(plan);
        player.pass(TEN);
        assert!(!player.rest(), "off, and under --strict, no timer is set");
    }
}

fn ill(provider: &str) -> HealthUpdate {
    HealthUpdate {
        provider: ProviderId::new(provider),
        status: HealthStatus::Unhealthy,
        latency_ms: None,
        error_rate: 1.0,
        consecutive_failures: 3,
        none_healthy: false,
    }
}

#[test]
fn healthy_fallback_is_preferred() {
    let mut player = Player::started(backed());
    player.give(Input::HealthChanged(ill("xai")));
    player.pass(TEN);
    player.rest();
    assert!(
        player.open.iter().any(|ask| ask.model == mistral())
            && !player.open.iter().any(|ask| ask.model == grok())
    );
    let mut player = Player::started(backed());
    player.give(Input::HealthChanged(ill("xai")));
    player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
    assert_eq!(substitutions(&player)[0].1, mistral());
}

#[test]
fn judge_is_hedged_with_the_next_judge() {
    let mut player = Player::started(backed());
    while player.machine.state() == StateName::Independent {
        player.answer(0, good(&player.open[0].clone()));
    }
    player.pass(TEN);
    while player.open.len() < 2 {
        assert!(player.rest());
    }
    assert_eq!(
        player.open[1].model,
        ModelRef::new("anthropic", "claude-sonnet-5-5")
    );
    player.answer(1, reply(good_text(player.open[1].answer)));
    assert_eq!(player.machine.state(), StateName::CrossExam);
}

#[test]
fn permanent_failure_replaces_the_model_for_the_rest_of_the_run() {
    let mut player = Player::started(backed());
    player.answer_agent("security", failure(FailureClass::Billing, "no credit"));
    assert_eq!(player.finish(good), StateName::Complete);
    let told = transcript(&player);
    assert_eq!(
        substitutions(&player),
        [(
            "security".into(),
            grok(),
            SubstitutionReason::Known(WhySubstituted::Failure)
        )]
    );
    let models: Vec<_> = told
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
    assert_eq!(told.failures, []);
}

#[test]
fn agent_fails_when_every_fallback_fails() {
    let mut player = Player::started(backed());
    for _ in 0..3 {
        player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
    }
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(transcript(&player).failures.len(), 1);
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
        let mut player = Player::started(asking(backed()));
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
        let Some(Question::Substitution {
            name,
            original,
            substitute,
            reason,
            ..
        }) = player.question.clone()
        else {
            panic!()
        };
        assert_eq!(name.as_str(), "Security Expert");
        assert_eq!(original.provider.as_str(), "anthropic");
        assert_eq!(substitute, grok());
        assert_eq!(reason, SubstitutionReason::Known(WhySubstituted::Timeout));
        player.give(Input::Answered(answer));
        if !player.machine.state().is_terminal() {
            player.finish(good);
        }
        let told = transcript(&player);
        assert_eq!(told.state, state, "{answer:?}");
        assert_eq!(told.substitutions.len(), substituted, "{answer:?}");
        assert_eq!(told.failures.len(), failed, "{answer:?}");
        if answer == Answer::Fail {
            let abort = told.abort.unwrap();
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
    let mut player = Player::started(asking(backed()));
    player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
    player.answer_agent("pragmatic", failure(FailureClass::Auth, "bad key"));
    let asked = |player: &Player| match player.question.clone() {
        Some(Question::Substitution { agent_id, .. }) => agent_id,
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(&player), SeatId::new("security"));
    player.give(Input::Answered(Answer::No));
    assert_eq!(asked(&player), SeatId::new("pragmatic"));
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
        let mut plan = asking(backed());
        plan.control.on_failure = on_failure;
        let mut player = Player::started(plan);
        player.answer_agent("security", failure(FailureClass::Auth, "bad key"));
        assert_eq!(player.question, None);
        if !player.machine.state().is_terminal() {
            player.finish(good);
        }
        let told = transcript(&player);
        assert_eq!(told.state, state);
        assert_eq!(told.failures.len(), failures);
        assert_eq!(told.substitutions.len(), 0);
        assert_eq!(
            told.abort.map(|abort| abort.reason),
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
        let mut plan = backed();
        plan.control.strict = true;
        let mut player = Player::started(plan);
        player.answer_agent("security", outcome);
        let told = transcript(&player);
        assert_eq!(told.state, StateName::Aborted);
        assert_eq!(told.abort.as_ref().unwrap().reason, AbortReason::Strict);
        assert_eq!(told.substitutions.len(), 0);
    }
}

#[test]
fn ending_consultation_announces_no_further_agents() {
    for judged in [StateName::Synthesis, StateName::CrossExam] {
        let mut plan = backed();
        plan.control.strict = true;
        let mut player = Player::started(plan);
        while player.machine.state() != judged
            || player.open.len() != 1
            || player.open[0].answer == AnswerKind::Revision
        {
            player.answer(0, good(&player.open[0].clone()));
        }
        let told = player.log_text().matches("agent:thinking").count();
        player.answer(0, stopped("It depends.", StopReason::Other("odd".into())));
        assert_eq!(
            transcript(&player).abort.unwrap().reason,
            AbortReason::Strict
        );
        assert_eq!(
            player.log_text().matches("agent:thinking").count(),
            told,
            "{}",
            player.log_text()
        );
        // Who goes on with it accepts what there is, and then they begin.
        let mut control = player.machine.plan().control.clone();
        control.strict = false;
        let mut again = Player::resumed(&player.log, Duration::ZERO, Some(control)).unwrap();
        assert!(again.log_text().matches("agent:thinking").count() > told);
        assert_eq!(again.finish(good), StateName::Complete);
    }
}

#[test]
fn unhealthy_provider_is_skipped_for_the_next_answer() {
    let mut player = Player::started(backed());
    for _ in 0..3 {
        player.answer_agent("security", failure(FailureClass::Overload, "overloaded"));
        while !player
            .open
            .iter()
            .any(|ask| ask.model.provider.as_str() == "anthropic" || ask.model == grok())
        {
            assert!(player.rest());
        }
    }
    assert_eq!(substitutions(&player)[0].1, grok());
    // The judge's fallback is at the same provider: it is passed over as long as it is not well.
    while player.machine.state() != StateName::Synthesis {
        let at = player.open.len() - 1;
        player.answer(at, good(&player.open[at].clone()));
    }
    player.answer(0, failure(FailureClass::Auth, "bad key"));
    let told = transcript(&player);
    assert_eq!(
        told.abort.as_ref().unwrap().reason,
        AbortReason::JudgeFailed,
        "there is nobody else"
    );
}

#[test]
fn provider_with_a_rejected_key_takes_over_only_after_resume() {
    let mut plan = backed();
    for fallbacks in plan.fallbacks.values_mut() {
        fallbacks.insert(0, ModelRef::new("google", "gemini-4-argon"));
    }
    let mut player = Player::started(plan);
    player.answer_agent("pragmatic", failure(FailureClass::Auth, "bad key"));
    player.answer_agent(
        "security",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    let taken_over = |player: &Player| {
        substitutions(player)
            .into_iter()
            .map(|(agent, model, _)| format!("{agent} {model}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        taken_over(&player),
        ["pragmatic xai:grok-4.7", "security xai:grok-4.7"]
    );
    player.give(Input::Interrupted);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    again.answer_agent(
        "architecture",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    assert_eq!(
        taken_over(&again)[2],
        "architecture google:gemini-4-argon",
        "another time it may have another key"
    );
}

#[test]
fn failing_provider_is_still_asked_when_no_fallback_may_take_over() {
    for skip in [true, false] {
        let mut plan = backed();
        plan.control.on_failure = if skip {
            OnFailure::Skip
        } else {
            OnFailure::Substitute
        };
        plan.control.strict = !skip;
        // Two at one provider, which takes one call after the other.
        plan.panel.seats[1].model = plan.panel.seats[0].model.clone();
        plan.in_flight.insert(ProviderId::new("anthropic"), 1);
        let mut player = Player::started(plan);
        let mut asked = 0;
        while let Some(at) = player
            .open
            .iter()
            .position(|ask| ask.model.provider.as_str() == "anthropic")
        {
            asked += 1;
            player.answer(at, failure(FailureClass::Overload, "overloaded"));
            while asked < 4
                && !player
                    .open
                    .iter()
                    .any(|ask| ask.model.provider.as_str() == "anthropic")
            {
                assert!(player.rest(), "{}", player.log_text());
            }
        }
        assert!(
            asked >= 4,
            "also after three failures in a row: {}",
            player.log_text()
        );
    }
}

#[test]
fn calls_under_a_ceiling_wait_and_never_exceed_it() {
    let worst = worst_case();
    let mut plan = terse(plan());
    plan.control.max_cost = Some(MicroUsd(worst + worst / 2));
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let mut player = Player::started(plan.clone());
    assert_eq!(
        player.open.len(),
        1,
        "the others wait until it is known what the first costs"
    );
    player.answer(0, good(&player.open[0].clone()));
    assert_eq!(player.open.len(), 1);
    assert_eq!(
        player.finish(good),
        StateName::Complete,
        "each costs far less than it could"
    );

    plan.control.max_cost = Some(MicroUsd(worst + 2_000));
    let mut player = Player::started(plan);
    let state = player.finish(good);
    let told = transcript(&player);
    assert_eq!(state, StateName::Aborted);
    assert_eq!(
        told.abort.as_ref().unwrap().reason,
        AbortReason::CostCeiling
    );
    assert!(told.total().cost.known <= MicroUsd(worst + 2_000));
    assert!(
        player.log_text().contains("cost:ceiling_reached"),
        "{}",
        player.log_text()
    );
}

/// Answers are expected to be short, but may be long.
fn terse(mut plan: Plan) -> Plan {
    let expected_output = OutputTokens {
        low: 50,
        expected: 100,
        high: 200,
    };
    let models = plan.panel.seats.iter().map(|seat| seat.model.clone());
    plan.models = models
        .map(|model| {
            (
                model,
                ModelTerms {
                    expected_output,
                    ..ModelTerms::default()
                },
            )
        })
        .collect();
    plan
}

/// The most that a call of Round 1 can cost.
fn worst_case() -> u64 {
    let mut plan = plan();
    plan.control.max_cost = Some(MicroUsd(u64::MAX / 2));
    let player = Player::started(plan);
    let started = player
        .log
        .iter()
        .find_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started { worst_case, .. }) => *worst_case,
            _ => None,
        });
    started.unwrap().known.0
}

#[test]
fn unpriced_model_is_not_asked_under_a_ceiling() {
    let mut plan = plan();
    plan.prices.0.clear();
    plan.control.max_cost = Some(MicroUsd(1_000_000));
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let player = Player::started(plan);
    let abort = transcript(&player).abort.unwrap();
    assert_eq!(abort.reason, AbortReason::CostCeiling);
    assert!(abort.message.contains("has no price"), "{}", abort.message);
}

#[test]
fn cost_far_above_the_estimate_ends_the_run_after_the_call() {
    let dear = |ask: &conclave::consultation::protocol::call::Ask| {
        let mut outcome = good(ask);
        if let Ok(reply) = &mut outcome {
            reply.reported_cost = Some(MicroUsd(50_000_000));
        }
        outcome
    };
    let mut player = Player::started(plan());
    player.answer(0, dear(&player.open[0].clone()));
    let told = transcript(&player);
    assert_eq!(
        told.abort.as_ref().unwrap().reason,
        AbortReason::CostExceededEstimate
    );
    assert_eq!(told.artifacts.len(), 1, "what was paid for is kept");
    assert_eq!(told.calls.len(), 1, "what was paid for is kept");

    let mut agreed = plan();
    agreed.control.max_cost = Some(MicroUsd(1_000_000_000));
    agreed.control.consent.consent_mode = ConsentMode::PreApproved;
    let mut player = Player::started(agreed);
    assert_eq!(
        player.finish(dear),
        StateName::Complete,
        "a ceiling that was agreed to takes its place"
    );
}

fn pulsing(consent_mode: ConsentMode) -> Plan {
    let mut plan = plan();
    plan.control.pulse = Some(Duration::from_secs(60));
    plan.control.consent.consent_mode = consent_mode;
    plan
}

#[test]
fn slow_round_asks_the_user_and_names_the_waiting_agents() {
    let mut player = Player::started(pulsing(ConsentMode::Interactive));
    player.answer(1, good(&player.open[1].clone()));
    player.rest();
    let Some(Question::Pulse { waiting }) = player.question.clone() else {
        panic!()
    };
    assert_eq!(
        waiting
            .iter()
            .map(|who| (who.name.as_str(), who.elapsed_ms))
            .collect::<Vec<_>>(),
        [("Security Expert", 60_000), ("Pragmatist", 60_000)]
    );
    player.pass(Duration::from_secs(5));
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(
        player.timers.iter().next_back().unwrap().0,
        player.now.after(Duration::from_secs(60)),
        "again after as long"
    );
    player.rest();
    assert!(player.question.is_some());
    player.answer(0, good(&player.open[0].clone()));
    assert_eq!(player.question, None, "an answer closes it");
    assert!(player.log_text().contains("pulse:answered Superseded"));
    player.rest();
    player.pass(Duration::from_secs(2));
    player.give(Input::Answered(Answer::No));
    let told = transcript(&player);
    let abort = told.abort.unwrap();
    assert_eq!(abort.reason, AbortReason::UserCancelled);
    assert_eq!(abort.message, "Consultation cancelled by user after 187s");
}

#[test]
fn unattended_pulse_only_reports_and_keeps_waiting() {
    for consent_mode in [ConsentMode::NonInteractive, ConsentMode::PreApproved] {
        let mut player = Player::started(pulsing(consent_mode));
        player.rest();
        player.rest();
        assert_eq!(player.question, None);
        assert_eq!(
            player
                .log_text()
                .matches("pulse:asked 1 3 waiting, user not asked")
                .count(),
            2
        );
        assert_eq!(player.finish(good), StateName::Complete);
    }
}

#[test]
fn max_wait_ends_a_slow_round() {
    let mut plan = pulsing(ConsentMode::NonInteractive);
    plan.control.max_wait = Some(Duration::from_secs(90));
    let mut player = Player::started(plan);
    while !player.machine.state().is_terminal() {
        player.rest();
    }
    let told = transcript(&player);
    assert_eq!(told.abort.as_ref().unwrap().reason, AbortReason::Timeout);
    assert_eq!(told.duration, Duration::from_secs(90));
    assert_eq!(told.lost_calls.len(), 3);
    assert_eq!(told.total().cost, Cost::at_least(MicroUsd::ZERO));
}
