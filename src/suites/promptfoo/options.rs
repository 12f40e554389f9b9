//! What a test says beside its variables and its assertion.

use crate::domain::names::did_you_mean;
use crate::suites::log::FileLog;
use crate::text::node::{Member, NodeMap, NodeValue};

const TEST_KEYS: [&str; 7] = [
    "description",
    "vars",
    "assert",
    "metadata",
    "options",
    "provider",
    "providers",
];

/// Texts around each prompt.
#[derive(Default)]
pub(super) struct Wrapping {
    prefix: String,
    suffix: String,
}

impl Wrapping {
    pub(super) fn around(&self, text: &str) -> String {
        format!("{}{text}{}", self.prefix, self.suffix)
    }
}

/// Checks that a test says nothing that would be lost.
pub(super) fn check_test(map: &NodeMap, wrapping: &mut Wrapping, log: &mut FileLog<'_>) {
    for (key, member) in map {
        let is_null = member.node.value == NodeValue::Null;
        match key.as_str() {
            "provider" | "providers" if !is_null => {
                log.note(&format!("`{key}` is not used: choose the panel's models"));
            }
            "vars" if !is_null && member.node.as_map().is_none() => {
                log.add(member.line, "`vars` must be a map of names");
            }
            "options" => check_options(member, wrapping, log),
            key if TEST_KEYS.contains(&key) || is_null => {}
            key => {
                let meant = did_you_mean(key, TEST_KEYS.into_iter());
                let problem = format!("`{key}` of a test cannot be applied here{meant}");
                log.add(member.line, problem);
            }
        }
    }
}

fn check_options(member: &Member, wrapping: &mut Wrapping, log: &mut FileLog<'_>) {
    for (key, option) in member.node.as_map().into_iter().flatten() {
        match (key.as_str(), &option.node.value) {
            ("prefix", NodeValue::Text(text)) => wrapping.prefix.clone_from(text),
            ("suffix", NodeValue::Text(text)) => wrapping.suffix.clone_from(text),
            ("provider", _) => {
                log.note("the grading `provider` is not used: see `grader`");
            }
            (_, NodeValue::Null) => {}
            _ => {
                let problem = format!("the option `{key}` cannot be applied here");
                log.add(option.line, problem);
            }
        }
    }
}
