//! Recorded outputs of Claude Code 2.1.330.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::cost::plan_use::{PlanUse, PlanWindow};
use conclave::domain::cost::tokens::{Usage, UsageSource};
use conclave::domain::model::billing::Billing;
use conclave::domain::model::program::Program;
use conclave::domain::time::Timestamp;
use conclave::providers::programs::reading::ProgramEnd;
use serde_json::{Value, json};

use super::{CLEAN, FAILED, Read, assert_failure, known, now, read};

pub(super) fn lines(events: &[Value]) -> Vec<String> {
    events.iter().map(Value::to_string).collect()
}

fn claude(events: &[Value], end: ProgramEnd) -> Read {
    read(&known("claude-code"), &lines(events), end, "")
}

pub(super) fn init() -> Value {
    json!({"type": "system", "subtype": "init", "tools": ["StructuredOutput"], "mcp_servers": [],
        "model": "claude-sonnet-5-5", "apiKeySource": "none", "claude_code_version": "2.1.330"})
}

fn event(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null, "ttft_ms": 12})
}

pub(super) fn start() -> Value {
    let usage = json!({"input_tokens": 11, "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 3, "output_tokens": 1});
    event(
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant",
        "model": "claude-sonnet-5-5", "content": [], "stop_reason": null, "usage": usage}}),
    )
}

pub(super) fn piece(text: &str) -> Value {
    let delta = json!({"type": "text_delta", "text": text});
    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

pub(super) fn tool(name: &str) -> Value {
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
    event(json!({"type": "content_block_start", "index": 0, "content_block": block}))
}

pub(super) fn stop(reason: &str) -> Value {
    event(
        json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 9}}),
    )
}

pub(super) fn done() -> Value {
    event(json!({"type": "message_stop"}))
}

pub(super) fn limits(info: Value) -> Value {
    json!({"type": "rate_limit_event", "rate_limit_info": info})
}

pub(super) fn result(fields: Value) -> Value {
    let mut result = json!({"type": "result", "subtype": "success", "is_error": false,
        "api_error_status": null, "terminal_reason": "completed", "stop_reason": "end_turn",
        "result": "", "total_cost_usd": 0.000_129_8,
        "modelUsage": {"claude-sonnet-5-5": {"inputTokens": 11, "outputTokens": 9,
            "cacheReadInputTokens": 3, "cacheCreationInputTokens": 7, "thinkingTokens": 2,
            "costUSD": 0.000_129_8, "costBasis": "list"}}});
    for (name, value) in fields.as_object().unwrap() {
        result[name] = value.clone();
    }
    result
}

pub(super) fn failed(text: &str, status: Option<u16>, code: &str) -> Vec<Value> {
    let message = json!({"type": "assistant", "error": code,
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}});
    let result = result(
        json!({"is_error": true, "api_error_status": status, "result": text,
        "terminal_reason": "api_error", "stop_reason": "stop_sequence", "modelUsage": {},
        "total_cost_usd": 0}),
    );
    vec![init(), message, result]
}

const USAGE: Usage = Usage {
    input: 11,
    cache_read: 3,
    cache_write: 7,
    output: 9,
    reasoning: 2,
    source: UsageSource::Reported,
};

#[test]
fn an_answer_comes_in_pieces_and_whole_at_the_end() {
    let allowed = limits(json!({"status": "allowed", "isUsingOverage": false,
        "unifiedWindows": {"five_hour": {"utilization": 0.41, "resetsAt": 1_773_070_000_i64},
            "seven_day": {"utilization": 0.07, "resetsAt": 1_773_400_000_i64}}}));
    let read = claude(
        &[
            init(),
            json!({"type": "system", "subtype": "status"}),
            start(),
            piece("Hel"),
            piece("lo"),
            stop("end_turn"),
            done(),
            allowed,
            result(json!({"result": "Hello"})),
        ],
        CLEAN,
    );
    assert_eq!(read.heard, "Hello");
    let reply = read.reply();
    assert_eq!(
        (reply.text.as_str(), &reply.stop),
        ("Hello", &StopReason::End)
    );
    assert_eq!(reply.usage, USAGE);
    assert_eq!(reply.served_model.as_deref(), Some("claude-sonnet-5-5"));
    assert_eq!(reply.reported_cost, None, "a plan has no price");
    let window = PlanWindow {
        name: "5 h".to_owned(),
        used_percent: 41,
        resets_at: Some(Timestamp(1_773_070_000_000)),
    };
    let plan = PlanUse {
        window: Some(window),
        ..PlanUse::default()
    };
    assert_eq!(reply.plan.as_deref(), Some(&plan));
}

