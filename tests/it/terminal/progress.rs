//! The progress that a pipe or a log gets.

use std::time::Duration;

use conclave::consultation::event::{
    Abort, AbortReason, AttemptNumber, CallEvent, CancelReason, CeilingReached, ConsultationEvent,
    CostEvent, Envelope, Event, HealthEvent, HealthUpdate, PulseEvent, Purpose, Resumed,
    RoundEvent, StateName, StillWaiting, Substitution, WhySubstituted,
};
use conclave::consultation::plan::Control;
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::estimate::{Consent, GateReason};
use conclave::consultation::policy::health::HealthStatus;
use conclave::consultation::policy::hedging::NoHedge;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{AgentId, CallId, ModelRef, ProviderId};
use conclave::engine::ports::{Delta, Subscriber};
use conclave::terminal::output::printer::Verbosity;
use conclave::terminal::progress::ProgressReporter;

use super::printer::CapturedPrinter;
use crate::support::sample_events::{self, EventBuilder};

fn lines(events: &[Envelope], verbosity: Verbosity, width: Option<u16>) -> String {
    let captured = CapturedPrinter::new(verbosity, width);
    let mut progress = ProgressReporter::new(captured.printer.clone(), true, false);
    for event in events {
        progress.event(event).unwrap();
    }
    assert_eq!(captured.out(), "", "progress never goes to standard output");
    captured.err()
}

#[test]
fn a_pipe_gets_the_panel_then_one_line_per_event() {
    insta::assert_snapshot!(lines(&sample_events::complete(), Verbosity::Normal, None));
}

#[test]
fn single_family_and_local_panels_are_labelled() {
    let text = lines(&sample_events::degraded(), Verbosity::Normal, None);
    assert!(text.contains("agreement within one family is weak evidence"));
    assert!(text.contains("local model, demonstration quality"));
    insta::assert_snapshot!(text);
}

#[test]
fn verbose_adds_the_estimate_and_answer_problems() {
    insta::assert_snapshot!(lines(&sample_events::troubled(), Verbosity::Verbose, None));
}

#[tokio::test(start_paused = true)]
async fn quiet_prints_and_streams_nothing() {
    for events in [sample_events::degraded(), controlled()] {
        assert_eq!(lines(&events, Verbosity::Quiet, None), "");
    }
    assert_eq!(streamed(Verbosity::Quiet).await, "");
}

