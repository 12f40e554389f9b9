//! Where the ledger of a fleet saturates: a simulation of workers that reserve and settle each call
//! in one account by compare-and-set, as `src/fleet/ledger.rs` does it, and of what several accounts
//! with parts of the ceiling do. Nothing is timed, and no server is needed.
//!
//! ```text
//! cargo bench --bench fleet_ledger                        up to 1,000 workers; a million cases
//! cargo bench --bench fleet_ledger -- 300 50000 HOME      300 workers, 50,000 cases, latencies of a home
//! ```
//!
//! Latencies are those of the finished calls in the journals of a home, or else 3 to 5 seconds, and
//! 30 seconds for one call in twenty. A worker has four jobs, a case nine calls in five stages. The
//! changes of one worker that wait together are one change. A change that another worker's came
//! before is read again and made again, after the pauses of the ledger.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench prints figures, of tables that it made itself"
)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;

/// Jobs of a worker.
const JOBS: usize = 4;
/// The calls of a case that go out together, stage by stage.
const STAGES: [u32; 5] = [3, 1, 3, 1, 1];

/// Microseconds from a worker to the server and back.
const ROUND_TRIP: u64 = 500;
/// Microseconds in which the server stores a change, without its bytes.
const STORE: u64 = 60;
/// Bytes of an account for each job in work.
const BYTES_OF_JOB: u64 = 95;
/// Bytes that the server stores in a microsecond.
const BYTES_PER_MICROSECOND: u64 = 250;

/// Microseconds of the first and the longest pause after a conflict.
const PAUSES: (f64, f64) = (1_000.0, 64_000.0);

/// The longest 99th percentile of the wait for a reservation that counts as no hindrance: a
/// fiftieth of a call.
const GOAL_MS: f64 = 100.0;

type Time = u64;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A worker may write what waits.
    Write(usize),
    /// The server stores or refuses what a worker wrote on this revision.
    Stored(usize, u64),
    /// A call of a job of a worker has ended.
    Ended(usize, usize),
}

/// The place of a job in its case.
#[derive(Clone, Copy, Default)]
struct Job {
    stage: usize,
    /// Calls of the stage that are not done.
    open: u32,
}

struct Worker {
    jobs: Vec<Job>,
    /// Since when each reservation waits, and for which job.
    reserves: VecDeque<(Time, usize)>,
    settles: u32,
    /// What is on its way: the reservations first.
    sent: (usize, u32),
    is_writing: bool,
    /// The revision of its account that it knows.
    known: u64,
    pause: f64,
}

struct Simulation<'a> {
    dice: Dice,
    latencies: &'a [Time],
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    workers: Vec<Worker>,
    /// The revision of each account, and until when the server is busy with it.
    accounts: Vec<(u64, Time)>,
    cases_left: u64,
    done: u64,
    waits: Vec<f64>,
    attempts: u64,
    stored: u64,
    changes: u64,
}

struct Outcome {
    hours: f64,
    /// Against workers whose reservations take no time.
    speed: f64,
    wait_ms: [f64; 2],
    attempts: f64,
    changes_per_second: f64,
}

fn simulate(workers: usize, accounts: usize, cases: u64, latencies: &[Time]) -> Outcome {
    let mut simulation = Simulation {
        dice: Dice(1),
        latencies,
        now: 0,
        events: BinaryHeap::new(),
        order: 0,
        workers: (0..workers).map(|_| Worker::new()).collect(),
        accounts: vec![(0, 0); accounts],
        cases_left: cases,
        done: 0,
        waits: Vec::new(),
        attempts: 0,
        stored: 0,
        changes: 0,
    };
    simulation.run();
    simulation.outcome(cases)
}

impl Worker {
    fn new() -> Self {
        Self {
            jobs: vec![Job::default(); JOBS],
            reserves: VecDeque::new(),
            settles: 0,
            sent: (0, 0),
            is_writing: false,
            known: 0,
            pause: PAUSES.0,
        }
    }
}

