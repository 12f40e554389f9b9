//! Formats numbers, durations, models and rounds for people, on screens and on pages.

use std::time::Duration;

use super::answer::confidence::Confidence;
use super::cost::money::Cost;
use super::ids::ModelRef;

/// The remark shown wherever the embedded model appears.
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

/// `812`, `18.2k`.
pub fn kilo(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{}.{}k", thousands(number / 1_000), number % 1_000 / 100),
    }
}

/// `85%`, or `not stated`.
pub fn stated(confidence: Option<Confidence>) -> String {
    confidence.map_or_else(|| "not stated".to_owned(), |stated| stated.to_string())
}

/// `8.2s`.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

/// `12 s`, `28 min`, `3 h`, `2 days`: rounded up, so that a wait of it is enough.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_millis().div_ceil(1_000);
    let (minutes, hours) = (seconds.div_ceil(60), seconds.div_ceil(60 * 60));
    if seconds < 60 {
        format!("{seconds} s")
    } else if minutes < 120 {
        format!("{minutes} min")
    } else if hours < 48 {
        format!("{hours} h")
    } else {
        format!("{} days", hours.div_ceil(24))
    }
}

/// Formats what was spent with four decimals, which suit calls of a few cents.
pub fn amount(cost: Cost) -> String {
    cost.to_string()
}

/// Formats what was spent for a sentence.
pub fn spent(cost: Cost) -> String {
    if cost.is_unknown() {
        return "an unknown amount".to_owned();
    }
    if cost.is_all_by_plan() {
        return "calls of your plan".to_owned();
    }
    amount(cost)
}

/// Without its provider, and with a remark for the embedded one.
pub fn model_name(model: &ModelRef) -> String {
    if model.provider.is_local() {
        format!("{}, {LOCAL_QUALITY}", model.model)
    } else {
        model.model.clone()
    }
}

/// Returns the full name, `anthropic:claude-haiku-4-5`, with a remark for the embedded model.
pub fn model_address(model: &ModelRef) -> String {
    if model.provider.is_local() {
        format!("{model} ({LOCAL_QUALITY})")
    } else {
        model.to_string()
    }
}

pub fn round_title(round: u8) -> &'static str {
    match round {
        1 => "independent answers",
        2 => "synthesis",
        3 => "cross-examination",
        4 => "verdict",
        _ => "",
    }
}

/// As people write it, in the singular or the plural: `API keys`.
pub fn secret_type(id: &str, number: u64) -> String {
    let words: Vec<&str> = id.split('_').map(word).collect();
    let name = words.join(" ");
    if number == 1 {
        return name;
    }
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if name.ends_with('s') => name + "es",
        _ => name + "s",
    }
}

/// The words of types of secrets that are not written in lower case.
const PROPER_WORDS: &str = "API AWS Azure DigitalOcean Docker GCP GitHub GitLab Google ID JWT PGP \
                            PyPI SendGrid Slack SSH Stripe Twilio URL";

fn word(word: &str) -> &str {
    let mut proper = PROPER_WORDS.split(' ');
    let found = proper.find(|proper| proper.eq_ignore_ascii_case(word));
    found.unwrap_or(word)
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

    #[test]
    fn types_of_secrets_are_written_as_people_write_them() {
        let types = [
            ("api_key", 2),
            ("digitalocean_token", 1),
            ("github_pass", 3),
        ];
        let written = types.map(|(id, number)| secret_type(id, number));
        assert_eq!(written, ["API keys", "DigitalOcean token", "GitHub passes"]);
    }

    #[test]
    fn spans_are_rounded_up() {
        let spans = [
            (0, "0 s"),
            (59, "59 s"),
            (61, "2 min"),
            (7_201, "3 h"),
            (172_801, "3 days"),
        ];
        for (seconds, expected) in spans {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }
}
