//! Maps agents as models name them back to seats. Unknown names stay as text.

use serde_json::Value;

use super::fields::FieldValue;
use super::reader::Reader;
use super::text::words;
use super::values::{short, words_of};

/// The target of a challenge that is not aimed at an expert.
pub(super) const CONSENSUS: &str = "consensus";

/// Signs and words between names.
const SEPARATORS: [&str; 10] = [
    " and ", " und ", " et ", " y ", " & ", ";", "/", "+", "、", "，",
];

impl Reader<'_> {
    /// Reads one agent; empty and flagged if there is none.
    pub(super) fn agent(&mut self, field: &FieldValue) -> String {
        let Some(named) = self.text(field) else {
            self.notes.flagged(&field.path, "is missing");
            return String::new();
        };
        self.known(&named).unwrap_or_else(|| {
            let what = format!("`{}` is not on the panel", short(&named));
            self.notes.flagged(&field.path, what);
            named
        })
    }

    /// Reads the target of a challenge: an agent or the consensus.
    pub(super) fn target(&mut self, field: &FieldValue) -> String {
        let named = field.value.as_ref().map(words).unwrap_or_default();
        let named = named.to_lowercase();
        if words_of(&named).any(|word| word == CONSENSUS) && self.known(&named).is_none() {
            return CONSENSUS.to_owned();
        }
        self.agent(field)
    }

    /// Reads a list of agents, each once.
    pub(super) fn agents(&mut self, FieldValue { value, path }: FieldValue) -> Vec<String> {
        let named: Vec<Value> = match value {
            None => {
                self.notes.flagged(path, "is missing");
                return Vec::new();
            }
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.notes.repaired(&path, "a text was read as a list");
                vec![other]
            }
        };
        let mut agents: Vec<String> = Vec::new();
        for (at, value) in named.into_iter().enumerate() {
            let mut part = FieldValue {
                value: Some(value),
                path: format!("{path}[{at}]"),
            };
            for name in self.parts(&part) {
                part.value = Some(Value::String(name));
                let agent = self.agent(&part);
                if agents.contains(&agent) {
                    self.notes.repaired(&part.path, "was named twice");
                } else if !agent.is_empty() {
                    agents.push(agent);
                }
            }
        }
        agents
    }

    /// Splits `Expert A, Expert B and C` into names; returns the text unchanged unless one is
    /// known.
    fn parts(&mut self, field: &FieldValue) -> Vec<String> {
        let whole = field.value.as_ref().map(words).unwrap_or_default();
        if self.known(&whole).is_some() {
            return self.text(field).into_iter().collect();
        }
        let with_commas = |text: String, sign: &&str| text.replace(sign, ",");
        let separated = SEPARATORS.iter().fold(whole.clone(), with_commas);
        let parts: Vec<String> = separated
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        if parts.len() > 1 && parts.iter().any(|part| self.known(part).is_some()) {
            self.notes
                .repaired(&field.path, "several names in one text were read as a list");
            return parts;
        }
        vec![whole]
    }

    /// Returns the id of the seat that has this name or label.
    pub(super) fn known(&self, named: &str) -> Option<String> {
        let seat = self.labels.resolve(named)?;
        Some(seat.as_str().to_owned())
    }
}
