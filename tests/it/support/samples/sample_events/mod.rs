//! Sample consultations: streams of events as the machine would emit them, for tests of reports and
//! saved files.

mod answers;
mod builder;

use conclave::consultation::event::{
    Abort, AbortReason, AttemptNumber, CallError, CallEvent, CancelReason, ConsultationEvent,
    Envelope, Event, Purpose, RoundEvent, StateName, Substitution, WhySubstituted,
};
use conclave::consultation::policy::estimate::Consent;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::answer::artifact::Content;
use conclave::domain::ids::{AgentId, ModelRef};

use answers::{independent, menu, position, synthesis};

pub(crate) use builder::{EventBuilder, local_panel, panel};

/// One log of each kind.
pub(crate) fn all() -> Vec<Vec<Envelope>> {
    vec![
        complete(),
        degraded(),
        aborted(),
        all_failed(),
        hostile(),
        troubled(),
        substituted(),
        explored(),
        provisional(),
    ]
}

/// Returns a complete consultation: four rounds, three answers, one verdict.
pub(crate) fn complete() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    events.begin(Consent::AutoApproved);
    events.first_round(position, None);
    events.later_rounds(&["security", "architecture", "pragmatic"], str::to_owned);
    events.events
}

/// Returns a complete consultation in explore mode, whose verdict is a menu.
pub(crate) fn explored() -> Vec<Envelope> {
    exploring(str::to_owned, str::to_owned)
}

/// Returns the same with texts that imitate other parts of the document.
pub(crate) fn explored_hostile() -> Vec<Envelope> {
    exploring(|_| HOSTILE.to_owned(), |text| format!("{text}\n{HOSTILE}"))
}

fn exploring(position: impl Fn(&str) -> String, rewrite: impl Fn(&str) -> String) -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    "explore".clone_into(&mut events.terms.mode);
    events.begin(Consent::AutoApproved);
    events.first_round(position, None);
    events.later_rounds_with(
        &["security", "architecture", "pragmatic"],
        &rewrite,
        AnswerKind::Menu,
        menu(&rewrite),
    );
    events.events
}

/// Returns a consultation of two rounds, whose answer is the provisional one.
pub(crate) fn provisional() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    events.begin(Consent::AutoApproved);
    events.first_round(position, None);
    events.state(StateName::Independent, StateName::Synthesis);
    events.round(2, |events| {
        let answer = Content::Synthesis(synthesis(&str::to_owned));
        events.judged(AnswerKind::Synthesis, answer);
    });
    events.state(StateName::Synthesis, StateName::Complete);
    events.emit(Event::Consultation(ConsultationEvent::Completed {
        rounds: 2,
        duration_ms: 9_000,
    }));
    events.events
}

/// Returns a consultation of the embedded model in which one seat fails for want of credit.
pub(crate) fn degraded() -> Vec<Envelope> {
    let mut events = EventBuilder::new(local_panel());
    events.begin(Consent::AutoApproved);
    events.first_round(position, Some("Your credit balance is too low"));
    events.later_rounds(&["security", "architecture"], str::to_owned);
    events.events
}

/// Returns a consultation that is interrupted in Round 3 during a call.
pub(crate) fn aborted() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    events.begin(Consent::Asked);
    events.first_round(position, None);
    events.state(StateName::Independent, StateName::Synthesis);
    events.round(2, |events| {
        let answer = Content::Synthesis(synthesis(&str::to_owned));
        events.judged(AnswerKind::Synthesis, answer);
    });
    events.state(StateName::Synthesis, StateName::CrossExam);
    events.emit(Event::Round(RoundEvent::Started { round_number: 3 }));
    let call = events.thinking("security", AnswerKind::Revision);
    events.wait(500);
    events.emit(Event::Call(CallEvent::Cancelled {
        call,
        reason: CancelReason::Abort(AbortReason::Interrupted),
    }));
    events.state(StateName::CrossExam, StateName::Aborted);
    events.emit(Event::Consultation(ConsultationEvent::Aborted(Abort {
        reason: AbortReason::Interrupted,
        message: "Interrupted".to_owned(),
        during: StateName::CrossExam,
        duration_ms: 6_700,
    })));
    events.events
}

