//! Resuming an hour later yields the record of an uninterrupted run: from every event of the log,
//! from every byte of the journal, after any earlier events, and any number of times. The hour does
//! not count.

use std::collections::{BTreeMap, BTreeSet};

use conclave::consultation::Consultation;
use conclave::consultation::event::AgentEvent;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::options::{DebateAnalysis, JudgePasses};
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::domain::ids::CallId;
use conclave::stopping::early_termination::{Policy, TerminationRule};
use proptest::prelude::*;
use serde_json::Value;

use crate::consultation::context::context;
use crate::consultation::early_termination::early_plan;
use crate::consultation::persona_selection::{SELECTION, selection_plan};
use crate::consultation::prelude::*;
use crate::consultation::properties::{How, Step, debate, play, step_of};
use crate::consultation::second_verdict::rejudge::rejudge_plan;
use crate::support::comparable::comparable;
use crate::support::journals::reopen;
use crate::support::script::with_fallback;

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

/// Returns a plan with everything: a context, personas that the helper selects, a comparison of
/// positions and two passes of the judge.
fn whole() -> Plan {
    let mut plan = selection_plan();
    plan.debate.debate_analysis = DebateAnalysis::On;
    plan.debate.judge_passes = JudgePasses::Twice;
    plan.context = Some(Box::new(context("let total = price * amount;\n")));
    plan
}

/// Answers so that positions move and verdicts differ.
fn moving(log: &[Envelope], ask: &Ask) -> Outcome {
    let text = good_text(ask.answer);
    let second = ask.answer == AnswerKind::Verdict && agent_of(log, ask) == AgentId::SecondJudge;
    match ask.answer {
        AnswerKind::Revision => reply(&text.replace("Use OAuth.", "Use sessions.")),
        AnswerKind::PersonaSelection => reply(SELECTION),
        AnswerKind::Synthesis => {
            reply(&text.replace(r#""Expert B"]"#, r#""Expert B","Expert C"]"#))
        }
        _ if second => reply(&text.replace("Use OAuth", "Use JWT")),
        _ => reply(text),
    }
}

/// Returns the hashes of all prompts, by agent.
fn prompts(log: &[Envelope]) -> BTreeMap<AgentId, BTreeSet<String>> {
    let mut prompts: BTreeMap<AgentId, BTreeSet<String>> = BTreeMap::new();
    for call in started(log) {
        let of_agent = prompts.entry(call.agent_id.clone()).or_default();
        of_agent.insert(call.prompt_sha256.clone());
    }
    prompts
}

#[test]
fn resume_from_every_event_yields_the_same_record() {
    let early = early_plan(Policy::Auto, ConsentMode::NonInteractive, 0.90);
    for plan in [plan(), whole(), early, rejudge_plan()] {
        let mut uninterrupted = Player::started(plan);
        uninterrupted.finish_in(moving);
        let expected = comparable_record(&uninterrupted.log);
        for cut in 1..=uninterrupted.log.len() {
            let mut resumed = resume(&uninterrupted.log[..cut]);
            resumed.finish_in(moving);
            check(&resumed.log, &resumed.machine, cut);
            let record = comparable_record(&resumed.log);
            assert_eq!(record, expected, "from event {cut}");
            assert_eq!(prompts(&resumed.log), prompts(&uninterrupted.log));
            let finished = |run: &Player| fold(run).calls.len();
            assert_eq!(finished(&resumed), finished(&uninterrupted));
        }
    }
}

#[test]
fn run_interrupted_twice_ends_the_same() {
    let uninterrupted = finished(Player::started(plan()));
    let expected = comparable_record(&uninterrupted.log);
    for first in (1..uninterrupted.log.len()).step_by(13) {
        let resumed_once = finished(resume(&uninterrupted.log[..first]));
        for second in (first..=resumed_once.log.len()).step_by(7) {
            let resumed_twice = finished(resume(&resumed_once.log[..second]));
            check(&resumed_twice.log, &resumed_twice.machine, second);
            let record = comparable_record(&resumed_twice.log);
            assert_eq!(record, expected, "from event {first}, then {second}");
        }
    }
}

#[test]
fn lost_call_is_repeated_at_unknown_cost_and_the_pause_not_counted() {
    let interrupted = Player::started(plan());
    let resumed = resume(&interrupted.log);
    let repeated = started(&resumed.log[interrupted.log.len()..]);
    let purposes: Vec<Purpose> = repeated.map(|call| call.purpose).collect();
    assert_eq!(purposes, [Purpose::Resumed; 3]);
    let transcript = Transcript::fold(&finished(resumed).log).unwrap();
    assert_eq!(transcript.lost_calls.len(), 3);
    assert!(transcript.total().cost.lower_bound);
    assert_eq!(transcript.total().calls, 9);
    let duration = transcript.duration;
    assert!(duration < Duration::from_secs(60), "{duration:?}");
    assert_eq!(transcript.abort, None);
}

#[test]
fn journal_cut_at_any_byte_resumes_from_its_last_whole_event() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("consult-x.jsonl");
    let uninterrupted = finished(Player::started(plan()));
    let expected = comparable_record(&uninterrupted.log);
    let write = |event| serde_json::to_string(event).unwrap() + "\n";
    let lines: Vec<String> = uninterrupted.log.iter().map(write).collect();
    let tail_from = lines.len() - 8;
    let (head, tail) = (lines[..tail_from].concat(), &lines[tail_from..]);
    for (cut, line) in (tail_from..).zip(tail) {
        let before = &lines[tail_from..cut].concat();
        // Nothing of a line, its first byte, a part, all but its line break, and the whole.
        for length in [0, 1, line.len() / 2, line.len() - 2, line.len() - 1] {
            let part = &line.as_bytes()[..length];
            std::fs::write(&path, [head.as_bytes(), before.as_bytes(), part].concat()).unwrap();
            let (mut journal, events) = reopen(&path);
            journal.finish().unwrap();
            // A line without its line break still counts.
            let whole = cut + usize::from(length == line.len() - 1);
            assert_eq!(
                events,
                uninterrupted.log[..whole],
                "{length} bytes of {line}"
            );
        }
        let resumed = finished(resume(&uninterrupted.log[..cut]));
        assert_eq!(comparable_record(&resumed.log), expected, "before {line}");
    }
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
    assert_logged(&player, "Retry");
    assert!(replay(&player.log).is_ok());
}

/// A step after which a run can still be finished with valid answers.
fn step() -> impl Strategy<Value = Step> {
    use FailureClass::{Auth, Empty, Interrupted, Overload, RateLimit, Transport};
    let classes = vec![Auth, Empty, Interrupted, Overload, RateLimit, Transport];
    let how = prop_oneof![
        8 => Just(How::Good),
        1 => Just(How::Garbage),
        1 => Just(How::CutOff),
        4 => prop::sample::select(classes).prop_map(How::Fails),
    ];
    step_of(how, vec![Answer::Yes])
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
        let transcript = fold(&resumed);
        prop_assert_eq!(transcript.state, StateName::Complete);
        prop_assert_eq!(&transcript.abort, &None);
        prop_assert!(!transcript.is_resumable());
    }
}
