//! The spans of a journal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use conclave::consultation::plan::TraceParent;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::transcript::trace::{Span, Trace};
use conclave::domain::cost::pricing::CostSource;
use conclave::domain::ids::ProviderId;
use serde_json::Value;

use crate::consultation::prelude::*;
use crate::support::script::with_fallback;

pub(super) fn trace(events: &[Envelope]) -> Trace {
    Trace::of(events, Value::Null, None).unwrap()
}

/// A line for each span, below its parent, with milliseconds since the beginning.
fn text(trace: &Trace) -> String {
    let mut text = format!("trace {:032x}\n", trace.id);
    let mut write = |depth: usize, span: &Span| {
        let start = trace.spans[0].start;
        let (kind, indent) = (
            if span.is_client { "client" } else { "internal" },
            "  ".repeat(depth),
        );
        let (from, to) = (span.start.ms_since(start), span.end.ms_since(start));
        writeln!(
            text,
            "{indent}{} {:016x} {kind} {from}-{to}",
            span.name, span.id
        )
        .unwrap();
        for (name, value) in &span.attributes {
            writeln!(text, "{indent}    {name} = {value}").unwrap();
        }
    };
    let below = |parent: &Span| {
        let spans = trace.spans.iter();
        let parent = Some(parent.id);
        spans
            .filter(move |span| span.parent == parent)
            .collect::<Vec<_>>()
    };
    let root = &trace.spans[0];
    write(0, root);
    for agent in below(root) {
        write(1, agent);
        for call in below(agent) {
            write(2, call);
        }
    }
    text
}

#[test]
fn trace_has_attempts_hedges_repairs_and_failures_with_their_times() {
    let mut plan = hedging_plan();
    plan.control.hedge = HedgeRule::default();
    let mut player = Player::started(plan);
    let overloaded = failure_with_hint(FailureClass::Overload, "busy", Duration::from_secs(2));
    player.pass(Duration::from_millis(300));
    player.answer_agent("security", overloaded);
    player.answer_agent("architecture", reply("It depends."));
    assert!(player.rest());
    answer_at(&mut player, "openai");
    player.answer_agent("security", failure(FailureClass::Auth, "no such key"));
    answer_at(&mut player, "xai");
    // The last one is slow, and hedged.
    while !is_hedged(&player) {
        assert!(player.rest(), "it is hedged");
    }
    player.pass(Duration::from_millis(400));
    answer_at(&mut player, "xai");
    assert_eq!(player.finish(good), StateName::Complete);
    insta::assert_snapshot!(text(&trace(&player.log)));
}

/// A plan whose seats have a model to fall back to, with a price.
fn hedging_plan() -> Plan {
    let grok = ModelRef::new("xai", "grok-5");
    let mut plan = with_fallback(plan(), &grok);
    let price = *plan.prices.0.values().next().unwrap();
    plan.prices.0.insert(grok, price);
    plan
}

/// Answers a call at this provider well.
fn answer_at(player: &mut Player, provider: &str) {
    let is_there = |ask: &Ask| ask.model.provider.as_str() == provider;
    let at = player.open.iter().position(is_there).unwrap();
    player.answer(at, good(&player.open[at].clone()));
}

fn is_hedged(player: &Player) -> bool {
    let is_hedge = |envelope: &Envelope| match &envelope.event {
        Event::Call(CallEvent::Started(started)) => started.purpose == Purpose::Hedge,
        _ => false,
    };
    player.log.iter().any(is_hedge)
}

/// Checks what holds for every trace.
fn check(events: &[Envelope]) -> Trace {
    let trace = trace(events);
    let ids: BTreeMap<u64, &Span> = trace.spans.iter().map(|span| (span.id, span)).collect();
    assert_eq!(ids.len(), trace.spans.len(), "every id is there once");
    let mut calls = BTreeSet::new();
    for (at, span) in trace.spans.iter().enumerate() {
        assert!(span.start <= span.end, "{span:?}");
        match span.parent {
            None => assert_eq!(at, 0, "only the consultation has no parent"),
            Some(parent) => {
                let parent = ids[&parent];
                let is_within = parent.start <= span.start && span.end <= parent.end;
                assert!(is_within, "{span:?} in {parent:?}");
            }
        }
        if let Some(call) = span.attributes.get("conclave.call") {
            assert!(
                calls.insert(call.as_u64().unwrap()),
                "call {call} is there once"
            );
        }
    }
    let started = events.iter().filter_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Started(started)) => Some(u64::from(started.call.0)),
        _ => None,
    });
    assert_eq!(calls, started.collect(), "all calls are there");
    trace
}

