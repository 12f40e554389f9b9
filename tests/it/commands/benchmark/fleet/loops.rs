//! Loops of `conclave refine` whose consultations a fleet holds.

use rustix::process::Signal;

use super::*;
use crate::commands::refine::{Refinement, answer_to, answered};
use crate::support::provider_server::Hold;

/// Returns a loop over three questions with a worker for it.
fn refinement() -> Option<(Fleet, Refinement)> {
    let mut fleet = Fleet::of(0, 0)?;
    let mut refinement = Refinement::of(3);
    fleet.hire_as(Conclave::at(&refinement.server), &[]);
    fleet.join(1);
    refinement.conclave = member(&fleet.nats, refinement.conclave);
    Some((fleet, refinement))
}

#[test]
fn loop_on_a_fleet_pays_once_and_stays_there() {
    let Some((fleet, mut refinement)) = refinement() else {
        return;
    };
    let hold = Hold::new();
    refinement.on(2, answered(2).held_by(&hold));
    let run = refinement.start(&["--jobs", "3"]);
    refinement.wait_for_requests(3);
    let status = fleet.run_status();
    assert_eq!(status["state"], "running", "{status:#}");
    run.signal(Signal::INT);
    run.wait_until("it stops", |stderr| stderr.contains("Ctrl-C again"));
    run.signal(Signal::INT);
    run.wait().ends_with(130);
    hold.release();
    let address = fleet.nats.url();
    refinement.conclave = refinement.conclave.without("CONCLAVE_FLEET");
    let here = refinement.run(&[]).ends_with(2);
    here.assert_stderr_contains(&format!("is a run of the fleet {address}"));
    refinement.run(&["--fleet", &address]).ends_with(0);
    for number in 1..=3 {
        let document = refinement.document();
        assert!(document.contains(&answer_to(number)), "{document}");
    }
    let requests = refinement.requests();
    let lost = requests.values().filter(|requests| **requests > 1).count();
    assert!(
        lost <= 1,
        "only the call that was dropped is made again: {requests:?}"
    );
    assert_eq!(fleet.run_status()["state"], "ended");
}

#[test]
fn loop_that_began_here_does_not_move_to_a_fleet() {
    let Some((fleet, mut refinement)) = refinement() else {
        return;
    };
    let hold = Hold::new();
    refinement.on(1, answered(1).held_by(&hold));
    let on_a_fleet = std::mem::replace(&mut refinement.conclave, Conclave::new());
    refinement.conclave = on_a_fleet.without("CONCLAVE_FLEET");
    let run = refinement.start(&[]);
    refinement.wait_for_requests(1);
    for _ in 0..2 {
        run.signal(Signal::INT);
        run.wait_until("it stops", |stderr| stderr.contains("in flight"));
    }
    run.wait().ends_with(130);
    let moved = refinement.run(&["--fleet", &fleet.nats.url()]).ends_with(2);
    moved.assert_stderr_contains("is no run of a fleet");
}
