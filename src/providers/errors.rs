//! What an error of a provider means: status, headers and body to a [`Failure`]. Pure.
//!
//! The classes and their words follow the vendors' documentation and what their SDKs and users report; every known body shape is read:
//! `{"error":{..}}`, `{"error":".."}`, flat, `{"detail":..}`, `[{..}]`, HTML, plain text and nothing.

use std::time::Duration;

use serde_json::Value;

use crate::consultation::call::{Failure, FailureClass};
use crate::domain::time::Timestamp;

use super::wire::Account;

/// Most characters of a message.
const MAX_MESSAGE_CHARS: usize = 500;

/// An answer that is not a success, as it arrived.
#[derive(Clone, Debug, Default)]
pub struct ErrorResponse {
    pub status: u16,
    pub retry_after_ms: Option<String>,
    pub retry_after: Option<String>,
    /// The vendor's own word whether to try again: `true` or `false`.
    pub should_retry: Option<String>,
    pub body: String,
}

/// Says what an unsuccessful answer means. `now` turns a date in `retry-after` into a delay; without it the date is ignored.
pub fn classify(response: &ErrorResponse, account: &Account, now: Option<Timestamp>) -> Failure {
    let body = account.redact(&response.body);
    let told = match serde_json::from_str::<Value>(&body) {
        Ok(json) => Told::from_json(&json),
        Err(_) => Told { words: plain_words(&body), recognised: false, ..Told::default() },
    };
    let mut class = told.class(Some(response.status));
    match (response.should_retry.as_deref(), class) {
        (Some("false"), FailureClass::Overload) => class = FailureClass::BadRequest,
        (Some("true"), FailureClass::BadRequest) => class = FailureClass::Overload,
        _ => {}
    }
    let status = response.status;
    let words = match (status, told.words.as_str()) {
        (300..400, _) => format!("the server redirects elsewhere (HTTP {status}); check the base URL"),
        (404, words) if class == FailureClass::BadRequest => {
            format!("{} (HTTP 404); check the base URL", shortened(words)).trim_start().to_owned()
        }
        (_, "") => format!("HTTP {status} without an explanation"),
        (_, words) => format!("{} (HTTP {status})", shortened(words)),
    };
    let hint = response.retry_after_ms.as_deref().and_then(|text| seconds(text, 1e-3));
    let hint = hint.or_else(|| response.retry_after.as_deref().and_then(|text| seconds(text, 1.0).or_else(|| until(text, now?))));
    Failure { retry_after: hint.or(told.retry_delay), ..Failure::new(class, with_advice(class, words, account)) }
}

/// Says what an error object inside a successful answer means.
pub fn in_stream(body: &Value, account: &Account) -> Failure {
    let told = Told::from_json(body);
    let class = match told.class(None) {
        FailureClass::BadRequest if told.codes.is_empty() => FailureClass::Overload,
        class => class,
    };
    let words = match told.words.as_str() {
        "" => "the provider reported an error without an explanation".to_owned(),
        words => shortened(&account.redact(words)),
    };
    Failure { retry_after: told.retry_delay, ..Failure::new(class, with_advice(class, words, account)) }
}

fn with_advice(class: FailureClass, words: String, account: &Account) -> String {
    match class {
        FailureClass::Auth => format!("{words}; check {}", account.origin),
        _ => words,
    }
}