#[test]
fn the_answer_is_the_structured_one_else_the_result_else_what_came_in_pieces() {
    let answer = json!({"position": "p", "x": 1});
    let arguments = event(json!({"type": "content_block_delta",
        "delta": {"type": "input_json_delta", "partial_json": "{\"position\""}}));
    let text = |events: &[Value]| claude(events, CLEAN).reply().text;
    let structured = result(json!({"structured_output": answer, "stop_reason": "tool_use"}));
    let call = [
        init(),
        start(),
        piece("Well"),
        tool("StructuredOutput"),
        arguments,
    ];
    assert_eq!(
        text(&[&call[..], &[stop("tool_use"), structured]].concat()),
        r#"{"position":"p","x":1}"#
    );
    // It was asked to call the tool, and answered in text again.
    let nudged = [
        init(),
        start(),
        piece("One"),
        stop("end_turn"),
        start(),
        piece("Two"),
    ];
    let end = result(json!({"result": "Two, whole"}));
    assert_eq!(text(&[&nudged[..], &[end]].concat()), "Two, whole");
    assert_eq!(text(&[&nudged[..], &[result(json!({}))]].concat()), "Two");
    // A stream that broke is asked for again, without one.
    let broken = [init(), start(), piece("Hello fr"), done()];
    let end = result(json!({"result": "Hello from it"}));
    assert_eq!(text(&[&broken[..], &[end]].concat()), "Hello from it");
}

#[test]
fn what_ends_an_answer_early_stops_the_program() {
    let full = claude(
        &[init(), start(), piece("Half"), stop("max_tokens"), start()],
        CLEAN,
    );
    assert_eq!(full.stopped_after, Some(4));
    let reply = full.reply();
    assert_eq!(
        (reply.text.as_str(), reply.stop),
        ("Half", StopReason::Length)
    );
    assert_eq!(
        (reply.usage.output, reply.usage.source),
        (9, UsageSource::Reported)
    );

    let refused = claude(
        &[init(), start(), piece("I can"), stop("refusal"), start()],
        CLEAN,
    );
    assert_eq!(refused.stopped_after, Some(4));
    let reply = refused.reply();
    assert_eq!(
        (reply.text.as_str(), reply.stop),
        ("", StopReason::Refused(String::new()))
    );

    let overflow = [init(), start(), stop("model_context_window_exceeded")];
    assert_eq!(
        claude(&overflow, CLEAN).failure().class,
        FailureClass::Context
    );

    // Without the events of the API, the result says it.
    let words = "API Error: Sonnet 5.5's safeguards flagged this message (https://x).";
    let refusal = json!({"is_error": true, "stop_reason": "refusal", "result": words});
    let reply = claude(&[init(), result(refusal)], FAILED).reply();
    assert_eq!(reply.stop, StopReason::Refused(words.to_owned()));
}

#[test]
fn a_login_that_is_missing_comes_with_what_to_do() {
    let events = failed("Not logged in · Please run /login", Some(401), "");
    let failure = claude(&events, FAILED).failure();
    assert_eq!(
        failure.message,
        "Not logged in · Please run /login; log in with `claude /login`"
    );
    assert_eq!(failure.usage, None);
}

#[test]
fn the_end_of_a_plans_limit_is_taken_from_its_data_first() {
    let text = "A text of tomorrow";
    let resets = now().0 / 1000 + 7200;
    let plans = json!({"status": "rejected", "resetsAt": resets,
        "rateLimitType": "five_hour", "overageStatus": "rejected", "isUsingOverage": false});
    // The server's own limit is no plan's.
    let servers = json!({"status": "rejected", "isUsingOverage": false});
    for (info, class, wait) in [
        (plans, FailureClass::Quota, Some(7200)),
        (servers, FailureClass::RateLimit, None),
    ] {
        let mut events = failed(text, Some(429), "rate_limit");
        events.insert(1, limits(info));
        assert_failure(&claude(&events, FAILED).failure(), text, class, wait);
    }
}