/// Sometimes the process is killed, and the consultation resumed.
#[test]
fn spans_of_random_consultations_fit_together() {
    for seed in 0..80 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut player = Player::started(hedging_plan());
        let mut answer = |ask: &Ask| match random.u32(0..10) {
            0 => failure(FailureClass::Overload, "overloaded"),
            1 => reply("It depends."),
            2 => stopped("", StopReason::Refused("no".to_owned())),
            3 => failure(FailureClass::Auth, "invalid key"),
            _ => good(ask),
        };
        player.finish(&mut answer);
        let whole = check(&player.log);
        let cut = fastrand::Rng::with_seed(seed).usize(1..player.log.len());
        let killed = check(&player.log[..cut]);
        let Ok(mut resumed) = Player::resumed(&player.log[..cut], Duration::from_secs(60), None)
        else {
            continue;
        };
        resumed.finish(&mut answer);
        let resumed = check(&resumed.log);
        assert_eq!(
            [whole.id, resumed.id],
            [killed.id; 2],
            "a resume is the same trace"
        );
        let ids = |trace: &Trace| {
            trace
                .spans
                .iter()
                .map(|span| span.id)
                .collect::<BTreeSet<_>>()
        };
        assert!(
            ids(&killed).is_subset(&ids(&resumed)),
            "and its spans keep their ids"
        );
    }
}

#[test]
fn calls_of_a_killed_process_are_lost_when_it_was_last_heard_of() {
    let mut player = Player::started(plan());
    player.pass(Duration::from_millis(700));
    answer_at(&mut player, "anthropic");
    let is_lost = |span: &&Span| span.error.as_deref() == Some("lost");
    let killed = trace(&player.log);
    let last_at = player.log.last().unwrap().at;
    let lost: Vec<&Span> = killed.spans.iter().filter(is_lost).collect();
    assert_eq!(lost.len(), 1 + 2, "the consultation and two calls");
    assert!(lost.iter().all(|span| span.end == last_at));
    let mut resumed = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    assert_eq!(resumed.finish(good), StateName::Complete);
    let resumed = trace(&resumed.log);
    let lost: Vec<&Span> = resumed.spans.iter().filter(is_lost).collect();
    assert_eq!(lost.len(), 2, "the calls");
    assert!(lost.iter().all(|span| span.end == last_at));
}

#[test]
fn another_programs_trace_is_continued() {
    let own = trace(&Player::started(plan()).log);
    assert!(own.is_sampled);
    for is_sampled in [true, false] {
        let mut plan = plan();
        plan.trace_parent = Some(TraceParent {
            trace: 7,
            span: 8,
            is_sampled,
        });
        let continued = trace(&Player::started(plan).log);
        assert_eq!((continued.id, continued.spans[0].parent), (7, Some(8)));
        assert_eq!(continued.spans[1], own.spans[1]);
        assert_eq!(continued.is_sampled, is_sampled);
    }
}

#[test]
fn a_plan_that_pays_has_no_cost_and_the_embedded_model_is_no_client() {
    let mut plan = plan();
    for seat in &mut plan.panel.seats {
        seat.model.provider = ProviderId::new("local");
    }
    let mut player = Player::started(plan);
    player.finish(good);
    let mut log = player.log;
    let costs = |log: &[Envelope]| {
        let spans = trace(log).spans.into_iter();
        let calls = spans.filter(|span| span.name.starts_with("chat"));
        calls
            .map(|span| {
                (
                    span.is_client,
                    span.attributes.get("conclave.cost.usd").cloned(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert!(costs(&log).iter().any(|(is_client, _)| !is_client));
    for envelope in &mut log {
        if let Event::Call(CallEvent::Finished(finished)) = &mut envelope.event {
            finished.cost_source = CostSource::Plan;
        }
    }
    assert!(costs(&log).iter().all(|(_, cost)| cost.is_none()));
    let root = &trace(&log).spans[0];
    assert!(!root.attributes.contains_key("conclave.total_cost.usd"));
}
