//! Reads confidences, severities and truth values in any notation.

use serde_json::Value;

use crate::domain::artifact::{Magnitude, Severity};
use crate::domain::confidence::Confidence;

use super::notes::Notes;
use super::text::words;

/// Words for a confidence, the longer before the shorter. Their values are a convention of this
/// program.
const LEVELS: [(&[&str], f64); 5] = [
    (
        &[
            "very high",
            "extremely high",
            "sehr hoch",
            "très élevée",
            "muy alta",
        ],
        0.95,
    ),
    (
        &[
            "very low",
            "extremely low",
            "sehr niedrig",
            "très faible",
            "muy baja",
        ],
        0.15,
    ),
    (
        &[
            "high", "hoch", "élevée", "élevé", "haute", "alta", "alto", "高",
        ],
        0.85,
    ),
    (
        &[
            "medium", "moderate", "mittel", "moyenne", "moyen", "media", "medio", "中",
        ],
        0.6,
    ),
    (
        &[
            "low", "niedrig", "gering", "faible", "baja", "bajo", "baixa", "低",
        ],
        0.3,
    ),
];

const SEVERITIES: [(&[&str], Severity); 3] = [
    (
        &[
            "critical", "severe", "major", "serious", "high", "blocker", "hoch", "élevée", "élevé",
            "alta", "alto", "高",
        ],
        Severity::High,
    ),
    (
        &[
            "medium", "moderate", "med", "mittel", "moyenne", "moyen", "media", "medio", "中",
        ],
        Severity::Medium,
    ),
    (
        &[
            "low", "minor", "trivial", "niedrig", "gering", "faible", "baja", "bajo", "低",
        ],
        Severity::Low,
    ),
];

const MAGNITUDES: [(&[&str], Magnitude); 4] = [
    (&["same", "identical", "unchanged", "none"], Magnitude::Same),
    (
        &["minor", "refinement", "slight", "small"],
        Magnitude::MinorRefinement,
    ),
    (&["moderate", "medium", "shift"], Magnitude::ModerateShift),
    (
        &["significant", "major", "large", "opposite"],
        Magnitude::SignificantChange,
    ),
];

const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const UNITS: [&str; 10] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
];

