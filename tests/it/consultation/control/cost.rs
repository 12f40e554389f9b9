//! The ceiling, and the stop at a cost far above the estimate.

use conclave::consultation::plan::Control;
use conclave::consultation::policy::estimate::Estimate;
use conclave::consultation::protocol::call::Reply;
use conclave::domain::cost::plan_use::{PlanUse, PlanWindow};
use conclave::domain::cost::pricing::{Price, Rates};
use conclave::domain::ids::ProviderId;
use conclave::domain::time::Timestamp;
use conclave::terminal::document::screen;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::{NextSteps, page, report, summary};

use crate::consultation::prelude::*;
use crate::support::script::{crowd, paid_by_plan, with_fallback};

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

#[test]
fn plan_pays_for_no_more_calls_than_allowed_and_what_is_paid_is_kept() {
    let mut plan = paid_by_plan(crowd(4), "anthropic");
    plan.control.max_calls = 3;
    let mut player = Player::started(plan.clone());
    assert_eq!(player.open.len(), 3);
    // A repair is one more call.
    player.answer(0, reply("Well, it depends."));
    assert_eq!(
        (player.open.len(), player.machine.state()),
        (2, StateName::Independent)
    );
    assert_eq!(player.finish(good), StateName::Aborted);
    let transcript = fold(&player);
    let abort = transcript.abort.unwrap();
    assert_eq!(abort.reason, AbortReason::CallCeiling);
    let expected = "The limit of 3 calls that a plan pays for is reached, and \
                    anthropic:claude-sonnet-5-5 would be one more";
    assert_eq!(abort.message, expected);
    assert_eq!(transcript.artifacts.len(), 2);

    let resume = |max_calls| {
        let control = Control {
            max_calls,
            ..plan.control.clone()
        };
        Player::resumed(&player.log, Duration::from_secs(9), Some(control)).unwrap()
    };
    assert_eq!(resume(3).machine.state(), StateName::Aborted);
    let mut resumed = resume(60);
    assert_eq!(resumed.finish(good), StateName::Complete);
}

#[test]
fn what_a_plan_pays_for_is_shown_nowhere_as_a_cost_of_zero() {
    let resets_at = Some(Timestamp(1_795_252_598_000 + 3 * 3_600_000));
    let play = |plan: Plan| {
        let mut player = Player::started(plan);
        player.finish(|ask| {
            let mut outcome = good(ask);
            if let Ok(reply) = &mut outcome
                && ask.model.provider.as_str() == "anthropic"
            {
                reply.plan = Some(Box::new(PlanUse {
                    plan: Some("max_5x".to_owned()),
                    window: Some(PlanWindow {
                        name: "5 h".to_owned(),
                        used_percent: 41,
                        resets_at,
                    }),
                    is_overage: false,
                }));
            }
            outcome
        });
        fold(&player).stored_record()
    };
    let mixed = play(paid_by_plan(plan(), "anthropic"));
    let paid = &mixed.plans[&ProviderId::new("anthropic")];
    assert_eq!((paid.calls, paid.tokens, paid.overage), (2, 2_200, 0));
    let words = mixed.total_cost_in_words().unwrap();
    assert!(
        words.ends_with(", without 1 seat that a plan pays for"),
        "{words}"
    );
    let attempts = mixed.agent_rounds().flat_map(|(_, work)| &work.attempts);
    let sources = attempts.filter_map(|attempt| attempt.cost_source.as_deref());
    assert_eq!(sources.filter(|source| *source == "plan").count(), 2);

    let mut whole = crowd(3);
    whole.panel.judges = vec![whole.panel.seats[0].model.clone()];
    let whole = play(paid_by_plan(whole, "anthropic"));
    let expected = "paid by your plan, 9.9k tokens";
    assert_eq!(whole.total_cost_in_words().unwrap(), expected);
    for record in [mixed, whole] {
        let parts = summary(&record, &NextSteps::None);
        let shown = screen(&parts, None, Paint::PLAIN);
        for text in [shown, report(&record), page(&record)] {
            let mut zeros = text.split("$0.00").skip(1);
            let is_more = |rest: &str| rest.starts_with(|digit: char| digit.is_ascii_digit());
            assert!(zeros.all(is_more), "{text}");
            assert!(text.contains(" · plan (max_5x) · "), "{text}");
            assert!(text.contains(" · 5 h window 41 % used · resets "), "{text}");
        }
    }
}

