//! Tests of the display of agents at work.

use console::measure_text_width;

use super::*;
use crate::consultation::event::{AgentError, AgentFailure, CancelReason, Resumed, Substitution};
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::ModelRef;
use crate::domain::money::MicroUsd;
use crate::domain::tokens::Usage;
use crate::terminal::output::live_area::TerminalSize;

const START: Duration = Duration::from_secs(2);

/// Follows events that all happen two seconds after the start.
fn view(events: &[Event]) -> LiveView {
    let mut view = LiveView::new(Paint::Plain);
    view.follow(
        &Event::Round(RoundEvent::Started { round_number: 1 }),
        START,
    );
    for event in events {
        view.follow(event, START);
    }
    view
}

fn size(columns: usize, rows: usize) -> TerminalSize {
    TerminalSize { columns, rows }
}

fn shown(view: &LiveView) -> String {
    view.lines(Duration::from_millis(10_400), size(100, 24))
        .join("\n")
}

#[track_caller]
fn assert_shows(view: &LiveView, text: &str) {
    let shown = shown(view);
    assert!(shown.contains(text), "{shown}");
}

fn substitution(agent: &str, reason: WhySubstituted, substitute: &str) -> Substitution {
    Substitution {
        agent_id: AgentId::from(agent),
        round_number: 1,
        original: ModelRef::new("openai", "sol"),
        substitute: ModelRef::new("xai", substitute),
        reason: SubstitutionReason::Known(reason),
        message: String::new(),
    }
}

fn substituted(reason: WhySubstituted, substitute: &str) -> Event {
    let substitution = substitution("a", reason, substitute);
    Event::Consultation(ConsultationEvent::ProviderSubstituted(substitution))
}

fn thinking(agent: &str, name: &str, model: &str) -> Event {
    let (agent_id, model) = (AgentId::from(agent), ModelRef::new("openai", model));
    Event::Agent(AgentEvent::Thinking {
        agent_id,
        name: name.to_owned(),
        round_number: 1,
        answer: AnswerKind::Independent,
        model,
    })
}

fn started(call: u32, agent: &str, model: &str, purpose: Purpose) -> Event {
    Event::Call(CallEvent::Started {
        call: CallId(call),
        agent_id: AgentId::from(agent),
        round_number: 1,
        answer: AnswerKind::Independent,
        purpose,
        model: ModelRef::new("xai", model),
        max_output_tokens: 1,
        prompt_sha256: String::new(),
        worst_case: None,
        tokens_saved: 0,
    })
}

fn done(agent: &str) -> Event {
    Event::Agent(AgentEvent::Completed {
        agent_id: AgentId::from(agent),
        name: String::new(),
        round_number: 1,
        answer: AnswerKind::Independent,
        duration_ms: 8_200,
        tokens: Usage {
            output: 1_204,
            ..Usage::default()
        },
        cost: Cost::exactly(MicroUsd(13_100)),
    })
}

fn failed(agent: &str) -> Event {
    Event::Agent(AgentEvent::Failed(AgentFailure {
        agent_id: AgentId::from(agent),
        name: String::new(),
        round_number: 1,
        answer: AnswerKind::Independent,
        model: ModelRef::new("p", "m"),
        error: AgentError {
            class: Some(FailureClass::Billing),
            message: "no credit left".to_owned(),
        },
    }))
}

fn cancelled(call: u32) -> Event {
    Event::Call(CallEvent::Cancelled {
        call: CallId(call),
        reason: CancelReason::HedgeLost,
    })
}

fn four() -> LiveView {
    let mut view = view(&[
        thinking("security", "Security Expert", "claude-sonnet-5-5"),
        thinking("architect", "Architect", "gpt-6.1-sol"),
        thinking("pragmatic", "Pragmatist", "gemini-3-pro"),
        thinking("skeptic", "建築家 with a very long name indeed", "m"),
        done("security"),
        started(2, "architect", "gpt-6.1-sol", Purpose::Answer),
        Event::Call(CallEvent::Retried {
            call: CallId(3),
            agent_id: AgentId::from("pragmatic"),
            wait_ms: 12_000,
            reason: String::new(),
        }),
        failed("skeptic"),
    ]);
    view.receive(CallId(2), &Delta::Text("a".repeat(400) + "é日"));
    view.spent = Cost::exactly(MicroUsd(13_100));
    view.estimate = Some(Cost::at_least(MicroUsd(300_000)));
    view
}

