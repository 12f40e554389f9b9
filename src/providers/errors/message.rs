//! Reading of an error body of any shape: its message, codes, named fields and retry delay.

use std::time::Duration;

use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::providers::wire::entries;

/// The contents of an error body.
#[derive(Debug, Default)]
pub(super) struct ProviderMessage {
    pub words: String,
    /// Types, codes, statuses and reasons, in lower case.
    pub codes: Vec<String>,
    /// Fields of the request that the error is about, as the provider writes them: `temperature`,
    /// `body.max_tokens`.
    pub fields: Vec<String>,
    pub retry_delay: Option<Duration>,
    /// Whether the body has a shape that a provider's API uses.
    pub recognised: bool,
}

impl ProviderMessage {
    pub(super) fn from_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(json) => Self::from_json(&json),
            Err(_) => Self {
                words: plain_words(body),
                ..Self::default()
            },
        }
    }

    pub(super) fn from_json(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = &body["error"];
        let inner = if error.is_object() { error } else { body };
        let words = [error, &inner["message"], &inner["detail"], &inner["msg"]]
            .into_iter()
            .find_map(said);
        let recognised = words.is_some() || !error.is_null();
        let words = words.unwrap_or_else(|| match body {
            Value::Object(_) => body.to_string(),
            _ => String::new(),
        });
        let mut message = Self {
            fields: printed_paths(&words),
            words,
            recognised,
            ..Self::default()
        };
        for part in [body, error].into_iter().filter(|part| part.is_object()) {
            message.add_codes(part, &["type", "code", "status"]);
            let field = part["param"].as_str();
            message.fields.extend(field.map(ToOwned::to_owned));
        }
        let complaints = entries(inner, "detail").filter_map(|complaint| complaint.get("loc"));
        message.fields.extend(complaints.map(path_of));
        match &inner["details"] {
            Value::Array(details) => details.iter().for_each(|detail| message.add_detail(detail)),
            detail => message.add_detail(detail),
        }
        message.add_detail(&inner["metadata"]);
        message.add_upstream(&inner["metadata"]);
        message
    }

    fn add_codes(&mut self, part: &Value, keys: &[&str]) {
        let codes = keys.iter().filter_map(|key| code(&part[*key]));
        self.codes.extend(codes);
    }

    fn add_detail(&mut self, detail: &Value) {
        self.add_codes(detail, &["error_code", "error_type", "reason"]);
        for violation in entries(detail, "violations") {
            self.add_codes(violation, &["quotaId"]);
        }
        let fields = entries(detail, "fieldViolations").filter_map(|field| field["field"].as_str());
        self.fields.extend(fields.map(ToOwned::to_owned));
        let delay = detail["retryDelay"]
            .as_str()
            .and_then(|text| seconds(text.strip_suffix('s')?, 1.0));
        self.retry_delay = self.retry_delay.or(delay);
    }

    /// Adds the error of the provider behind a router, which says more than the router's own.
    fn add_upstream(&mut self, metadata: &Value) {
        if metadata.get("flagged_input").is_some() {
            self.codes.push("moderation".to_owned());
        }
        // The raw value is the upstream provider's own error.
        let raw = match &metadata["raw"] {
            Value::String(text) => Self::from_body(text),
            raw @ Value::Object(_) => Self::from_json(raw),
            _ => Self::default(),
        };
        let provider = metadata["provider_name"].as_str().unwrap_or_default();
        let words = match (provider, raw.words.trim()) {
            ("", words) | (words, "") => words.to_owned(),
            (provider, words) => format!("{provider}: {words}"),
        };
        if !words.is_empty() {
            self.words = format!("{} ({words})", self.words.trim());
        }
        // After the router's own codes, because the first number is the status.
        self.codes.extend(raw.codes);
        self.fields.extend(raw.fields);
    }
}

/// A string, an object with one, or a list of errors.
fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(list) => Some(list.iter().filter_map(said).collect::<Vec<_>>().join("; "))
            .filter(|text| !text.is_empty()),
        Value::Object(fields) => {
            let field = fields.get("loc").map(path_of);
            let words = ["message", "msg", "detail"]
                .iter()
                .find_map(|key| fields.get(*key).and_then(said))?;
            Some(field.map_or_else(|| words.clone(), |field| format!("{field}: {words}")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn path_of(path: &Value) -> String {
    let part = |part: &Value| {
        part.as_str()
            .map_or_else(|| part.to_string(), ToOwned::to_owned)
    };
    path.as_array().map_or_else(
        || part(path),
        |path| path.iter().map(part).collect::<Vec<_>>().join("."),
    )
}

/// Returns the fields that a server printed into its message instead of sending them as data:
/// `'loc': ('body', 'seed')`.
fn printed_paths(words: &str) -> Vec<String> {
    let printed = words
        .split("'loc': (")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    let path = |(path, _): (&str, &str)| {
        let parts = path.split(',').map(|part| part.trim().trim_matches('\''));
        let path = parts.collect::<Vec<_>>().join(".");
        path.trim_end_matches('.').to_owned()
    };
    printed.map(path).collect()
}

fn code(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|code| !matches!(code.as_str(), "" | "error"))
}

/// A page's title, or the text itself.
fn plain_words(body: &str) -> String {
    let text = body.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    let lower = text.to_ascii_lowercase();
    // ASCII lower case has the same byte positions.
    let title = lower
        .find("<title>")
        .zip(lower.find("</title>"))
        .and_then(|(from, to)| text.get(from + "<title>".len()..to));
    title.map_or_else(
        || "the server sent a web page".to_owned(),
        |title| title.trim().to_owned(),
    )
}

/// The longest returned hint. No caller waits that long, and larger values would overflow.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// `retry-after-ms`, then `retry-after` in seconds or as a date relative to `now`.
pub(super) fn of_headers(
    milliseconds: Option<&str>,
    after: Option<&str>,
    now: Option<Timestamp>,
) -> Option<Duration> {
    let milliseconds = milliseconds.and_then(|text| seconds(text, 1e-3));
    let until = |date: &str| Some(http_date(date)?.since(now?).min(LONGEST));
    milliseconds.or_else(|| after.and_then(|text| seconds(text, 1.0).or_else(|| until(text))))
}

/// Reads a number of units of `unit` seconds.
pub(super) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(Duration::try_from_secs_f64(number * unit).map_or(LONGEST, |hint| hint.min(LONGEST)))
}

/// Reads `Sat, 21 Nov 2026 09:00:00 GMT`.
pub fn http_date(text: &str) -> Option<Timestamp> {
    let moment = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text.trim())
        .ok()?;
    Some(Timestamp(moment.as_millisecond()))
}
