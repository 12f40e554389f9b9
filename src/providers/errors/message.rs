//! Reading of an error body of any shape: its message, codes, named fields and retry delay.

use std::time::Duration;

use serde_json::Value;

use super::hints;

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
        let body = body
            .as_array()
            .and_then(|list| list.first())
            .unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null());
        let inner = error.filter(|error| error.is_object()).unwrap_or(body);
        let words = [
            error,
            inner.get("message"),
            inner.get("detail"),
            inner.get("msg"),
        ]
        .into_iter()
        .flatten()
        .find_map(said);
        let mut message = Self {
            recognised: words.is_some() || error.is_some(),
            ..Self::default()
        };
        message.words = words.unwrap_or_else(|| {
            if body.is_object() {
                body.to_string()
            } else {
                String::new()
            }
        });
        message.fields = printed_paths(&message.words);
        let outer = error.filter(|error| error.is_object()).map(|_| body);
        for part in outer.into_iter().chain([inner]) {
            message.codes.extend(
                ["type", "code", "status"]
                    .iter()
                    .filter_map(|key| part.get(key))
                    .filter_map(code),
            );
            message.fields.extend(
                part.get("param")
                    .and_then(Value::as_str)
                    .map(ToOwned::to_owned),
            );
        }
        let complaints = inner
            .get("detail")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        message.fields.extend(
            complaints
                .filter_map(|complaint| complaint.get("loc"))
                .map(path_of),
        );
        match inner.get("details") {
            Some(Value::Array(details)) => {
                for detail in details {
                    message.add_detail(detail);
                }
            }
            Some(detail) => message.add_detail(detail),
            None => {}
        }
        if let Some(metadata) = inner.get("metadata") {
            message.add_detail(metadata);
            message.add_upstream(metadata);
        }
        message
    }

    /// Returns whether the error is about the body of the request, by the path of a named field.
    pub(super) fn about_body(&self) -> bool {
        self.fields.iter().any(|field| field.starts_with("body."))
    }

    fn add_detail(&mut self, detail: &Value) {
        self.codes.extend(
            ["error_code", "error_type", "reason"]
                .iter()
                .filter_map(|key| detail.get(key))
                .filter_map(code),
        );
        let list = |key| {
            detail
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        self.codes.extend(
            list("violations")
                .filter_map(|violation| violation.get("quotaId"))
                .filter_map(code),
        );
        let fields = list("fieldViolations")
            .filter_map(|violation| violation.get("field"))
            .filter_map(Value::as_str);
        self.fields.extend(fields.map(ToOwned::to_owned));
        let delay = detail
            .get("retryDelay")
            .and_then(Value::as_str)
            .and_then(|text| hints::seconds(text.strip_suffix('s')?, 1.0));
        self.retry_delay = self.retry_delay.or(delay);
    }

    /// Adds the error of the provider behind a router, which says more than the router's own.
    fn add_upstream(&mut self, metadata: &Value) {
        if metadata.get("flagged_input").is_some() {
            self.codes.push("moderation".to_owned());
        }
        let raw = match metadata.get("raw") {
            // The raw value is the upstream provider's own error.
            Some(Value::String(text)) => Self::from_body(text),
            Some(raw @ Value::Object(_)) => Self::from_json(raw),
            _ => Self::default(),
        };
        let provider = metadata
            .get("provider_name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let upstream = [provider, raw.words.trim()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        if !upstream.is_empty() {
            self.words = format!("{} ({upstream})", self.words.trim());
        }
        // After the router's own codes, because the first number is the status.
        self.codes.extend(raw.codes);
        self.fields.extend(raw.fields);
    }
}

/// Returns the text in a message of any shape: a string, an object with one, or a list of errors.
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
        path.split(',')
            .map(|part| part.trim().trim_matches('\''))
            .collect::<Vec<_>>()
            .join(".")
    };
    printed
        .map(path)
        .map(|path| path.trim_end_matches('.').to_owned())
        .collect()
}

fn code(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|code| !matches!(code.as_str(), "" | "error"))
}

/// Returns the text of a body that is not JSON: a page's title, or the text itself.
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
