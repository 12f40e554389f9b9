//! Deviations of gateways from the vendor's protocol that they speak, each as a real gateway sends
//! it.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::tokens::{Usage, UsageSource};

use super::{decode, decode_of};
use crate::support::provider_server::Vendor;

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
    assert_eq!(reply.text.as_str(), "x");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(
        reply.usage,
        Usage {
            input: 9,
            output: 2,
            ..Usage::default()
        }
    );
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
    assert_eq!(reply.text.as_str(), "some words");
    assert_eq!(reply.stop, StopReason::Length);
    assert_eq!(reply.usage.source, UsageSource::Estimated);
    assert!(
        reply.usage.input > 0 && reply.usage.output > 0,
        "{:?}",
        reply.usage
    );
}

#[test]
fn a_bare_last_line_ends_the_answer_with_estimated_usage() {
    let text =
        r#"{"model":"m","message":{"role":"assistant","content":"some words"},"done":false}"#;
    let reply = decode_of("ollama", &[text, r#"{"model":"m","done":true}"#]).unwrap();
    assert_eq!(reply.text.as_str(), "some words");
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(reply.usage.source, UsageSource::Estimated);
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
