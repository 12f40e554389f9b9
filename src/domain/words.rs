//! How numbers, durations, models and rounds are said to people, on a screen and on a page alike.

use std::time::Duration;

use super::ids::ModelRef;
use super::money::{Cost, MicroUsd};

/// What is said wherever the embedded model appears.
pub const LOCAL_QUALITY: &str = "local model, demonstration quality";

/// `12,453`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `8.2s`, as in the lines of a log.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

/// Four decimals, as far as a call of a few cents needs; a plain `$0.00` where nothing is known to
/// cost anything.
pub fn amount(cost: Cost) -> String {
    if cost.known == MicroUsd::ZERO {
        format!("{cost:.2}")
    } else {
        cost.to_string()
    }
}

/// The model as a heading names it: without its provider, and with its quality where it is the
/// embedded one.
pub fn model_name(model: &ModelRef) -> String {
    if model.provider.is_local() {
        format!("{}, {LOCAL_QUALITY}", model.model)
    } else {
        model.model.clone()
    }
}

/// `anthropic:claude-haiku-4-5`, with its quality where it is the embedded one.
pub fn model_address(model: &ModelRef) -> String {
    if model.provider.is_local() {
        format!("{model} ({LOCAL_QUALITY})")
    } else {
        model.to_string()
    }
}

/// What happens in a round, for a person.
pub fn round_title(round: u8) -> &'static str {
    match round {
        1 => "independent answers",
        2 => "synthesis",
        3 => "cross-examination",
        4 => "verdict",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_durations_read_as_people_write_them() {
        let numbers = [0, 999, 1_000, 12_453, 1_234_567].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "12,453", "1,234,567"]);
        assert_eq!(seconds(Duration::from_millis(8_249)), "8.2s");
    }
}
