use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const LIMIT: u64 = 1_000;
const JOBS: usize = 3;
const WORKERS: usize = 4;

/// What one process or the world does next: to which worker and job, with which amount.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Claim,
    Open,
    /// A call is reserved, and its start goes into the journal.
    Call,
    /// A call comes back.
    Finish,
    /// A settlement reaches the account; its answer may be lost, so that it is made again.
    Settle,
    End,
    /// A worker finds a journal that has ended.
    EndAgain,
    Kill,
}

#[derive(Default)]
struct Spender {
    own: Holdings,
    /// The claim on each job, and what its journal counted then.
    claims: BTreeMap<usize, (u64, u64)>,
    calls: Vec<(usize, u64)>,
    /// What the journal has of calls that came back.
    settlements: VecDeque<(usize, What)>,
}

#[derive(Default)]
struct Journal {
    claim: u64,
    finished: u64,
    open: Vec<u64>,
    has_ended: bool,
}

impl Journal {
    fn counted(&self) -> u64 {
        self.finished + self.open.iter().sum::<u64>()
    }
}

struct World {
    account: Account,
    workers: Vec<Spender>,
    journals: Vec<Journal>,
    sequence: u64,
}

fn id(job: usize) -> ConsultationId {
    ConsultationId::from_unique(&format!("01job{job}"))
}

impl World {
    fn new() -> Self {
        Self {
            account: Account {
                limit: Some(MicroUsd(LIMIT)),
                ..Account::default()
            },
            workers: (0..WORKERS).map(|_| Spender::default()).collect(),
            journals: (0..JOBS).map(|_| Journal::default()).collect(),
            sequence: 0,
        }
    }

    /// Changes of one worker are made in their order.
    fn apply(&mut self, worker: usize, job: usize, what: What, is_lost: bool) -> Verdict {
        while let Some((job, settle)) = self.workers[worker].settlements.pop_front() {
            let _ = self.make(worker, job, settle, is_lost);
        }
        self.make(worker, job, what, is_lost)
    }

    fn make(&mut self, worker: usize, job: usize, what: What, is_lost: bool) -> Verdict {
        let own = &mut self.workers[worker].own;
        if is_lost {
            // The account has it, and the worker does not know.
            let mut unknown = own.clone();
            let _ = apply(&mut self.account, &mut unknown, &id(job), what);
        }
        apply(&mut self.account, own, &id(job), what)
    }

    fn has(&self, worker: usize, job: usize) -> Option<u64> {
        let (claim, _) = *self.workers[worker].claims.get(&job)?;
        (claim == self.journals[job].claim).then_some(claim)
    }