/// The first 500 characters on one line.
pub fn shortened(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// What an error body says.
#[derive(Debug, Default)]
struct Told {
    words: String,
    /// Types, codes, statuses and reasons, in lower case.
    codes: Vec<String>,
    retry_delay: Option<Duration>,
    /// The body has a shape that a provider's API uses.
    recognised: bool,
}

impl Told {
    fn from_json(body: &Value) -> Self {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null());
        let inner = error.filter(|error| error.is_object()).unwrap_or(body);
        let words = [error, inner.get("message"), inner.get("detail"), inner.get("msg")].into_iter().flatten().find_map(said);
        let mut told = Self { recognised: words.is_some() || error.is_some(), ..Self::default() };
        told.words = words.unwrap_or_else(|| if body.is_object() { body.to_string() } else { String::new() });
        for part in [body, inner] {
            told.codes.extend(["type", "code", "status"].iter().filter_map(|key| part.get(key)).filter_map(code));
        }
        match inner.get("details") {
            Some(Value::Array(details)) => details.iter().for_each(|detail| told.add_detail(detail)),
            Some(detail) => told.add_detail(detail),
            None => {}
        }
        if let Some(metadata) = inner.get("metadata") {
            told.add_detail(metadata);
        }
        told
    }

    fn add_detail(&mut self, detail: &Value) {
        self.codes.extend(["error_code", "error_type", "reason"].iter().filter_map(|key| detail.get(key)).filter_map(code));
        let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
        self.codes.extend(violations.filter_map(|violation| violation.get("quotaId")).filter_map(code));
        let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|text| seconds(text.strip_suffix('s')?, 1.0));
        self.retry_delay = self.retry_delay.or(delay);
    }

    fn class(&self, status: Option<u16>) -> FailureClass {
        let words = self.words.to_lowercase();
        let coded = |needles: &[&str]| self.codes.iter().any(|code| needles.contains(&code.as_str()));
        let says = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
        // An integer code inside a stream is the status that the answer would have had.
        let status = status.or_else(|| self.codes.iter().find_map(|code| code.parse().ok()).filter(|code| (400..600).contains(code)));
        let bad_key = coded(&["invalid_api_key", "api_key_invalid", "authentication_error", "unauthenticated"]);
        if status == Some(401) || bad_key || says(&["api key not valid", "incorrect api key"]) {
            FailureClass::Auth
        } else if status == Some(402)
            || coded(&["insufficient_quota", "credit_balance_exhausted", "billing_error", "billing_hard_limit_reached"])
            || self.codes.iter().any(|code| code.ends_with("_spend_limit_reached") || code.contains("perday"))
            || says(&["specified api usage limits", "credit balance is too low"])
        {
            FailureClass::Billing
        } else if coded(&["context_length_exceeded", "exceed_context_size_error", "request_too_large"])
            || status == Some(413)
            || says(&["prompt is too long", "maximum context length"])
            || (says(&["input token count"]) && says(&["exceeds"]))
        {
            FailureClass::Context
        } else if coded(&["content_policy_violation", "invalid_prompt", "content_filter", "moderation"])
            || says(&["violating our usage policy"])
            || (status == Some(403) && says(&["moderation", "flagged"]))
        {
            FailureClass::Policy
        } else if coded(&["model_not_found", "unknown_model", "not_found_error", "not_found"]) || (status == Some(404) && self.recognised) {
            FailureClass::ModelMissing
        } else if status == Some(403) || coded(&["permission_error", "permission_denied"]) {
            FailureClass::Auth
        } else if matches!(status, Some(408 | 409 | 429 | 500 | 502..600)) || self.is_overload() {
            FailureClass::Overload
        } else {
            FailureClass::BadRequest
        }
    }

    fn is_overload(&self) -> bool {
        const PASSING: [&str; 15] = [
            "overloaded_error",
            "api_error",
            "rate_limit_error",
            "rate_limit_exceeded",
            "timeout_error",
            "unavailable_error",
            "server_error",
            "server_is_overloaded",
            "slow_down",
            "unavailable",
            "internal",
            "internal_error",
            "internal_server_error",
            "resource_exhausted",
            "deadline_exceeded",
        ];
        self.codes.iter().any(|code| PASSING.contains(&code.as_str()))
    }
}

/// The words in a message of any shape: a string, an object around one, a list of complaints.
fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(list) => Some(list.iter().filter_map(said).collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty()),
        Value::Object(fields) => {
            let field = fields.get("loc").map(|at| at.as_array().map_or_else(|| at.to_string(), |path| path_of(path)));
            let words = ["message", "msg", "detail"].iter().find_map(|key| fields.get(*key).and_then(said))?;
            Some(field.map_or_else(|| words.clone(), |field| format!("{field}: {words}")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn path_of(path: &[Value]) -> String {
    path.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), ToOwned::to_owned)).collect::<Vec<_>>().join(".")
}

