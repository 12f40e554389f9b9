//! Prices, contexts and sizes of models in few characters.

use std::fmt::Write;

/// `$2.00`, `$0.075`: two decimals, and more where they are significant.
pub(super) fn dollars(amount: f64) -> String {
    let exact = format!("{amount:.6}");
    let shown = exact.trim_end_matches('0');
    let decimals = shown
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    format!("${amount:.*}", decimals.clamp(2, 6))
}

/// `200k`, `1.05M`: tokens of a context, rounded.
pub(super) fn tokens(count: u64) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = match count {
        0..1_000 => write!(text, "{count}"),
        1_000..1_000_000 => write!(text, "{}k", count.saturating_add(500) / 1_000),
        _ => {
            let hundredths = count.saturating_add(5_000) / 10_000;
            match (hundredths / 100, hundredths % 100) {
                (millions, 0) => write!(text, "{millions}M"),
                (millions, rest) => write!(text, "{millions}.{rest:02}M"),
            }
        }
    };
    text
}

/// `8.2B`, `135M`.
pub(super) fn billions(count: u64) -> String {
    if count < 1_000_000_000 {
        return format!("{}M", count.saturating_add(500_000) / 1_000_000);
    }
    let tenths = count.saturating_add(50_000_000) / 100_000_000;
    format!("{}.{}B", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_keep_their_significant_digits() {
        assert_eq!(
            [2.0, 0.075, 0.0, 12.5, 1.36].map(dollars),
            ["$2.00", "$0.075", "$0.00", "$12.50", "$1.36"]
        );
        assert_eq!(
            [512, 8_192, 922_000, 1_000_000, 1_048_576].map(tokens),
            ["512", "8k", "922k", "1M", "1.05M"]
        );
        assert_eq!(
            [135_000_000, 1_700_000_000, 8_200_000_000].map(billions),
            ["135M", "1.7B", "8.2B"]
        );
    }
}