#[test]
fn no_line_is_wider_than_a_narrow_terminal() {
    for width in [20, 40, 60] {
        for line in lines(&sample_events::degraded(), Verbosity::Verbose, Some(width)).lines() {
            assert!(
                console::measure_text_width(line) <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
}

fn health(provider: &str, status: HealthStatus, none_healthy: bool) -> Event {
    Event::Health(HealthEvent::StatusUpdated(HealthUpdate {
        provider: ProviderId::new(provider),
        status,
        latency_ms: (status != HealthStatus::Unhealthy).then_some(4_210),
        error_rate: 0.5,
        consecutive_failures: if status == HealthStatus::Unhealthy {
            3
        } else {
            0
        },
        none_healthy,
    }))
}

fn substituted(reason: WhySubstituted, message: &str) -> Event {
    Event::Consultation(ConsultationEvent::ProviderSubstituted(Substitution {
        agent_id: AgentId::from("pragmatic"),
        round_number: 1,
        original: ModelRef::new("google", "gemini-3-pro"),
        substitute: ModelRef::new("xai", "grok-4.7"),
        reason,
        message: message.to_owned(),
    }))
}

/// Events of every control action: health, hedges, substitutions, pulses, ceilings.
fn controlled() -> Vec<Envelope> {
    let mut sample = EventBuilder::new(sample_events::panel());
    sample.begin(Consent::Ceiling);
    let helped = sample.call("architecture", AnswerKind::Independent, Purpose::Answer);
    sample.finished(
        helped,
        "architecture",
        AnswerKind::Independent,
        None,
        vec![],
    );
    for event in [
        health("google", HealthStatus::Degraded, false),
        health("openai", HealthStatus::Unhealthy, true),
        health("anthropic", HealthStatus::Degraded, true),
    ] {
        sample.emit(event);
    }
    sample.emit(Event::Round(RoundEvent::Started { round_number: 1 }));
    let (agent_id, _, model) = sample.agent("pragmatic");
    let call = sample.thinking("pragmatic", AnswerKind::Independent);
    let (backup, slow) = (
        ModelRef::new("xai", "grok-4.7"),
        sample.thinking("security", AnswerKind::Independent),
    );
    sample.emit(Event::Call(CallEvent::Hedged {
        call,
        agent_id: agent_id.clone(),
        model: model.clone(),
        backup,
        after_ms: 10_000,
    }));
    sample.call("pragmatic", AnswerKind::Independent, Purpose::Hedge);
    sample.emit(Event::Call(CallEvent::NotHedged {
        call: slow,
        agent_id: AgentId::from("security"),
        reason: NoHedge::NoBackup,
    }));
    sample.emit(Event::Call(CallEvent::Cancelled {
        call,
        reason: CancelReason::HedgeLost,
    }));
    sample.emit(substituted(WhySubstituted::Hedge, ""));
    sample.emit(substituted(
        WhySubstituted::Timeout,
        "no answer within 120 s.",
    ));
    sample.emit(substituted(WhySubstituted::HealthCheck, ""));
    let waiting = ["Security Expert", "Architect"]
        .map(|name| StillWaiting {
            agent_id: AgentId::from(name),
            name: name.to_owned(),
            elapsed_ms: 72_000,
        })
        .to_vec();
    for (waiting, asked) in [
        (waiting[..1].to_vec(), false),
        (waiting.clone(), false),
        (waiting, true),
    ] {
        sample.emit(Event::Pulse(PulseEvent::Asked {
            round_number: 1,
            waiting,
            elapsed_ms: 72_000,
            asked,
        }));
    }
    sample.emit(Event::Cost(CostEvent::CeilingReached(CeilingReached {
        max_cost: MicroUsd(500_000),
        spent: Cost::exactly(MicroUsd(421_300)),
        agent_id,
        model,
        worst_case: Cost::exactly(MicroUsd(120_000)),
        budget: None,
        answer: None,
    })));
    sample.emit(Event::Consultation(ConsultationEvent::Aborted(Abort {
        reason: AbortReason::CostExceededEstimate,
        message: "…".to_owned(),
        during: StateName::Independent,
        duration_ms: 1,
    })));
    sample.events
}

#[test]
fn each_control_action_has_one_line() {
    insta::assert_snapshot!(lines(&controlled(), Verbosity::Normal, None));
}

#[test]
fn verbose_reports_provider_health_and_missed_hedges() {
    insta::assert_snapshot!(lines(&controlled(), Verbosity::Verbose, None));
}

#[test]
fn noninteractive_runs_print_the_reasons_for_questions() {
    let mut sample = EventBuilder::new(sample_events::panel());
    sample.begin(Consent::NobodyToAsk);
    let consent = sample
        .events
        .iter()
        .position(|envelope| {
            matches!(
                envelope.event,
                Event::Consultation(ConsultationEvent::UserConsent { .. })
            )
        })
        .unwrap();
    let why = vec![GateReason::MonthlyBudget, GateReason::LargeContext];
    sample.events[consent - 1].event = Event::Cost(CostEvent::GateTriggered {
        cost: Cost::FREE,
        always_allow_under: MicroUsd::ZERO,
        why,
    });
    let text = lines(&sample.events, Verbosity::Normal, None);
    assert!(text.contains("\n⚠️ This would bring the month above its budget.\n⚠️ Large context detected (~12 tokens)\n"), "{text}");
}

#[test]
fn a_resumed_run_shows_its_question() {
    let history = sample_events::aborted();
    let mut sample = EventBuilder::new(sample_events::panel());
    sample.emit(Event::Consultation(ConsultationEvent::Resumed(Box::new(
        Resumed {
            state: StateName::CrossExam,
            lost_calls: vec![CallId(5)],
            terms: Control::usual(ConsentMode::PreApproved).into(),
            tool_version: "0.1.0".to_owned(),
        },
    ))));
    let call = sample.call("security", AnswerKind::Revision, Purpose::Resumed);
    sample.emit(Event::Call(CallEvent::Retried {
        call,
        agent_id: AgentId::from("security"),
        wait_ms: 1_000,
        reason: "overloaded".to_owned(),
        attempt: Some(AttemptNumber { number: 2, of: 3 }),
    }));
    let captured = CapturedPrinter::new(Verbosity::Verbose, None);
    let mut progress = ProgressReporter::new(captured.printer.clone(), true, false);
    progress.catch_up(&history, history[0].at);
    assert_eq!(captured.err(), "", "past events are not repeated");
    for event in &sample.events {
        progress.event(event).unwrap();
    }
    let expected = "   1 call was interrupted and is repeated\n   Security Expert: retrying 2 of 3 in 1.0 s: overloaded\n";
    assert_eq!(captured.err(), expected);
}

/// Returns the output while the judge's call of Round 2 streams, beside an expert's call.
async fn streamed(verbosity: Verbosity) -> String {
    let mut sample = EventBuilder::new(sample_events::panel());
    sample.emit(Event::Round(RoundEvent::Started { round_number: 2 }));
    let expert = sample.thinking("security", AnswerKind::Revision);
    let judge = sample.thinking("judge", AnswerKind::Synthesis);
    let captured = CapturedPrinter::new(verbosity, None);
    let mut progress = ProgressReporter::new(captured.printer.clone(), true, true);
    let first_events = sample.events.len();
    for event in &sample.events {
        progress.event(event).unwrap();
    }
    progress.delta(
        expert,
        &Delta::Text("{\"revised_position\": \"not shown\"}".to_owned()),
    );
    for piece in [
        "{\"consensus_points\": [{\"po",
        "int\": \"Delegation ",
        "is what\\u001b[2J OAuth is",
        " for\", \"confidence\": 0.9}], ",
    ] {
        progress.delta(judge, &Delta::Text(piece.to_owned()));
    }
    // The text is read again after a while.
    tokio::time::advance(Duration::from_millis(250)).await;
    progress.delta(
        judge,
        &Delta::Text("\"tensions\": [{\"topic\": \"Token".to_owned()),
    );
    captured.printer.note("news");
    progress.delta(judge, &Delta::Text(" lifetime\"}]}".to_owned()));
    sample.finished(judge, "judge", AnswerKind::Synthesis, None, vec![]);
    for event in &sample.events[first_events..] {
        progress.event(event).unwrap();
    }
    captured.err()
}

#[tokio::test(start_paused = true)]
async fn the_judges_text_streams_apart_from_other_lines() {
    insta::assert_snapshot!(streamed(Verbosity::Normal).await);
}
