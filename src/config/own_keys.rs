//! The values of the keys in the environment: none of them may be part of what is sent.

use secrecy::{ExposeSecret, SecretString};

use crate::domain::vendors::VENDORS;

use super::endpoints::{EndpointEntry, KeyLocation};
use super::env::Environment;

/// Values that servers without keys are given, because their clients want one.
const PLACEHOLDERS: [&str; 2] = ["sk-no-key-required", "gpt4all"];

/// The shortest key that no digit sets apart from words, in bytes: `lm-studio` and `not-needed` are
/// no secrets.
const SHORTEST_WORD: usize = 12;

/// The shortest key with a letter and a digit, in bytes.
const SHORTEST: usize = 8;

/// Returns the values of all variables that hold a key: those of the known vendors, and those that
/// the entries name. No command runs for it.
pub fn in_variables(entries: &[EndpointEntry], environment: &Environment) -> Vec<SecretString> {
    let vendors = VENDORS.iter().flat_map(|vendor| vendor.key_variables);
    let named = entries.iter().filter_map(|entry| match &entry.key {
        Some(KeyLocation::Variable(name)) => Some(name.as_str()),
        Some(KeyLocation::Command(_)) | None => None,
    });
    let variables = vendors.copied().chain(named);
    let keys = variables.filter_map(|name| environment.secret(name));
    keys.filter(is_secret).collect()
}

/// Returns whether a key is one: servers without keys are given words.
pub fn is_secret(key: &SecretString) -> bool {
    let key = key.expose_secret();
    let has = |is: fn(&char) -> bool| key.chars().any(|c| is(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let shortest = if is_mixed { SHORTEST } else { SHORTEST_WORD };
    key.len() >= shortest && !PLACEHOLDERS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(entries: &[EndpointEntry], variables: &[(&str, &str)]) -> Vec<String> {
        let environment = Environment::of(variables.iter().copied());
        let keys = in_variables(entries, &environment);
        keys.iter()
            .map(|key| key.expose_secret().to_owned())
            .collect()
    }

    #[test]
    fn every_variable_of_a_vendor_counts_not_only_the_first_one_set() {
        let variables = [
            ("GEMINI_API_KEY", "gemini-value"),
            ("GOOGLE_API_KEY", "google-value\n"),
            ("UNRELATED", "other-value-1"),
        ];
        let mut found = keys(&[], &variables);
        found.sort();
        assert_eq!(found, ["gemini-value", "google-value"]);
    }

    #[test]
    fn variables_of_endpoints_count_and_commands_do_not_run() {
        let entry = |key| EndpointEntry {
            name: "work".to_owned(),
            key: Some(key),
            ..EndpointEntry::default()
        };
        let entries = [
            entry(KeyLocation::Variable("WORK_KEY".to_owned())),
            entry(KeyLocation::Command("exit 1".to_owned())),
        ];
        assert_eq!(keys(&entries, &[("WORK_KEY", "sk-12345")]), ["sk-12345"]);
    }

    #[test]
    fn words_in_place_of_a_key_are_no_secrets() {
        for word in [
            "EMPTY",
            "ollama",
            "lm-studio",
            "not-needed",
            "gpt4all",
            "sk-no-key-required",
            "123456",
        ] {
            assert!(!is_secret(&SecretString::from(word)), "{word}");
        }
        for key in ["sk-12345", "correct-horse-battery", "4f9a2c71"] {
            assert!(is_secret(&SecretString::from(key)), "{key}");
        }
    }
}
