//! The script of one loop: the evidence of each turn, drawn from a seed.

use conclave::domain::random::SplitMix64;
use conclave::stopping::exit_check::evidence::{
    Checklist, ErrorSignature, GitState, Obstacle, ObstacleKind, SeedTasks, SeedWords, StatedState,
    StatusSignal, TurnEvidence, Words,
};

use super::agent::AgentKind;

/// The turns of a script: as many as the rules allow.
pub(super) const MAX_TURNS: u64 = 100;

/// One loop, as it would go if no rule stopped it.
#[derive(Clone, Debug)]
pub(crate) struct LoopScript {
    pub(crate) kind: AgentKind,
    pub(crate) turns: Vec<SimulatedTurn>,
    /// The last turn that is needed, from 1: the one that finishes the work, or the last one before
    /// the agent is stuck.
    pub(crate) needed: u64,
}

/// What one turn leaves behind.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedTurn {
    pub(crate) evidence: TurnEvidence,
    /// Whether the word "done" occurs in the message.
    pub(crate) says_done: bool,
}

/// An agent at its work.
struct Agent {
    kind: AgentKind,
    random: SplitMix64,
    has_checklist: bool,
    has_status_block: bool,
    tasks: u64,
    completed: u64,
    /// Tasks that are completed but never ticked.
    forgotten: u64,
    /// The number of states of the working tree so far.
    tree: u64,
    /// Turns in a row that left the tree as it is.
    idle: u64,
    /// Turns until the next task or burst is completed.
    until_next: u64,
    /// An error, and in how many turns it has occurred.
    error: Option<(u64, u64)>,
    was_unsure: bool,
}

impl LoopScript {
    pub(crate) fn new(kind: AgentKind, seed: u64) -> Self {
        let mut agent = Agent::new(kind, seed);
        let stuck_from = if kind.finishes() {
            agent.tasks
        } else {
            agent.below(agent.tasks * 9 / 10)
        };
        let mut turns = Vec::new();
        while agent.completed < stuck_from {
            turns.push(agent.working_turn());
        }
        let needed = turns.len() as u64;
        for stuck in 1.. {
            if turns.len() as u64 >= MAX_TURNS {
                break;
            }
            turns.push(if kind.finishes() {
                agent.finished_turn()
            } else {
                agent.stuck_turn(stuck)
            });
        }
        Self {
            kind,
            turns,
            needed,
        }
    }
}

impl Agent {
    fn new(kind: AgentKind, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut coin = || random.unit() < 0.5;
        let (has_checklist, has_status_block) = (coin(), coin());
        let mut agent = Self {
            kind,
            random,
            has_checklist: kind.has_checklist().unwrap_or(has_checklist),
            has_status_block: kind.has_status_block().unwrap_or(has_status_block),
            tasks: 0,
            completed: 0,
            forgotten: 0,
            tree: 0,
            idle: 0,
            until_next: 0,
            error: None,
            was_unsure: false,
        };
        agent.tasks = match kind {
            AgentKind::LongTasks => 3 + agent.below(9),
            _ => 5 + agent.below(26),
        };
        if matches!(kind, AgentKind::Forgetful | AgentKind::ForgetfulInWords) {
            agent.forgotten = 1 + agent.below((agent.tasks / 6).max(1));
        }
        agent
    }

    /// A turn of work. The last one completes the last task.
    fn working_turn(&mut self) -> SimulatedTurn {
        let completed = self.completed_now();
        self.completed = (self.completed + completed).min(self.tasks);
        if completed == 0 && self.idle < 2 && self.chance(8) {
            self.idle += 1;
        } else {
            self.idle = 0;
            self.tree += 1;
        }
        let is_finished = self.completed == self.tasks && self.kind.finishes();
        let says_done = is_finished || self.chance(40);
        let mut evidence = self.evidence(is_finished);
        self.add_troubles(&mut evidence);
        SimulatedTurn {
            evidence,
            says_done: says_done && self.kind != AgentKind::Silent,
        }
    }

    /// The number of tasks that this turn completes.
    fn completed_now(&mut self) -> u64 {
        if self.until_next > 0 {
            self.until_next -= 1;
            return 0;
        }
        match self.kind {
            AgentKind::Bursty => {
                self.until_next = 1 + self.below(2);
                2 + self.below(4)
            }
            AgentKind::LongTasks => {
                self.until_next = 1 + self.below(5);
                1
            }
            _ => {
                self.until_next = u64::from(self.chance(15));
                1 + u64::from(self.chance(10))
            }
        }
    }

