//! The ceiling, and the stop at a cost far above the estimate.

use conclave::consultation::policy::estimate::Estimate;
use conclave::consultation::protocol::call::Reply;
use conclave::domain::cost::pricing::{Price, Rates};

use crate::consultation::prelude::*;

/// Returns a plan that was agreed to, under the smallest ceiling that pays for the expected answers.
fn just_enough() -> (Plan, MicroUsd) {
    let mut plan = expect_short_answers(plan());
    let ceiling = estimated(&plan).smallest_ceiling(|call| call.cost);
    plan.control.max_cost = Some(ceiling);
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    (plan, ceiling)
}

#[test]
fn smallest_ceiling_pays_for_every_call_with_a_lower_output_limit() {
    let (plan, ceiling) = just_enough();
    let mut player = Player::started(plan.clone());
    assert_eq!(player.finish(good), StateName::Complete);
    let calls: Vec<&CallStarted> = started(&player.log).collect();
    for call in &calls {
        let usual = plan.terms(&call.model).max_output_tokens;
        let limits = plan.least_output(&call.model, call.answer)..usual;
        assert!(limits.contains(&call.max_output_tokens), "{call:?}");
    }
    assert!(fold(&player).total().cost.known <= ceiling);
}

#[test]
fn ceiling_that_cannot_pay_for_all_is_refused_before_the_first_call() {
    let (mut plan, ceiling) = just_enough();
    let least = estimated(&plan).smallest_ceiling(|call| call.low);
    assert!(least < ceiling);
    for (max_cost, goes_ahead) in [(least, true), (MicroUsd(least.0 - 1), false)] {
        plan.control.max_cost = Some(max_cost);
        let player = Player::started(plan.clone());
        assert_eq!(!player.open.is_empty(), goes_ahead, "{max_cost}");
        if !goes_ahead {
            let message = fold(&player).abort.unwrap().message;
            assert!(
                message.contains("with answers of the expected length"),
                "{message}"
            );
        }
    }
}

#[test]
fn calls_that_do_not_fit_beside_each_other_wait() {
    let (mut plan, _) = just_enough();
    let least = estimated(&plan).smallest_ceiling(|call| call.low);
    plan.control.max_cost = Some(least);
    let mut player = Player::started(plan);
    let open = player.open.len();
    assert!(open < 3, "{open} calls in flight");
    player.answer(0, good(&player.open[0].clone()));
    assert!(!player.open.is_empty());
}

#[test]
fn answer_cut_off_by_a_fitted_limit_is_marked_and_gets_more_room() {
    let (plan, ceiling) = just_enough();
    let mut player = Player::started(plan);
    let ask = player.open[0].clone();
    let cut_off = with(&ask, |reply| {
        reply.stop = StopReason::Length;
        reply.text = "{\"position\": \"It".to_owned();
    });
    player.answer(0, cut_off);
    player.finish(good);
    let words = "the most that the ceiling pays for";
    let logged = serde_json::to_string(&player.log).unwrap();
    assert!(logged.contains(words), "{logged}");
    let calls = started(&player.log).filter(|call| call.model == ask.model);
    let limits: Vec<u64> = calls.map(|call| call.max_output_tokens).collect();
    assert!(limits[1] >= limits[0] / 2 * 3, "{limits:?}");
    assert!(fold(&player).total().cost.known <= ceiling);
}

#[test]
fn unpriced_model_is_not_asked_under_a_ceiling() {
    let mut plan = plan();
    plan.prices.0.clear();
    plan.control.max_cost = Some(MicroUsd(1_000_000));
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let player = Player::started(plan);
    let abort = fold(&player).abort.unwrap();
    assert_eq!(abort.reason, AbortReason::CostCeiling);
    assert!(abort.message.contains("has no price"), "{}", abort.message);
}

#[test]
fn cost_far_above_the_estimate_ends_the_run_after_the_call() {
    let mut player = Player::started(plan());
    player.answer(0, expensive(&player.open[0].clone()));
    let transcript = fold(&player);
    let expected = AbortReason::CostExceededEstimate;
    assert_eq!(transcript.abort.as_ref().unwrap().reason, expected);
    assert_eq!(transcript.artifacts.len(), 1, "the paid answer is saved");
    assert_eq!(transcript.calls.len(), 1);

    let mut agreed = plan();
    agreed.control.max_cost = Some(MicroUsd(1_000_000_000));
    agreed.control.consent.consent_mode = ConsentMode::PreApproved;
    let mut player = Player::started(agreed);
    assert_eq!(
        player.finish(expensive),
        StateName::Complete,
        "an approved ceiling replaces the estimate"
    );
}

