//! The reading of each vendor's streams: text, stop reason, usage, failure; and deviations of
//! gateways from them.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::cost::tokens::{Usage, UsageSource};

use super::{VENDORS, decode, decode_of, reply};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

fn reported(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

#[tokio::test]
async fn length_and_refusal_differ_from_an_end() {
    let refused = StopReason::Refused("I will not.".into());
    let cases = [
        (
            Answer::length("{\"position\": \"cut"),
            StopReason::Length,
            "{\"position\": \"cut",
        ),
        // All tokens went to thinking.
        (Answer::length(""), StopReason::Length, ""),
        (Answer::refusal("I will not."), refused, ""),
    ];
    let server = ProviderServer::start();
    for (answer, stop, text) in cases {
        server.on(On::any(), answer);
        for vendor in VENDORS {
            let reply = reply(vendor, &server).await;
            assert_eq!(reply.stop, stop, "{vendor:?}");
            assert_eq!(reply.text, text, "{vendor:?}");
        }
    }
}

#[test]
fn anthropic_stop_reasons_and_cumulative_usage_are_read() {
    let start = r#"{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":1}}}"#;
    let text =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#;
    let stop = r#"{"type":"message_stop"}"#;
    let ended = |reason: &str| {
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":30,"output_tokens_details":{{"thinking_tokens":20}}}}}}"#
        )
    };
    let decoded = |reason: &str| decode(Vendor::Anthropic, &[start, text, &ended(reason), stop]);
    let reply = decoded("end_turn").unwrap();
    let usage = Usage {
        input: 10,
        cache_read: 5,
        cache_write: 3,
        output: 30,
        reasoning: 20,
        source: UsageSource::Reported,
    };
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("claude-x"));
    assert_eq!(decoded("stop_sequence").unwrap().stop, StopReason::End);
    for other in ["pause_turn", "something_new"] {
        assert_eq!(
            decoded(other).unwrap().stop,
            StopReason::Other(other.into())
        );
    }
    let failure = decoded("model_context_window_exceeded").unwrap_err();
    assert_eq!(failure.class, FailureClass::Context);
    assert_eq!(failure.partial, "x");
    assert_eq!(failure.usage, Some(Box::new(usage)));
    let unmarked = decode(Vendor::Anthropic, &[start, text, &ended("end_turn")]).unwrap_err();
    // Only `message_stop` ends a message.
    assert_eq!(unmarked.class, FailureClass::Interrupted);
    assert_eq!(unmarked.partial, "x");
}

#[test]
fn unknown_anthropic_events_blocks_and_deltas_are_ignored() {
    let events = [
        r#"{"type":"ping"}"#,
        r#"{"type":"something_new","x":1}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"new_delta","text":"no"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"b"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":4,"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply = decode(Vendor::Anthropic, &events).unwrap();
    assert_eq!(reply.text, "ab");
    assert_eq!(reply.usage, reported(4, 2));
}

#[test]
fn openai_chunks_of_every_kind_are_read() {
    let decoded = |events: &[&str]| decode(Vendor::OpenAi, events);
    let text = r#"{"model":"gpt-x","choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let reply = decoded(&[
        r#"{"choices":[]}"#,
        r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#,
        r#"{"object":"x"}"#,
        text,
        end,
        r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":30,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":15}}}"#,
        "[DONE]",
    ])
    .unwrap();
    let usage = Usage {
        input: 60,
        cache_read: 30,
        cache_write: 10,
        output: 20,
        reasoning: 15,
        source: UsageSource::Reported,
    };
    assert_eq!(reply.text, "x");
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("gpt-x"));
    // Some servers send neither usage nor a last marker.
    assert_eq!(decoded(&[text, end]).unwrap().text, "x");
    assert_eq!(
        decoded(&[text, "[DONE]"]).unwrap_err().class,
        FailureClass::Interrupted
    );
}

#[test]
fn only_stop_is_a_success_for_gemini() {
    let decoded = |reason: &str| {
        let last = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"{reason}"}}]}}"#
        );
        decode(Vendor::Google, &[&last]).map(|reply| reply.stop)
    };
    assert_eq!(decoded("STOP"), Ok(StopReason::End));
    assert_eq!(decoded("MAX_TOKENS"), Ok(StopReason::Length));
    for reason in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ] {
        assert_eq!(decoded(reason), Ok(StopReason::Refused(reason.into())));
    }
    for reason in ["OTHER", "LANGUAGE", "MALFORMED_RESPONSE", "SOMETHING_NEW"] {
        assert_eq!(decoded(reason), Ok(StopReason::Other(reason.into())));
    }
}

#[test]
fn gemini_fragments_with_missing_fields_are_read() {
    let reply = decode(
        Vendor::Google,
        &[
            r#"{"usageMetadata":{"promptTokenCount":10}}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"thought","thought":true},{"text":"a"}]}}]}"#,
            r#"{"candidates":[{"content":{}}]}"#,
            r#"{"candidates":[{}]}"#,
            r#"{"candidates":[{"content":{"parts":[{}]},"finishReason":"STOP"}]}"#,
            r#"{"modelVersion":"gemini-y","usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":2,"cachedContentTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":25}}"#,
        ],
    )
    .unwrap();
    let usage = Usage {
        input: 8,
        cache_read: 4,
        output: 28,
        reasoning: 25,
        ..Usage::default()
    };
    assert_eq!(reply.text, "a");
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("gemini-y"));
}