    /// A turn after the end of the work: the agent finds nothing to do.
    fn finished_turn(&mut self) -> SimulatedTurn {
        let evidence = self.evidence(true);
        SimulatedTurn {
            evidence,
            says_done: self.kind != AgentKind::Silent,
        }
    }

    /// A turn of an agent that gets nowhere any more.
    fn stuck_turn(&mut self, stuck: u64) -> SimulatedTurn {
        let claims = matches!(self.kind, AgentKind::Lies | AgentKind::LiesInWords);
        match self.kind {
            AgentKind::Fails => self.tree += 1,
            AgentKind::Oscillates if stuck % 2 == 1 => self.tree += 1,
            AgentKind::Oscillates => self.tree -= 1,
            _ => {}
        }
        let mut evidence = self.evidence(claims);
        match self.kind {
            AgentKind::Asks => {
                if let Some(words) = &mut evidence.words {
                    words.asks_person = true;
                }
            }
            AgentKind::Fails => {
                evidence.errors = vec![ErrorSignature("the same error".to_owned())];
            }
            AgentKind::Dies => {
                evidence = TurnEvidence {
                    checklist: evidence.checklist,
                    seed_tasks: evidence.seed_tasks,
                    git: evidence.git,
                    agent_exit: Some(1),
                    ..TurnEvidence::default()
                };
            }
            AgentKind::RunsOutOfQuota => {
                evidence.obstacle = Some(Obstacle {
                    kind: ObstacleKind::Quota,
                    message: "usage limit reached".to_owned(),
                });
            }
            _ => {}
        }
        let says_done = claims || (self.kind != AgentKind::Dies && self.chance(10));
        SimulatedTurn {
            evidence,
            says_done,
        }
    }

    /// The evidence of a turn, with its noise. `is_done` is what the agent says.
    fn evidence(&mut self, is_done: bool) -> TurnEvidence {
        let is_silent = self.kind == AgentKind::Silent;
        let words = Words {
            claims_completion: !is_silent
                && if is_done {
                    self.chance(95)
                } else {
                    self.chance(1)
                },
            admits_open_work: if is_done {
                self.chance(3)
            } else {
                self.chance(40)
            },
            admission: None,
            asks_person: self.chance(2),
        };
        let stated = if is_done {
            StatedState::Done
        } else {
            StatedState::NotDone
        };
        let status = self.has_status_block.then(|| StatusSignal {
            state: stated,
            source: "EXIT_SIGNAL".to_owned(),
        });
        let ticked = self.completed.min(self.tasks - self.forgotten);
        let checklist = self.has_checklist.then(|| Checklist {
            completed: ticked,
            open: self.tasks - ticked,
            completed_set: ticked.to_string(),
            ..Checklist::default()
        });
        let seed_tasks = self.has_checklist.then(|| SeedTasks {
            completed: ticked,
            open: self.tasks - ticked,
        });
        TurnEvidence {
            status,
            words: Some(words),
            seed_words: Some(self.seed_words()),
            checklist,
            seed_tasks,
            git: Some(GitState {
                head: Some("head".to_owned()),
                tree: self.tree.to_string(),
                changed_files: None,
            }),
            agent_exit: Some(0),
            ..TurnEvidence::default()
        }
    }

    fn seed_words(&mut self) -> SeedWords {
        let mut count = |of, percent| {
            let occurring = (0..of).filter(|_| self.chance(percent)).count();
            u8::try_from(occurring).unwrap_or(u8::MAX)
        };
        let (hedges, assurances, error_words) = (count(4, 10), count(3, 5), count(7, 15));
        SeedWords {
            certain: self.chance(15),
            likely: self.chance(10),
            hedges,
            assurances,
            error_words,
        }
    }

    /// Errors, failures and doubts that a working agent gets past.
    fn add_troubles(&mut self, evidence: &mut TurnEvidence) {
        let (stays, is_new) = (self.chance(30), self.chance(30));
        self.error = match self.error {
            Some((error, 1)) if stays => Some((error, 2)),
            _ if is_new => Some((self.below(1_000_000), 1)),
            _ => None,
        };
        let error = self.error.iter();
        evidence.errors = error
            .map(|(error, _)| ErrorSignature(format!("error {error}")))
            .collect();
        if self.chance(20) {
            let is_unsure = !self.was_unsure && self.chance(10);
            let stated = if is_unsure {
                60
            } else {
                75 + self.below(5) * 5
            };
            evidence.stated_confidence = u8::try_from(stated).ok();
            self.was_unsure = is_unsure;
        } else {
            self.was_unsure = false;
        }
        if self.chance(2) {
            // The program runs into its time limit.
            evidence.agent_exit = Some(124);
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.unit() * 100.0 < f64::from(percent)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }
}
