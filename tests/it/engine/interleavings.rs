//! Several machines and one view of the providers, in any order of events: what they share is never
//! overdrawn, and each journal replays by itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use conclave::consultation::event::{Answer, CallEvent, Event, StateName};
use conclave::consultation::machine::Input;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::protocol::call::{FailureClass, Outcome};
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::ids::{ConsultationId, ProviderId};
use conclave::domain::time::Timestamp;
use conclave::engine::dispatcher::budget::{SharedBudget, SharedCeiling};
use conclave::engine::dispatcher::pool::{MemberId, PoolRules, ProviderPool};
use proptest::prelude::*;

use crate::support::script::{Notice, Player, failure, failure_with_hint, good, plan};

/// Calls that may be in flight at a provider at once.
const LIMIT: u32 = 2;

/// What happens next, and to whom.
#[derive(Clone, Copy, Debug)]
enum Action {
    Answer { call: usize, outcome: usize },
    Pass { milliseconds: u64 },
    Interrupt { member: usize },
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (any::<usize>(), 0..10_usize).prop_map(|(call, outcome)| Action::Answer { call, outcome }),
        3 => (1..5_000_u64).prop_map(|milliseconds| Action::Pass { milliseconds }),
        1 => (0..40_usize).prop_map(|member| Action::Interrupt { member }),
    ]
}

/// Consultations of one process.
struct Process {
    players: Vec<Player>,
    pool: ProviderPool,
    ceiling: Arc<SharedCeiling>,
    now: Timestamp,
}

impl Process {
    fn new(consultations: usize, limit: MicroUsd, seed: u64) -> Self {
        let ceiling = Arc::new(SharedCeiling::new("suite budget", limit));
        let mut process = Self {
            players: Vec::new(),
            pool: ProviderPool::new(PoolRules::seeded(seed)),
            ceiling,
            now: Timestamp(1_795_252_598_000),
        };
        for number in 0..consultations {
            let mut plan = plan();
            plan.id = ConsultationId::from_unique(&format!("01WEAVE{number}"));
            for vendor in ["anthropic", "openai", "google"] {
                plan.in_flight.insert(ProviderId::new(vendor), LIMIT);
            }
            let mut player = Player::new(plan);
            player.member = MemberId(number as u64);
            player.budgets = vec![Arc::clone(&process.ceiling) as Arc<dyn SharedBudget>];
            process.players.push(player);
            process.with(number, |player| player.give(Input::Start));
        }
        process
    }

    /// Lets one consultation act on what all share, and the others learn of it.
    fn with(&mut self, index: usize, act: impl FnOnce(&mut Player)) {
        let mut waiting = VecDeque::from(self.act_alone(index, act));
        while let Some((index, notice)) = waiting.pop_front() {
            waiting.extend(self.act_alone(index, |player| player.give_notice(notice)));
        }
    }

    /// Lets one consultation act. Returns what others learn of it.
    fn act_alone(&mut self, index: usize, act: impl FnOnce(&mut Player)) -> Vec<(usize, Notice)> {
        let player = &mut self.players[index];
        player.now = self.now;
        std::mem::swap(&mut player.pool, &mut self.pool);
        act(player);
        std::mem::swap(&mut player.pool, &mut self.pool);
        let notices = std::mem::take(&mut player.for_others);
        self.check();
        let mut for_others = Vec::new();
        for notice in notices {
            for (other, player) in self.players.iter().enumerate() {
                let is_for = match &notice {
                    Notice::Decided(member, ..) => *member == player.member,
                    Notice::Learned(_) => other != index,
                };
                if is_for {
                    for_others.push((other, notice.clone()));
                }
            }
        }
        for_others
    }

    fn check(&self) {
        let mut in_flight: BTreeMap<&ProviderId, u32> = BTreeMap::new();
        for ask in self.players.iter().flat_map(|player| &player.open) {
            *in_flight.entry(&ask.model.provider).or_default() += 1;
        }
        for (provider, calls) in in_flight {
            assert!(calls <= LIMIT, "{calls} calls in flight at {provider}");
        }
        let (spent, limit) = (self.ceiling.spent(), self.ceiling.limit());
        assert!(spent <= limit, "{spent} spent of {limit}");
    }

