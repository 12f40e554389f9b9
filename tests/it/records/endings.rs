//! The record of a consultation that was hedged, ended early or resumed.

use std::time::Duration;

use conclave::consultation::event::{
    AgentEvent, CallEvent, CallStarted, CancelReason, ConsultationEvent, Envelope, Event, Purpose,
    Resumed, StateEvent, StateName,
};
use conclave::consultation::plan::Control;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::Ask;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{AgentId, CallId, ModelRef};
use serde_json::{Value, json};

use crate::support::script::{Player, good, plan};
use crate::support::{record_json, sample_events, schema};

const SCHEMA: &str = include_str!("../../../schemas/consultation.schema.json");

fn after(events: &[Envelope], event: Event, ms: u64) -> Envelope {
    let last = events.last().unwrap();
    Envelope {
        seq: last.seq + 1,
        at: last.at.after(Duration::from_millis(ms)),
        cause: None,
        waited_for_person_ms: 0,
        event,
        ..last.clone()
    }
}

fn recorded(events: &[Envelope]) -> Value {
    record_json(&Transcript::fold(events).unwrap())
}

fn resumed(state: StateName) -> Event {
    let control = Control::usual(ConsentMode::PreApproved);
    Event::Consultation(ConsultationEvent::Resumed(Box::new(Resumed {
        state,
        lost_calls: vec![],
        terms: control.into(),
        tool_version: "0.0.0".to_owned(),
    })))
}

#[test]
fn resuming_reopens_the_consultation_without_the_gap() {
    let mut events = sample_events::aborted();
    let before = Transcript::fold(&events).unwrap();
    events.push(after(&events, resumed(StateName::CrossExam), 3_600_000));
    let again = Transcript::fold(&events).unwrap();
    assert_eq!(again.state, StateName::CrossExam);
    assert_eq!(&again.abort, &None);
    assert_eq!(again.duration, before.duration);
    assert_eq!(&recorded(&events)["status"], &json!("incomplete"));
    assert_eq!(&recorded(&events)["abort_reason"], &Value::Null);
    assert_eq!(
        again.lost_calls, before.lost_calls,
        "a dropped call may have cost something"
    );
}

#[test]
fn agent_that_answers_after_retries_is_no_failure() {
    let mut events = sample_events::all_failed();
    assert_eq!(Transcript::fold(&events).unwrap().failures.len(), 3);
    events.push(after(&events, resumed(StateName::Independent), 1));
    let completed = sample_events::complete()
        .into_iter()
        .find(|envelope| matches!(envelope.event, Event::Agent(AgentEvent::Completed { .. })))
        .unwrap();
    events.push(after(&events, completed.event, 1));
    let failures = Transcript::fold(&events).unwrap().failures;
    assert_eq!(failures.len(), 2);
    assert!(
        !failures
            .iter()
            .any(|failure| failure.agent_id.as_str() == "security")
    );
}

#[test]
fn hedge_states_the_dropped_call_and_makes_the_cost_a_lower_bound() {
    let whole = sample_events::complete();
    let at = whole
        .iter()
        .position(|envelope| matches!(envelope.event, Event::Call(CallEvent::Started(_))))
        .unwrap();
    let Event::Call(CallEvent::Started(CallStarted {
        call,
        agent_id,
        model,
        ..
    })) = &whole[at].event
    else {
        panic!()
    };
    let (backup, hedge) = (ModelRef::new("xai", "grok-4.7"), CallId(99));
    let mut hedged = whole[..=at].to_vec();
    let slow = Event::Call(CallEvent::Hedged {
        call: *call,
        agent_id: agent_id.clone(),
        model: model.clone(),
        backup: backup.clone(),
        after_ms: 10_000,
    });
    hedged.push(after(&hedged, slow, 10_000));
    let mut beside = whole[at].event.clone();
    if let Event::Call(CallEvent::Started(started)) = &mut beside {
        (started.call, started.model, started.purpose) = (hedge, backup, Purpose::Hedge);
    }
    hedged.push(after(&hedged, beside, 0));
    let entry = |dropped: Value| {
        json!([
            {
                "agent": "Security Expert",
                "agent_id": "security",
                "round_number": 1,
                "model": "anthropic:claude-sonnet-5-5",
                "backup": "xai:grok-4.7",
                "after_ms": 10_000,
                "dropped": dropped,
            },
        ])
    };
    assert_eq!(recorded(&hedged)["hedges"], entry(Value::Null));
    let lost = Event::Call(CallEvent::Cancelled {
        call: hedge,
        reason: CancelReason::HedgeLost,
    });
    hedged.push(after(&hedged, lost, 5));
    hedged.extend(whole[at + 1..].iter().cloned());
    let record = recorded(&hedged);
    assert_eq!(record["hedges"], entry(json!("xai:grok-4.7")));
    assert_eq!(&record["cost"]["lost_calls"], &json!(1));
    assert_eq!(&record["cost"]["lower_bound"], &json!(true));
    schema::check(SCHEMA, &record);
}

#[test]
fn inconsistent_log_folds_without_panic() {
    let mut events = sample_events::aborted();
    for event in [
        Event::State(StateEvent::Changed {
            from: StateName::Complete,
            to: StateName::Idle,
        }),
        Event::Call(CallEvent::Cancelled {
            call: CallId(77),
            reason: CancelReason::HedgeLost,
        }),
        Event::Call(CallEvent::Hedged {
            call: CallId(78),
            agent_id: AgentId::from("unknown"),
            model: ModelRef::new("a", "b"),
            backup: ModelRef::new("c", "d"),
            after_ms: 1,
        }),
        resumed(StateName::Verdict),
    ] {
        events.push(after(&events, event, 1));
    }
    assert_eq!(recorded(&events)["state"].as_str(), Some("Verdict"));
    assert_eq!(
        &recorded(&events)["hedges"][0]["round_number"],
        &Value::Null
    );
}

#[test]
fn only_resumable_consultations_have_a_resume_token() {
    let mut player = Player::started(plan());
    assert_eq!(recorded(&player.log)["resume_token"], "consult-01test");
    let is_independent = |ask: &Ask| ask.answer == AnswerKind::Independent;
    while player.open.iter().any(is_independent) {
        let ask = player.open[0].clone();
        player.answer(0, good(&ask));
    }
    player.give(conclave::consultation::machine::Input::Interrupted);
    let partial = recorded(&player.log);
    assert_eq!(&partial["resume_token"], &json!("consult-01test"));
    assert_eq!(&partial["abort_reason"], &json!("interrupted"));
    assert_eq!(&partial["completed_rounds"][0]["round_number"], &json!(1));
    assert_eq!(&partial["incomplete_rounds"], &json!([2, 3, 4]));
    assert_eq!(
        partial["partial_consensus"],
        Value::Null,
        "Round 2 was not done"
    );
    let mut done = Player::started(plan());
    done.finish(good);
    assert_eq!(recorded(&done.log)["resume_token"], Value::Null);
}