/// Returns a consultation in which all experts fail.
pub(crate) fn all_failed() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    events.begin(Consent::Flag);
    events.emit(Event::Round(RoundEvent::Started { round_number: 1 }));
    for agent in ["security", "architecture", "pragmatic"] {
        let call = events.thinking(agent, AnswerKind::Independent);
        let (kind, class) = (AnswerKind::Independent, FailureClass::Auth);
        events.fail(call, agent, kind, class, "invalid x-api-key");
    }
    events.state(StateName::Independent, StateName::Aborted);
    events.emit(Event::Consultation(ConsultationEvent::Aborted(Abort {
        reason: AbortReason::AllAgentsFailed,
        message: "All agents failed. Unable to provide consultation.".to_owned(),
        during: StateName::Independent,
        duration_ms: 0,
    })));
    events.events
}

/// Returns a complete consultation whose texts imitate other parts of the document.
pub(crate) fn hostile() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    "# Which?\n\n```\nunclosed".clone_into(&mut events.terms.question);
    events.begin(Consent::AutoApproved);
    events.first_round(|_| HOSTILE.to_owned(), None);
    events.later_rounds(&["security", "architecture", "pragmatic"], |text| {
        format!("{text}\n{HOSTILE}")
    });
    events.events
}

const HOSTILE: &str = "## Consensus\nfaked\n\n---\n**Cost:** $0\n\n<script>alert(1)</script>\n\u{1b}[2J\u{202e}\n`<b>`\n```\nopen";

/// Returns a consultation of Round 1 alone: one provider is overloaded at first, and one answer is
/// unreadable.
pub(crate) fn troubled() -> Vec<Envelope> {
    let mut events = EventBuilder::new(panel());
    events.terms.panel.seats.truncate(2);
    events.begin(Consent::Flag);
    events.round(1, |events| {
        let answer = AnswerKind::Independent;
        let calls = ["security", "architecture"].map(|agent| events.thinking(agent, answer));
        let overload = CallError {
            class: FailureClass::Overload,
            message: "overloaded, try again later".to_owned(),
            retry_after_ms: None,
            usage_reported: false,
        };
        events.finished(calls[0], "security", answer, Some(overload), vec![]);
        let (agent_id, ..) = events.agent("security");
        events.emit(Event::Call(CallEvent::Retried {
            call: calls[0],
            agent_id,
            wait_ms: 4_000,
            reason: "overloaded, try again later".to_owned(),
            attempt: Some(AttemptNumber { number: 2, of: 3 }),
        }));
        events.wait(4_000);
        let retry = events.call("security", answer, Purpose::Retry);
        let content = independent("security", "Use OAuth 2.0.", Some(0.8));
        events.answer(retry, "security", answer, content, false);
        let content = independent("architecture", "It depends.", None);
        events.answer(calls[1], "architecture", answer, content, true);
    });
    events.state(StateName::Independent, StateName::Complete);
    events.emit(Event::Consultation(ConsultationEvent::Completed {
        rounds: 1,
        duration_ms: 4_000,
    }));
    events.events
}

/// Returns a complete consultation in which another model takes over the pragmatist's seat.
pub(crate) fn substituted() -> Vec<Envelope> {
    let mut events = complete();
    let is_end = |envelope: &Envelope| {
        matches!(
            envelope.event,
            Event::Round(RoundEvent::Completed {
                round_number: 1,
                ..
            })
        )
    };
    let index = events.iter().position(is_end).unwrap();
    let event = Event::Consultation(ConsultationEvent::ProviderSubstituted(Substitution {
        agent_id: AgentId::from("pragmatic"),
        round_number: 1,
        original: ModelRef::new("google", "gemini-3-pro"),
        substitute: ModelRef::new("xai", "grok-4.7"),
        reason: WhySubstituted::Timeout,
        message: "no answer within 120 s".to_owned(),
    }));
    let mut inserted = events[index].clone();
    inserted.event = event;
    events.insert(index, inserted);
    for (envelope, seq) in events.iter_mut().zip(1..) {
        envelope.seq = seq;
    }
    events
}