    fn open(&self) -> Vec<(usize, usize)> {
        let calls = |(index, player): (usize, &Player)| {
            (0..player.open.len())
                .map(move |call| (index, call))
                .collect::<Vec<_>>()
        };
        self.players.iter().enumerate().flat_map(calls).collect()
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Answer { call, outcome } => {
                let open = self.open();
                if let Some((index, call)) = open.get(call % open.len().max(1)).copied() {
                    self.answer(index, call, outcome);
                }
            }
            Action::Pass { milliseconds } => {
                self.now = self.now.after(Duration::from_millis(milliseconds));
                self.fire_due();
            }
            Action::Interrupt { member } => {
                if member < self.players.len() {
                    self.with(member, |player| player.give(Input::Interrupted));
                }
            }
        }
    }

    fn answer(&mut self, index: usize, call: usize, outcome: usize) {
        self.with(index, |player| {
            let outcome = outcome_of(outcome, player, call);
            player.answer(call, outcome);
        });
    }

    /// Fires every timer, and ends every backoff, whose time has come.
    fn fire_due(&mut self) {
        for index in 0..self.players.len() {
            loop {
                let player = &self.players[index];
                let is_due = player.timers.first().is_some_and(|(at, _)| *at <= self.now);
                if !is_due {
                    break;
                }
                self.with(index, |player| assert!(player.fire()));
            }
            self.with(index, Player::work_off);
        }
    }

    /// Plays on until every consultation has ended.
    fn finish(&mut self) {
        for _ in 0..5_000 {
            if let Some((index, call)) = self.open().first().copied() {
                self.answer(index, call, 0);
            } else if let Some(asked) = self.players.iter().position(|p| p.question.is_some()) {
                self.with(asked, |player| {
                    player.give(Input::Answered(Answer::Yes));
                });
            } else if self
                .players
                .iter()
                .all(|player| player.machine.state().is_terminal())
            {
                return;
            } else {
                self.now = self.next_moment();
                self.fire_due();
            }
        }
        panic!("no end after 5000 steps");
    }

    fn next_moment(&mut self) -> Timestamp {
        let mut moments = Vec::new();
        for player in &mut self.players {
            player.now = self.now;
            std::mem::swap(&mut player.pool, &mut self.pool);
            if !player.machine.state().is_terminal() {
                moments.extend(player.next_moment());
            }
            std::mem::swap(&mut player.pool, &mut self.pool);
        }
        moments
            .into_iter()
            .min()
            .expect("something happens by itself")
    }
}

fn outcome_of(outcome: usize, player: &Player, call: usize) -> Outcome {
    let hint = Duration::from_millis(2_500);
    match outcome {
        7 => failure_with_hint(FailureClass::RateLimit, "slow down", hint),
        8 => failure(FailureClass::RateLimit, "slow down"),
        9 => failure(FailureClass::Transport, "connection reset"),
        _ => good(&player.open[call]),
    }
}

fn cost(player: &Player) -> MicroUsd {
    let cost = |event: &Event| match event {
        Event::Call(CallEvent::Finished(finished)) => finished.cost.known,
        _ => MicroUsd::ZERO,
    };
    player
        .log
        .iter()
        .map(|envelope| cost(&envelope.event))
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn shared_limits_and_ceilings_hold_in_every_order(
        consultations in 2..5_usize,
        limit in prop_oneof![Just(60_000_u64), 100_000..400_000_u64, Just(100_000_000)],
        seed in any::<u64>(),
        actions in prop::collection::vec(action(), 0..60),
    ) {
        let mut process = Process::new(consultations, MicroUsd(limit), seed);
        for action in actions {
            process.act(action);
        }
        process.finish();
        let spent: MicroUsd = process.players.iter().map(cost).sum();
        prop_assert!(spent <= MicroUsd(limit));
        for player in &process.players {
            let state = player.machine.state();
            prop_assert!(matches!(state, StateName::Complete | StateName::Aborted));
            let replayed = replay(&player.log).unwrap();
            prop_assert_eq!(replayed.consultation.state(), state);
            prop_assert!(replayed.interruption.effects.is_empty());
        }
    }
}
