//! Small phrases that several screens share: numbers, durations, names of models and rounds.

use std::time::Duration;

use crate::domain::ids::ModelRef;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::panel::{Panel, Seat};

/// What is said wherever the embedded model appears.
pub const LOCAL_QUALITY: &str = "local model, demonstration quality";

/// What is said of a panel whose seats are all played by one vendor's models.
pub const ONE_FAMILY: &str = "agreement within one family is weak evidence";

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

/// `72s`, as a person would say it.
pub fn whole_seconds(duration: Duration) -> String {
    format!("{}s", duration.as_secs())
}

/// `0:42`, `12:07`, `1:02:03`: a clock for time that is passing.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Four decimals, as far as a call of a few cents needs; a plain `$0.00` where nothing is known to cost anything.
pub fn amount(cost: Cost) -> String {
    if cost.known == MicroUsd::ZERO { format!("{cost:.2}") } else { cost.to_string() }
}

/// Two decimals, as an amount to decide on needs; four below a cent, unless it is nothing.
pub fn dollars(amount: MicroUsd) -> String {
    if (1..10_000).contains(&amount.0) { amount.to_string() } else { format!("{amount:.2}") }
}

/// `3 experts`, `1 expert`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The model as a heading names it: without its provider, and with its quality where it is the embedded one.
pub fn model_name(model: &ModelRef) -> String {
    if model.provider.is_local() { format!("{}, {LOCAL_QUALITY}", model.model) } else { model.model.clone() }
}

/// `anthropic:claude-haiku-4-5`, with its quality where it is the embedded one.
pub fn model_address(model: &ModelRef) -> String {
    if model.provider.is_local() { format!("{model} ({LOCAL_QUALITY})") } else { model.to_string() }
}

/// The seat's name; with its id where another seat has the same name.
pub fn seat_name(panel: &Panel, seat: &Seat) -> String {
    let namesakes = panel.seats.iter().filter(|other| other.name() == seat.name()).count();
    if namesakes > 1 { format!("{} [{}]", seat.name(), seat.id) } else { seat.name().to_owned() }
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
        assert_eq!([7, 727, 3_723].map(|s| clock(Duration::from_secs(s))), ["0:07", "12:07", "1:02:03"]);
        assert_eq!((count(1, "expert"), count(3, "expert")), ("1 expert".to_owned(), "3 experts".to_owned()));
    }
}
