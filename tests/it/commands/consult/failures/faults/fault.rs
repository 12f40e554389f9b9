//! The faults of a vendor.

use std::time::Duration;

use crate::support::provider_server::{Answer, Damage};

/// A vendor's behaviour instead of a valid answer.
#[derive(Clone)]
pub(super) struct Fault {
    pub(super) what: &'static str,
    pub(super) answer: Answer,
    pub(super) class: &'static str,
    /// Part of the message to the user.
    pub(super) message: &'static str,
    /// The number of requests while the fault persists.
    pub(super) requests: usize,
    /// Whether the cost is known.
    pub(super) bill: Bill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bill {
    Known,
    Unknown,
}

fn fault(
    what: &'static str,
    answer: Answer,
    class: &'static str,
    message: &'static str,
    requests: usize,
    bill: Bill,
) -> Fault {
    Fault {
        what,
        answer,
        class,
        message,
        requests,
        bill,
    }
}

/// Longer than any idle timeout.
pub(super) const FOREVER: Duration = Duration::from_secs(3_600);

/// The message for a silent vendor.
pub(super) const SILENT: &str = "sent nothing for 2 s";

/// The vendor's message in every fault.
pub(super) const MESSAGE: &str = "such are our words";

/// Returns the faults without waiting times of seconds.
pub(super) fn quick_faults() -> Vec<Fault> {
    let slow = |fault: &Fault| {
        ["timeout", "transport"].contains(&fault.class) || fault.what == "an error inside a stream"
    };
    faults().into_iter().filter(|fault| !slow(fault)).collect()
}

pub(super) fn faults() -> Vec<Fault> {
    use Bill::{Known, Unknown};
    let error = |status, code: &str| Answer::error(status, code, MESSAGE);
    let soon = |status, code: &str| error(status, code).header("retry-after-ms", "1");
    let in_stream = || {
        Answer::error_in_stream(
            "",
            serde_json::json!({"type": "overloaded_error", "message": MESSAGE}),
        )
    };
    let torn = Damage::Between(b"data: {\"half\": \n\n".to_vec());
    vec![
        // The slow faults come first, so that they do not delay the end of the test.
        fault(
            "silence before the head",
            Answer::valid().delay(FOREVER),
            "timeout",
            SILENT,
            3,
            Unknown,
        ),
        fault(
            "silence before the first byte",
            Answer::valid().silence(FOREVER),
            "timeout",
            SILENT,
            3,
            Unknown,
        ),
        fault(
            "a reset",
            Answer::valid().cut_after(0),
            "transport",
            "broke",
            3,
            Unknown,
        ),
        fault(
            "silence half way",
            Answer::valid().pieces(20).stall(),
            "interrupted",
            SILENT,
            1,
            Unknown,
        ),
        fault(
            "a refused key",
            error(401, "authentication_error"),
            "auth",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "no credit",
            error(402, "billing_error"),
            "billing",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "an unknown model",
            error(404, "not_found_error"),
            "model_missing",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "a bad request",
            error(400, "invalid_request_error"),
            "bad_request",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "a prompt that is too long",
            error(413, "request_too_large"),
            "context",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "a prompt against the policy",
            Answer::error(
                400,
                "invalid_request_error",
                "such are our words, violating our usage policy",
            ),
            "policy",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "a limit with a short hint",
            soon(429, "rate_limit_error"),
            "rate_limit",
            MESSAGE,
            3,
            Known,
        ),
        fault(
            "a limit with a long hint",
            error(429, "rate_limit_error").header("retry-after", "3600"),
            "rate_limit",
            MESSAGE,
            1,
            Known,
        ),
        fault(
            "an error of its own",
            soon(500, "api_error"),
            "overload",
            MESSAGE,
            3,
            Known,
        ),
        fault(
            "a gateway without a vendor",
            soon(503, "api_error"),
            "overload",
            MESSAGE,
            3,
            Known,
        ),
        fault(
            "an overload",
            soon(529, "overloaded_error"),
            "overload",
            MESSAGE,
            3,
            Known,
        ),
        fault(
            "a stream that is cut",
            Answer::valid().pieces(20).cut(),
            "interrupted",
            "broke",
            1,
            Unknown,
        ),
        fault(
            "a stream that ends early",
            Answer::valid().pieces(20).short(),
            "interrupted",
            "the stream ended before",
            1,
            Unknown,
        ),
        // The thinking before the error is counted by the client.
        fault(
            "an error inside a stream",
            in_stream(),
            "overload",
            MESSAGE,
            3,
            Unknown,
        ),
        fault(
            "an event that is torn",
            Answer::valid().pieces(1).damaged(torn),
            "transport",
            "not JSON",
            3,
            Unknown,
        ),
        fault(
            "an empty answer",
            Answer::text(""),
            "empty",
            "without any text",
            1,
            Known,
        ),
        fault(
            "a page",
            Answer::http(200, "text/html", "<html>welcome</html>"),
            "malformed",
            "text/html instead of",
            1,
            Unknown,
        ),
    ]
}
