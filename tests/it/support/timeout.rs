//! The time limit of every wait in a test: what does not come in time fails the test, which would
//! otherwise hang.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longer than any wait takes on a slow and busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Longer than any wait of the program.
const VIRTUAL_TIMEOUT: Duration = Duration::from_secs(30 * 86_400);

/// Awaits a future that other threads, processes or connections drive.
pub(crate) async fn in_time<T>(description: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_TIMEOUT, future)
        .await
        .unwrap_or_else(|_| panic!("timed out waiting for {description}"))
}

/// Awaits a future under tokio's paused clock, which jumps to the limit as soon as nothing else is
/// going to happen.
pub(crate) async fn in_virtual_time<T>(description: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(VIRTUAL_TIMEOUT, future)
        .await
        .unwrap_or_else(|_| panic!("nothing else happens; still waiting for {description}"))
}

/// Receives what another thread sends.
pub(crate) fn receive<T>(description: &str, receiver: &Receiver<T>) -> T {
    match receiver.recv_timeout(WAIT_TIMEOUT) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("timed out waiting for {description}"),
        Err(RecvTimeoutError::Disconnected) => panic!("the thread failed that sends {description}"),
    }
}

/// Does on a thread of its own what may block, such as a read from a pipe. Nothing ends the thread
/// of a failed test before the process ends.
pub(crate) fn blocking<T: Send + 'static>(
    description: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(work()));
    receive(description, &receiver)
}

/// Looks again and again until the condition is true.
#[expect(
    clippy::disallowed_methods,
    reason = "what other processes do takes real time"
)]
pub(crate) fn until(description: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(
            began.elapsed() < WAIT_TIMEOUT,
            "timed out waiting until {description}"
        );
        std::thread::yield_now();
    }
}
