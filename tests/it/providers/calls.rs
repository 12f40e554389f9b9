//! The life of a call: concurrent, and slow.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::providers::http::Timeouts;
use futures_util::future::join_all;

use super::{VENDORS, call, cloud, cloud_with, failed, settled, silent_for, usual};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[tokio::test]
async fn calls_run_concurrently() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(Duration::from_millis(150)));
    let (provider, ask) = (cloud(Vendor::OpenAi, &server), usual(Vendor::OpenAi));
    for (outcome, _) in join_all((0..8).map(|_| call(&provider, &ask))).await {
        assert!(outcome.unwrap().text.contains("gpt-6.1-sol says"));
    }
    settled(&server).await;
    let requests = server.requests();
    let last_arrival = requests.iter().map(|request| request.arrived).max();
    assert!(
        requests
            .iter()
            .all(|request| request.finished > last_arrival),
        "all were asked before any had answered"
    );
}

/// A pause that a busy machine does not make by itself.
const IDLE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_slow_answer_does_not_time_out_while_events_arrive() {
    let server = ProviderServer::start();
    // Longer in total than the idle timeout, never as long between two events.
    let slow = Answer::text("slow and steady").pieces(10).pace(IDLE / 10);
    server.on(On::any(), slow);
    let provider = cloud_with(Vendor::Anthropic, &server.url(), silent_for(IDLE));
    let (outcome, _) = call(&provider, &usual(Vendor::Anthropic)).await;
    assert_eq!(outcome.unwrap().text, "slow and steady");
}

#[tokio::test]
async fn silence_is_longest_before_the_first_byte() {
    let server = ProviderServer::start();
    let silence = IDLE * 5 / 4;
    server.on(On::any(), Answer::text("thought").delay(silence));
    server.on(
        On::vendor(Vendor::Google),
        Answer::text("thought").silence(silence),
    );
    let timeouts = Timeouts {
        idle: IDLE,
        ..Timeouts::default()
    };
    let calls = VENDORS.map(|vendor| {
        let provider = cloud_with(vendor, &server.url(), timeouts);
        async move { call(&provider, &usual(vendor)).await.0 }
    });
    for outcome in join_all(calls).await {
        assert_eq!(outcome.unwrap().text, "thought");
    }
}

#[tokio::test]
async fn the_wait_for_the_first_byte_includes_the_wait_for_the_head() {
    let server = ProviderServer::start();
    let part = Duration::from_millis(200);
    server.on(On::any(), Answer::valid().delay(part).silence(part));
    let timeouts = Timeouts {
        first_byte: Duration::from_millis(300),
        ..Timeouts::default()
    };
    let provider = cloud_with(Vendor::OpenAi, &server.url(), timeouts);
    let failure = failed(&provider, &usual(Vendor::OpenAi)).await;
    assert_eq!(failure.class, FailureClass::Timeout);
    let message = failure.message;
    assert!(message.ends_with("sent nothing for 0.3 s"), "{message}");
}
