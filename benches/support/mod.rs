//! What the benches of consultations share: a server that takes its time, and what its records say
//! of a run; and the figures of all benches.

pub(crate) mod figures;

use std::time::Instant;

use crate::provider_server::{Answer, On, ProviderServer, RecordedRequest};

use figures::milliseconds;

/// What later rounds take, in milliseconds.
const LATER_ANSWERS: u64 = 50;

/// A server on which the nth seat's model, `m<n>`, first takes 1.0, 1.5 or 2.0 s times `scale`;
/// every later answer takes a moment.
pub(crate) fn server(seats: usize, scale: f64) -> ProviderServer {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::valid().delay(std::time::Duration::from_millis(LATER_ANSWERS)),
    );
    for (seat, seconds) in (0..seats).zip([1.0, 1.5, 2.0].into_iter().cycle()) {
        let delay = std::time::Duration::from_secs_f64(seconds * scale);
        server.on(
            On::model(&format!("m{seat}")).nth(1),
            Answer::valid().delay(delay),
        );
    }
    server
}

/// Everything that was asked, once the server has seen the end of it.
pub(crate) fn settled(server: &ProviderServer) -> Vec<RecordedRequest> {
    loop {
        let requests = server.requests();
        if requests.iter().all(|request| request.finished.is_some()) {
            return requests;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// When the server had sent the last of these answers.
pub(crate) fn last_sent(requests: &[RecordedRequest]) -> Instant {
    requests
        .iter()
        .filter_map(|request| request.finished)
        .max()
        .expect("there is a request")
}

/// The slowest of these answers, as the server timed it.
pub(crate) fn slowest(requests: &[RecordedRequest]) -> f64 {
    requests
        .iter()
        .map(|request| milliseconds(request.arrived, request.finished.expect("settled")))
        .fold(0.0, f64::max)
}

/// What a whole run waited for: Round 1, the judge, Round 3, the judge twice; each as long as its
/// slowest answer.
pub(crate) fn critical_path(requests: &[RecordedRequest], seats: usize) -> f64 {
    assert_eq!(
        requests.len(),
        2 * seats + 3,
        "nothing fails and nothing is asked twice"
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