#[test]
fn each_agent_has_a_row_with_its_activity() {
    insta::assert_snapshot!(shown(&four()), @r"
    ✔ Security Expert               claude-sonnet-5-5  done 8.2s · 1,204 tok · $0.0131
    ⠙ Architect                     gpt-6.1-sol        writing 102 tokens · 0:08
    ⠙ Pragmatist                    gemini-3-pro       retrying in 4 s
    ✘ 建築家 with a very long nam…  m                  failed: no credit left
    Round 1 of 4 · independent answers · 0:10 · $0.0131 of ≥ $0.30
    ");
}

#[test]
fn rows_show_waiting_for_a_provider_or_the_person() {
    let offered = substitution("b", WhySubstituted::Timeout, "grok");
    let mut view = view(&[
        thinking("a", "Architect", "sol"),
        thinking("b", "Pragmatist", "sol"),
        thinking("c", "Skeptic", "sol"),
        Event::Consultation(ConsultationEvent::SubstitutionOffered(offered)),
        started(1, "c", "sol", Purpose::Answer),
    ]);
    insta::assert_snapshot!(shown(&view), @r"
    ⠙ Architect   sol  waiting for openai · 0:08
    ⠙ Pragmatist  sol  waiting for your answer
    ⠙ Skeptic     sol  connecting · 0:08
    Round 1 of 4 · independent answers · 0:10 · $0.00
    ");
    view.receive(CallId(1), &Delta::Connected);
    assert_shows(&view, "Skeptic     sol  thinking · 0:08");
    assert!(view.lines(START, size(40, 24))[0].ends_with("waiting · 0:00"));
}

#[test]
fn hedge_is_named_until_one_call_has_ended() {
    let begin = [
        thinking("a", "Architect", "sol"),
        started(1, "a", "sol", Purpose::Answer),
        started(2, "a", "grok-4.7", Purpose::Hedge),
    ];
    let mut hedged = view(&begin);
    assert_shows(&hedged, "sol  connecting · 0:08 · hedged to grok-4.7\n");
    hedged.receive(CallId(2), &Delta::Text("four".to_owned()));
    assert_shows(
        &hedged,
        "sol  writing 1 tokens · 0:08 · hedged to grok-4.7\n",
    );
    hedged.follow(&cancelled(1), START);
    hedged.follow(&substituted(WhySubstituted::Hedge, "grok-4.7"), START);
    assert_shows(&hedged, "Architect  grok-4.7  writing 1 tokens · 0:08\n");
    let mut lost = view(&begin);
    lost.follow(&cancelled(2), START);
    assert_shows(&lost, "sol  connecting · 0:08\n");
}

#[test]
fn fallback_takes_the_row_of_the_failed_model() {
    let mut view = view(&[thinking("a", "Architect", "sol"), failed("a")]);
    view.follow(&substituted(WhySubstituted::Failure, "grok"), START);
    assert!(
        shown(&view).starts_with("⠙ Architect  grok  waiting for xai · 0:08\nRound"),
        "{}",
        shown(&view)
    );
    view.follow(&thinking("a", "Architect", "grok"), START);
    assert_eq!(shown(&view).lines().count(), 2);
}

#[test]
fn resumed_rows_continue_where_they_were() {
    let mut view = view(&[
        thinking("a", "Architect", "sol"),
        thinking("b", "Skeptic", "sol"),
        done("a"),
    ]);
    view.stop_all();
    assert_shows(&view, "· Skeptic    sol  stopped\n");
    let resumed = Resumed {
        state: StateName::Independent,
        lost_calls: vec![],
        terms: Control::usual(ConsentMode::PreApproved).into(),
        tool_version: String::new(),
    };
    view.follow(
        &Event::Consultation(ConsultationEvent::Resumed(Box::new(resumed))),
        Duration::from_secs(10),
    );
    let lines = shown(&view);
    assert!(
        lines.contains("✔ Architect")
            && lines.contains("Skeptic    sol  waiting for openai · 0:00\n"),
        "{lines}"
    );
}

#[test]
fn narrow_terminal_drops_the_model_first() {
    insta::assert_snapshot!(four().lines(Duration::from_millis(10_400), size(50, 24)).join("\n"), @r"
    ✔ Security Expert          8.2s · $0.0131
    ⠙ Architect                102 tok · 0:08
    ⠙ Pragmatist               retrying in 4 s
    ✘ 建築家 with a very lon…  failed: no credit left
    1/4 · 0:10 · $0.0131
    ");
    let mut view = four();
    view.follow(
        &started(4, "architect", "a-model-with-a-long-name", Purpose::Hedge),
        START,
    );
    for width in 10..130 {
        for line in view.lines(Duration::from_secs(3_700), size(width, 24)) {
            assert!(measure_text_width(&line) < width, "{width}: {line}");
        }
    }
}

#[test]
fn low_terminal_shows_the_working_agents_and_the_run() {
    insta::assert_snapshot!(four().lines(Duration::from_millis(10_400), size(60, 5)).join("\n"), @r"
    ⠙ Architect                     102 tok · 0:08
    ⠙ Pragmatist                    retrying in 4 s
    … 2 more, 2 of 4 done
    1/4 · 0:10 · $0.0131
    ");
}

#[test]
fn agents_outside_the_panel_keep_their_rows_between_rounds() {
    let mut view = view(&[
        thinking("judge", "Judge", "j"),
        thinking("helper", "Helper", "c"),
    ]);
    view.follow(&done("judge"), START);
    let left = view.take_finished(Duration::from_secs(5), 100).join("\n");
    assert!(left.contains("Judge") && !left.contains("Helper"), "{left}");
    view.follow(
        &Event::Round(RoundEvent::Started { round_number: 2 }),
        START,
    );
    assert_shows(&view, "Helper");
}

#[test]
fn cancelled_call_makes_the_cost_a_lower_bound() {
    let mut view = view(&[
        thinking("architect", "Architect", "gpt-6.1-sol"),
        started(2, "architect", "gpt-6.1-sol", Purpose::Answer),
    ]);
    view.spent = Cost::exactly(MicroUsd(13_100));
    let cancelled = Event::Call(CallEvent::Cancelled {
        call: CallId(2),
        reason: CancelReason::HedgeLost,
    });
    view.follow(&cancelled, Duration::ZERO);
    assert!(shown(&view).contains("≥ $0.0131"), "{}", shown(&view));
}
