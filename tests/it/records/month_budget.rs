//! Killed processes that share a monthly budget: their reservations stay counted.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use conclave::consultation::policy::budget::BudgetCheck;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::records::month::budget::MonthBudget;

use crate::support::timeout::until;

const HOME: &str = "MONTH_BUDGET_TEST_HOME";
const LIMIT: MicroUsd = MicroUsd(1_000);

fn open(home: &Path) -> MonthBudget {
    MonthBudget::open(home, jiff::civil::date(2026, 11, 22), LIMIT, Cost::default).unwrap()
}

/// Runs as a process of its own: reserves 30 until the budget is used up, settles every other call
/// at 10, and waits to be killed.
#[test]
#[ignore = "started by the other test"]
#[expect(
    clippy::disallowed_methods,
    reason = "the process gets its home from the environment"
)]
fn process_that_is_killed() {
    let Some(home) = std::env::var_os(HOME) else {
        return;
    };
    let budget = open(Path::new(&home));
    for call in 0.. {
        if budget.reserve(MicroUsd(30)).unwrap() != BudgetCheck::Allowed {
            break;
        }
        if call % 2 == 0 {
            budget.settle(MicroUsd(30), MicroUsd(10)).unwrap();
        }
    }
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn start(home: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "records::month_budget::process_that_is_killed"])
        .args(["--ignored", "--nocapture"])
        .env(HOME, home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the number of processes that have a lock.
fn locks(home: &Path) -> usize {
    let files = std::fs::read_dir(home.join("monthly-budget")).unwrap();
    files
        .filter(|file| {
            let name = file.as_ref().unwrap().file_name();
            name.to_string_lossy().ends_with(".lock")
        })
        .count()
}

#[test]
fn a_process_killed_at_any_moment_leaves_whole_amounts() {
    let home = tempfile::tempdir().unwrap();
    let mut spent = MicroUsd::ZERO;
    for _ in 0..4 {
        let mut child = start(home.path());
        let witness = open(home.path());
        // The process is killed once it has its own row, at an arbitrary moment.
        until("the process has its row", || {
            assert_eq!(child.try_wait().unwrap(), None, "the process ended early");
            locks(home.path()) == 2
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let now = witness.spent().unwrap();
        assert!(now >= spent, "{now:?}");
        assert!(now <= LIMIT, "{now:?}");
        spent = now;
    }
}