impl Simulation<'_> {
    fn at(&mut self, time: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, event)));
    }

    fn run(&mut self) {
        for worker in 0..self.workers.len() {
            for job in 0..JOBS {
                self.begin(worker, job);
            }
        }
        while let Some(Reverse((time, _, event))) = self.events.pop() {
            self.now = time;
            match event {
                Event::Write(worker) => self.write(worker),
                Event::Stored(worker, revision) => self.stored(worker, revision),
                Event::Ended(worker, job) => self.ended(worker, job),
            }
        }
    }

    fn begin(&mut self, worker: usize, job: usize) {
        if self.cases_left == 0 {
            return;
        }
        self.cases_left -= 1;
        self.workers[worker].jobs[job].stage = 0;
        self.reserve_stage(worker, job);
    }

    fn reserve_stage(&mut self, worker: usize, job: usize) {
        let calls = STAGES[self.workers[worker].jobs[job].stage];
        self.workers[worker].jobs[job].open = calls;
        for _ in 0..calls {
            self.workers[worker].reserves.push_back((self.now, job));
        }
        self.wake(worker);
    }

    fn wake(&mut self, worker: usize) {
        if !self.workers[worker].is_writing {
            self.workers[worker].is_writing = true;
            self.at(self.now, Event::Write(worker));
        }
    }

    /// What waits goes out together.
    fn write(&mut self, worker: usize) {
        self.attempts += 1;
        let account = worker % self.accounts.len();
        let jobs = (self.workers.len() * JOBS / self.accounts.len()) as u64;
        let bytes = jobs * BYTES_OF_JOB;
        let arrives = self.now + ROUND_TRIP / 2;
        // Also one that is refused is received.
        let receives = bytes / BYTES_PER_MICROSECOND / 4;
        let busy = &mut self.accounts[account].1;
        let begins = arrives.max(*busy);
        *busy = begins + receives;
        let state = &mut self.workers[worker];
        state.sent = (state.reserves.len(), state.settles);
        if state.known == u64::MAX {
            // It was read a moment ago.
            state.known = self.accounts[account].0;
        }
        let revision = state.known;
        self.at(begins + receives, Event::Stored(worker, revision));
    }

    fn stored(&mut self, worker: usize, revision: u64) {
        let account = worker % self.accounts.len();
        let jobs = (self.workers.len() * JOBS / self.accounts.len()) as u64;
        let bytes = jobs * BYTES_OF_JOB;
        let back = self.now + ROUND_TRIP / 2;
        if self.accounts[account].0 != revision {
            let pause = self.workers[worker].pause * (0.5 + self.dice.unit());
            let state = &mut self.workers[worker];
            state.pause = (state.pause * 2.0).min(PAUSES.1);
            // Read again before the next attempt.
            let read = ROUND_TRIP + bytes / BYTES_PER_MICROSECOND / 4;
            let next = back + pause as u64 + read;
            self.workers[worker].known = u64::MAX;
            self.at(next, Event::Write(worker));
            return;
        }
        self.accounts[account].0 += 1;
        self.accounts[account].1 += STORE + bytes / BYTES_PER_MICROSECOND;
        self.stored += 1;
        let (reserves, settles) = self.workers[worker].sent;
        self.changes += reserves as u64 + u64::from(settles);
        let revision = self.accounts[account].0;
        let state = &mut self.workers[worker];
        state.known = revision;
        state.pause = PAUSES.0;
        state.settles -= settles;
        let granted: Vec<(Time, usize)> = state.reserves.drain(..reserves).collect();
        for (since, job) in granted {
            self.waits.push((back - since) as f64 / 1_000.0);
            let latency = self.latencies[(self.dice.next() % self.latencies.len() as u64) as usize];
            self.at(back + latency, Event::Ended(worker, job));
        }
        let state = &mut self.workers[worker];
        state.is_writing = !state.reserves.is_empty() || state.settles > 0;
        if state.is_writing {
            self.at(back, Event::Write(worker));
        }
    }

    fn ended(&mut self, worker: usize, job: usize) {
        self.workers[worker].settles += 1;
        let state = &mut self.workers[worker].jobs[job];
        state.open -= 1;
        if state.open == 0 {
            state.stage += 1;
            if state.stage < STAGES.len() {
                self.reserve_stage(worker, job);
            } else {
                self.done += 1;
                self.begin(worker, job);
            }
        }
        self.wake(worker);
    }

    fn outcome(mut self, cases: u64) -> Outcome {
        self.waits.sort_by(f64::total_cmp);
        let share = |share: f64| self.waits[(share * (self.waits.len() - 1) as f64) as usize];
        let seconds = self.now as f64 / 1e6;
        // The longest of three calls has its own mean.
        let mut dice = Dice(2);
        let draw = |dice: &mut Dice| {
            self.latencies[(dice.next() % self.latencies.len() as u64) as usize] as f64
        };
        let stage =
            |dice: &mut Dice, calls: u32| (0..calls).map(|_| draw(dice)).fold(0.0, f64::max) / 1e6;
        let of_case: f64 = (0..10_000)
            .map(|_| {
                STAGES
                    .iter()
                    .map(|calls| stage(&mut dice, *calls))
                    .sum::<f64>()
            })
            .sum::<f64>()
            / 10_000.0;
        let ideal = cases as f64 * of_case / (self.workers.len() * JOBS) as f64;
        Outcome {
            hours: seconds / 3_600.0,
            speed: ideal / seconds,
            wait_ms: [share(0.5), share(0.99)],
            attempts: self.attempts as f64 / self.stored as f64,
            changes_per_second: self.changes as f64 / seconds,
        }
    }
}

