//! Random scripts: whatever happens, the invariants hold (checked by the player after every input), a run ends,
//! its log folds back to its outcome, and a machine stored and restored at any point ends as the one that was not.

use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::call::{FailureClass, Outcome, StopReason};
use conclave::consultation::event::Envelope;
use conclave::consultation::protocol::{Answer, Input};
use conclave::consultation::transcript::Transcript;
use conclave::domain::money::{Cost, MicroUsd};
use proptest::prelude::*;

use crate::support::script::{Player, crowd, failure, good_text, hinted, plan, reply, stopped};

/// One thing that happens next.
#[derive(Clone, Debug)]
enum Step {
    Answer { at: usize, how: How },
    FirstToken { at: usize },
    Fire,
    Pass { ms: u64 },
    Consent(bool),
    Interrupt,
    Nonsense,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Good,
    Garbage,
    Empty,
    CutOff,
    Refused,
    Odd,
    Fails(FailureClass),
    /// The provider says when to come back.
    Hints(FailureClass, u64),
}

fn how() -> impl Strategy<Value = How> {
    use FailureClass::{Auth, Context, Empty, Internal, Interrupted, Overload, RateLimit, Transport, Unsupported};
    prop_oneof![
        12 => Just(How::Good),
        2 => Just(How::Garbage),
        1 => Just(How::Empty),
        1 => Just(How::CutOff),
        1 => Just(How::Refused),
        1 => Just(How::Odd),
        4 => prop::sample::select(vec![Auth, Context, Empty, Internal, Interrupted, Overload, RateLimit, Transport, Unsupported])
            .prop_map(How::Fails),
        2 => (prop::sample::select(vec![RateLimit, Overload]), 0..60_000u64).prop_map(|(class, ms)| How::Hints(class, ms)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0..8usize, how()).prop_map(|(at, how)| Step::Answer { at, how }),
        6 => (0..8usize).prop_map(|at| Step::FirstToken { at }),
        8 => Just(Step::Fire),
        4 => (0..5_000u64).prop_map(|ms| Step::Pass { ms }),
        4 => any::<bool>().prop_map(Step::Consent),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Nonsense),
    ]
}

fn play(player: &mut Player, step: &Step) {
    let pick = |player: &Player, at: usize| (!player.open.is_empty()).then(|| at % player.open.len());
    match step {
        Step::Answer { at, how } => {
            if let Some(at) = pick(player, *at) {
                let kind = player.open[at].answer;
                player.answer(at, outcome(*how, good_text(kind)));
            }
        }
        Step::FirstToken { at } => {
            if let Some(at) = pick(player, *at) {
                let call = player.open[at].call;
                player.give(Input::FirstToken { call });
            }
        }
        Step::Fire => drop(player.fire()),
        Step::Pass { ms } => player.pass(Duration::from_millis(*ms)),
        Step::Consent(yes) => player.give(if *yes { Input::Answered(Answer::Yes) } else { Input::Answered(Answer::No) }),
        Step::Interrupt => player.give(Input::Interrupted),
        Step::Nonsense => player.give(Input::Start),
    }
}

fn outcome(how: How, good: &str) -> Outcome {
    match how {
        How::Good => reply(good),
        How::Garbage => reply("Well, it depends."),
        How::Empty => reply(""),
        How::CutOff => stopped(good.split_at(good.len() / 2).0, StopReason::Length),
        How::Refused => stopped("", StopReason::Refused(String::new())),
        How::Odd => stopped(good, StopReason::Other("odd".into())),
        How::Fails(class) => failure(class, "it failed"),
        How::Hints(class, ms) => hinted(class, "slow down", Duration::from_millis(ms)),
    }
}

fn started(always_allow_under: u64, crowded: bool) -> Player {
    let mut plan = if crowded { crowd(9) } else { plan() };
    plan.control.consent.always_allow_under = MicroUsd(always_allow_under);
    Player::started(plan)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_script_keeps_the_invariants_and_can_be_brought_to_an_end(
        ask in any::<bool>(),
        crowded in any::<bool>(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut player = started(if ask { 0 } else { 10_000_000 }, crowded);
        for step in &steps {
            play(&mut player, step);
        }
        if player.question.is_some() {
            player.give(Input::Answered(Answer::Yes));
        }
        if !player.machine.state().is_terminal() {
            player.finish(|ask| reply(good_text(ask.answer)));
        }

        let transcript = Transcript::fold(&player.log).expect("a log folds");
        prop_assert_eq!(transcript.state, player.machine.state());
        let cost: Cost = transcript.calls.iter().map(|call| call.cost).sum();
        prop_assert_eq!(transcript.total().cost.known, cost.known);
        let by_provider: Cost = transcript.spend_by_provider().into_values().map(|spend| spend.cost).sum();
        prop_assert_eq!(by_provider, transcript.total().cost);
    }

    #[test]
    fn a_machine_restored_at_any_point_ends_as_the_uninterrupted_one(crowded in any::<bool>(), steps in prop::collection::vec(step(), 1..60), at in 0..60usize) {
        let mut straight = started(10_000_000, crowded);
        let mut restored = started(10_000_000, crowded);
        for (number, step) in steps.iter().enumerate() {
            if number == at % steps.len() {
                let stored = serde_json::to_string(&restored.machine).expect("a machine can be stored");
                restored.machine = serde_json::from_str::<Consultation>(&stored).expect("a machine can be restored");
            }
            play(&mut straight, step);
            play(&mut restored, step);
        }
        prop_assert_eq!(&straight.log, &restored.log);
        prop_assert_eq!(&straight.machine, &restored.machine);
    }

    #[test]
    fn a_log_written_as_lines_is_read_back_the_same(steps in prop::collection::vec(step(), 0..40)) {
        let mut player = started(10_000_000, true);
        for step in &steps {
            play(&mut player, step);
        }
        for envelope in &player.log {
            let line = serde_json::to_string(envelope).expect("an event is JSON");
            prop_assert_eq!(&serde_json::from_str::<Envelope>(&line).expect("a line is an event"), envelope);
        }
    }
}