#[test]
fn a_call_that_the_plan_does_not_cover_is_refused_or_has_a_price() {
    let resets = now().0 / 1000 + 60;
    let overage = limits(
        json!({"status": "allowed", "resetsAt": resets, "isUsingOverage": true,
        "unifiedWindows": {"five_hour": {"utilization": 1.05, "resetsAt": resets}}}),
    );
    let events = [
        init(),
        start(),
        piece("Hi"),
        overage,
        result(json!({"result": "Hi"})),
    ];
    let refused = claude(&events, CLEAN);
    assert_eq!(refused.stopped_after, Some(4));
    let failure = refused.failure();
    assert_eq!(failure.class, FailureClass::Quota);
    assert_eq!(failure.retry_after.unwrap().as_secs(), 60);
    assert!(
        failure.message.contains("`programs.claude-code.overage`"),
        "{}",
        failure.message
    );
    assert_eq!(failure.partial, "Hi");

    let willing = Program {
        allows_overage: true,
        ..known("claude-code")
    };
    let reply = read(&willing, &lines(&events), CLEAN, "").reply();
    assert_eq!(reply.reported_cost, Some(MicroUsd(130)));
    let plan = reply.plan.unwrap();
    assert!(plan.is_overage);
    assert_eq!(plan.window.unwrap().used_percent, 105);
}

#[test]
fn what_the_program_starts_with_is_checked() {
    let with = |field: &str, value: Value| {
        let mut line = init();
        line[field] = value;
        line
    };
    let cases = [
        (with("tools", json!(["Bash"])), "the tool `Bash`"),
        (
            with("tools", json!(["StructuredOutput", "mcp__x__y"])),
            "the tool `mcp__x__y`",
        ),
        (with("tools", Value::Null), "did not say with which tools"),
        (
            with("mcp_servers", json!([{"name": "mine", "status": "ok"}])),
            "MCP server `mine`",
        ),
        (
            with("mcp_servers", Value::Null),
            "did not say with which tools",
        ),
        (
            with("apiKeySource", json!("ANTHROPIC_API_KEY")),
            "`programs.claude-code.billing`",
        ),
        (
            with("apiKeySource", Value::Null),
            "`programs.claude-code.billing`",
        ),
    ];
    for (line, words) in cases {
        let read = claude(&[line, start(), piece("x")], CLEAN);
        assert_eq!(read.stopped_after, Some(1), "{words}");
        let message = read.failure().message;
        assert!(message.contains(words), "{message}");
    }
    // Without a schema there is no tool at all.
    let program = Program {
        schema_argv: Vec::new(),
        ..known("claude-code")
    };
    let events = lines(&[init()]);
    assert!(
        read(&program, &events, CLEAN, "")
            .failure()
            .message
            .contains("StructuredOutput")
    );
    // A key is right for those who pay by the token.
    let program = Program {
        billing: Billing::Metered,
        ..known("claude-code")
    };
    let keyed = with("apiKeySource", json!("ANTHROPIC_API_KEY"));
    let events = lines(&[keyed, start(), piece("x"), result(json!({"result": "x"}))]);
    let reply = read(&program, &events, CLEAN, "").reply();
    assert_eq!(reply.reported_cost, Some(MicroUsd(130)));
    // Nothing before it is an answer.
    for line in [piece("x"), result(json!({"result": "x"}))] {
        let message = claude(&[line], CLEAN).failure().message;
        assert!(message.contains("before it said"), "{message}");
    }
}

#[test]
fn a_tool_that_is_used_stops_the_program() {
    let called = |name: &str| {
        json!({"type": "assistant",
        "message": {"content": [{"type": "tool_use", "name": name, "input": {}}]}})
    };
    for line in [tool("Bash"), called("Bash")] {
        let read = claude(&[init(), start(), line, piece("x")], CLEAN);
        assert_eq!(read.stopped_after, Some(3));
        let failure = read.failure();
        assert_eq!(failure.class, FailureClass::Malformed);
        assert!(
            failure.message.contains("used a tool (`Bash`)"),
            "{}",
            failure.message
        );
    }
    let ours = [
        init(),
        start(),
        called("StructuredOutput"),
        result(json!({"result": "{}"})),
    ];
    assert_eq!(claude(&ours, CLEAN).reply().text, "{}");
}