    fn step(&mut self, step: Deed, worker: usize, job: usize, amount: u64) {
        let is_lost = amount.is_multiple_of(3);
        match step {
            Deed::Claim if !self.journals[job].has_ended => {
                self.sequence += 1;
                let counted = self.journals[job].counted();
                self.journals[job].claim = self.sequence;
                let claim = (self.sequence, counted);
                self.workers[worker].claims.insert(job, claim);
                self.workers[worker].calls.retain(|call| call.0 != job);
            }
            Deed::Open => {
                let claim = self.workers[worker].claims.get(&job).copied();
                let is_open = self.workers[worker].own.get(&id(job)).map(|it| it.claim);
                if let Some((claim, counted)) = claim.filter(|it| Some(it.0) != is_open) {
                    let open = What::Open(Holding::new(claim, MicroUsd(counted)));
                    let _ = self.apply(worker, job, open, is_lost);
                }
            }
            Deed::Call => {
                let claim = self.workers[worker].claims.get(&job).map(|it| it.0);
                let held = self.workers[worker].own.get(&id(job)).map(|it| it.claim);
                if claim.is_none() || claim != held {
                    return;
                }
                let reserve = What::Reserve(claim.unwrap(), MicroUsd(amount));
                let reserved = self.apply(worker, job, reserve, is_lost);
                if reserved == Ok(BudgetCheck::Allowed) && self.has(worker, job).is_some() {
                    self.journals[job].open.push(amount);
                    self.workers[worker].calls.push((job, amount));
                }
            }
            Deed::Finish => {
                let Some((job, worst)) = self.workers[worker].calls.pop() else {
                    return;
                };
                let actual = amount % (worst + 1);
                if let Some(claim) = self.has(worker, job) {
                    let open = &mut self.journals[job].open;
                    let at = open.iter().position(|it| *it == worst).unwrap();
                    open.remove(at);
                    self.journals[job].finished += actual;
                    let settle = What::Settle(claim, MicroUsd(worst), MicroUsd(actual));
                    self.workers[worker].settlements.push_back((job, settle));
                }
            }
            Deed::Settle => {
                if let Some((job, settle)) = self.workers[worker].settlements.pop_front() {
                    let _ = self.make(worker, job, settle, is_lost);
                }
            }
            Deed::End => {
                let calls = &self.workers[worker].calls;
                let is_idle = calls.iter().all(|call| call.0 != job);
                if let Some(claim) = self.has(worker, job).filter(|_| is_idle) {
                    self.journals[job].has_ended = true;
                    self.end(worker, job, claim, is_lost);
                }
            }
            Deed::EndAgain if self.journals[job].has_ended => {
                self.end(worker, job, self.journals[job].claim, is_lost);
            }
            Deed::Kill => self.workers[worker] = Spender::default(),
            Deed::Claim | Deed::EndAgain => {}
        }
    }

    fn end(&mut self, worker: usize, job: usize, claim: u64, is_lost: bool) {
        let counted = MicroUsd(self.journals[job].counted());
        let end = What::End(Some((Holding::new(claim, counted), JobEnding::Final)));
        let _ = self.apply(worker, job, end, is_lost);
    }

    fn journalled(&self) -> u64 {
        self.journals.iter().map(Journal::counted).sum()
    }

    fn check(&self) {
        let held = (self.account.spent() + self.account.reserved()).0;
        assert!(held <= LIMIT, "{held} of {LIMIT}: {:?}", self.account);
        // What journals count, the account has set aside before.
        assert!(self.journalled() <= held, "{:?}", self.account);
    }
}

fn step() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::Claim),
        4 => Just(Deed::Open),
        8 => Just(Deed::Call),
        5 => Just(Deed::Finish),
        5 => Just(Deed::Settle),
        1 => Just(Deed::End),
        1 => Just(Deed::EndAgain),
        1 => Just(Deed::Kill),
    ]
}

proptest! {
    #[test]
    fn no_workers_kills_or_lost_answers_exceed_the_limit_and_journals_have_the_last_word(
        steps in prop::collection::vec((step(), 0..WORKERS, 0..JOBS, 1..300_u64), 1..200),
    ) {
        let mut world = World::new();
        for (step, worker, job, amount) in steps {
            world.step(step, worker, job, amount);
            world.check();
        }
        // The last worker takes over what is left, while the others are stopped.
        world.step(Deed::Kill, 0, 0, 1);
        for job in 0..JOBS {
            for step in [Deed::Claim, Deed::Open, Deed::End, Deed::EndAgain] {
                world.step(step, 0, job, 1);
                world.check();
            }
        }
        let counted = MicroUsd(world.journalled());
        prop_assert_eq!(world.account.spent, counted);
        prop_assert!(world.account.jobs.is_empty());
        // They continue, and change nothing.
        let end = world.account.clone();
        for worker in 1..WORKERS {
            for job in 0..JOBS {
                for step in [Deed::Open, Deed::Call, Deed::Finish, Deed::Settle, Deed::EndAgain] {
                    world.step(step, worker, job, 7);
                }
            }
        }
        prop_assert_eq!(world.account, end);
    }
}

