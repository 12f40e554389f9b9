//! The life of a call: dropped, concurrent, and slow.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::engine::ports::{Delta, Provider};
use conclave::providers::http::Timeouts;
use futures_util::future::join_all;

use super::{VENDORS, ask, call, cloud, cloud_with, settled, silent_for};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::text("a text of several pieces").pieces(8).stall(),
    );
    for (at, (vendor, model)) in VENDORS.into_iter().enumerate() {
        let cloud = cloud(vendor, &server);
        let ask = ask(vendor, model);
        let (sender, mut connected) = tokio::sync::mpsc::unbounded_channel();
        let mut on = move |delta| {
            let _ = sender.send(delta);
        };
        let mut call = Box::pin(cloud.ask(&ask, &mut on));
        tokio::select! {
            outcome = &mut call => panic!("the server stalls, and yet: {outcome:?}"),
            delta = connected.recv() => assert_eq!(delta, Some(Delta::Connected)),
        }
        drop(call);
        settled(&server).await;
        assert!(!server.requests()[at].complete);
    }
}

#[tokio::test]
async fn calls_run_concurrently() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(Duration::from_millis(150)));
    let provider = cloud(Vendor::OpenAi, &server);
    let asks: Vec<_> = (0..8).map(|_| ask(Vendor::OpenAi, "gpt-6.1-sol")).collect();
    for (outcome, _) in join_all(asks.iter().map(|ask| call(&provider, ask))).await {
        assert!(outcome.unwrap().text.contains("gpt-6.1-sol says"));
    }
    settled(&server).await;
    let requests = server.requests();
    let last_arrival = requests
        .iter()
        .map(|request| request.arrived)
        .max()
        .unwrap();
    assert!(
        requests
            .iter()
            .all(|request| request.finished.unwrap() > last_arrival),
        "all were asked before any had answered"
    );
}

#[tokio::test]
async fn a_slow_answer_does_not_time_out_while_events_arrive() {
    let server = ProviderServer::start();
    // Longer in total than the idle timeout, never as long between two events.
    server.on(
        On::any(),
        Answer::text("slow and steady")
            .pieces(10)
            .pace(Duration::from_millis(250)),
    );
    let silence = silent_for(Duration::from_secs(2));
    let provider = cloud_with(Vendor::Anthropic, &server.url(), silence);
    let (outcome, _) = call(&provider, &ask(Vendor::Anthropic, "m")).await;
    assert_eq!(outcome.unwrap().text, "slow and steady");
}

#[tokio::test]
async fn silence_is_longest_before_the_first_byte() {
    let timeouts = Timeouts {
        idle: Duration::from_secs(2),
        ..Timeouts::default()
    };
    let silence = Duration::from_secs(3);
    for quiet in [
        Answer::text("thought through").delay(silence),
        Answer::text("thought through").silence(silence),
    ] {
        let server = ProviderServer::start();
        server.on(On::any(), quiet);
        let calls = VENDORS.map(|(vendor, model)| {
            let provider = cloud_with(vendor, &server.url(), timeouts);
            async move { call(&provider, &ask(vendor, model)).await.0 }
        });
        for outcome in join_all(calls).await {
            assert_eq!(outcome.unwrap().text, "thought through");
        }
    }
}

#[tokio::test]
async fn the_wait_for_the_first_byte_includes_the_wait_for_the_head() {
    let server = ProviderServer::start();
    let part = Duration::from_millis(700);
    server.on(On::any(), Answer::valid().delay(part).silence(part));
    let timeouts = Timeouts {
        first_byte: Duration::from_secs(1),
        ..Timeouts::default()
    };
    let provider = cloud_with(Vendor::OpenAi, &server.url(), timeouts);
    let (outcome, _) = call(&provider, &ask(Vendor::OpenAi, "m")).await;
    let failure = outcome.unwrap_err();
    assert_eq!(failure.class, FailureClass::Timeout);
    assert!(
        failure.message.ends_with("sent nothing for 1 s"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn the_server_answers_the_nth_request_by_its_script() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google).nth(2),
        Answer::http(503, "text/plain", "busy"),
    );
    let provider = cloud(Vendor::Google, &server);
    let ask = ask(Vendor::Google, "gemini-4-argon");
    assert!(call(&provider, &ask).await.0.is_ok());
    assert!(call(&provider, &ask).await.0.is_err());
    assert!(call(&provider, &ask).await.0.is_ok());
    assert_eq!(server.variables().len(), 6);
}
