//! A server with fixed delays, and the times of a run by the server's records.

use std::time::{Duration, Instant};

use super::figures::milliseconds;
use super::provider_server::{Answer, On, ProviderServer, RecordedRequest};

/// The time of every later answer, in milliseconds.
const LATER_ANSWERS: u64 = 50;

/// Starts a server on which the first answer of the nth seat's model, `m<n>`, takes 1.0, 1.5 or
/// 2.0 s times `scale`, and every later answer [`LATER_ANSWERS`].
pub(crate) fn server(seats: usize, scale: f64) -> ProviderServer {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::valid().delay(Duration::from_millis(LATER_ANSWERS)),
    );
    for (seat, seconds) in (0..seats).zip([1.0, 1.5, 2.0].into_iter().cycle()) {
        let delay = Duration::from_secs_f64(seconds * scale);
        server.on(
            On::model(&format!("m{seat}")).nth(1),
            Answer::valid().delay(delay),
        );
    }
    server
}

/// Waits until the server has seen the end of every request, and returns them.
pub(crate) fn settled(server: &ProviderServer) -> Vec<RecordedRequest> {
    loop {
        let requests = server.requests();
        if requests.iter().all(|request| request.finished.is_some()) {
            return requests;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the time at which the server had sent the last of these answers.
pub(crate) fn last_sent(requests: &[RecordedRequest]) -> Instant {
    requests
        .iter()
        .filter_map(|request| request.finished)
        .max()
        .expect("there is a request")
}

/// Returns the time of the slowest of these answers, in milliseconds by the server.
pub(crate) fn slowest(requests: &[RecordedRequest]) -> f64 {
    requests
        .iter()
        .map(|request| milliseconds(request.arrived, request.finished.expect("settled")))
        .fold(0.0, f64::max)
}

/// Returns the sum of the slowest answers of Round 1, the judge, Round 3 and both later judge
/// calls, in milliseconds.
pub(crate) fn critical_path(requests: &[RecordedRequest], seats: usize) -> f64 {
    assert_eq!(
        requests.len(),
        2 * seats + 3,
        "no call fails or is repeated"
    );
    let (round_1, rest) = requests.split_at(seats);
    let (synthesis, rest) = rest.split_at(1);
    let (revisions, rest) = rest.split_at(seats);
    let (record, verdict) = rest.split_at(1);
    [round_1, synthesis, revisions, record, verdict]
        .into_iter()
        .map(slowest)
        .sum()
}
