//! Reads confidences, severities, truth values and agents in any notation.

use serde_json::Value;

use super::fields::FieldValue;
use super::reader::Reader;
use super::surroundings::begin;
use super::text::words;
use super::words::{Meaning, TABLES};
use crate::domain::answer::artifact::{Magnitude, Severity};
use crate::domain::answer::confidence::Confidence;
use crate::text::clean::{one_line, words as words_of};

impl Reader<'_> {
    /// A number from 0 to 1, a percentage, a share of ten, or a word. Nothing is clamped: values
    /// out of range are unknown.
    pub(super) fn confidence(&mut self, field: &FieldValue) -> Option<Confidence> {
        let value = self.present(field, "is missing")?;
        if let Some(stated) = value.as_f64().and_then(Confidence::new) {
            return Some(stated);
        }
        let said = words(value);
        let read = match value {
            Value::Number(number) => number.as_f64().and_then(percent_of_hundred),
            Value::Object(members) => members
                .values()
                .find_map(Value::as_f64)
                .or_else(|| stated(&said)),
            Value::String(_) | Value::Array(_) => stated(&said),
            Value::Bool(_) | Value::Null => None,
        };
        let read = read.and_then(Confidence::new);
        let stated = read.map(|stated| stated.value().to_string());
        self.note(field, &said, stated, "no number from 0 to 1");
        read
    }

    /// Medium and flagged if there is none.
    pub(super) fn severity(&mut self, field: &FieldValue) -> Severity {
        let Some(value) = self.present(field, "is missing; taken as medium") else {
            return Severity::default();
        };
        let said = words(value);
        let lower = said.to_lowercase();
        if let Ok(severity) = serde_json::from_value(lower.as_str().into()) {
            return severity;
        }
        let read = named(&TABLES.severities, &lower).next();
        let name = read.map(|severity| severity.name().to_owned());
        self.note(
            field,
            &said,
            name,
            "not low, medium or high; taken as medium",
        );
        read.unwrap_or_default()
    }

    /// `None` and flagged if it is missing.
    pub(super) fn magnitude(&mut self, field: &FieldValue) -> Option<Magnitude> {
        let value = self.present(field, "is missing; the item was left out")?;
        let said = words(value);
        if let Ok(magnitude) = serde_json::from_value(said.as_str().into()) {
            return Some(magnitude);
        }
        let lower = said.to_lowercase().replace(['_', '-'], " ");
        let is_denied = has(&lower, "not") || has(&lower, "no");
        let mut read = named(&TABLES.magnitudes, &lower).filter(|_| !is_denied);
        // A text that names two magnitudes states neither.
        let read = read.next().filter(|_| read.next().is_none());
        let name = read.map(|magnitude| format!("{magnitude:?}"));
        self.note(field, &said, name, "no magnitude; the item was left out");
        read
    }

    /// `None` and flagged if it is neither.
    pub(super) fn truth(&mut self, field: &FieldValue) -> Option<bool> {
        let value = self.present(field, "is missing")?;
        if let Value::Bool(yes) = value {
            return Some(*yes);
        }
        let said = words(value);
        let lower = said.to_lowercase();
        let first = words_of(&lower).next().unwrap_or_default();
        let is_no = TABLES.no.has(first);
        let read = (is_no || TABLES.yes.has(first)).then_some(!is_no);
        let name = read.map(|yes| yes.to_string());
        self.note(field, &said, name, "neither true nor false");
        read
    }

    /// Notes as what a text was read that is not in the requested form, or else what it is.
    fn note(&mut self, field: &FieldValue, said: &str, read: Option<String>, what_else: &str) {
        let (said, path) = (short(said), &field.path);
        match read {
            Some(read) => self
                .notes
                .repaired(path, format!("`{said}` was read as {read}")),
            None => self.notes.flagged(path, format!("`{said}` is {what_else}")),
        }
    }

    /// Flags a field without one.
    fn present<'f>(&mut self, field: &'f FieldValue, what_else: &str) -> Option<&'f Value> {
        if field.value.is_none() {
            self.notes.flagged(&field.path, what_else);
        }
        field.value.as_ref()
    }
}

/// Reads a whole percentage without its sign. From 1 to 10 it could also be a share of ten, so it
/// is unknown.
fn percent_of_hundred(number: f64) -> Option<f64> {
    (number > 10.0).then_some(number / 100.0)
}

fn stated(said: &str) -> Option<f64> {
    let said = said.to_lowercase().replace('％', "%");
    let numbers = numbers(&said);
    let percent = said.contains('%')
        || ["percent", "per cent", "prozent", "pour cent", "por ciento"]
            .iter()
            .any(|word| said.contains(word));
    match numbers.as_slice() {
        [] => named(&TABLES.confidences, &said).next(),
        [share, whole]
            if said.contains(['/', '⁄']) || said.contains(" out of ") || said.contains(" von ") =>
        {
            (*whole > 0.0).then_some(share / whole)
        }
        [low, high] if low <= high && !said.contains("+/-") && !said.contains('±') => {
            scaled(f64::midpoint(*low, *high), percent)
        }
        [first, ..] => scaled(*first, percent),
    }
}

fn scaled(number: f64, percent: bool) -> Option<f64> {
    if percent {
        Some(number / 100.0)
    } else if number <= 1.0 {
        Some(number)
    } else {
        percent_of_hundred(number)
    }
}

/// Returns the numbers in a text, with a decimal point or comma. A minus counts only at the very
/// beginning.
fn numbers(text: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = Vec::new();
    for piece in text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')) {
        let piece = piece.trim_end_matches(['.', ',']).replace(',', ".");
        if piece.bytes().any(|byte| byte.is_ascii_digit()) {
            numbers.extend(piece.parse::<f64>());
        }
    }
    if text.trim_start().starts_with(['-', '−'])
        && let Some(first) = numbers.first_mut()
    {
        *first = -*first;
    }
    numbers
}

/// Returns the values in a table that a text names by one of their words, in the table's order.
fn named<'a, T: Copy>(table: &'a [Meaning<T>], said: &'a str) -> impl Iterator<Item = T> + 'a {
    table
        .iter()
        .filter(|meaning| meaning.words.iter().any(|name| has(said, name)))
        .map(|meaning| meaning.value)
}

/// Returns whether a text contains these words as whole words; in scripts without spaces, anywhere.
fn has(said: &str, name: &str) -> bool {
    if !name.is_ascii() && name.chars().count() == 1 {
        return said.contains(name);
    }
    let spaced = |text| format!(" {} ", words_of(text).collect::<Vec<_>>().join(" "));
    spaced(said).contains(&spaced(name))
}

pub(super) fn short(text: &str) -> String {
    begin(&one_line(text), 60)
}

/// The target of a challenge that is not aimed at an expert.
pub(super) const CONSENSUS: &str = "consensus";

/// Signs and words between names.
const SEPARATORS: [&str; 10] = [
    " and ", " und ", " et ", " y ", " & ", ";", "/", "+", "、", "，",
];

impl Reader<'_> {
    /// Empty and flagged if there is none.
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

    pub(super) fn target(&mut self, field: &FieldValue) -> String {
        let named = field.value.as_ref().map(words).unwrap_or_default();
        let named = named.to_lowercase();
        if words_of(&named).any(|word| word == CONSENSUS) && self.known(&named).is_none() {
            return CONSENSUS.to_owned();
        }
        self.agent(field)
    }

    /// Each once.
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

    pub(super) fn known(&self, named: &str) -> Option<String> {
        let seat = self.labels.resolve(named)?;
        Some(seat.as_str().to_owned())
    }
}