fn code(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|code| !matches!(code.as_str(), "" | "error"))
}

/// The words of a body that is not JSON: a page's title, or the text itself.
fn plain_words(body: &str) -> String {
    let text = body.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").zip(lower.find("</title>")).and_then(|(from, to)| text.get(from + "<title>".len()..to));
    title.map_or_else(|| "the server sent a web page".to_owned(), |title| title.trim().to_owned())
}

/// A number of seconds, or of the given fraction of one.
fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// The time from `now` until an HTTP date; zero when it has passed.
fn until(date: &str, now: Timestamp) -> Option<Duration> {
    Some(http_date(date)?.since(now))
}

/// Reads `Sat, 21 Nov 2026 09:00:00 GMT`.
pub fn http_date(text: &str) -> Option<Timestamp> {
    let moment = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(Timestamp(moment.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::super::wire::Scheme;
    use super::*;

    fn account() -> Account {
        Account { key: Some(SecretString::from("sk-secret-123")), origin: "`OPENAI_API_KEY`".into(), scheme: Scheme::Usual }
    }

    fn failure(status: u16, body: &str) -> Failure {
        classify(&ErrorResponse { status, body: body.into(), ..ErrorResponse::default() }, &account(), None)
    }

    #[test]
    fn statuses_and_words_of_every_vendor_have_their_class() {
        use FailureClass::{Auth, BadRequest, Billing, Context, ModelMissing, Overload, Policy};
        let cases: &[(u16, &str, FailureClass)] = &[
            (401, r#"{"error":{"message":"x","type":"invalid_request_error","code":"invalid_api_key"}}"#, Auth),
            (401, "", Auth),
            (403, r#"{"type":"error","error":{"type":"permission_error","message":"x"}}"#, Auth),
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
                Auth,
            ),
            (400, r#"{"error":{"code":400,"message":"x","details":[{"reason":"API_KEY_INVALID"}]}}"#, Auth),
            (400, r#"{"code":"invalid-argument","error":"Incorrect API key provided"}"#, Auth),
            (402, r#"{"error":{"type":"billing_error","message":"x"}}"#, Billing),
            (429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, Billing),
            (400, r#"{"error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits"}}"#, Billing),
            (429, r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#, Billing),
            (429, r#"{"error":{"code":429,"details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}}"#, Billing),
            (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#, ModelMissing),
            (400, r#"{"object":"error","message":"x","type":"invalid_request_error","code":"unknown_model"}"#, ModelMissing),
            (404, "<html><title>404 Not Found</title></html>", BadRequest),
            (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, Context),
            (400, r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#, Context),
            (400, r#"{"error":{"message":"The input token count (9) exceeds the maximum","status":"INVALID_ARGUMENT"}}"#, Context),
            (413, "<html>cloudflare</html>", Context),
            (400, r#"{"error":{"message":"x","code":"content_policy_violation"}}"#, Policy),
            (403, r#"{"error":{"code":403,"message":"Input was flagged by moderation"}}"#, Policy),
            (400, r#"{"error":{"message":"x","param":"temperature","code":"unsupported_value"}}"#, BadRequest),
            (422, r#"{"detail":[{"loc":["body","model"],"msg":"field required","type":"missing"}]}"#, BadRequest),
            (301, "", BadRequest),
            (501, r#"{"error":{"code":501,"type":"not_supported_error","message":"x"}}"#, BadRequest),
            (408, "", Overload),
            (409, "", Overload),
            (429, r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x"}}"#, Overload),
            (500, "", Overload),
            (502, "<html><head><title>502 Bad Gateway</title></head></html>", Overload),
            (503, r#"[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]"#, Overload),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overload),
        ];
        for (status, body, class) in cases {
            assert_eq!(failure(*status, body).class, *class, "{status} {body}");
        }
    }

    #[test]
    fn the_providers_own_words_are_found_in_every_body_shape() {
        let cases = [
            (r#"{"error":{"message":"the words","code":null}}"#, "the words (HTTP 400)"),
            (r#"{"code":"x","error":"the words"}"#, "the words (HTTP 400)"),
            (r#"{"message":"the words"}"#, "the words (HTTP 400)"),
            (r#"{"message":{"detail":"the words"}}"#, "the words (HTTP 400)"),
            (r#"{"detail":"the words"}"#, "the words (HTTP 400)"),
            (r#"{"detail":[{"loc":["body",0],"msg":"the words"},{"msg":"more"}]}"#, "body.0: the words; more (HTTP 400)"),
            (r#"[{"error":{"message":"the words"}}]"#, "the words (HTTP 400)"),
            (r#"{"type":"error","error":{"type":"x","message":"the words"}}"#, "the words (HTTP 400)"),
            ("<!DOCTYPE html><html><TITLE>the words</TITLE>", "the words (HTTP 400)"),
            ("<p>", "the server sent a web page (HTTP 400)"),
            ("the\n  words\n", "the words (HTTP 400)"),
            ("", "HTTP 400 without an explanation"),
            (r#"{"odd":1}"#, r#"{"odd":1} (HTTP 400)"#),
        ];
        for (body, message) in cases {
            assert_eq!(failure(400, body).message, message, "{body}");
        }
    }

    #[test]
    fn a_message_is_short_and_never_carries_the_key() {
        let long = failure(500, &format!(r#"{{"error":"{} sk-secret-123"}}"#, "é".repeat(2_000)));
        assert!(long.message.chars().count() < 520 && !long.message.contains("sk-"), "{}", long.message);
        let at_the_cut = failure(500, &format!("{} sk-secret-123", "x".repeat(495)));
        assert!(!at_the_cut.message.contains("sk-"), "{}", at_the_cut.message);
        assert_eq!(failure(401, r#"{"error":"bad key sk-secret-123"}"#).message, "bad key [key] (HTTP 401); check `OPENAI_API_KEY`");
        let inside = in_stream(&serde_json::json!({"error": {"message": "key sk-secret-123 is bad", "code": 401}}), &account());
        assert_eq!((inside.class, inside.message.as_str()), (FailureClass::Auth, "key [key] is bad; check `OPENAI_API_KEY`"));
    }

    #[test]
    fn the_hint_when_to_come_back_is_read_in_every_form_and_order() {
        let hint = |ms: Option<&str>, after: Option<&str>, body: &str| {
            let response = ErrorResponse {
                status: 429,
                retry_after_ms: ms.map(Into::into),
                retry_after: after.map(Into::into),
                body: body.into(),
                ..ErrorResponse::default()
            };
            classify(&response, &account(), http_date("Sat, 21 Nov 2026 09:00:00 GMT")).retry_after
        };
        assert_eq!(hint(Some("1500"), Some("9"), ""), Some(Duration::from_millis(1_500)));
        assert_eq!(hint(None, Some("2.5"), ""), Some(Duration::from_millis(2_500)));
        assert_eq!(hint(None, Some("Sat, 21 Nov 2026 09:00:07 GMT"), ""), Some(Duration::from_secs(7)));
        assert_eq!(hint(None, Some("Sat, 21 Nov 2026 08:00:00 GMT"), ""), Some(Duration::ZERO));
        assert_eq!(hint(None, Some("soon"), ""), None);
        assert_eq!(hint(None, Some("-1"), ""), None);
        let retry_info = r#"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}]}}"#;
        assert_eq!(hint(None, None, retry_info), Some(Duration::new(45, 837_906_927)));
    }

    #[test]
    fn the_vendors_word_on_trying_again_outweighs_the_status() {
        let told = |status, word: &str| {
            let response = ErrorResponse { status, should_retry: Some(word.into()), ..ErrorResponse::default() };
            classify(&response, &account(), None).class
        };
        assert_eq!(told(529, "false"), FailureClass::BadRequest);
        assert_eq!(told(400, "true"), FailureClass::Overload);
        assert_eq!(told(401, "true"), FailureClass::Auth);
    }
}
