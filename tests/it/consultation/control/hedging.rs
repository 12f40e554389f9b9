//! Hedged calls: when they start, which answer counts, and their limit.

use std::collections::BTreeMap;

use conclave::consultation::event::WhySubstituted;
use conclave::consultation::policy::hedging::NoHedge;
use conclave::consultation::transcript::summary::Status;
use conclave::domain::model::billing::Billing;

use super::{
    answer_all_but, answer_at, grok, mistral, plan_with_fallbacks, substitutions, unhealthy,
};
use crate::consultation::prelude::*;

const HEDGE_DELAY: Duration = Duration::from_secs(30);

/// Plays until the call of one expert, which alone has not answered, is hedged.
fn hedged() -> Player {
    let mut player = Player::started(plan_with_fallbacks());
    answer_all_but(&mut player, "anthropic");
    player.pass(HEDGE_DELAY);
    player.rest();
    player
}

/// Returns the reasons of the calls that were not hedged, in order.
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

#[test]
fn silent_call_is_hedged_and_the_first_answer_wins() {
    let mut player = Player::started(plan_with_fallbacks());
    player.answer_agent("architecture", good(&player.open[1].clone()));
    player.answer_agent("pragmatic", good(&player.open[1].clone()));
    player.pass(HEDGE_DELAY);
    player.rest();
    let hedge = player.open.last().unwrap().clone();
    assert_eq!(hedge.model, grok());
    assert_eq!(player.open.len(), 2);
    assert_eq!(hedge.prompt, player.open[0].prompt);
    assert_eq!(hedge.answer, player.open[0].answer);
    assert_eq!(hedge.max_output_tokens, player.open[0].max_output_tokens);
    answer_at(&mut player, "xai");
    assert!(
        player.open.iter().all(|ask| !is_at(ask, "anthropic")),
        "the loser is cancelled"
    );
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    let expected = [("security".into(), grok(), WhySubstituted::Hedge)];
    assert_eq!(substitutions(&player), expected);
    assert!(
        transcript.total().cost.lower_bound,
        "the cost of the loser is unknown"
    );
    assert_logged(&player, "call:cancelled 1 HedgeLost");
    let third = transcript
        .calls
        .iter()
        .find(|call| call.agent_id.as_str() == "security" && call.round_number == 3)
        .unwrap();
    assert_eq!(
        third.model,
        grok(),
        "the slow model is not asked first again"
    );
    assert_eq!(transcript.degradations(), Vec::<String>::new());
    assert_eq!(transcript.status(), Status::Complete);
}

#[test]
fn slow_model_takes_over_when_the_winner_of_its_hedge_fails() {
    let mut player = hedged();
    answer_at(&mut player, "xai");
    play_to(&mut player, StateName::CrossExam);
    player.answer_agent("security", bad_key());
    let next = player
        .open
        .iter()
        .find(|ask| !is_at(ask, "openai") && !is_at(ask, "google"))
        .unwrap();
    assert_eq!(next.model.provider.as_str(), "anthropic");
}

#[test]
fn streaming_call_is_not_hedged_and_a_lost_hedge_degrades_nothing() {
    let mut player = Player::started(plan_with_fallbacks());
    for call in player.open.iter().map(|ask| ask.call).collect::<Vec<_>>() {
        player.give(Input::FirstToken { call });
    }
    player.pass(HEDGE_DELAY);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), []);

    let mut player = hedged();
    answer_at(&mut player, "anthropic");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(substitutions(&player), []);
    assert!(
        fold(&player).degradations().is_empty(),
        "no model was replaced"
    );
}

