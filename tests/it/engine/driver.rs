//! The driver: concurrent calls, interrupts, panics and failing subscribers.

use std::time::Duration;

use conclave::consultation::event::{Envelope, StateName};
use conclave::consultation::protocol::call::FailureClass;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::CallId;
use conclave::engine::ports::{Delta, Subscriber, SubscriberError};
use tokio::sync::mpsc;

use super::scripted_providers::{ScriptedCall, Stage, run, state};
use crate::support::script::{good, plan};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn round_1_takes_as_long_as_its_slowest_expert() {
    let stage = Stage::answering(SECOND).provider("google", |call| (2 * SECOND, good(call.ask)));
    let transcript = Transcript::fold(&stage.play(plan()).await).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    assert_eq!(transcript.rounds[0], (1, 2 * SECOND));
    let attempts = stage.attempts();
    for attempt in &attempts[..3] {
        assert_eq!(attempt.began, Duration::ZERO, "all three go out at once");
    }
    assert_eq!(attempts.len(), 9);
}

#[tokio::test(start_paused = true)]
async fn answers_that_arrive_with_an_interrupt_are_kept() {
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let mut stage = Stage::new();
    for vendor in ["anthropic", "openai", "google"] {
        let interrupt = interrupt.clone();
        stage = stage.provider(vendor, move |call| {
            interrupt.send(()).unwrap();
            (Duration::ZERO, good(call.ask))
        });
    }
    let history = run(plan(), stage.providers(), Vec::new(), interrupts).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert_eq!(transcript.state, StateName::Aborted);
    assert_eq!(transcript.calls.len(), 3);
    assert_eq!(transcript.artifacts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn interrupt_drops_the_connections_at_once() {
    let stage = Stage::answering(60 * SECOND);
    let history = stage.play_interrupted(plan(), SECOND / 20).await;
    assert_eq!(stage.began.elapsed(), SECOND / 20);
    assert_eq!(state(&history), StateName::Aborted);
    let attempts = stage.attempts();
    assert_eq!(attempts.len(), 3);
    assert!(attempts.iter().all(|attempt| attempt.ended.is_none()));
}

#[tokio::test(start_paused = true)]
async fn panicking_call_becomes_a_failed_seat() {
    let panics = |_: ScriptedCall<'_>| panic!("a bug in a codec");
    let stage = Stage::answering(SECOND).provider("anthropic", panics);
    let mut plan = plan();
    plan.panel.judges.truncate(1);
    let transcript = Transcript::fold(&stage.play(plan).await).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    let class = transcript.failures[0].error.class;
    assert_eq!(class, Some(FailureClass::Internal));
}

#[derive(Debug, Default)]
struct Listener {
    received: usize,
    deltas: usize,
    fails_at: Option<usize>,
    troubles: Vec<String>,
}

impl Subscriber for Listener {
    fn event(&mut self, _: &Envelope) -> Result<(), SubscriberError> {
        self.received += 1;
        if Some(self.received) == self.fails_at {
            Err(SubscriberError("the disk is full".to_owned()))
        } else {
            Ok(())
        }
    }

    fn delta(&mut self, _: CallId, _: &Delta) {
        self.deltas += 1;
    }

    fn trouble(&mut self, what: &str) {
        self.troubles.push(what.to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn failing_subscriber_is_reported_once_and_does_no_harm() {
    let mut failing = Listener {
        fails_at: Some(5),
        ..Listener::default()
    };
    let mut other = Listener::default();
    let stage = Stage::answering(SECOND);
    let history = stage.play_for(plan(), vec![&mut failing, &mut other]).await;
    assert_eq!(failing.received, 5);
    assert_eq!(other.troubles, ["the disk is full"]);
    assert_eq!(other.received, history.len());
    assert_eq!(other.deltas, 9);
    assert_eq!(state(&history), StateName::Complete);
}
