//! A log is all that is needed to go on: whatever instant a run is cut off at, it ends as the one
//! that was not.

use std::time::Duration;

use conclave::consultation::event::{
    Answer, CallEvent, ConsultationEvent, Envelope, Event, StateEvent, StateName,
};
use conclave::consultation::machine::replay::{ReplayError, replay};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::artifact::Content;
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::domain::money::{Cost, MicroUsd};
use proptest::prelude::*;

use crate::support::script::{Player, crowd, failure, good, plan, reply};

/// A world in which the same question has the same fate, however often the process was gone: what a
/// model answers depends on who is asked for what, and on how often it has answered this already.
fn world(log: &[Envelope], ask: &Ask, seed: u64) -> Outcome {
    let before = log.iter().filter(|envelope| match &envelope.event {
        Event::Call(CallEvent::Finished(done)) => {
            done.model == ask.model
                && done.answer == ask.answer
                && done.agent_id == agent_of(log, ask)
        }
        _ => false,
    });
    let fate = fastrand::Rng::with_seed(
        seed ^ fate_of(&agent_of(log, ask), &ask.model, ask.answer, before.count()),
    )
    .u32(0..10);
    match fate {
        0 => failure(FailureClass::Overload, "overloaded"),
        1 => reply("It depends."),
        // Not one that speaks against a provider: then it counts who is told so first.
        2 => failure(FailureClass::ModelMissing, "no such model"),
        _ => good(ask),
    }
}

fn agent_of(log: &[Envelope], ask: &Ask) -> AgentId {
    let started = log.iter().find_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Started { call, agent_id, .. }) if *call == ask.call => {
            Some(agent_id.clone())
        }
        _ => None,
    });
    started.unwrap()
}

fn fate_of(agent: &AgentId, model: &ModelRef, answer: AnswerKind, before: usize) -> u64 {
    let text = format!("{agent} {model} {answer:?} {before}");
    text.bytes().fold(7, |hash: u64, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    })
}

fn play_on(player: &mut Player, seed: u64) {
    player.finish_in(|log, ask| world(log, ask, seed));
}

/// What of a run does not depend on when it was cut off.
fn essence(log: &[Envelope]) -> (StateName, Vec<Content>, Vec<(AgentId, ModelRef)>, MicroUsd) {
    let told = Transcript::fold(log).unwrap();
    let mut artifacts: Vec<Content> = told
        .artifacts
        .into_iter()
        .map(|artifact| artifact.content)
        .collect();
    artifacts.sort_by_key(|content| serde_json::to_string(content).unwrap());
    let mut substitutions: Vec<_> = told
        .substitutions
        .into_iter()
        .map(|told| (told.agent_id, told.substitute))
        .collect();
    substitutions.sort();
    let cost: Cost = told.calls.iter().map(|call| call.cost).sum();
    (told.state, artifacts, substitutions, cost.known)
}

fn backed(crowded: bool, consent_mode: ConsentMode) -> Plan {
    let mut plan = if crowded { crowd(7) } else { plan() };
    // Whether a crowd is turned away from a provider that fails depends on who fails first: there
    // is nobody else for it to turn to here.
    if !crowded {
        let grok = ModelRef::new("xai", "grok-4.7");
        plan.fallbacks = plan
            .panel
            .seats
            .iter()
            .map(|seat| (seat.id.clone(), vec![grok.clone()]))
            .collect();
    }
    plan.control.consent.consent_mode = consent_mode;
    plan.control.on_failure = conclave::consultation::policy::substitution::OnFailure::Ask;
    plan
}

fn straight(plan: &Plan, seed: u64) -> Player {
    let mut player = Player::started(plan.clone());
    play_on(&mut player, seed);
    player
}

#[test]
fn cut_off_after_any_event_it_ends_as_the_uninterrupted_one_and_repeats_no_finished_call() {
    for (crowded, consent_mode, seed) in [
        (false, ConsentMode::NonInteractive, 1),
        (true, ConsentMode::NonInteractive, 2),
        (false, ConsentMode::Interactive, 3),
        (true, ConsentMode::PreApproved, 4),
    ] {
        let whole = straight(&backed(crowded, consent_mode), seed);
        for kept in 1..whole.log.len() {
            let mut again = Player::resumed(&whole.log[..kept], Duration::ZERO, None).unwrap();
            play_on(&mut again, seed);
            assert_eq!(
                essence(&again.log),
                essence(&whole.log),
                "cut off after event {kept} of seed {seed}: {}",
                again.log_text()
            );
            let told = Transcript::fold(&again.log).unwrap();
            assert_eq!(
                told.calls.len(),
                Transcript::fold(&whole.log).unwrap().calls.len(),
                "a finished call is not repeated"
            );
        }
    }
}

