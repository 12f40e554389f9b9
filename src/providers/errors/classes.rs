//! The table from statuses, codes and messages to classes. The first matching row decides.

use crate::consultation::protocol::call::FailureClass;

use super::message::ProviderMessage;

/// A row, which matches by any of its columns.
struct Row {
    class: FailureClass,
    statuses: &'static [u16],
    /// Whole codes; a `*` at either end matches anything.
    codes: &'static [&'static str],
    /// Texts that must all occur, some only with a status.
    words: &'static [(Option<u16>, &'static [&'static str])],
}

const ROWS: [Row; 8] = [
    Row {
        class: FailureClass::Auth,
        statuses: &[401],
        codes: &[
            "invalid_api_key",
            "api_key_invalid",
            "authentication_error",
            "unauthenticated",
        ],
        words: &[
            (None, &["api key not valid"]),
            (None, &["incorrect api key"]),
            (None, &["invalid api key"]),
        ],
    },
    Row {
        class: FailureClass::Billing,
        statuses: &[402],
        codes: &[
            "insufficient_quota",
            "insufficient_credits",
            "credit_balance_exhausted",
            "billing*",
            "*_spend_limit_reached",
            "*perday*",
        ],
        words: &[
            (None, &["specified api usage limits"]),
            (None, &["credit balance is too low"]),
            (None, &["free tier is not available"]),
            (Some(403), &["credits"]),
        ],
    },
    Row {
        class: FailureClass::Context,
        statuses: &[413],
        codes: &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
        ],
        words: &[
            (None, &["prompt is too long"]),
            (None, &["maximum context length"]),
            (None, &["exceed context limit"]),
            (None, &["exceeds the available context size"]),
            (None, &["input token count", "exceeds"]),
        ],
    },
    Row {
        class: FailureClass::Policy,
        statuses: &[],
        codes: &[
            "content_policy_violation",
            "invalid_prompt",
            "content_filter",
            "moderation",
        ],
        words: &[
            (None, &["violating our usage policy"]),
            (Some(403), &["moderation"]),
            (Some(403), &["flagged"]),
            (Some(403), &["guardrail"]),
            (Some(403), &["usage guidelines"]),
        ],
    },
    Row {
        class: FailureClass::ModelMissing,
        statuses: &[],
        codes: &[
            "model_not_found",
            "unknown_model",
            "invalid_model",
            "not_found_error",
            "notfounderror",
            "not_found",
        ],
        words: &[
            (None, &["is not a valid model id"]),
            (None, &["invalid model name"]),
            (None, &["model ", " does not exist"]),
            (None, &["model ", " not found"]),
        ],
    },
    Row {
        class: FailureClass::Auth,
        statuses: &[403, 407],
        codes: &["permission_error", "permission_denied"],
        words: &[],
    },
    Row {
        class: FailureClass::RateLimit,
        statuses: &[429],
        codes: &[
            "rate_limit*",
            "resource_exhausted",
            "slow_down",
            "too_many_requests",
        ],
        words: &[],
    },
    Row {
        class: FailureClass::Overload,
        statuses: &[408, 409, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529],
        codes: &[
            "overloaded*",
            "api_error",
            "timeout*",
            "unavailable*",
            "server_error",
            "server_is_overloaded",
            "internal",
            "internal_error",
            "internal_server_error",
            "deadline_exceeded",
        ],
        words: &[],
    },
];

/// Messages of servers for an unknown path, regardless of the model.
const NO_SUCH_PATH: [&str; 4] = [
    "not found",
    "file not found",
    "404 page not found",
    "page not found",
];

impl ProviderMessage {
    /// Returns the class of an error with this message.
    pub(super) fn class(&self, status: Option<u16>) -> FailureClass {
        if self.is_wrong_address(status) {
            return FailureClass::BadRequest;
        }
        // A numeric code inside a stream stands for the status.
        let code = || self.codes.iter().find_map(|code| code.parse().ok());
        let status = status.or_else(|| code().filter(|code| (400..600).contains(code)));
        let words = self.words.to_lowercase();
        let row = ROWS
            .iter()
            .find(|row| row.fits(status, &self.codes, &words));
        match row.map(|row| row.class) {
            // At a correct address the missing thing is the model.
            None | Some(FailureClass::RateLimit | FailureClass::Overload)
                if status == Some(404) && self.recognised =>
            {
                FailureClass::ModelMissing
            }
            None => FailureClass::BadRequest,
            // Some servers report a request that they cannot read as their own failure.
            Some(FailureClass::Overload) if self.about_body() => FailureClass::BadRequest,
            Some(class) => class,
        }
    }

    /// Returns whether there is no model API at this address, so the base URL is wrong.
    pub(super) fn is_wrong_address(&self, status: Option<u16>) -> bool {
        let words = self.words.to_lowercase();
        let unknown_path = !self.recognised || NO_SUCH_PATH.contains(&words.trim());
        match status {
            Some(300..400 | 405) => true,
            Some(404) if unknown_path => true,
            _ => words.contains("unexpected endpoint"),
        }
    }
}

impl Row {
    fn fits(&self, status: Option<u16>, codes: &[String], words: &str) -> bool {
        let by_code = |pattern: &&str| codes.iter().any(|code| fits(pattern, code));
        status.is_some_and(|status| self.statuses.contains(&status))
            || self.codes.iter().any(by_code)
            || self.words.iter().any(|(only, all)| {
                only.is_none_or(|only| status == Some(only))
                    && all.iter().all(|needle| words.contains(needle))
            })
    }
}

fn fits(pattern: &str, code: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => code.contains(pattern.trim_matches('*')),
        (Some(end), None) => code.ends_with(end),
        (None, Some(start)) => code.starts_with(start),
        (None, None) => code == pattern,
    }
}
