//! A log is sufficient to resume: a run that is cut off at any event ends as the uninterrupted one.

mod truncated;

use std::time::Duration;

use conclave::consultation::event::{
    Answer, CallEvent, CallStarted, ConsultationEvent, Envelope, Event, StateEvent, StateName,
};
use conclave::consultation::machine::Input;
use conclave::consultation::machine::replay::{ReplayError, replay};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::artifact::Content;
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::domain::money::{Cost, MicroUsd};
use proptest::prelude::*;

use crate::support::script::{Player, crowd, failure, good, plan, reply, with_fallback};

/// Answers an ask independently of interruptions: the outcome depends only on the seed, the agent,
/// the model, the kind of answer and the number of such answers so far.
fn outcome(log: &[Envelope], ask: &Ask, seed: u64) -> Outcome {
    let before = log.iter().filter(|envelope| match &envelope.event {
        Event::Call(CallEvent::Finished(done)) => {
            done.model == ask.model
                && done.answer == ask.answer
                && done.agent_id == agent_of(log, ask)
        }
        _ => false,
    });
    let roll = fastrand::Rng::with_seed(
        seed ^ hash_of(&agent_of(log, ask), &ask.model, ask.answer, before.count()),
    )
    .u32(0..10);
    match roll {
        0 => failure(FailureClass::Overload, "overloaded"),
        1 => reply("It depends."),
        // Not a failure that counts against the provider: its effect depends on the order of calls.
        2 => failure(FailureClass::ModelMissing, "no such model"),
        _ => good(ask),
    }
}

fn agent_of(log: &[Envelope], ask: &Ask) -> AgentId {
    let started = log.iter().find_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Started(CallStarted { call, agent_id, .. }))
            if *call == ask.call =>
        {
            Some(agent_id.clone())
        }
        _ => None,
    });
    started.unwrap()
}

fn hash_of(agent: &AgentId, model: &ModelRef, answer: AnswerKind, before: usize) -> u64 {
    let text = format!("{agent} {model} {answer:?} {before}");
    text.bytes().fold(7, |hash: u64, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    })
}

fn play_on(player: &mut Player, seed: u64) {
    player.finish_in(|log, ask| outcome(log, ask, seed));
}

/// Returns what does not depend on where a run was cut off.
fn summary(log: &[Envelope]) -> (StateName, Vec<Content>, Vec<(AgentId, ModelRef)>, MicroUsd) {
    let transcript = Transcript::fold(log).unwrap();
    let mut artifacts: Vec<Content> = transcript
        .artifacts
        .into_iter()
        .map(|artifact| artifact.content)
        .collect();
    artifacts.sort_by_key(|content| serde_json::to_string(content).unwrap());
    let mut substitutions: Vec<_> = transcript
        .substitutions
        .into_iter()
        .map(|record| (record.agent_id, record.substitute))
        .collect();
    substitutions.sort();
    let cost: Cost = transcript.calls.iter().map(|call| call.cost).sum();
    (transcript.state, artifacts, substitutions, cost.known)
}

fn resume_plan(crowded: bool, consent_mode: ConsentMode) -> Plan {
    let mut plan = if crowded { crowd(7) } else { plan() };
    // In a crowd, the order of failures decides whether the provider becomes unhealthy. Without
    // fallbacks that changes nothing.
    if !crowded {
        plan = with_fallback(plan, &ModelRef::new("xai", "grok-4.7"));
    }
    plan.control.consent.consent_mode = consent_mode;
    plan.control.on_failure = OnFailure::Ask;
    plan
}

fn play(plan: &Plan, seed: u64) -> Player {
    let mut player = Player::started(plan.clone());
    play_on(&mut player, seed);
    player
}

#[test]
fn resume_after_any_event_ends_as_uninterrupted() {
    for (crowded, consent_mode, seed) in [
        (false, ConsentMode::NonInteractive, 1),
        (true, ConsentMode::NonInteractive, 2),
        (false, ConsentMode::Interactive, 3),
        (true, ConsentMode::PreApproved, 4),
    ] {
        let uninterrupted = play(&resume_plan(crowded, consent_mode), seed);
        for cut in 1..uninterrupted.log.len() {
            let mut resumed =
                Player::resumed(&uninterrupted.log[..cut], Duration::ZERO, None).unwrap();
            play_on(&mut resumed, seed);
            assert_eq!(
                summary(&resumed.log),
                summary(&uninterrupted.log),
                "resumed after event {cut} of seed {seed}: {}",
                resumed.log_text()
            );
            let transcript = Transcript::fold(&resumed.log).unwrap();
            assert_eq!(
                transcript.calls.len(),
                Transcript::fold(&uninterrupted.log).unwrap().calls.len(),
                "a finished call is not repeated"
            );
        }
    }
}

#[test]
fn interrupted_and_failed_runs_resume_to_completion() {
    let mut player = Player::started(plan());
    player.answer(0, good(&player.open[0].clone()));
    player.give(Input::Interrupted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.machine.state(), StateName::Independent);
    assert_eq!(resumed.open.len(), 2);
    assert_eq!(resumed.finish(good), StateName::Complete);
    let transcript = Transcript::fold(&resumed.log).unwrap();
    assert_eq!(transcript.abort, None);
    assert_eq!(transcript.calls.len(), 9);
    assert_eq!(transcript.lost_calls.len(), 2);
    assert!(
        transcript.total().cost.lower_bound,
        "the cost of the cancelled calls is unknown"
    );

    // After all experts failed, they are asked again.
    let mut player = Player::started(plan());
    player.finish(|ask| {
        failure(
            FailureClass::Billing,
            &format!("no credit at {}", ask.model.provider),
        )
    });
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.open.len(), 3);
    assert_eq!(resumed.finish(good), StateName::Complete);

    // After the judge failed, it is asked again.
    let mut player = Player::started(plan());
    let judge_fails = |ask: &Ask| {
        if ask.answer == AnswerKind::Verdict {
            failure(FailureClass::Auth, "bad key")
        } else {
            good(ask)
        }
    };
    assert_eq!(player.finish(judge_fails), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.machine.state(), StateName::Verdict);
    assert_eq!(resumed.open.len(), 1);
    assert_eq!(resumed.finish(good), StateName::Complete);
}

