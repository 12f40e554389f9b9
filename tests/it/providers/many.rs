//! Many consultations in one process over real connections, as the vendors see them.

use std::sync::Arc;
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer as PersonsAnswer, Envelope, StateName};
use conclave::consultation::machine::Question;
use conclave::consultation::machine::replay::replay;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ConsultationId, ProviderId};
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Person, Provider, Providers};
use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::{VENDORS, cloud};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};
use crate::support::script::plan;
use crate::support::timeout::in_time;

/// The default number of calls in flight per vendor.
const LIMIT: usize = 4;

#[derive(Debug)]
pub(super) struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, PersonsAnswer> {
        Box::pin(std::future::ready(PersonsAnswer::Gone))
    }
}

/// Each vendor at the server.
pub(super) fn providers(server: &ProviderServer) -> Providers {
    let provider = |vendor| -> Arc<dyn Provider> { Arc::new(cloud(vendor, server)) };
    VENDORS
        .into_iter()
        .map(|vendor| (ProviderId::new(vendor.id()), provider(vendor)))
        .collect()
}

async fn run(number: usize, dispatcher: Dispatcher, providers: &Providers) -> Vec<Envelope> {
    let mut plan = plan();
    plan.id = ConsultationId::from_unique(&format!("01HTTP{number:02}"));
    let mut consultation = Consultation::new(plan);
    let driver = Driver {
        clock: *dispatcher.clock(),
        providers,
        dispatcher,
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &NoPerson,
        interrupts: mpsc::unbounded_channel().1,
    };
    let run = driver.run(&mut consultation, RunStart::New);
    in_time("the end of the run", run).await
}

fn most_at_once(requests: &[RecordedRequest]) -> usize {
    let at_once = |one: &RecordedRequest| {
        let is_open = |other: &&RecordedRequest| {
            other.arrived <= one.arrived && other.finished.is_none_or(|end| end > one.arrived)
        };
        requests.iter().filter(is_open).count()
    };
    requests.iter().map(at_once).max().unwrap_or(0)
}

#[tokio::test]
async fn twenty_consultations_share_limits_and_backoff() {
    let server = ProviderServer::start();
    let delay = Duration::from_millis(20);
    server.on(On::any(), Answer::valid().delay(delay));
    let limited = Answer::error(429, "rate_limit_error", "slow down").header("retry-after", "1");
    server.on(On::vendor(Vendor::Anthropic).nth(10), limited);
    let providers = providers(&server);
    let dispatcher = Dispatcher::new(Clock::system(), PoolRules::default());
    let runs = (0..20).map(|number| run(number, dispatcher.clone(), &providers));
    let histories = join_all(runs).await;

    for history in &histories {
        let state = Transcript::fold(history).unwrap().state;
        assert_eq!(state, StateName::Complete);
        assert_eq!(replay(history).unwrap().consultation.state(), state);
    }
    for vendor in VENDORS {
        let most = most_at_once(&server.requests_to(vendor));
        assert!(most <= LIMIT, "{most} at {}", vendor.id());
    }
    assert_eq!(server.requests().len(), 20 * 9 + 1, "one call is repeated");
    let requests = server.requests_to(Vendor::Anthropic);
    let refused = requests[9].finished.unwrap();
    // Calls sent before the refusal may still arrive; then there are none for a second.
    let early = requests.iter().filter(|request| {
        let after = request.arrived.saturating_duration_since(refused);
        after > Duration::from_millis(400) && after < Duration::from_millis(990)
    });
    assert_eq!(early.count(), 0);
}
