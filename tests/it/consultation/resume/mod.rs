//! A log is sufficient to resume: a run that is cut off at any event ends as the uninterrupted one.

mod truncated;

use conclave::consultation::event::{ConsultationEvent, StateEvent};
use conclave::consultation::machine::replay::{ReplayError, replay};
use conclave::domain::answer::artifact::Content;

use crate::consultation::prelude::*;
use crate::support::script::{crowd, with_fallback};

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
        2 => no_such_model(),
        _ => good(ask),
    }
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
        // Each of the four runs is cut at other events.
        let first = usize::try_from(seed).unwrap();
        for cut in (first..uninterrupted.log.len()).step_by(4) {
            let mut resumed =
                Player::resumed(&uninterrupted.log[..cut], Duration::ZERO, None).unwrap();
            play_on(&mut resumed, seed);
            assert_eq!(
                summary(&resumed.log),
                summary(&uninterrupted.log),
                "resumed after event {cut} of seed {seed}: {}",
                resumed.log_text()
            );
            let transcript = fold(&resumed);
            assert_eq!(
                transcript.calls.len(),
                fold(&uninterrupted).calls.len(),
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
    let transcript = fold(&resumed);
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
            bad_key()
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
    let calls = fold(&player).calls.len();
    plan.control.max_cost = Some(MicroUsd(10_000_000));
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, Some(plan.control)).unwrap();
    assert_eq!(resumed.finish(good), StateName::Complete);
    assert_eq!(
        fold(&resumed).calls.len(),
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
    let log = Player::resumed(&declined.log, Duration::ZERO, None)
        .unwrap()
        .log;
    assert_eq!(log, declined.log);
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