#[test]
fn resume_with_a_higher_ceiling_completes_the_run() {
    let mut plan = plan();
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    plan.control.max_cost = Some(MicroUsd(60_000));
    let mut player = Player::started(plan.clone());
    while let Some(ask) = player.open.first().cloned() {
        let mut outcome = good(&ask);
        if let Ok(reply) = &mut outcome {
            reply.reported_cost = Some(MicroUsd(9_000));
        }
        player.answer(0, outcome);
    }
    assert_eq!(player.machine.state(), StateName::Aborted);
    let calls = Transcript::fold(&player.log).unwrap().calls.len();
    plan.control.max_cost = Some(MicroUsd(10_000_000));
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, Some(plan.control)).unwrap();
    assert_eq!(resumed.finish(good), StateName::Complete);
    assert_eq!(
        Transcript::fold(&resumed.log).unwrap().calls.len(),
        9,
        "{calls} were finished before"
    );
}

#[test]
fn complete_and_declined_runs_are_not_resumed() {
    let mut complete = Player::started(plan());
    complete.finish(good);
    let resumed = Player::resumed(&complete.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.log, complete.log);
    let mut plan = plan();
    plan.control.consent.always_allow_under = MicroUsd::ZERO;
    let mut declined = Player::started(plan);
    declined.give(Input::Answered(Answer::No));
    assert_eq!(
        Player::resumed(&declined.log, Duration::ZERO, None)
            .unwrap()
            .log,
        declined.log
    );
}

#[test]
fn log_with_a_forbidden_transition_is_rejected() {
    let mut log = play(&resume_plan(false, ConsentMode::NonInteractive), 5).log;
    let change = log
        .iter_mut()
        .find_map(|envelope| match &mut envelope.event {
            Event::State(StateEvent::Changed { from, to }) if *from == StateName::Independent => {
                Some((envelope.seq, to))
            }
            _ => None,
        });
    let (seq, to) = change.unwrap();
    *to = StateName::CrossExam;
    assert_eq!(
        replay(&log).unwrap_err().to_string(),
        format!("event {seq}: a consultation in state Independent cannot become CrossExam")
    );
}

#[test]
fn changed_log_is_rejected() {
    let uninterrupted = play(&resume_plan(false, ConsentMode::NonInteractive), 5);
    for at in 1..uninterrupted.log.len() {
        let mut changed = uninterrupted.log.clone();
        changed[at].at.0 += 1;
        let error = replay(&changed).unwrap_err();
        assert!(
            matches!(error, ReplayError::DoesNotFollow { .. }),
            "{error}"
        );
        let mut shorter = uninterrupted.log.clone();
        shorter.remove(at);
        if at + 1 < uninterrupted.log.len() {
            assert!(replay(&shorter).is_err(), "without event {at}");
        }
    }
    let mut old = uninterrupted.log.clone();
    if let Event::Consultation(ConsultationEvent::Started(terms)) = &mut old[0].event {
        terms.plan = None;
    }
    assert_eq!(replay(&old).unwrap_err(), ReplayError::OtherVersion);
    assert_eq!(replay(&[]).unwrap_err(), ReplayError::Empty);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 30,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn log_read_from_lines_replays_to_the_same_machine(
        seed in prop_oneof![Just(6_793_047_548_146_852_108), any::<u64>()],
        crowded in any::<bool>(),
        cut_seed in 0..200usize,
    ) {
        let uninterrupted = play(&resume_plan(crowded, ConsentMode::NonInteractive), seed);
        let write = |envelope| serde_json::to_string(envelope).unwrap();
        let lines: Vec<String> = uninterrupted.log.iter().map(write).collect();
        let read: Vec<Envelope> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        prop_assert_eq!(&read, &uninterrupted.log);
        let replayed = replay(&read).unwrap();
        prop_assert!(
            replayed.interruption.effects.is_empty() && replayed.interruption.lost.is_empty()
        );
        prop_assert_eq!(replayed.consultation.state(), uninterrupted.machine.state());
        // Resuming from within the step that aborts tries its stage again, and may end otherwise.
        let is_abort = |event: &Event| {
            matches!(
                event,
                Event::State(StateEvent::Changed {
                    to: StateName::Aborted,
                    ..
                })
            )
        };
        let end = read
            .iter()
            .position(|envelope| is_abort(&envelope.event))
            .unwrap_or(read.len());
        let last_step = read[..end]
            .iter()
            .rposition(|envelope| envelope.cause.is_some())
            .unwrap();
        let cut = 1 + cut_seed % last_step;
        let mut resumed = Player::resumed(&read[..cut], Duration::ZERO, None).unwrap();
        play_on(&mut resumed, seed);
        prop_assert_eq!(summary(&resumed.log), summary(&uninterrupted.log));
        // A resumed run can be resumed.
        prop_assert!(replay(&resumed.log).is_ok());
    }
}
