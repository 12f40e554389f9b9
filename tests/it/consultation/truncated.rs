//! A consultation that is gone on with an hour later has the same record as if nothing had been:
//! from every event of its log, from every byte of its journal, whatever had happened before, and
//! however often it is cut off. The hour is nobody's.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    AgentEvent, Answer, CallEvent, Envelope, Event, Purpose, StateName,
};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{AgentId, CallId, ModelRef};
use conclave::domain::money::MicroUsd;
use conclave::records::record::record;
use conclave::stopping::early_termination::EarlyStop;
use proptest::prelude::*;
use serde_json::Value;

use super::properties::debate;
use crate::support::comparable::comparable;
use crate::support::journals::reopen;
use crate::support::script::{Player, failure, good, good_text, plan, reply, stopped};

/// Goes on from a log an hour later.
fn again(log: &[Envelope]) -> Player {
    Player::resumed(log, Duration::from_secs(3_600), None).unwrap_or_else(|error| panic!("{error}"))
}

/// Answers everything well until the end.
fn finished(mut player: Player) -> Player {
    player.finish(good);
    player
}

fn essence(log: &[Envelope]) -> Value {
    comparable(record(&Transcript::fold(log).unwrap()))
}

/// Answers that are done: whose, and in which round.
fn done(log: &[Envelope]) -> BTreeSet<(AgentId, AnswerKind)> {
    let completed = log.iter().filter_map(|envelope| match &envelope.event {
        Event::Agent(AgentEvent::Completed {
            agent_id, answer, ..
        }) => Some((agent_id.clone(), *answer)),
        _ => None,
    });
    completed.collect()
}

/// Checks a log of several runs: numbered without gaps, no call twice, nothing asked again that was
/// answered, and it can be played again.
fn check(log: &[Envelope], machine: &Consultation, kept: usize) {
    assert!(
        log.iter()
            .zip(1..)
            .all(|(envelope, seq)| envelope.seq == seq),
        "events are numbered without gaps"
    );
    assert!(
        log.is_sorted_by_key(|envelope| envelope.at),
        "time does not run backwards"
    );
    let mut calls: BTreeMap<CallId, bool> = BTreeMap::new();
    let answered = done(&log[..kept]);
    for (at, envelope) in log.iter().enumerate() {
        match &envelope.event {
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                answer,
                ..
            }) => {
                assert_eq!(calls.insert(*call, false), None, "no call id twice");
                assert!(
                    at < kept || !answered.contains(&(agent_id.clone(), *answer)),
                    "{agent_id} is not asked again for {answer:?}"
                );
            }
            Event::Call(CallEvent::Finished(finished)) => assert_eq!(
                calls.insert(finished.call, true),
                Some(false),
                "a call ends once"
            ),
            Event::Call(CallEvent::Cancelled { call, .. }) => {
                assert_eq!(calls.insert(*call, true), Some(false), "a call ends once");
            }
            _ => {}
        }
    }
    let replayed = replay(log).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        &replayed.consultation, machine,
        "the whole log tells what the machine knows"
    );
    assert_eq!(replayed.effects, Vec::new());
    assert!(replayed.consultation.state().is_terminal());
}

#[test]
fn resume_from_every_event_yields_the_same_record() {
    let whole = finished(Player::started(plan()));
    let expected = essence(&whole.log);
    for kept in 1..=whole.log.len() {
        let again = finished(self::again(&whole.log[..kept]));
        check(&again.log, &again.machine, kept);
        assert_eq!(essence(&again.log), expected, "from event {kept}");
        let repeated = again.log[kept..]
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
            .count();
        let had = whole.log[..kept]
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
            .count();
        assert_eq!(had + repeated, 9, "from event {kept}");
    }
}

#[test]
fn run_interrupted_twice_ends_the_same() {
    let whole = finished(Player::started(plan()));
    let expected = essence(&whole.log);
    for first in (1..whole.log.len()).step_by(5) {
        let once = finished(again(&whole.log[..first]));
        for second in (first..=once.log.len()).step_by(3) {
            let twice = finished(again(&once.log[..second]));
            check(&twice.log, &twice.machine, second);
            assert_eq!(
                essence(&twice.log),
                expected,
                "from event {first}, then {second}"
            );
        }
    }
}