#[test]
fn one_failed_call_of_a_hedged_pair_leaves_it_to_the_other() {
    let mut player = hedged();
    let hedge = place(&player, |ask| ask.model == grok()).unwrap();
    player.answer(hedge, bad_key());
    assert_eq!(player.open.len(), 1, "the first call continues");
    answer_at(&mut player, "anthropic");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(substitutions(&player), []);

    let mut player = hedged();
    player.answer(0, failure(FailureClass::Overload, "overloaded"));
    assert_eq!(
        player.open.len(),
        1,
        "it is not retried while the hedge is open"
    );
    answer_at(&mut player, "xai");
    let expected = [("security".into(), grok(), WhySubstituted::Hedge)];
    assert_eq!(substitutions(&player), expected);

    let mut player = hedged();
    player.answer(0, failure(FailureClass::Overload, "overloaded"));
    player.answer(0, reply("I would rather not say."));
    player.rest();
    let retry = &player.open[0];
    assert_eq!(
        retry.model.provider.as_str(),
        "anthropic",
        "the first call is retried, as after any failure"
    );
}

#[test]
fn hedges_are_limited_to_a_quarter_and_refusals_have_reasons() {
    let mut player = Player::started(plan_with_fallbacks());
    player.pass(HEDGE_DELAY);
    player.rest();
    let open = player.open.len();
    assert_eq!(open, 5, "two of nine expected calls may be hedged");
    assert_eq!(not_hedged(&player), [NoHedge::QuotaUsed]);

    let mut player = Player::started(Plan {
        fallbacks: BTreeMap::new(),
        ..plan_with_fallbacks()
    });
    player.pass(HEDGE_DELAY);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), [NoHedge::NoBackup; 3]);

    let mut player = Player::started(plan_with_fallbacks());
    for provider in ["xai", "mistral"] {
        player.give(Input::HealthChanged(unhealthy(provider)));
    }
    player.pass(HEDGE_DELAY);
    player.rest();
    assert_eq!(player.open.len(), 3);
    assert_eq!(not_hedged(&player), [NoHedge::NoHealthyBackup; 3]);

    for strict in [true, false] {
        let mut plan = plan_with_fallbacks();
        plan.control.strict = strict;
        if !strict {
            plan.control.hedge.after = None;
        }
        let mut player = Player::started(plan);
        player.pass(HEDGE_DELAY);
        assert!(
            !player.rest(),
            "no hedge timer is set when off or under --strict"
        );
    }
}

#[test]
fn healthy_fallback_is_preferred() {
    let mut player = Player::started(plan_with_fallbacks());
    player.give(Input::HealthChanged(unhealthy("xai")));
    player.pass(HEDGE_DELAY);
    player.rest();
    assert!(
        player.open.iter().any(|ask| ask.model == mistral())
            && place(&player, |ask| ask.model == grok()).is_none()
    );
    let mut player = Player::started(plan_with_fallbacks());
    player.give(Input::HealthChanged(unhealthy("xai")));
    player.answer_agent("security", bad_key());
    assert_eq!(substitutions(&player)[0].1, mistral());
}

#[test]
fn judge_is_hedged_with_the_next_judge() {
    let mut player = Player::started(plan_with_fallbacks());
    play_to(&mut player, StateName::Synthesis);
    player.pass(HEDGE_DELAY);
    while player.open.len() < 2 {
        assert!(player.rest());
    }
    let expected = ModelRef::new("anthropic", "claude-sonnet-5-5");
    assert_eq!(player.open[1].model, expected);
    player.answer(1, reply(good_text(player.open[1].answer)));
    assert_eq!(player.machine.state(), StateName::CrossExam);
}

#[test]
fn no_call_of_a_plan_is_spent_on_a_hedge() {
    let mut plan = plan_with_fallbacks();
    let terms = ModelTerms {
        billing: Billing::Plan,
        ..ModelTerms::default()
    };
    plan.models = [grok(), mistral()].map(|model| (model, terms)).into();
    let mut player = Player::started(plan);
    answer_all_but(&mut player, "anthropic");
    player.pass(HEDGE_DELAY);
    player.rest();
    assert_eq!(not_hedged(&player), [NoHedge::NoBackup]);
    // It takes over after a failure all the same.
    player.answer_agent("security", failure(FailureClass::Auth, "no"));
    assert_eq!(player.open[0].model, grok());
}