#[test]
fn what_is_billed_beside_a_plan_is_counted_but_no_overspending() {
    let mut player = Player::started(paid_by_plan(plan(), "anthropic"));
    let at = place(&player, |ask| is_at(ask, "anthropic")).unwrap();
    let billed = with(&player.open[at].clone(), |reply| {
        reply.reported_cost = Some(MicroUsd(9_000_000));
        reply.plan = Some(Box::new(PlanUse {
            is_overage: true,
            ..PlanUse::default()
        }));
    });
    player.answer(at, billed);
    assert_eq!(player.finish(good), StateName::Complete);
    let record = fold(&player).stored_record();
    assert_eq!(record.plans[&ProviderId::new("anthropic")].overage, 1);
    assert!(record.total_cost().unwrap().known > MicroUsd(9_000_000));
}

#[test]
fn what_is_billed_beside_a_plan_ends_at_the_ceiling() {
    let mut whole = crowd(3);
    whole.panel.judges = vec![whole.panel.seats[0].model.clone()];
    let mut plan = paid_by_plan(whole, "anthropic");
    plan.control.max_cost = Some(MicroUsd(1_000_000));
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    let billed = |each: u64| {
        move |ask: &Ask| {
            with(ask, |reply| {
                reply.reported_cost = Some(MicroUsd(each));
                reply.plan = Some(Box::new(PlanUse {
                    is_overage: true,
                    ..PlanUse::default()
                }));
            })
        }
    };
    let mut within = Player::started(plan.clone());
    assert_eq!(within.finish(billed(100)), StateName::Complete);
    let mut above = Player::started(plan.clone());
    assert_eq!(above.finish(billed(400_000)), StateName::Aborted);
    let transcript = fold(&above);
    assert_eq!(transcript.calls.len(), 3, "the calls of the first round");
    let abort = transcript.abort.unwrap();
    assert_eq!(abort.reason, AbortReason::CostCeiling);
    let expected = "The ceiling of $1.00 does not pay for the next call: $1.2000 counts as spent, \
                    and anthropic:claude-sonnet-5-5 is billed beside its plan";
    assert_eq!(abort.message, expected);
    // A resume replays what was billed.
    let resumed = Player::resumed(&above.log, Duration::from_secs(9), None).unwrap();
    assert_eq!(resumed.machine.state(), StateName::Aborted);
    // What others have spent does not hold a plan that bills nothing.
    plan.control.max_cost = Some(MicroUsd(0));
    let mut free = Player::started(plan);
    assert_eq!(free.finish(good), StateName::Complete);
}

#[test]
fn fallback_of_a_seat_that_a_plan_pays_for_may_cost_what_needs_no_consent() {
    let mut plan = paid_by_plan(crowd(1), "anthropic");
    let gpt = ModelRef::new("openai", "gpt-6.1-sol");
    plan.panel.judges = vec![plan.panel.seats[0].model.clone(), gpt.clone()];
    plan = with_fallback(plan, &gpt);
    for (always_allow_under, reason) in [
        (10_000_000, None),
        (0, Some(AbortReason::CostExceededEstimate)),
    ] {
        plan.control.consent.always_allow_under = MicroUsd(always_allow_under);
        let mut player = Player::started(plan.clone());
        player.answer(0, failure(FailureClass::Auth, "not logged in"));
        player.finish(good);
        let abort = fold(&player).abort;
        assert_eq!(abort.map(|abort| abort.reason), reason);
    }
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
