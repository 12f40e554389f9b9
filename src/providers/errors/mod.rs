//! Classification of a provider's errors: status, headers and body to a [`Failure`]. Pure.
//!
//! The classes follow the vendors' documentation, their SDKs and reports of users. Every known body
//! shape is read: `{"error":{..}}`, `{"error":".."}`, flat, `{"detail":..}`, `[{..}]`, HTML, plain
//! text and nothing. Adjustments after a refusal are not decided here; this module only returns the
//! named fields.

pub(super) mod wording;
mod classes;
mod message;

use serde_json::Value;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::time::Timestamp;
use crate::text::clean;

use super::wire::Account;
use message::ProviderMessage;
use wording::TABLES;

pub use message::{LONGEST, http_date};

/// Where a person sees and limits what apps use of a ChatGPT plan, and disconnects them.
pub const USAGE_PAGE: &str = "https://chatgpt.com/settings/usage";

/// The longest message in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// An unsuccessful response as it arrived.
#[derive(Clone, Debug, Default)]
pub struct ErrorResponse {
    pub status: u16,
    pub retry_after_ms: Option<String>,
    pub retry_after: Option<String>,
    /// The vendor's `x-should-retry` header: `true` or `false`.
    pub should_retry: Option<String>,
    pub body: String,
}

/// `now` turns a date in `retry-after` into a delay; without it the date is ignored.
pub fn classify(response: &ErrorResponse, account: &Account, now: Option<Timestamp>) -> Failure {
    let status = response.status;
    let message = ProviderMessage::from_body(&account.redact(&response.body));
    let hint = message::of_headers(
        response.retry_after_ms.as_deref(),
        response.retry_after.as_deref(),
        now,
    )
    .or(message.retry_delay);
    let should_retry = response.should_retry.as_deref();
    let class = match (message.class(Some(status)), should_retry) {
        // Credit that returns by itself is a rate limit.
        (FailureClass::Billing, _) if status == 402 && hint.is_some() => FailureClass::RateLimit,
        (FailureClass::RateLimit | FailureClass::Overload, Some("false")) => {
            FailureClass::BadRequest
        }
        (FailureClass::BadRequest, Some("true")) => FailureClass::Overload,
        (class, _) => class,
    };
    // Redacted again: in the body an escape may have been inside the key.
    let words = match (status, shortened(&account.redact(&message.words)).as_str()) {
        (300..400, _) => format!("the server redirects elsewhere (HTTP {status})"),
        (_, "") => format!("HTTP {status} without an explanation"),
        (_, words) => format!("{words} (HTTP {status})"),
    };
    let words = words + &advice(class, &message, Some(status), account);
    Failure {
        retry_after: hint,
        ..Failure::new(class, words)
    }
}

/// As the end of the message.
fn advice(
    class: FailureClass,
    message: &ProviderMessage,
    status: Option<u16>,
    account: &Account,
) -> String {
    let origin = &account.origin;
    match (class, status) {
        (FailureClass::Auth, Some(403 | 407)) if !message.recognised => {
            format!("; check {origin}, or the proxy")
        }
        (FailureClass::Auth, _) => format!("; check {origin}"),
        (FailureClass::Quota, _) => format!("; see {USAGE_PAGE}"),
        (FailureClass::BadRequest, _) if message.is_wrong_address(status) => {
            "; check the base URL".to_owned()
        }
        _ => String::new(),
    }
}

/// A nested one, or a flat one marked as such.
pub fn is_error(body: &Value) -> bool {
    body.get("error").is_some_and(|error| !error.is_null())
        || body.get("object").and_then(Value::as_str) == Some("error")
}

pub fn in_stream(body: &Value, account: &Account) -> Failure {
    let message = ProviderMessage::from_json(body);
    let class = match message.class(None) {
        FailureClass::BadRequest if message.codes.is_empty() && !message.is_wrong_address(None) => {
            FailureClass::Overload
        }
        class => class,
    };
    let words = match message.words.as_str() {
        "" => "the provider reported an error without an explanation".to_owned(),
        words => shortened(&account.redact(words)),
    };
    Failure {
        retry_after: message.retry_delay,
        ..Failure::new(class, words + &advice(class, &message, None, account))
    }
}