/// In microseconds.
fn latencies(home: Option<&Path>) -> Vec<Time> {
    let mut recorded = Vec::new();
    let logs = home.and_then(|home| std::fs::read_dir(home.join("consult-logs")).ok());
    for file in logs.into_iter().flatten().flatten() {
        let journal = std::fs::read_to_string(file.path()).unwrap_or_default();
        let calls = journal
            .lines()
            .filter(|line| line.contains("\"call:finished\""));
        for (_, after) in calls.filter_map(|line| line.split_once("\"duration_ms\":")) {
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            recorded.extend(digits.parse::<Time>().map(|ms| ms * 1_000));
        }
    }
    if recorded.is_empty() {
        let mut dice = Dice(3);
        let usual = (0..1_900).map(|_| 3_000_000 + (2_000_000.0 * dice.unit()) as Time);
        recorded = usual.chain([30_000_000; 100]).collect();
    }
    recorded
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let number = |nth: usize| arguments.get(nth).and_then(|text| text.parse::<u64>().ok());
    let most = number(0).unwrap_or(1_000) as usize;
    let cases = number(1).unwrap_or(1_000_000);
    let latencies = latencies(arguments.get(2).map(Path::new));
    println!(
        "{} latencies, {JOBS} jobs a worker, {} calls a case",
        latencies.len(),
        STAGES.iter().sum::<u32>()
    );
    println!("workers accounts    cases   hours  speed  wait p50 ms  p99 ms  attempts  changes/s");
    let sizes = [1, 10, 30, 100, 300, 1_000, 3_000];
    let mut is_saturated = false;
    for workers in sizes.into_iter().filter(|workers| *workers <= most) {
        // Long enough for a steady state.
        let cases = if workers == most {
            cases
        } else {
            (workers * JOBS * 12) as u64
        };
        for accounts in [1, 4, 16, 64]
            .into_iter()
            .filter(|it| *it == 1 || workers >= it * 4)
        {
            // A million cases of what has saturated would show the same for an hour.
            let cases = if accounts == 1 && is_saturated {
                cases.min(50_000)
            } else {
                cases
            };
            let outcome = simulate(workers, accounts, cases, &latencies);
            let Outcome {
                hours,
                speed,
                wait_ms,
                attempts,
                changes_per_second,
            } = outcome;
            println!(
                "{workers:7} {accounts:8} {cases:8} {hours:7.2} {speed:6.2} {:12.1} {:7.0} {attempts:9.2} {changes_per_second:10.0}",
                wait_ms[0], wait_ms[1]
            );
            if accounts == 1 && wait_ms[1] > GOAL_MS && !is_saturated {
                is_saturated = true;
                println!("        one account holds up calls from here on");
            }
        }
    }
}