#[test]
fn lost_call_is_repeated_and_its_cost_stays_unknown() {
    let begun = Player::started(plan());
    let again = self::again(&begun.log);
    let purposes: Vec<Purpose> = again.log[begun.log.len()..]
        .iter()
        .filter_map(|envelope| {
            if let Event::Call(CallEvent::Started { purpose, .. }) = &envelope.event {
                Some(*purpose)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(purposes, [Purpose::Resumed; 3]);
    let transcript = Transcript::fold(&finished(again).log).unwrap();
    assert_eq!(transcript.lost_calls.len(), 3);
    assert!(transcript.total().cost.lower_bound);
    assert_eq!(transcript.total().calls, 9);
}

#[test]
fn pause_before_resume_is_not_counted() {
    let begun = Player::started(plan());
    let transcript = Transcript::fold(&finished(again(&begun.log)).log).unwrap();
    assert!(
        transcript.duration < Duration::from_secs(60),
        "{:?}",
        transcript.duration
    );
    assert_eq!(transcript.abort, None);
}

#[test]
fn journal_cut_at_any_byte_resumes_from_its_last_whole_event() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("consult-x.jsonl");
    let whole = finished(Player::started(plan()));
    let expected = essence(&whole.log);
    let lines: Vec<String> = whole
        .log
        .iter()
        .map(|event| serde_json::to_string(event).unwrap() + "\n")
        .collect();
    // The lines before the tail are the same for every cut.
    let tail_from = lines.len()
        - lines
            .iter()
            .rev()
            .scan(0, |length, line| {
                *length += line.len();
                Some(*length)
            })
            .filter(|length| *length < 8_192)
            .count();
    let tail = &lines[tail_from..];
    let bytes = tail.concat().into_bytes();
    let mut tried = BTreeSet::new();
    for end in bytes.len() - 4_096..=bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let (mut journal, events) = reopen(&path);
        journal.finish().unwrap();
        let ends = tail.iter().scan(0, |length, line| {
            *length += line.len();
            Some(*length)
        });
        // Only its line break may be missing from a line that counts.
        let kept = tail_from + ends.filter(|length| *length - 1 <= end).count();
        assert_eq!(events, whole.log[tail_from..kept], "cut at {end}");
        if tried.insert(kept) {
            assert_eq!(
                essence(&finished(again(&whole.log[..kept])).log),
                expected,
                "cut at {end}"
            );
        }
    }
    assert!(tried.len() > 5, "{tried:?}");
}

#[test]
fn call_made_after_resume_has_its_full_time() {
    let whole = Player::started(eventful(false));
    let first_call = whole
        .log
        .iter()
        .position(|envelope| matches!(envelope.event, Event::Call(CallEvent::Started { .. })))
        .unwrap();
    let mut again = self::again(&whole.log[..first_call]);
    assert_eq!(again.open.len(), 3);
    let resumed_at = again.now;
    while again
        .timers
        .first()
        .is_some_and(|(at, _)| *at < resumed_at.after(Duration::from_secs(10)))
    {
        again.fire();
    }
    let hedges = |run: &Player| {
        run.log
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Hedged { .. })))
            .count()
    };
    assert_eq!(hedges(&again), 0, "the hour in between was not its own");
    again.fire();
    assert_eq!(hedges(&again), 1);
    assert_eq!(again.now, resumed_at.after(Duration::from_secs(10)));
}

#[test]
fn replay_does_not_hedge_a_streaming_call() {
    // At the moment of its hedge timer another seat may try again, and that timer comes first.
    let mut player = Player::started(eventful(false));
    let call = player.open[0].call;
    player.give(Input::FirstToken { call });
    player.pass(Duration::from_millis(9_500));
    player.answer(1, failure(FailureClass::Overload, "overloaded"));
    player.pass(Duration::from_secs(5));
    while player.fire() && player.open.len() < 3 {}
    assert!(player.log_text().contains("Retry"), "{}", player.log_text());
    assert!(replay(&player.log).is_ok());
}