/// Returns the class of a failure that a program reports, if it is known, and the program's words.
/// Its own rows decide before those of servers, whose words it may repeat.
pub(super) fn of_program(
    said: &str,
    status: Option<u16>,
    codes: Vec<String>,
) -> (Option<FailureClass>, String) {
    let mut message = ProviderMessage::from_body(said);
    message.codes.extend(codes);
    let words = message.words.to_lowercase().replace('’', "'");
    let mut rows = TABLES.program_classes.iter().chain(&TABLES.classes);
    let row = rows.find(|row| row.fits(status, &message.codes, &words));
    (row.map(|row| row.class), message.words)
}

/// As the provider writes them.
pub fn named_fields(body: &str) -> Vec<String> {
    ProviderMessage::from_body(body).fields
}

/// Returns the first 500 characters on one line.
pub fn shortened(words: &str) -> String {
    clean::shortened(&clean::one_line(words), MAX_MESSAGE_CHARS)
}

/// The message of the system or of TLS, without the address in the outer errors. It is as long as
/// the peer made it.
pub(in crate::providers) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use secrecy::SecretString;

    use super::super::wire::Scheme;
    use super::*;

    fn account() -> Account {
        Account {
            key: Some(SecretString::from("sk-secret-123")),
            origin: "`OPENAI_API_KEY`".into(),
            scheme: Scheme::Usual,
            is_word: false,
        }
    }

    #[test]
    fn bodies_without_one_message_are_described() {
        let cases = [
            ("the\n  words\n", "the words (HTTP 400)"),
            (
                r#"{"detail":[{"loc":["body",0],"msg":"the words"},{"msg":"more"}]}"#,
                "body.0: the words; more (HTTP 400)",
            ),
            ("<p>", "the server sent a web page (HTTP 400)"),
            ("", "HTTP 400 without an explanation"),
            (r#"{"odd":1}"#, r#"{"odd":1} (HTTP 400)"#),
        ];
        for (body, message) in cases {
            let response = ErrorResponse {
                status: 400,
                body: body.into(),
                ..ErrorResponse::default()
            };
            let failure = classify(&response, &account(), None);
            assert_eq!(failure.message, message, "{body}");
        }
    }

    #[test]
    fn a_key_at_the_cut_of_a_message_is_redacted() {
        let response = ErrorResponse {
            status: 500,
            body: format!("{} sk-secret-123", "x".repeat(495)),
            ..ErrorResponse::default()
        };
        let message = classify(&response, &account(), None).message;
        assert!(!message.contains("sk-"), "{message}");
    }

    #[test]
    fn the_hint_when_to_come_back_is_read_in_every_form_and_order() {
        let retry_info = r#"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}]}}"#;
        let in_seven_seconds = "Sat, 21 Nov 2026 09:00:07 GMT";
        let in_the_past = "Sat, 21 Nov 2026 08:00:00 GMT";
        let cases = [
            (Some("1500"), Some("9"), "", Some((1, 500_000_000))),
            (None, Some("2.5"), "", Some((2, 500_000_000))),
            (None, Some(in_seven_seconds), "", Some((7, 0))),
            (None, Some(in_the_past), "", Some((0, 0))),
            (None, Some("soon"), "", None),
            (None, Some("-1"), "", None),
            (None, None, retry_info, Some((45, 837_906_927))),
        ];
        let now = http_date("Sat, 21 Nov 2026 09:00:00 GMT");
        for (milliseconds, after, body, expected) in cases {
            let response = ErrorResponse {
                status: 429,
                retry_after_ms: milliseconds.map(Into::into),
                retry_after: after.map(Into::into),
                body: body.into(),
                ..ErrorResponse::default()
            };
            let hint = classify(&response, &account(), now).retry_after;
            let expected = expected.map(|(seconds, nanos)| Duration::new(seconds, nanos));
            assert_eq!(hint, expected, "{response:?}");
        }
    }

    #[test]
    fn the_vendors_word_on_trying_again_outweighs_the_status() {
        let class = |status, word: &str| {
            let response = ErrorResponse {
                status,
                should_retry: Some(word.into()),
                ..ErrorResponse::default()
            };
            classify(&response, &account(), None).class
        };
        assert_eq!(class(529, "false"), FailureClass::BadRequest);
        assert_eq!(class(429, "false"), FailureClass::BadRequest);
        assert_eq!(class(400, "true"), FailureClass::Overload);
        assert_eq!(class(401, "true"), FailureClass::Auth);
    }
}