#[test]
fn an_end_that_was_none_is_gone_on_with() {
    let mut player = Player::started(plan());
    player.answer(0, good(&player.open[0].clone()));
    player.give(Input::Interrupted);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(
        (again.machine.state(), again.open.len()),
        (StateName::Independent, 2)
    );
    assert_eq!(again.finish(good), StateName::Complete);
    let told = Transcript::fold(&again.log).unwrap();
    assert_eq!(
        (told.abort.clone(), told.calls.len(), told.lost_calls.len()),
        (None, 9, 2)
    );
    assert!(
        told.total().cost.lower_bound,
        "what the dropped calls cost nobody knows"
    );

    // Who failed is asked again when that was the end of it.
    let mut player = Player::started(plan());
    player.finish(|ask| {
        failure(
            FailureClass::Billing,
            &format!("no credit at {}", ask.model.provider),
        )
    });
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(again.open.len(), 3);
    assert_eq!(again.finish(good), StateName::Complete);

    // And so is the judge.
    let mut player = Player::started(plan());
    let judge_fails = |ask: &Ask| {
        if ask.answer == AnswerKind::Verdict {
            failure(FailureClass::Auth, "bad key")
        } else {
            good(ask)
        }
    };
    assert_eq!(player.finish(judge_fails), StateName::Aborted);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(
        (again.machine.state(), again.open.len()),
        (StateName::Verdict, 1)
    );
    assert_eq!(again.finish(good), StateName::Complete);
}

#[test]
fn it_goes_on_under_a_higher_ceiling_where_a_lower_one_had_stopped_it() {
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
    let mut again = Player::resumed(&player.log, Duration::ZERO, Some(plan.control)).unwrap();
    assert_eq!(again.finish(good), StateName::Complete);
    assert_eq!(
        Transcript::fold(&again.log).unwrap().calls.len(),
        9,
        "{calls} were kept"
    );
}

#[test]
fn what_is_over_or_was_refused_is_not_gone_on_with() {
    let mut done = Player::started(plan());
    done.finish(good);
    let over = Player::resumed(&done.log, Duration::ZERO, None).unwrap();
    assert_eq!(over.log, done.log);
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
fn a_log_that_was_changed_is_refused_and_the_place_is_named() {
    let whole = straight(&backed(false, ConsentMode::NonInteractive), 5);
    for at in 1..whole.log.len() {
        let mut changed = whole.log.clone();
        changed[at].at.0 += 1;
        let refused = replay(&changed).unwrap_err();
        assert!(
            matches!(refused, ReplayError::DoesNotFollow { .. }),
            "{refused}"
        );
        let mut shorter = whole.log.clone();
        shorter.remove(at);
        if at + 1 < whole.log.len() {
            assert!(replay(&shorter).is_err(), "without event {at}");
        }
    }
    let mut old = whole.log.clone();
    if let Event::Consultation(ConsultationEvent::Started(terms)) = &mut old[0].event {
        terms.plan = None;
    }
    assert_eq!(replay(&old).unwrap_err(), ReplayError::OlderVersion);
    assert_eq!(replay(&[]).unwrap_err(), ReplayError::Empty);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_that_was_written_as_lines_replays_to_the_same_machine(seed in prop_oneof![Just(6_793_047_548_146_852_108), any::<u64>()], crowded in any::<bool>(), cut in 0..200usize) {
        let whole = straight(&backed(crowded, ConsentMode::NonInteractive), seed);
        let lines: Vec<String> = whole.log.iter().map(|envelope| serde_json::to_string(envelope).unwrap()).collect();
        let read: Vec<Envelope> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &whole.log);
        let replayed = replay(&read).unwrap();
        prop_assert!(replayed.effects.is_empty() && replayed.lost.is_empty());
        prop_assert_eq!(replayed.consultation.state(), whole.machine.state());
        // Resuming from within the step that aborts tries its stage again, and may end otherwise.
        let aborted = read.iter().position(|envelope| matches!(envelope.event, Event::State(StateEvent::Changed { to: StateName::Aborted, .. })));
        let last_step = read[..aborted.unwrap_or(read.len())].iter().rposition(|envelope| envelope.cause.is_some()).unwrap();
        let kept = 1 + cut % last_step;
        let mut again = Player::resumed(&read[..kept], Duration::ZERO, None).unwrap();
        play_on(&mut again, seed);
        prop_assert_eq!(essence(&again.log), essence(&whole.log));
        // What was gone on with can be gone on with.
        prop_assert!(replay(&again.log).is_ok());
    }
}