/// Reads a confidence: a number from 0 to 1, a percentage, a share of ten, or a word. Nothing is
/// clamped: values out of range are unknown.
pub(super) fn confidence(
    value: Option<Value>,
    path: &str,
    notes: &mut Notes,
) -> Option<Confidence> {
    let Some(value) = value else {
        notes.flagged(path, "is missing");
        return None;
    };
    if let Some(stated) = value.as_f64().and_then(Confidence::new) {
        return Some(stated);
    }
    let said = words(&value);
    let read = match &value {
        Value::Number(number) => number.as_f64().and_then(percent_of_hundred),
        Value::Object(members) => members
            .values()
            .find_map(Value::as_f64)
            .or_else(|| stated(&said)),
        Value::String(_) | Value::Array(_) => stated(&said),
        Value::Bool(_) | Value::Null => None,
    };
    let read = read.and_then(Confidence::new);
    match read {
        Some(stated) => notes.repaired(
            path,
            format!("`{}` was read as {}", short(&said), stated.value()),
        ),
        None => notes.flagged(path, format!("`{}` is no number from 0 to 1", short(&said))),
    }
    read
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
        [] => in_words(&said, percent).or_else(|| level(&said)),
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

/// Reads numbers in words: `eighty percent`, `ninety-five percent`, `zero point eight five`.
fn in_words(said: &str, percent: bool) -> Option<f64> {
    let words: Vec<&str> = said
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if let Some(point) = words.iter().position(|word| *word == "point") {
        let digits: String = words
            .iter()
            .skip(point + 1)
            .map_while(|word| place(&UNITS, word))
            .map(|digit| digit.to_string())
            .collect();
        return if digits.is_empty() {
            None
        } else {
            format!("0.{digits}").parse().ok()
        };
    }
    let at = words.iter().position(|word| TENS.contains(word))?;
    let tens = words.get(at).and_then(|word| place(&TENS, word))? + 2;
    let units = words
        .get(at + 1)
        .and_then(|word| place(&UNITS, word))
        .unwrap_or(0);
    let number = f64::from(u8::try_from(tens * 10 + units).ok()?);
    (percent || words.len() <= 2).then_some(number / 100.0)
}

fn place(words: &[&str], word: &str) -> Option<usize> {
    words.iter().position(|known| *known == word)
}

fn level(said: &str) -> Option<f64> {
    LEVELS
        .iter()
        .find(|(names, _)| names.iter().any(|name| has(said, name)))
        .map(|(_, value)| *value)
}

/// Returns whether a text contains these words as whole words; in scripts without spaces, anywhere.
fn has(said: &str, name: &str) -> bool {
    if !name.is_ascii() && name.chars().count() == 1 {
        return said.contains(name);
    }
    let spaced = |text: &str| {
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        format!(" {} ", words.join(" "))
    };
    spaced(said).contains(&spaced(name))
}

/// Reads a severity; medium and flagged if there is none.
pub(super) fn severity(value: Option<Value>, path: &str, notes: &mut Notes) -> Severity {
    let Some(value) = value else {
        notes.flagged(path, "is missing; taken as medium");
        return Severity::default();
    };
    let said = words(&value);
    let lower = said.to_lowercase();
    let exact = match lower.as_str() {
        "low" => Some(Severity::Low),
        "medium" => Some(Severity::Medium),
        "high" => Some(Severity::High),
        _ => None,
    };
    if let Some(severity) = exact {
        return severity;
    }
    let read = SEVERITIES
        .iter()
        .find(|(names, _)| names.iter().any(|name| has(&lower, name)))
        .map(|(_, severity)| *severity);
    match read {
        Some(severity) => notes.repaired(
            path,
            format!(
                "`{}` was read as {}",
                short(&said),
                format!("{severity:?}").to_lowercase()
            ),
        ),
        None => notes.flagged(
            path,
            format!(
                "`{}` is not low, medium or high; taken as medium",
                short(&said)
            ),
        ),
    }
    read.unwrap_or_default()
}

/// Reads the difference between two texts; `None` and flagged if it is missing.
pub(super) fn magnitude(value: Option<Value>, path: &str, notes: &mut Notes) -> Option<Magnitude> {
    let Some(value) = value else {
        notes.flagged(path, "is missing; the item was left out");
        return None;
    };
    let said = words(&value);
    let lower = said.to_lowercase().replace(['_', '-'], " ");
    let exact = match said.as_str() {
        "same" => Some(Magnitude::Same),
        "minor_refinement" => Some(Magnitude::MinorRefinement),
        "moderate_shift" => Some(Magnitude::ModerateShift),
        "significant_change" => Some(Magnitude::SignificantChange),
        _ => None,
    };
    if exact.is_some() {
        return exact;
    }
    let denied = ["not", "no"].iter().any(|word| has(&lower, word));
    let mut named = MAGNITUDES
        .iter()
        .filter(|(names, _)| !denied && names.iter().any(|name| has(&lower, name)));
    // A text that names two magnitudes states neither.
    if let (Some((_, magnitude)), None) = (named.next(), named.next()) {
        notes.repaired(
            path,
            format!("`{}` was read as {magnitude:?}", short(&said)),
        );
        return Some(*magnitude);
    }
    notes.flagged(
        path,
        format!("`{}` is no magnitude; the item was left out", short(&said)),
    );
    None
}

/// Reads a truth value; `None` and flagged if it is neither.
pub(super) fn truth(value: Option<Value>, path: &str, notes: &mut Notes) -> Option<bool> {
    let Some(value) = value else {
        notes.flagged(path, "is missing");
        return None;
    };
    if let Value::Bool(yes) = value {
        return Some(yes);
    }
    let said = words(&value);
    let lower = said.to_lowercase();
    let first = lower
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let read = match first {
        "true" | "yes" | "y" | "1" | "changed" | "ja" | "oui" | "sí" | "si" | "sim" | "да"
        | "是" => Some(true),
        "false" | "no" | "n" | "0" | "not" | "unchanged" | "none" | "nein" | "non" | "não"
        | "нет" | "否" => Some(false),
        _ => None,
    };
    match read {
        Some(yes) => notes.repaired(path, format!("`{}` was read as {yes}", short(&said))),
        None => notes.flagged(
            path,
            format!("`{}` is neither true nor false", short(&said)),
        ),
    }
    read
}

/// Returns a text shortened for quoting in a problem.
pub(super) fn short(text: &str) -> String {
    super::surroundings::begin(&text.split_whitespace().collect::<Vec<_>>().join(" "), 60)
}
