//! Plans that pay for calls, and are used up.

use std::time::Duration;

use conclave::consultation::event::{Envelope, Event, ProviderEvent, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::ids::ModelRef;

use super::resume::resume;
use super::scripted_providers::{Stage, state};
use crate::support::script::{crowd, failure_with_hint, good, paid_by_plan, with_fallback};

const SECOND: Duration = Duration::from_secs(1);
const RESET: Duration = Duration::from_secs(3 * 3_600);

/// Every seat and the judge are at one vendor, whose models a plan pays for.
fn plan() -> Plan {
    let mut plan = crowd(3);
    plan.panel.judges = vec![plan.panel.seats[0].model.clone()];
    paid_by_plan(plan, "anthropic")
}

fn used_up() -> Stage {
    Stage::new().provider("anthropic", |_| {
        let limit = failure_with_hint(FailureClass::Quota, "5-hour limit reached", RESET);
        (SECOND, limit)
    })
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_used_up_is_asked_once_and_not_again_before_it_resets() {
    let stage = used_up();
    let log = stage.play(plan()).await;
    assert_eq!(state(&log), StateName::Aborted);
    assert_eq!(stage.attempts().len(), 1, "the first call goes out alone");
    let is_held = |envelope: &&Envelope| {
        matches!(envelope.event, Event::Provider(ProviderEvent::Held { .. }))
    };
    assert_eq!(log.iter().filter(is_held).count(), 1);
    let text = serde_json::to_string(&log).unwrap();
    assert!(text.contains("asks for a pause of 3 h"), "{text}");

    let last = log.last().unwrap().at;
    let early = used_up();
    let (consultation, _, _) = resume(&early, &log, last.after(RESET / 2)).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    assert_eq!(early.attempts().len(), 0);

    let later = Stage::answering(SECOND);
    let (consultation, _, _) = resume(&later, &log, last.after(RESET)).await;
    assert_eq!(consultation.state(), StateName::Complete);
}

#[tokio::test(start_paused = true)]
async fn fallbacks_take_over_from_a_plan_that_is_used_up() {
    let mut plan = with_fallback(plan(), &ModelRef::new("openai", "gpt-6.1-sol"));
    plan.panel
        .judges
        .push(ModelRef::new("openai", "gpt-6.1-sol"));
    let stage = used_up().provider("openai", |call| (SECOND, good(call.ask)));
    assert_eq!(state(&stage.play(plan).await), StateName::Complete);
    assert_eq!(stage.attempts_at("anthropic").len(), 1);
}