#[test]
fn gemini_fragments_in_lists_are_read_one_by_one() {
    let text = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    assert_eq!(decode(Vendor::Google, &[text]).unwrap().text, "ab");
    let error = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"error":{"code":503,"message":"no more","status":"UNAVAILABLE"}}]"#;
    let failure = decode(Vendor::Google, &[error]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.message, "no more");
    assert_eq!(failure.partial, "a");
}

#[test]
fn a_prompt_that_gemini_blocks_is_a_refusal() {
    let blocked =
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#;
    let reply = decode(Vendor::Google, &[blocked]).unwrap();
    let stop = StopReason::Refused("the prompt was blocked: SAFETY".into());
    assert_eq!(reply.stop, stop);
    assert_eq!(reply.usage, reported(9, 0));
}

#[test]
fn unreadable_data_after_a_complete_answer_is_ignored() {
    let whole = r#"{"choices":[{"delta":{"content":"All of it."},"finish_reason":"stop"}]}"#;
    for tail in ["{torn", r#"{"choices":"x"}"#, "[]"] {
        let reply = decode(Vendor::OpenAi, &[whole, tail]).unwrap();
        assert_eq!(reply.text, "All of it.", "{tail}");
        assert_eq!(reply.stop, StopReason::End, "{tail}");
        assert_eq!(reply.usage.source, UsageSource::Estimated, "{tail}");
    }
    // An error is another matter: the provider takes it back.
    let error = r#"{"error":{"message":"no, it was not","code":500}}"#;
    let failure = decode(Vendor::OpenAi, &[whole, error]).unwrap_err();
    assert_eq!(failure.partial, "All of it.");
}

#[test]
fn a_failure_carries_the_cost_the_provider_reports() {
    let empty = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":0,"cost":0.0012}}"#;
    let failure = decode_of("openrouter", &[empty]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Empty);
    assert_eq!(failure.reported_cost, Some(MicroUsd(1_200)));
}
#[test]
fn usage_beside_an_empty_choice_is_read() {
    let reply = decode_of(
        "llamacpp",
        &[
            r#"{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"x"}}]}"#,
            r#"{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"model":"m","choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":null}}"#,
            "[DONE]",
        ],
    )
    .unwrap();
    assert_eq!(reply.text, "x");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(reply.usage, reported(9, 2));
}

#[test]
fn usage_at_the_end_replaces_the_initial_zeros() {
    let start = r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0}}}"#;
    let text = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words"}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":1,"output_tokens":43,"cache_read_input_tokens":47}}"#;
    let stop = r#"{"type":"message_stop"}"#;
    let reply = decode(Vendor::Anthropic, &[start, text, end, stop]).unwrap();
    assert_eq!(
        reply.usage,
        Usage {
            input: 1,
            cache_read: 47,
            output: 43,
            ..Usage::default()
        }
    );
    let broken = decode(Vendor::Anthropic, &[start, text]).unwrap_err();
    let usage = broken.usage.unwrap();
    assert_eq!(broken.class, FailureClass::Interrupted);
    assert_eq!(usage.source, UsageSource::Estimated);
    assert!(
        usage.input > 0 && usage.output > 0,
        "zeros at the start are no counts of a call that broke: {usage:?}"
    );
}

#[test]
fn zero_usage_for_a_text_is_replaced_by_an_estimate() {
    let reply = decode(
        Vendor::Google,
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"some words"}],"role":"model"},"finishReason":null,"index":0,"safetyRatings":[]}],"text":"some words"}"#,
            r#"{"candidates":[{"content":{"parts":[],"role":"model"},"finishReason":"MAX_TOKENS","index":0,"safetyRatings":[]}],
                "usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0}}"#,
        ],
    )
    .unwrap();
    assert_eq!(reply.text, "some words");
    assert_eq!(reply.stop, StopReason::Length);
    assert_eq!(reply.usage.source, UsageSource::Estimated);
    assert!(
        reply.usage.input > 0 && reply.usage.output > 0,
        "{:?}",
        reply.usage
    );
}

#[test]
fn a_report_with_an_invalid_count_is_replaced_by_an_estimate() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    for counts in [
        r#""prompt_tokens":-1,"completion_tokens":20"#,
        r#""prompt_tokens":100,"completion_tokens":20.5"#,
        r#""prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":"all"}"#,
    ] {
        let usage = format!(r#"{{"choices":[],"usage":{{{counts}}}}}"#);
        let reply = decode_of("openai", &[text, &usage, "[DONE]"]).unwrap();
        assert_eq!(reply.usage.source, UsageSource::Estimated, "{counts}");
    }
}
