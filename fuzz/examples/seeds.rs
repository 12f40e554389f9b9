//! Writes what the fuzzers begin with: short streams and errors as the vendors send them. Run it in
//! the folder of this crate.

use std::path::Path;

/// Whole answers, by the place of their vendor in the table of vendors.
const STREAMS: [(u8, &str); 11] = [
    (
        0,
        concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Gr\u{fc}\u{df}e\"}}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
    ),
    (0, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"),
    (
        1,
        concat!(
            "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}\n\ndata: [DONE]\n\n",
        ),
    ),
    (1, "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"stop\"}]}\n\n"),
    (
        2,
        concat!(
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hm\",\"thought\":true},{\"text\":\"x\"}]}}]}\r\n\r\n",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2},\"modelVersion\":\"m\"}\r\n\r\n",
        ),
    ),
    (2, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n"),
    (
        3,
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"reasoning_content\":\"Hm\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":18,\"completion_tokens_details\":{\"reasoning_tokens\":7},\"cost_in_usd_ticks\":1}}\n\n",
    ),
    (
        4,
        "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"Hm\"}]},{\"type\":\"text\",\"text\":\"x\"}]},\"finish_reason\":\"model_length\"}]}\n\n",
    ),
    (
        5,
        ": OPENROUTER PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"error\"}],\"error\":{\"code\":502,\"message\":\"upstream\"},\"usage\":{\"cost\":0.01}}\n\n",
    ),
    (
        6,
        concat!(
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Hm\"},\"done\":false}\n",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"},\"done\":false}\r\n",
            "{\"model\":\"m\",\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":2}\n",
        ),
    ),
    (6, "{\"error\":\"model 'x' not found\"}\n"),
];

const ERRORS: [&str; 9] = [
    r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down %","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
    r#"{"error":{"message":"Incorrect API key provided: %","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
    r#"[{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"},{"violations":[{"quotaId":"GenerateRequestsPerDay"}]}]}]"#,
    r#"{"code":"invalid-argument","error":"Model grok does not support parameter reasoningEffort."}"#,
    r#"{"object":"error","message":"x","type":"invalid_request_error","param":"model","code":"unknown_model"}"#,
    r#"{"detail":[{"loc":["body","model",0],"msg":"field required","type":"missing"}]}"#,
    r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["x"],"flagged_input":"%","raw":"{\"error\":1}"}},"user_id":"u"}"#,
    "1500\nSat, 21 Nov 2026 09:00:07 GMT\ntrue\n<!DOCTYPE html><html><TITLE>502 % Bad Gateway</TITLE></html>",
    "2.5\n",
];

fn main() {
    let write = |target: &str, at: usize, bytes: Vec<u8>| {
        let folder = Path::new("corpus").join(target);
        std::fs::create_dir_all(&folder).expect("a folder for seeds");
        std::fs::write(folder.join(format!("seed-{at}")), bytes).expect("a seed");
    };
    for (at, (vendor, stream)) in STREAMS.into_iter().enumerate() {
        for (nth, chunks) in [0, 7].into_iter().enumerate() {
            write("streams", at * 2 + nth, [&[vendor, chunks, 0], stream.as_bytes()].concat());
        }
    }
    for (at, error) in ERRORS.into_iter().enumerate() {
        for (nth, status) in [100u16, 101, 129].into_iter().enumerate() {
            let [high, low] = status.to_be_bytes();
            write("errors", at * 3 + nth, [&[high, low, if at > 6 { 15 } else { 0 }], error.as_bytes()].concat());
        }
    }
}
