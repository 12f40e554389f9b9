//! The table from statuses, codes and messages to classes. The first matching row decides.

use crate::consultation::protocol::call::FailureClass;

use super::message::ProviderMessage;
use crate::providers::errors::wording::{ClassRow, TABLES};

impl ProviderMessage {
    pub(super) fn class(&self, status: Option<u16>) -> FailureClass {
        if self.is_wrong_address(status) {
            return FailureClass::BadRequest;
        }
        // A numeric code inside a stream stands for the status.
        let code = || self.codes.iter().find_map(|code| code.parse().ok());
        let status = status.or_else(|| code().filter(|code| (400..600).contains(code)));
        let words = self.words.to_lowercase();
        let row = TABLES
            .classes
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
            Some(FailureClass::Overload)
                if self.fields.iter().any(|field| field.starts_with("body.")) =>
            {
                FailureClass::BadRequest
            }
            Some(class) => class,
        }
    }

    /// Returns whether there is no model API at this address, so the base URL is wrong.
    pub(super) fn is_wrong_address(&self, status: Option<u16>) -> bool {
        let words = self.words.to_lowercase();
        let unknown_path = !self.recognised || TABLES.no_such_path.has(words.trim());
        match status {
            Some(300..400 | 405) => true,
            Some(404) if unknown_path => true,
            _ => words.contains("unexpected endpoint"),
        }
    }
}

impl ClassRow {
    pub(super) fn fits(&self, status: Option<u16>, codes: &[String], words: &str) -> bool {
        let by_code = |pattern: &String| codes.iter().any(|code| fits(pattern, code));
        status.is_some_and(|status| self.statuses.contains(&status))
            || self.codes.iter().any(by_code)
            || self.words.iter().any(|row| {
                row.status.is_none_or(|only| status == Some(only))
                    && row.all.iter().all(|needle| words.contains(needle.as_str()))
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