/// One thing that happens next.
#[derive(Clone, Debug)]
enum Step {
    Answer { at: usize, how: How },
    FirstToken { at: usize },
    Fire,
    Pass { ms: u64 },
    Yes,
    Interrupt,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Good,
    Garbage,
    CutOff,
    Fails(FailureClass),
}

fn step() -> impl Strategy<Value = Step> {
    use FailureClass::{Auth, Empty, Interrupted, Overload, RateLimit, Transport};
    let how = prop_oneof![
        8 => Just(How::Good),
        1 => Just(How::Garbage),
        1 => Just(How::CutOff),
        4 => prop::sample::select(vec![Auth, Empty, Interrupted, Overload, RateLimit, Transport]).prop_map(How::Fails),
    ];
    prop_oneof![
        30 => (0..8usize, how).prop_map(|(at, how)| Step::Answer { at, how }),
        6 => (0..8usize).prop_map(|at| Step::FirstToken { at }),
        10 => Just(Step::Fire),
        4 => (0..20_000u64).prop_map(|ms| Step::Pass { ms }),
        6 => Just(Step::Yes),
        1 => Just(Step::Interrupt),
    ]
}

fn play(run: &mut Player, step: &Step) {
    let pick = |run: &Player, at: usize| (!run.open.is_empty()).then(|| at % run.open.len());
    match step {
        Step::Answer { at, how } => {
            if let Some(at) = pick(run, *at) {
                run.now = run.now.after(Duration::from_millis(100));
                let text = good_text(run.open[at].answer);
                let outcome = match how {
                    How::Good => reply(text),
                    How::Garbage => reply("Well, it depends."),
                    How::CutOff => stopped(text.split_at(text.len() / 2).0, StopReason::Length),
                    How::Fails(class) => failure(*class, "it failed"),
                };
                run.answer(at, outcome);
            }
        }
        Step::FirstToken { at } => {
            if let Some(at) = pick(run, *at) {
                let call = run.open[at].call;
                run.give(Input::FirstToken { call });
            }
        }
        Step::Fire => drop(run.fire()),
        Step::Pass { ms } => run.now = run.now.after(Duration::from_millis(*ms)),
        Step::Yes if run.question.is_some() => run.give(Input::Answered(Answer::Yes)),
        Step::Yes => {}
        Step::Interrupt => run.give(Input::Interrupted),
    }
}

/// With hedges, substitutes, pulses, and somebody to ask.
fn eventful(ask: bool) -> Plan {
    let mut plan = plan();
    plan.control.hedge = HedgeRule::default();
    plan.control.pulse = Some(Duration::from_secs(60));
    plan.control.on_failure = if ask {
        OnFailure::Ask
    } else {
        OnFailure::Substitute
    };
    plan.control.consent.consent_mode = if ask {
        ConsentMode::Interactive
    } else {
        ConsentMode::PreApproved
    };
    if ask {
        plan.control.consent.always_allow_under = MicroUsd::ZERO;
    }
    let spare = ModelRef::new("xai", "grok-4.7");
    plan.fallbacks = plan
        .panel
        .seats
        .iter()
        .map(|seat| (seat.id.clone(), vec![spare.clone()]))
        .collect();
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_cut_anywhere_resumes_to_an_answer(
        ask in any::<bool>(),
        debate in debate(),
        steps in prop::collection::vec(step(), 0..60),
        cut in 0..10_000usize,
    ) {
        let mut plan = Plan { debate, ..eventful(ask) };
        plan.control.early_termination = EarlyStop::usual();
        let mut run = Player::started(plan);
        for step in &steps {
            play(&mut run, step);
        }
        let kept = 1 + cut % run.log.len();
        let again = finished(self::again(&run.log[..kept]));
        check(&again.log, &again.machine, kept);
        prop_assert_eq!(again.machine.state(), StateName::Complete);
        let transcript = Transcript::fold(&again.log).unwrap();
        prop_assert_eq!(transcript.state, StateName::Complete);
        prop_assert_eq!(&transcript.abort, &None);
        prop_assert!(!transcript.is_resumable());
    }
}
