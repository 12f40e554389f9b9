//! The reading of each vendor's streams: text, stop reason, usage, failure.

use std::time::Duration;

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::tokens::{Usage, UsageSource};
use conclave::engine::ports::Delta;

use conclave::providers::sse;
use conclave::providers::wire::End;

use super::{VENDORS, ask, call, cloud, cloud_at, cloud_with, decode, silent_for};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, stream_of};

fn reported(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

#[tokio::test]
async fn every_vendors_stream_becomes_the_same_reply() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::text("Grüße, 世界!").pieces(5).usage(321, 45),
    );
    for (vendor, model) in VENDORS {
        let (outcome, deltas) = call(&cloud(vendor, &server), &ask(vendor, model)).await;
        let reply = outcome.unwrap();
        assert_eq!(reply.text.as_str(), "Grüße, 世界!", "{vendor:?}");
        assert_eq!(&reply.stop, &StopReason::End, "{vendor:?}");
        assert_eq!(reply.usage, reported(321, 45), "{vendor:?}");
        assert_eq!(reply.served_model.as_deref(), Some(model));
        assert_eq!(reply.reported_cost, None);
        assert_eq!(deltas.first(), Some(&Delta::Connected));
        let text: String = deltas
            .iter()
            .filter_map(|delta| {
                if let Delta::Text(text) = delta {
                    Some(text.as_str())
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(text, "Grüße, 世界!");
        assert_eq!(
            deltas.contains(&Delta::Thinking),
            vendor != Vendor::OpenAi,
            "thinking is reported and is not part of the text"
        );
    }
}

#[tokio::test]
async fn length_and_refusal_differ_from_an_end() {
    let server = ProviderServer::start();
    for (vendor, model) in VENDORS {
        server.on(On::model(model), Answer::length("{\"position\": \"cut"));
        let reply = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap();
        assert_eq!(reply.stop, StopReason::Length, "{vendor:?}");
        assert_eq!(reply.text.as_str(), "{\"position\": \"cut", "{vendor:?}");
        server.on(On::model(model), Answer::length(""));
        let reply = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap();
        assert_eq!(
            reply.stop,
            StopReason::Length,
            "all tokens went to thinking: {vendor:?}"
        );
        assert_eq!(
            reply.text.as_str(),
            "",
            "all tokens went to thinking: {vendor:?}"
        );
        server.on(On::model(model), Answer::refusal("I will not."));
        let reply = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap();
        assert_eq!(
            reply.stop,
            StopReason::Refused("I will not.".into()),
            "{vendor:?}"
        );
        assert_eq!(reply.text.as_str(), "", "{vendor:?}");
    }
}

#[tokio::test]
async fn a_success_without_text_is_its_own_failure_class() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("").usage(50, 7));
    for (vendor, model) in VENDORS {
        let failure = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        assert_eq!(failure.class, FailureClass::Empty, "{vendor:?}");
        assert_eq!(failure.usage, Some(Box::new(reported(50, 7))), "{vendor:?}");
    }
}

