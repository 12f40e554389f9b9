//! Tests of the display of agents at work.

use console::measure_text_width;

use super::*;
use crate::consultation::event::{
    AgentError, AgentFailure, AttemptNumber, CallError, CallFinished, CallStarted, CancelReason,
    Resumed, Substitution,
};
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::cost::money::MicroUsd;
use crate::domain::cost::pricing::CostSource;
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Panel;
use crate::engine::ports::LocalProgress;
use crate::terminal::output::live_area::TerminalSize;

const START: Duration = Duration::from_secs(2);

/// Follows events that all happen two seconds after the start.
fn view(events: &[Event]) -> LiveView {
    let mut view = LiveView::new(Paint::PLAIN);
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

/// Asserts how the first row ends on a terminal of this width, ten seconds after the start.
#[track_caller]
fn assert_first_ends(view: &LiveView, columns: usize, text: &str) {
    let lines = view.lines(Duration::from_secs(10), size(columns, 24));
    assert!(lines[0].ends_with(text), "{lines:?}");
}

fn substitution(agent: &str, reason: WhySubstituted, substitute: &str) -> Substitution {
    Substitution {
        agent_id: AgentId::from(agent),
        round_number: 1,
        original: ModelRef::new("openai", "sol"),
        substitute: ModelRef::new("xai", substitute),
        reason,
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
    Event::Call(CallEvent::Started(CallStarted {
        call: CallId(call),
        agent_id: AgentId::from(agent),
        round_number: 1,
        answer: AnswerKind::Independent,
        purpose,
        model: ModelRef::new("xai", model),
        max_output_tokens: 1,
        prompt_sha256: String::new(),
        worst_case: Cost::FREE,
        tokens_saved: 0,
    }))
}

fn finished_with(call: u32, agent: &str, class: FailureClass) -> Event {
    Event::Call(CallEvent::Finished(Box::new(CallFinished {
        call: CallId(call),
        agent_id: AgentId::from(agent),
        round_number: 1,
        answer: AnswerKind::Independent,
        purpose: Purpose::Answer,
        model: ModelRef::new("openai", "sol"),
        served_model: None,
        stop: None,
        error: Some(CallError {
            class,
            message: String::new(),
            retry_after_ms: None,
            usage_reported: false,
        }),
        text: String::new(),
        tokens: Usage::default(),
        cost: Cost::FREE,
        counted: None,
        cost_source: CostSource::Provider,
        plan: None,
        first_token_ms: None,
        duration_ms: 1,
        problems: vec![],
    })))
}

fn retried(call: u32, agent: &str, reason: &str) -> Event {
    Event::Call(CallEvent::Retried {
        call: CallId(call),
        agent_id: AgentId::from(agent),
        wait_ms: 12_000,
        reason: reason.to_owned(),
        attempt: Some(AttemptNumber { number: 2, of: 3 }),
    })
}

fn local(tokens: u64, of: u64) -> LocalProgress {
    LocalProgress {
        tokens,
        of,
        left: Some(Duration::from_secs(20)),
    }
}

fn done(agent: &str) -> Event {
    Event::Agent(AgentEvent::Completed {
        agent_id: AgentId::from(agent),
        name: String::new(),
        round_number: 1,
        answer: AnswerKind::Independent,
        duration_ms: 1_900,
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
        finished_with(3, "pragmatic", FailureClass::Overload),
        retried(3, "pragmatic", "Overloaded (HTTP 529)"),
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
    ⠙ Architect                     gpt-6.1-sol   writing 102 tokens · 0:08
    ⠙ Pragmatist                    gemini-3-pro  retrying 2 of 3 in 4 s (HTTP 529)
    ✘ 建築家 with a very long nam…  m             failed: no credit left
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
    ⠙ Architect   sol  not sent yet · 0:08
    ⠙ Pragmatist  sol  waiting for your answer
    ⠙ Skeptic     sol  waiting for the first byte · 0:08
    Round 1 of 4 · independent answers · 0:10 · $0.00
    ");
    view.receive(CallId(1), &Delta::Connected);
    assert_shows(&view, "Skeptic     sol  waiting for the first byte · 0:08");
    view.receive(CallId(1), &Delta::KeepAlive);
    assert_shows(&view, "Skeptic     sol  thinking · 0:08");
    view.receive(CallId(1), &Delta::Text("four".to_owned()));
    view.receive(CallId(1), &Delta::Thinking);
    assert_shows(&view, "Skeptic     sol  writing 1 tokens · 0:08");
}

#[test]
fn held_provider_is_named_with_the_time_left() {
    let held = Event::Provider(ProviderEvent::Held {
        provider: ProviderId::new("openai"),
        wait_ms: 12_500,
        reason: "Slow down".to_owned(),
        refused_ms: 0,
    });
    let view = view(&[thinking("a", "Architect", "sol"), held]);
    assert_shows(&view, "waiting 5 s as openai asks (rate limit)\n");
    assert_first_ends(&view, 40, "waiting 5 s as openai ask…");
    let later = view.lines(Duration::from_secs(15), size(100, 24));
    assert!(later[0].ends_with("not sent yet · 0:13"), "{later:?}");
}

#[test]
fn provider_without_a_free_slot_is_named() {
    let panel = Panel {
        seats: vec![],
        judges: vec![],
    };
    let control = Control::usual(ConsentMode::PreApproved);
    let mut plan = Plan::new(ConsultationId::from_unique("01"), "?", panel, control);
    plan.in_flight.insert(ProviderId::new("openai"), 1);
    let mut view = view(&[
        thinking("a", "Architect", "sol"),
        thinking("b", "Skeptic", "sol"),
    ]);
    view.plan = Some(Box::new(plan));
    assert_shows(&view, "Architect  sol  not sent yet · 0:08");
    let mut call = started(1, "a", "sol", Purpose::Answer);
    if let Event::Call(CallEvent::Started(CallStarted { model, .. })) = &mut call {
        *model = ModelRef::new("openai", "sol");
    }
    view.follow(&call, START);
    assert_shows(&view, "waiting for a free slot at openai · 0:08");
}

#[test]
fn retry_names_its_number_its_cause_and_the_time_left() {
    let retrying = |reason: &str, class| {
        let mut view = view(&[
            thinking("a", "Architect", "sol"),
            started(1, "a", "sol", Purpose::Answer),
        ]);
        view.follow(&finished_with(1, "a", class), START);
        view.follow(&retried(1, "a", reason), START);
        view
    };
    let mut overloaded = retrying("Overloaded (HTTP 529)", FailureClass::Overload);
    assert_shows(&overloaded, "retrying 2 of 3 in 4 s (HTTP 529)\n");
    let unexplained = retrying("HTTP 503 without an explanation", FailureClass::Overload);
    assert_shows(&unexplained, "in 4 s (HTTP 503)");
    let refused = retrying("connection refused by `x`", FailureClass::Transport);
    assert_shows(&refused, "in 4 s (no connection)");
    let narrow = overloaded.lines(Duration::from_secs(10), size(38, 24));
    assert!(narrow[0].contains("retrying 2 of 3 in 4 s"), "{narrow:?}");
    overloaded.follow(&started(2, "a", "sol", Purpose::Retry), START);
    assert_shows(&overloaded, "first byte · attempt 2 of 3 · 0:08\n");
    overloaded.receive(CallId(2), &Delta::Thinking);
    assert_shows(&overloaded, "thinking · attempt 2 of 3 · 0:08\n");
}

#[test]
fn local_model_shows_its_tokens_and_the_time_left() {
    let mut view = view(&[thinking("a", "Architect", "qwen")]);
    let mut call = started(1, "a", "qwen", Purpose::Answer);
    if let Event::Call(CallEvent::Started(CallStarted { model, .. })) = &mut call {
        *model = ModelRef::new("local", "qwen");
    }
    view.follow(&call, START);
    assert_shows(&view, "waiting for the local model · 0:08");
    view.receive(CallId(1), &Delta::Reading(local(1_200, 3_400)));
    assert_shows(&view, "reading 1,200 of 3,400 tokens · about 0:20 left");
    view.receive(CallId(1), &Delta::Writing(local(180, 512)));
    view.receive(CallId(1), &Delta::Text("four".to_owned()));
    assert_shows(&view, "writing 180 of at most 512 tokens · about 0:20 left");
    assert_first_ends(&view, 50, "writing 180 of at… · about 0:20 left");
}

#[test]
fn hedge_is_named_until_one_call_has_ended() {
    let begin = [
        thinking("a", "Architect", "sol"),
        started(1, "a", "sol", Purpose::Answer),
        started(2, "a", "grok-4.7", Purpose::Hedge),
    ];
    let mut hedged = view(&begin);
    assert_shows(
        &hedged,
        "sol  waiting for the first byte · hedged to grok-4.7 · 0:08\n",
    );
    hedged.receive(CallId(2), &Delta::Text("four".to_owned()));
    assert_shows(
        &hedged,
        "sol  writing 1 tokens · hedged to grok-4.7 · 0:08\n",
    );
    assert_first_ends(&hedged, 50, "writing 1 tokens · hedged to… · 0:08");
    hedged.follow(&cancelled(1), START);
    hedged.follow(&substituted(WhySubstituted::Hedge, "grok-4.7"), START);
    assert_shows(&hedged, "Architect  grok-4.7  writing 1 tokens · 0:08\n");
    let mut lost = view(&begin);
    lost.follow(&cancelled(2), START);
    assert_shows(&lost, "sol  waiting for the first byte · 0:08\n");
}

#[test]
fn fallback_takes_the_row_of_the_failed_model() {
    let mut view = view(&[thinking("a", "Architect", "sol"), failed("a")]);
    view.follow(&substituted(WhySubstituted::Failure, "grok"), START);
    assert!(
        shown(&view).starts_with("⠙ Architect  grok  not sent yet · 0:08\nRound"),
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
    assert_shows(&view, "· Skeptic  sol  stopped\n");
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
    assert_shows(&view, "Skeptic  sol  not sent yet · 0:00\n");
    view.follow(&done("b"), Duration::from_secs(1));
    assert!(view.is_blank(), "those that have answered have no row");
}

#[test]
fn narrow_terminal_drops_the_model_first() {
    insta::assert_snapshot!(four().lines(Duration::from_millis(10_400), size(50, 24)).join("\n"), @r"
    ⠙ Architect              writing 102 toke… · 0:08
    ⠙ Pragmatist             retrying 2 of 3 in 4 s …
    ✘ 建築家 with a very l…  failed: no credit left
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
    ⠙ Architect                     writing 102 tokens · 0:08
    ⠙ Pragmatist                    retrying 2 of 3 in 4 s (HT…
    … 1 more
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
    let left = shown(&view);
    assert!(!left.contains("Judge"), "{left}");
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
    view.follow(&cancelled(2), Duration::ZERO);
    assert_shows(&view, "≥ $0.0131");
}

#[test]
fn clocks_stand_while_only_the_person_is_waited_for() {
    let offered = substitution("a", WhySubstituted::Failure, "grok");
    let mut view = view(&[
        thinking("a", "Architect", "sol"),
        thinking("b", "Security Expert", "sol"),
        started(2, "b", "sol", Purpose::Answer),
        Event::Consultation(ConsultationEvent::SubstitutionOffered(offered)),
    ]);
    let assert_time = |view: &LiveView, since_start, clock| {
        let lines = view.lines(Duration::from_secs(since_start), size(50, 24));
        let line = format!("Round 1 of 4 · independent answers · {clock} · $0.00");
        assert_eq!(lines.last(), Some(&line));
    };
    // An expert works.
    assert_time(&view, 10, "0:10");
    view.follow(&done("b"), Duration::from_secs(12));
    assert_time(&view, 12, "0:12");
    // What happens meanwhile does not start a new wait.
    view.follow(
        &finished_with(9, "b", FailureClass::Overload),
        Duration::from_secs(40),
    );
    assert_time(&view, 72, "0:12");
    // The answer comes a minute later, and its event says for how long the person was waited for.
    view.leave_out(Duration::from_secs(60));
    view.follow(
        &substituted(WhySubstituted::Failure, "grok"),
        Duration::from_secs(12),
    );
    assert_time(&view, 75, "0:15");
}
