//! The ledger: exact, whoever spends, and nothing is paid twice.

use std::time::Duration;

use rustix::process::Signal;

use super::*;

/// What a call of the suite may cost at most, in micro-dollars.
const WORST_CASE: u64 = 148_000;

#[test]
fn ceiling_over_four_workers_and_two_hundred_cases_is_exact() {
    let Some(fleet) = Fleet::steady(4, 200) else {
        return;
    };
    // At the prices of the model: 20,000 micro-dollars.
    let dear = || right().usage(1_000, 1_250);
    fleet.server.on(On::any(), dear());
    let tried = benchmark(&["--limit", "1"]);
    fleet.submitter.run(&tried).ends_with(0);
    let account = fleet.run_status()["account"].clone();
    let each = account["spent"].as_u64().unwrap();
    assert!(each > 10_000, "{account:#}");
    let limit = 100 * each + WORST_CASE;
    let dollars = format!("{}.{:06}", limit / 1_000_000, limit % 1_000_000);
    fleet
        .server
        .on(On::any(), dear().delay(Duration::from_millis(20)));
    let output = fleet.submitter.run(&benchmark(&["--max-cost", &dollars]));
    let report = output.ends_with(4).json();
    let status = fleet.status();
    let run = &status["runs"][1];
    let (spent, reserved) = (&run["account"]["spent"], &run["account"]["reserved"]);
    let asked = fleet.server.requests().len() as u64 - 1;
    assert_eq!(
        (spent.as_u64().unwrap(), reserved.as_u64().unwrap()),
        (asked * each, 0)
    );
    assert!(
        asked * each <= limit && limit - asked * each < WORST_CASE,
        "{asked} calls of {each} micro-dollars under {limit}"
    );
    assert_eq!(outcomes(&report).len() as u64, asked, "each has a result");
    // A higher ceiling finishes the run, and asks nothing again.
    let resume = [
        "benchmark",
        "resume",
        "last",
        "--yes",
        "--json",
        "--max-cost",
        "50",
    ];
    let report = fleet.submitter.run(&resume).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 200);
    let requests = fleet.requests();
    assert_eq!(requests.len(), 200);
    assert_eq!(
        requests.values().sum::<usize>(),
        201,
        "only the trial was another run"
    );
}

#[test]
fn month_of_the_submitter_is_an_account_that_all_workers_keep() {
    let Some(mut fleet) = Fleet::steady(2, 40) else {
        return;
    };
    let home = Conclave::new().config(r#"{"monthly_budget": 0.25, "always_allow_under": 0}"#);
    fleet.submitter = member(&fleet.nats, home).variable("CONCLAVE_FLEET_LEASE", LONG_LEASE);
    write_suite(&fleet.submitter, 40);
    let output = fleet.submitter.run(&benchmark(&["--max-cost", "0.2"]));
    assert!(
        output.code == Some(4) || output.code == Some(0),
        "{}",
        output.stderr
    );
    let status = fleet.status();
    let months = status["shared_accounts"].as_object().unwrap();
    let (month, account) = months.iter().next().expect("an account of the month");
    assert!(
        month.starts_with("month.20") && month.len() == 26,
        "{month}"
    );
    assert_eq!(account["limit"], 250_000);
    assert_eq!(account["spent"], status["runs"][0]["account"]["spent"]);
    assert_eq!(account["reserved"], 0);
}

#[test]
fn jobs_that_are_submitted_again_are_not_asked_again() {
    let Some(fleet) = Fleet::steady(2, 30) else {
        return;
    };
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(30)));
    // Each submitter submits what the one before it did, and more.
    for asked in [5, 12, 20] {
        let killed = fleet.submitter.start(&benchmark(&[]));
        fleet
            .server
            .wait_until("it asks", |requests| requests.len() >= asked);
        killed.signal(Signal::KILL);
        killed.wait();
    }
    let report = fleet.submitter.run(&benchmark(&[])).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 30);
    assert_eq!(fleet.server.requests().len(), 30);
}
