//! When calls go out: concurrency limits, backoffs and retries. The player checks at every call
//! that its provider is not backing off and is below its limit.

use conclave::consultation::event::AgentEvent;
use conclave::consultation::plan::USUAL_IN_FLIGHT;
use conclave::domain::ids::ProviderId;

use crate::consultation::prelude::*;
use crate::support::script::crowd;

const SECOND: Duration = Duration::from_secs(1);

fn rate_limited(hint: Option<Duration>) -> Outcome {
    match hint {
        Some(hint) => failure_with_hint(FailureClass::RateLimit, "too many requests", hint),
        None => failure(FailureClass::RateLimit, "too many requests"),
    }
}

fn count(player: &Player) -> usize {
    started(&player.log).count()
}

fn calls(player: &Player, purpose: Purpose) -> usize {
    let calls = started(&player.log);
    calls.filter(|call| call.purpose == purpose).count()
}

#[test]
fn at_most_four_calls_are_in_flight_per_provider() {
    let mut player = Player::started(crowd(10));
    assert_eq!(player.open.len(), USUAL_IN_FLIGHT as usize);
    player.answer(0, good(&player.open[0].clone()));
    let expected = USUAL_IN_FLIGHT as usize;
    assert_eq!(player.open.len(), expected, "the next call starts");
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(player.most_in_flight, USUAL_IN_FLIGHT as usize);
}

#[test]
fn custom_limit_applies_to_its_provider() {
    let mut plan = crowd(10);
    plan.in_flight.insert(ProviderId::new("anthropic"), 1);
    let mut player = Player::started(plan);
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(player.most_in_flight, 1);
}

#[test]
fn one_rate_limit_delays_all_calls_until_the_hint_has_passed() {
    let mut player = Player::started(crowd(10));
    let before = player.now;
    player.answer(0, rate_limited(Some(7 * SECOND)));
    for _ in 0..3 {
        player.answer(0, good(&player.open[0].clone()));
    }
    assert_eq!(player.open.len(), 0);
    assert_eq!(
        count(&player),
        4,
        "no call starts although none is in flight"
    );
    player.pass(6 * SECOND);
    player.give(Input::FirstToken {
        call: conclave::domain::ids::CallId(1),
    });
    assert_eq!(player.open.len(), 0);
    assert!(player.rest() && player.now == before.after(7 * SECOND));
    assert_eq!(player.open.len(), 1, "one call probes after a rate limit");
    player.answer(0, good(&player.open[0].clone()));
    assert_eq!(player.open.len(), 2, "each success admits one more");
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn backoff_outlives_its_round() {
    let mut plan = crowd(2);
    plan.panel.judges = vec![plan.panel.seats[0].model.clone()];
    let mut player = Player::started(plan);
    let until = player.now.after(20 * SECOND);
    // The second expert answers. The first fails for another reason after the backoff.
    player.answer(
        0,
        failure_with_hint(FailureClass::Overload, "busy", 20 * SECOND),
    );
    player.answer(0, good(&player.open[0].clone()));
    assert!(player.rest() && player.now == until);
    player.answer(0, failure(FailureClass::Auth, "who are you?"));
    assert_eq!(player.machine.state(), StateName::Synthesis);
    let judge_asked_at = player.now;
    player.answer(0, rate_limited(Some(5 * SECOND)));
    assert!(
        player.open.is_empty() && player.rest() && player.now == judge_asked_at.after(5 * SECOND)
    );
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn long_retry_hint_fails_every_task_at_its_provider() {
    let mut player = Player::started(crowd(10));
    for _ in 0..4 {
        player.answer(0, rate_limited(Some(31 * SECOND)));
    }
    let calls = count(&player);
    while player.rest() {}
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(calls, 4);
    assert_eq!(count(&player), 4);
    let reasons: Vec<_> = player
        .log
        .iter()
        .filter(|event| matches!(event.event, Event::Agent(AgentEvent::Failed(_))))
        .collect();
    assert_eq!(reasons.len(), 10);
    let story = player.log_text();
    let expected = "too many requests; `anthropic` asks for a pause of 31 s";
    assert!(story.contains(expected), "{story}");
}

#[test]
fn rate_limited_crowd_makes_no_surplus_calls() {
    for hint in [Some(2 * SECOND), None] {
        let mut player = Player::started(crowd(24));
        let mut rejected = 0;
        let state = player.finish(|ask: &Ask| {
            // The first twelve calls are rejected, then the provider recovers.
            if rejected < 12 && is_at(ask, "anthropic") {
                rejected += 1;
                rate_limited(hint)
            } else {
                good(ask)
            }
        });
        assert_eq!(state, StateName::Complete);
        // 24 experts twice, the judge three times, and one retry for each rejected call.
        assert!(
            count(&player) <= 24 * 2 + 3 + 12,
            "{} calls",
            count(&player)
        );
        assert!(player.most_in_flight <= USUAL_IN_FLIGHT as usize);
    }
}

#[test]
fn crowd_at_a_provider_that_never_recovers_ends_soon() {
    let mut player = Player::started(crowd(24));
    let began = player.now;
    assert_eq!(player.finish(|_| rate_limited(None)), StateName::Aborted);
    assert!(count(&player) <= 24 * 3, "{} calls", count(&player));
    assert!(
        player.now.since(began) < 160 * SECOND,
        "two minutes and the last wait"
    );
    assert!(player.log_text().contains("has refused every call for "));
}

#[test]
fn unsupported_form_is_replaced_at_once_without_using_a_retry() {
    let mut player = Player::started(plan());
    let before = player.now;
    player.answer_agent(
        "security",
        failure(
            FailureClass::Unsupported,
            "no `response_format`; asking again without it",
        ),
    );
    assert_eq!(calls(&player, Purpose::Reformed), 1);
    assert_eq!(player.now, before);
    for _ in 0..2 {
        player.answer_agent("security", failure(FailureClass::Overload, "busy"));
        assert!(player.rest());
    }
    player.answer_agent("security", good(&player.open.last().unwrap().clone()));
    assert_eq!(calls(&player, Purpose::Retry), 2);
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn interrupt_drops_waiting_requests_too() {
    let mut player = Player::started(crowd(10));
    player.answer(0, rate_limited(Some(7 * SECOND)));
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(count(&player), 4);
    assert!(
        player.rest() && player.open.is_empty(),
        "a timer that fires later changes nothing"
    );
}