#[tokio::test]
async fn unreported_usage_is_estimated_and_marked() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("12345678").without_usage());
    for (vendor, model) in VENDORS {
        let usage = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap()
            .usage;
        assert_eq!(usage.source, UsageSource::Estimated, "{vendor:?}");
        assert!(
            usage.input >= 8 && usage.output >= 2,
            "{vendor:?} {usage:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_interrupted_with_its_text() {
    let server = ProviderServer::start();
    let text = "a text that is long enough to be cut in many pieces";
    for answer in [
        Answer::text(text).pieces(20).cut(),
        Answer::text(text).pieces(20).short(),
        Answer::text(text).pieces(20).stall(),
    ] {
        server.on(On::any(), answer.clone());
        for (vendor, model) in VENDORS {
            let provider = cloud_with(vendor, &server.url(), silent_for(Duration::from_secs(2)));
            let failure = call(&provider, &ask(vendor, model)).await.0.unwrap_err();
            assert_eq!(
                failure.class,
                FailureClass::Interrupted,
                "{vendor:?} {answer:?} {}",
                failure.message
            );
            assert!(
                !failure.partial.is_empty() && text.starts_with(&failure.partial),
                "{vendor:?} {:?}",
                failure.partial
            );
            let usage = failure.usage.unwrap();
            assert_eq!(usage.source, UsageSource::Estimated);
            assert!(usage.input > 0 && usage.output > 0, "{vendor:?} {usage:?}");
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
    assert_eq!(
        decoded("pause_turn").unwrap().stop,
        StopReason::Other("pause_turn".into())
    );
    assert_eq!(
        decoded("something_new").unwrap().stop,
        StopReason::Other("something_new".into())
    );
    let failure = decoded("model_context_window_exceeded").unwrap_err();
    assert_eq!(failure.class, FailureClass::Context);
    assert_eq!(failure.partial.as_str(), "x");
    assert_eq!(failure.usage, Some(Box::new(usage)));
    let unmarked = decode(Vendor::Anthropic, &[start, text, &ended("end_turn")]).unwrap_err();
    assert_eq!(
        unmarked.class,
        FailureClass::Interrupted,
        "only `message_stop` ends a message"
    );
    assert_eq!(
        unmarked.partial.as_str(),
        "x",
        "only `message_stop` ends a message"
    );
}

#[test]
fn unknown_anthropic_events_blocks_and_deltas_are_ignored() {
    let reply = decode(
        Vendor::Anthropic,
        &[
            r#"{"type":"ping"}"#,
            r#"{"type":"something_new","x":1}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"new_delta","text":"no"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"b"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":4,"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    );
    let reply = reply.unwrap();
    assert_eq!(reply.text.as_str(), "ab");
    assert_eq!(reply.usage, reported(4, 2));
}

#[test]
fn openai_chunks_of_every_kind_are_read() {
    let decoded = |events: &[&str]| decode(Vendor::OpenAi, events);
    let text = r#"{"model":"gpt-x","choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let finish =
        |reason: &str| format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
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
    assert_eq!(reply.text.as_str(), "x");
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_model.as_deref(), Some("gpt-x"));
    assert!(
        decoded(&[text, end]).is_ok(),
        "some servers send neither usage nor a last marker"
    );
    let on_top = r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":15}}}"#;
    assert_eq!(
        decoded(&[text, end, on_top]).unwrap().usage.output,
        35,
        "reasoning that the total counts on top is billed"
    );
    assert_eq!(
        decoded(&[text, &finish("content_filter")]).unwrap().stop,
        StopReason::Refused("content_filter".into())
    );
    assert_eq!(
        decoded(&[text, &finish("tool_calls")]).unwrap().stop,
        StopReason::Other("tool_calls".into())
    );
    assert_eq!(
        decoded(&[text, &finish("")]).unwrap_err().class,
        FailureClass::Interrupted
    );
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
    assert_eq!(reply.text.as_str(), "a");
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
    assert_eq!(failure.message.as_str(), "no more");
    assert_eq!(failure.partial.as_str(), "a");
}

#[test]
fn a_prompt_that_gemini_blocks_is_a_refusal() {
    let reply = decode(
        Vendor::Google,
        &[r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#],
    )
    .unwrap();
    assert_eq!(
        reply.stop,
        StopReason::Refused("the prompt was blocked: SAFETY".into())
    );
    assert_eq!(reply.usage, reported(9, 0));
}

#[test]
fn no_prefix_of_a_stream_is_a_complete_answer() {
    for (vendor, model) in VENDORS {
        let cloud = cloud_at(vendor, "http://h");
        let text = r#"{"position": "Grüße", "confidence": 0.5}"#;
        let stream = stream_of(vendor, model, &Answer::text(text).pieces(4));
        let mut whole = 0;
        for cut in 0..=stream.len() {
            let (_, mut decoder) = cloud.codec(&ask(vendor, model));
            let mut parser = sse::Parser::default();
            let mut events = Vec::new();
            parser.feed(&stream[..cut], &mut events).unwrap();
            let _ = events
                .iter()
                .try_for_each(|event| decoder.event(event, &mut |_| {}));
            match decoder.finish(End::Closed) {
                Ok(reply) => {
                    assert_eq!(reply.text.as_str(), text, "{vendor:?} cut at {cut}");
                    assert_eq!(reply.stop, StopReason::End, "{vendor:?} cut at {cut}");
                    whole += 1;
                }
                Err(failure) => {
                    let class = if failure.partial.is_empty() {
                        FailureClass::Transport
                    } else {
                        FailureClass::Interrupted
                    };
                    assert_eq!(failure.class, class, "{vendor:?} cut at {cut}");
                    assert!(
                        text.starts_with(&failure.partial),
                        "{vendor:?} cut at {cut}"
                    );
                }
            }
        }
        assert!(whole > 0, "{vendor:?}");
    }
}

#[test]
fn unreadable_data_after_a_complete_answer_is_ignored() {
    let whole = r#"{"choices":[{"delta":{"content":"All of it."},"finish_reason":"stop"}]}"#;
    for tail in ["{torn", r#"{"choices":"x"}"#, "[]"] {
        let reply = decode(Vendor::OpenAi, &[whole, tail]).unwrap();
        assert_eq!(reply.text.as_str(), "All of it.", "{tail}");
        assert_eq!(reply.stop, StopReason::End, "{tail}");
        assert_eq!(reply.usage.source, UsageSource::Estimated, "{tail}");
    }
    let failure = decode(
        Vendor::OpenAi,
        &[
            whole,
            r#"{"error":{"message":"no, it was not","code":500}}"#,
        ],
    )
    .unwrap_err();
    assert_eq!(
        failure.partial, "All of it.",
        "an error is another matter: the provider takes it back"
    );
}

#[test]
fn a_failure_carries_the_cost_the_provider_reports() {
    let empty = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":0,"cost":0.0012}}"#;
    let failure = super::decode_of("openrouter", &[empty]).unwrap_err();
    assert_eq!(failure.class, FailureClass::Empty);
    assert_eq!(
        failure.reported_cost,
        Some(conclave::domain::money::MicroUsd(1_200))
    );
}
