//! Who may start a program.

use tokio::time::timeout;

use crate::consultation::protocol::call::FailureClass;
use crate::files::FileLock;
use crate::providers::programs::gate::ProgramGate;

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// One of several processes.
fn gate(folder: &Path) -> ProgramGate {
    ProgramGate::new(folder, &ProviderId::new("codex"))
}

async fn first(gate: &ProgramGate) -> Option<FileLock> {
    timeout(LONG, gate.first(false)).await.unwrap().unwrap()
}

async fn waits(gate: &ProgramGate) -> bool {
    timeout(LONG, gate.first(false)).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn the_first_call_of_each_process_goes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (gate(folder.path()), gate(folder.path()));
    let call = first(&one).await.unwrap();
    assert!(waits(&one).await);
    assert!(waits(&other).await);
    one.proven(Some(call));
    assert!(first(&one).await.is_none());
    // Another process has not seen its own login.
    other.proven(Some(first(&other).await.unwrap()));
    assert!(first(&other).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn after_a_first_call_that_failed_the_next_goes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let gate = gate(folder.path());
    drop(first(&gate).await.unwrap());
    let second = first(&gate).await.unwrap();
    assert!(waits(&gate).await);
    gate.proven(Some(second));
    assert!(first(&gate).await.is_none());
    // A login that is doubted has to be shown again.
    let again = gate.first(true).await.unwrap().unwrap();
    assert!(waits(&gate).await);
    gate.proven(Some(again));
    assert!(first(&gate).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn programs_of_all_processes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let gates = [gate(folder.path()), gate(folder.path())];
    let mut locks = Vec::new();
    for number in 0..8 {
        locks.push(gates[number % 2].program(LONG).await.unwrap());
    }
    let failure = gates[0].program(LONG).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Overload);
    assert_eq!(failure.message, "8 programs run already, and no more may");
    let freed = async {
        tokio::time::sleep(LONG / 2).await;
        locks.pop();
    };
    let (ninth, ()) = tokio::join!(gates[1].program(LONG), freed);
    ninth.unwrap().unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_locked_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let failure = gate(&file.join("locks")).program(LONG).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Internal);
    assert!(
        failure.message.starts_with("cannot lock a file in `"),
        "{}",
        failure.message
    );
}