#[test]
fn job_that_may_be_continued_counts_once_however_often_it_is_taken_up() {
    let (mut account, mut own) = (Account::default(), Holdings::new());
    let mut make = |what| apply(&mut account, &mut own, &id(0), what).unwrap();
    for claim in [3, 5] {
        make(What::Open(Holding::new(claim, MicroUsd(40))));
        make(What::Reserve(claim, MicroUsd(9)));
        let ended = Holding::new(claim, MicroUsd(40));
        make(What::End(Some((ended, JobEnding::Resumable))));
    }
    assert_eq!(account.spent(), MicroUsd(40));
    assert_eq!((account.spent, account.reserved()), Default::default());
    // Nothing is kept of one that has spent nothing.
    let mut make = |what| apply(&mut account, &mut own, &id(1), what).unwrap();
    make(What::Open(Holding::new(6, MicroUsd::ZERO)));
    let ended = Holding::new(6, MicroUsd::ZERO);
    make(What::End(Some((ended, JobEnding::Resumable))));
    assert_eq!(account.jobs.len(), 1);
}

#[test]
fn amount_waits_for_reservations_and_is_refused_above_what_is_left() {
    let mut account = Account {
        limit: Some(MicroUsd(100)),
        spent: MicroUsd(10),
        ..Account::default()
    };
    let mut own = Holdings::new();
    let mut make = |job: usize, what| apply(&mut account, &mut own, &id(job), what);
    assert_eq!(make(0, What::Reserve(1, MicroUsd(1))), Err(NotHeld::Lost));
    for job in [0, 1] {
        make(job, What::Open(Holding::new(1, MicroUsd::ZERO))).unwrap();
    }
    let reserve = |amount| What::Reserve(1, MicroUsd(amount));
    assert_eq!(make(0, reserve(60)), Ok(BudgetCheck::Allowed));
    assert_eq!(make(1, reserve(31)), Ok(BudgetCheck::WaitForInFlight));
    assert_eq!(make(1, reserve(91)), Ok(BudgetCheck::Exceeded));
    make(0, What::Settle(1, MicroUsd(60), MicroUsd(50))).unwrap();
    assert_eq!(make(1, reserve(40)), Ok(BudgetCheck::Allowed));
    assert_eq!(make(1, reserve(1)), Ok(BudgetCheck::WaitForInFlight));
}

#[test]
fn account_counts_what_its_submitter_spent_elsewhere_between_two_runs_and_once() {
    let mut account = Account::default();
    let limit = Some(MicroUsd(100));
    account.set_limit(limit, MicroUsd(10));
    account.open(&id(0), Holding::new(1, MicroUsd(20))).unwrap();
    // The submitter has the journal of the job by now.
    account.set_limit(limit, MicroUsd(30));
    assert_eq!(account.spent(), MicroUsd(30));
    account.set_limit(limit, MicroUsd(75));
    assert_eq!(account.spent(), MicroUsd(75));
    assert_eq!(account.check(MicroUsd(26)), BudgetCheck::Exceeded);
    // Another submitter knows less.
    account.set_limit(limit, MicroUsd(5));
    assert_eq!(account.spent(), MicroUsd(75));
}

#[test]
fn reservation_without_an_answer_is_not_tried_again_at_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (changes, mut queue) = mpsc::unbounded_channel();
    let account = OpenAccount {
        changes,
        seen: Arc::default(),
        runtime: runtime.handle().clone(),
    };
    for _ in 0..2 {
        let check = account.reserve((&id(0), 1), MicroUsd(5), Duration::ZERO);
        assert_eq!(check, Ok(BudgetCheck::WaitForInFlight));
    }
    let asked = queue.try_recv().unwrap();
    assert!(queue.try_recv().is_err(), "it is asked once");
    // What is reserved too late is given back.
    asked.answer.send(Ok(BudgetCheck::Allowed)).unwrap();
    let given_back = runtime.block_on(queue.recv()).unwrap().what;
    assert!(matches!(
        given_back,
        What::Settle(1, MicroUsd(5), MicroUsd(0))
    ));
}
