//! Resuming an hour later yields the record of an uninterrupted run: from every event of the log,
//! from every byte of the journal, after any earlier events, and any number of times. The hour does
//! not count.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    AgentEvent, Answer, CallEvent, CallStarted, Envelope, Event, Purpose, StateName,
};
use conclave::consultation::machine::Input;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{AgentId, CallId, ModelRef};
use conclave::domain::money::MicroUsd;
use conclave::stopping::early_termination::TerminationRule;
use proptest::prelude::*;
use serde_json::Value;

use crate::consultation::properties::debate;
use crate::support::comparable::comparable;
use crate::support::journals::reopen;
use crate::support::record_json;
use crate::support::script::{
    Player, failure, good, good_text, plan, reply, stopped, with_fallback,
};

/// Resumes a log an hour later.
fn resume(log: &[Envelope]) -> Player {
    Player::resumed(log, Duration::from_secs(3_600), None).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays to the end with valid answers.
fn finished(mut player: Player) -> Player {
    player.finish(good);
    player
}

fn comparable_record(log: &[Envelope]) -> Value {
    comparable(record_json(&Transcript::fold(log).unwrap()))
}

/// Returns the finished answers by agent and kind.
fn finished_answers(log: &[Envelope]) -> BTreeSet<(AgentId, AnswerKind)> {
    let completed = log.iter().filter_map(|envelope| match &envelope.event {
        Event::Agent(AgentEvent::Completed {
            agent_id, answer, ..
        }) => Some((agent_id.clone(), *answer)),
        _ => None,
    });
    completed.collect()
}

/// Checks the log of several runs: numbered without gaps, no call id twice, no finished answer
/// requested again, and the log replays to the machine.
fn check(log: &[Envelope], machine: &Consultation, cut: usize) {
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
    let answered = finished_answers(&log[..cut]);
    for (at, envelope) in log.iter().enumerate() {
        match &envelope.event {
            Event::Call(CallEvent::Started(CallStarted {
                call,
                agent_id,
                answer,
                ..
            })) => {
                assert_eq!(calls.insert(*call, false), None, "no call id twice");
                assert!(
                    at < cut || !answered.contains(&(agent_id.clone(), *answer)),
                    "{agent_id} already gave {answer:?}"
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
        "the log replays to the machine"
    );
    assert_eq!(replayed.interruption.effects, Vec::new());
    assert!(replayed.consultation.state().is_terminal());
}

#[test]
fn resume_from_every_event_yields_the_same_record() {
    let uninterrupted = finished(Player::started(plan()));
    let expected = comparable_record(&uninterrupted.log);
    for cut in 1..=uninterrupted.log.len() {
        let resumed = finished(resume(&uninterrupted.log[..cut]));
        check(&resumed.log, &resumed.machine, cut);
        assert_eq!(
            comparable_record(&resumed.log),
            expected,
            "from event {cut}"
        );
        let finished_after = resumed.log[cut..]
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
            .count();
        let finished_before = uninterrupted.log[..cut]
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
            .count();
        assert_eq!(finished_before + finished_after, 9, "from event {cut}");
    }
}

#[test]
fn run_interrupted_twice_ends_the_same() {
    let uninterrupted = finished(Player::started(plan()));
    let expected = comparable_record(&uninterrupted.log);
    for first in (1..uninterrupted.log.len()).step_by(5) {
        let resumed_once = finished(resume(&uninterrupted.log[..first]));
        for second in (first..=resumed_once.log.len()).step_by(3) {
            let resumed_twice = finished(resume(&resumed_once.log[..second]));
            check(&resumed_twice.log, &resumed_twice.machine, second);
            assert_eq!(
                comparable_record(&resumed_twice.log),
                expected,
                "from event {first}, then {second}"
            );
        }
    }
}

#[test]
fn lost_call_is_repeated_and_its_cost_stays_unknown() {
    let interrupted = Player::started(plan());
    let resumed = resume(&interrupted.log);
    let purposes: Vec<Purpose> = resumed.log[interrupted.log.len()..]
        .iter()
        .filter_map(|envelope| {
            if let Event::Call(CallEvent::Started(CallStarted { purpose, .. })) = &envelope.event {
                Some(*purpose)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(purposes, [Purpose::Resumed; 3]);
    let transcript = Transcript::fold(&finished(resumed).log).unwrap();
    assert_eq!(transcript.lost_calls.len(), 3);
    assert!(transcript.total().cost.lower_bound);
    assert_eq!(transcript.total().calls, 9);
}

#[test]
fn pause_before_resume_is_not_counted() {
    let interrupted = Player::started(plan());
    let transcript = Transcript::fold(&finished(resume(&interrupted.log)).log).unwrap();
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
    let uninterrupted = finished(Player::started(plan()));
    let expected = comparable_record(&uninterrupted.log);
    let lines: Vec<String> = uninterrupted
        .log
        .iter()
        .map(|event| serde_json::to_string(event).unwrap() + "\n")
        .collect();
    // All cuts share the lines before the tail.
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
    let mut resumed_from = BTreeSet::new();
    for end in bytes.len() - 4_096..=bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let (mut journal, events) = reopen(&path);
        journal.finish().unwrap();
        let ends = tail.iter().scan(0, |length, line| {
            *length += line.len();
            Some(*length)
        });
        // A line without its line break still counts.
        let cut = tail_from + ends.filter(|length| *length - 1 <= end).count();
        assert_eq!(
            events,
            uninterrupted.log[tail_from..cut],
            "cut at byte {end}"
        );
        if resumed_from.insert(cut) {
            assert_eq!(
                comparable_record(&finished(resume(&uninterrupted.log[..cut])).log),
                expected,
                "cut at byte {end}"
            );
        }
    }
    assert!(resumed_from.len() > 5, "{resumed_from:?}");
}

#[test]
fn call_made_after_resume_has_its_full_time() {
    let uninterrupted = Player::started(eventful(false));
    let first_call = uninterrupted
        .log
        .iter()
        .position(|envelope| matches!(envelope.event, Event::Call(CallEvent::Started(_))))
        .unwrap();
    let mut resumed = resume(&uninterrupted.log[..first_call]);
    assert_eq!(resumed.open.len(), 3);
    let resumed_at = resumed.now;
    while resumed
        .timers
        .first()
        .is_some_and(|(at, _)| *at < resumed_at.after(Duration::from_secs(30)))
    {
        resumed.fire();
    }
    let hedges = |run: &Player| {
        run.log
            .iter()
            .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Hedged { .. })))
            .count()
    };
    assert_eq!(
        hedges(&resumed),
        0,
        "the hour before the resume does not count"
    );
    resumed.fire();
    assert_eq!(hedges(&resumed), 1);
    assert_eq!(resumed.now, resumed_at.after(Duration::from_secs(30)));
}

#[test]
fn replay_does_not_hedge_a_streaming_call() {
    // Another seat's retry is due at the same time as the hedge timer, and comes first.
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

/// The next input of a script.
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
    let classes = vec![Auth, Empty, Interrupted, Overload, RateLimit, Transport];
    let how = prop_oneof![
        8 => Just(How::Good),
        1 => Just(How::Garbage),
        1 => Just(How::CutOff),
        4 => prop::sample::select(classes).prop_map(How::Fails),
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

/// Returns a plan with hedges, fallbacks, pulses and, if `ask`, a user to ask.
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
    with_fallback(plan, &ModelRef::new("xai", "grok-4.7"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn log_cut_anywhere_resumes_to_an_answer(
        ask in any::<bool>(),
        debate in debate(),
        steps in prop::collection::vec(step(), 0..60),
        cut_seed in 0..10_000usize,
    ) {
        let mut plan = Plan { debate, ..eventful(ask) };
        plan.control.early_termination = TerminationRule::usual();
        let mut run = Player::started(plan);
        for step in &steps {
            play(&mut run, step);
        }
        let cut = 1 + cut_seed % run.log.len();
        let resumed = finished(resume(&run.log[..cut]));
        check(&resumed.log, &resumed.machine, cut);
        prop_assert_eq!(resumed.machine.state(), StateName::Complete);
        let transcript = Transcript::fold(&resumed.log).unwrap();
        prop_assert_eq!(transcript.state, StateName::Complete);
        prop_assert_eq!(&transcript.abort, &None);
        prop_assert!(!transcript.is_resumable());
    }
}