#[test]
fn an_answer_without_a_model_is_the_programs_own() {
    let words = "/compact isn't available in this environment.";
    let result = result(json!({"result": words, "modelUsage": {}}));
    let failure = claude(&[init(), result], CLEAN).failure();
    assert_eq!(failure.class, FailureClass::Malformed);
    assert!(failure.message.contains(words), "{}", failure.message);
}

#[test]
fn an_output_without_a_result_is_what_its_end_says() {
    use FailureClass::{Auth, Interrupted, Malformed, Timeout, Transport};
    let limit = std::time::Duration::from_secs(30);
    let begun = [init(), start(), piece("Hel")];
    let unbegun = [init()];
    let empty = [];
    let cases: [(&[Value], ProgramEnd, &str, FailureClass, &str); 9] = [
        (
            &begun,
            CLEAN,
            "",
            Interrupted,
            "Claude Code gave no answer (exit code 0)",
        ),
        (
            &unbegun,
            CLEAN,
            "",
            Malformed,
            "Claude Code gave no answer (exit code 0)",
        ),
        (
            &empty,
            FAILED,
            "\u{1b}[31mboom\u{1b}[0m\n\n",
            Transport,
            "Claude Code gave no answer (exit code 1): boom",
        ),
        (
            &empty,
            FAILED,
            "error: unknown option '--tools'",
            FailureClass::BadRequest,
            "Claude Code gave no answer (exit code 1): error: unknown option '--tools'",
        ),
        (
            &empty,
            FAILED,
            "a\nb\nc\nPlease run /login",
            Auth,
            "Claude Code gave no answer (exit code 1): b c Please run /login; log in with `claude /login`",
        ),
        (
            &unbegun,
            ProgramEnd::Exited(None),
            "",
            Transport,
            "Claude Code was ended by a signal",
        ),
        (
            &begun,
            ProgramEnd::Silent(limit),
            "",
            Interrupted,
            "Claude Code wrote nothing for 30 s",
        ),
        (
            &unbegun,
            ProgramEnd::TimedOut(limit),
            "",
            Timeout,
            "Claude Code gave no answer within 30 s",
        ),
        (
            &unbegun,
            ProgramEnd::TooMuch,
            "",
            Malformed,
            "Claude Code wrote more than is read",
        ),
    ];
    for (events, end, stderr, class, message) in cases {
        let read = read(&known("claude-code"), &lines(events), end, stderr);
        let failure = read.failure();
        assert_eq!((failure.class, failure.message.as_str()), (class, message));
        // What was used is reported, or estimated.
        let usage = failure.usage.map(|usage| usage.source);
        let has_begun = events.len() > 1;
        assert_eq!(usage, has_begun.then_some(UsageSource::Estimated));
    }
    // After the result, no end matters.
    let whole = [init(), start(), result(json!({"result": "Hello"}))];
    for end in [FAILED, ProgramEnd::Silent(limit), ProgramEnd::Exited(None)] {
        assert_eq!(claude(&whole, end).reply().text, "Hello");
    }
    // Ended by an interrupt, with exit code 0.
    let interrupted = result(json!({"is_error": true, "subtype": "error_during_execution"}));
    let read = claude(&[&begun[..], &[interrupted]].concat(), CLEAN);
    let failure = read.failure();
    assert_eq!(failure.class, Interrupted);
    assert_eq!(failure.usage.as_deref(), Some(&USAGE));
    assert_eq!(failure.partial, "Hel");
}

#[test]
fn secrets_in_a_programs_words_are_hidden() {
    let key = format!("sk-ant-api03-{}", "Ab1".repeat(30));
    let text = format!("{} bad header {key} in it", "x ".repeat(220));
    let failure = claude(&failed(&text, Some(401), ""), FAILED).failure();
    assert!(!failure.message.contains("Ab1"), "{}", failure.message);
}