#[test]
fn unpriced_model_leaves_the_limit_on_the_others_in_force() {
    let mut plan = plan();
    let unpriced = plan.panel.seats[2].model.clone();
    plan.prices.0.remove(&unpriced);
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let mut player = Player::started(plan);
    let index = place(&player, |ask| ask.model == unpriced);
    player.answer_agent("pragmatic", expensive(&player.open[index.unwrap()].clone()));
    let abort = fold(&player).abort;
    assert_eq!(abort, None, "the estimate has no figure for this model");
    player.answer(0, expensive(&player.open[0].clone()));
    let expected = AbortReason::CostExceededEstimate;
    assert_eq!(fold(&player).abort.unwrap().reason, expected);
}

#[test]
fn served_name_does_not_lower_what_limits_count() {
    let mut plan = plan();
    for seat in &plan.panel.seats {
        let cheap = ModelRef::new(seat.model.provider.as_str(), "cheap");
        let free = Price {
            base: Rates {
                input: MicroUsd::ZERO,
                output: MicroUsd::ZERO,
                cache_read: None,
                cache_write: None,
            },
            long_context: None,
        };
        plan.prices.0.insert(cheap, free);
    }
    let served_cheaply = |ask: &Ask| {
        with(ask, |reply| {
            reply.served_model = Some("cheap".to_owned());
            // $4 by the price of the model that was asked for.
            reply.usage.output = 2_000_000;
        })
    };
    let mut player = Player::started(plan.clone());
    player.answer(0, served_cheaply(&player.open[0].clone()));
    let transcript = fold(&player);
    let expected = AbortReason::CostExceededEstimate;
    assert_eq!(transcript.abort.as_ref().unwrap().reason, expected);
    assert_eq!(transcript.calls[0].cost, Cost::FREE, "as it was served");

    plan.control.max_cost = Some(MicroUsd(4_000_000));
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let mut player = Player::started(plan);
    assert_eq!(player.finish(served_cheaply), StateName::Aborted);
    let expected = AbortReason::CostCeiling;
    assert_eq!(fold(&player).abort.unwrap().reason, expected);
}

#[test]
fn call_served_by_an_unknown_model_costs_at_least_what_was_asked_for() {
    let mut player = Player::started(plan());
    let ask = player.open[0].clone();
    player.answer(
        0,
        with(&ask, |reply| {
            reply.served_model = Some("unheard-of".to_owned());
        }),
    );
    let call = fold(&player).calls[0].clone();
    assert_eq!(call.cost, Cost::at_least(MicroUsd(1_000 + 200)));
    assert_eq!(call.served_model.as_deref(), Some("unheard-of"));
}

#[test]
fn calls_of_unknown_cost_are_in_doubt_up_to_their_worst_case() {
    let mut player = Player::started(plan());
    let ask = player.open[0].clone();
    player.answer(
        0,
        with(&ask, |reply| {
            reply.served_model = Some("unheard-of".to_owned());
        }),
    );
    let calls = started(&player.log);
    let started: Vec<MicroUsd> = calls.map(|call| call.worst_case.known).collect();
    assert_eq!(started.len(), 3);
    let transcript = fold(&player);
    let answered = &transcript.calls[0];
    assert_eq!(answered.counted(), started[0]);
    // The two others are in flight.
    let all: MicroUsd = started.into_iter().sum();
    assert_eq!(answered.cost.known + transcript.in_doubt(), all);
    let in_doubt = transcript.stored_record().cost.unwrap().in_doubt_micro_usd;
    assert_eq!(in_doubt, transcript.in_doubt());
}

/// Returns a valid reply at a cost far above any estimate.
fn expensive(ask: &Ask) -> Outcome {
    with(ask, |reply| {
        reply.reported_cost = Some(MicroUsd(50_000_000));
    })
}

/// Returns a valid reply with a change.
fn with(ask: &Ask, change: impl FnOnce(&mut Reply)) -> Outcome {
    let mut outcome = good(ask);
    if let Ok(reply) = &mut outcome {
        change(reply);
    }
    outcome
}

/// Returns what the estimate says of a plan.
fn estimated(plan: &Plan) -> Estimate {
    plan.estimate().unwrap()
}
