//! Maps agents as models name them back to seats. Unknown names stay as text.

use serde_json::Value;

use crate::consultation::anonymity::labels::Labels;

use super::notes::Notes;
use super::text::{text, words};
use super::values::short;

/// The target of a challenge that is not aimed at an expert.
pub(super) const CONSENSUS: &str = "consensus";

/// Reads one agent; empty and flagged if there is none.
pub(super) fn agent(
    value: Option<Value>,
    path: &str,
    labels: &Labels,
    notes: &mut Notes,
) -> String {
    let Some(named) = text(value, path, notes) else {
        notes.flagged(path, "is missing");
        return String::new();
    };
    known(&named, labels).unwrap_or_else(|| {
        notes.flagged(path, format!("`{}` is not on the panel", short(&named)));
        named
    })
}

/// Reads the target of a challenge: an agent or the consensus.
pub(super) fn target(
    value: Option<Value>,
    path: &str,
    labels: &Labels,
    notes: &mut Notes,
) -> String {
    let named = value.as_ref().map(words).unwrap_or_default().to_lowercase();
    if named
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == CONSENSUS)
        && known(&named, labels).is_none()
    {
        return CONSENSUS.to_owned();
    }
    agent(value, path, labels, notes)
}

/// Reads a list of agents, each once.
pub(super) fn agents(
    value: Option<Value>,
    path: &str,
    labels: &Labels,
    notes: &mut Notes,
) -> Vec<String> {
    let named: Vec<Value> = match value {
        None => {
            notes.flagged(path, "is missing");
            return Vec::new();
        }
        Some(Value::Array(items)) => items,
        Some(other) => {
            notes.repaired(path, "a text was read as a list");
            vec![other]
        }
    };
    let mut agents: Vec<String> = Vec::new();
    for (at, value) in named.into_iter().enumerate() {
        let path = format!("{path}[{at}]");
        for part in parts(value, &path, labels, notes) {
            let agent = agent(Some(Value::String(part)), &path, labels, notes);
            if agents.contains(&agent) {
                notes.repaired(&path, "was named twice");
            } else if !agent.is_empty() {
                agents.push(agent);
            }
        }
    }
    agents
}

/// Splits `Expert A, Expert B and C` into names; returns the text unchanged unless all are known.
fn parts(value: Value, path: &str, labels: &Labels, notes: &mut Notes) -> Vec<String> {
    let whole = words(&value);
    if known(&whole, labels).is_some() {
        return text(Some(value), path, notes).into_iter().collect();
    }
    let separated = [
        " and ", " und ", " et ", " y ", " & ", ";", "/", "+", "、", "，",
    ]
    .iter()
    .fold(whole.clone(), |text, sign| text.replace(sign, ","));
    let parts: Vec<String> = separated
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    if parts.len() > 1 && parts.iter().any(|part| known(part, labels).is_some()) {
        notes.repaired(path, "several names in one text were read as a list");
        return parts;
    }
    vec![whole]
}

fn known(named: &str, labels: &Labels) -> Option<String> {
    labels.resolve(named).map(|seat| seat.as_str().to_owned())
}
