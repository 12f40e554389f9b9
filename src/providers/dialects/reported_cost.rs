//! The cost of a call as the provider reports it, read exactly: no sum or product of binary
//! fractions.

use serde_json::Value;

use crate::domain::cost::money::MicroUsd;

use crate::domain::model::dialect::ReportedCost;

/// xAI bills in ten-billionths of a dollar.
const TICKS_PER_MICRO_USD: u64 = 10_000;

/// `None` if it is missing or invalid.
pub fn read(usage: &Value, kind: ReportedCost) -> Option<MicroUsd> {
    match kind {
        ReportedCost::None => None,
        ReportedCost::Usd => {
            let cost = usage.get("cost")?;
            // The shortest decimal with the same value, which equals the sent text for fewer than
            // 16 digits.
            let number = cost.as_number().map(ToString::to_string);
            micro_usd(number.as_deref().or(cost.as_str())?)
        }
        ReportedCost::Ticks => {
            let ticks = usage.get("cost_in_usd_ticks")?.as_u64()?;
            Some(MicroUsd(
                ticks / TICKS_PER_MICRO_USD
                    + u64::from(ticks % TICKS_PER_MICRO_USD >= TICKS_PER_MICRO_USD / 2),
            ))
        }
    }
}

/// Reads `0.00123` or `1.23e-3` dollars. `None` for a negative amount, one that is not a decimal,
/// and one above nine billion dollars.
fn micro_usd(text: &str) -> Option<MicroUsd> {
    const MOST: u64 = 9_000_000_000_000_000;
    let usd: f64 = text.trim().parse().ok()?;
    // Written out to twelve decimals: a product of fractions could round a half down.
    let pico_usd: u128 = format!("{usd:.12}").replace('.', "").parse().ok()?;
    let micro_usd = u64::try_from(pico_usd.saturating_add(500_000) / 1_000_000).ok()?;
    (micro_usd <= MOST).then_some(MicroUsd(micro_usd))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dollars_are_read_to_the_micro_dollar_and_rounded_half_up() {
        let cases = [
            ("0.0131", 13_100),
            ("0", 0),
            ("0.0", 0),
            ("2", 2_000_000),
            ("1.0000005", 1_000_001),
            ("1.00000049", 1_000_000),
            ("5e-7", 1),
            ("4.9e-7", 0),
            ("1.25E-3", 1_250),
            ("0.00000000000001", 0),
            ("1e2", 100_000_000),
            ("9007.199254740993", 9_007_199_255),
            ("0e400", 0),
        ];
        for (text, micro) in cases {
            assert_eq!(micro_usd(text), Some(MicroUsd(micro)), "{text}");
        }
        for text in ["-1", "", "x", "1e30", "1e2000000000", "NaN", "1.2.3", "٣"] {
            assert_eq!(micro_usd(text), None, "{text}");
        }
    }

    #[test]
    fn a_cost_is_taken_from_where_the_server_puts_it_and_from_nowhere_else() {
        let usage = json!({"cost": 0.00105, "cost_in_usd_ticks": 123_456_789u64});
        assert_eq!(read(&usage, ReportedCost::Usd), Some(MicroUsd(1_050)));
        assert_eq!(
            read(&usage, ReportedCost::Ticks),
            Some(MicroUsd(12_346)),
            "12345.6789 micro-dollars"
        );
        assert_eq!(
            read(&json!({"cost_in_usd_ticks": 4_999}), ReportedCost::Ticks),
            Some(MicroUsd(0))
        );
        assert_eq!(
            read(&json!({"cost_in_usd_ticks": 5_000}), ReportedCost::Ticks),
            Some(MicroUsd(1))
        );
        assert_eq!(
            read(&json!({"cost_in_usd_ticks": u64::MAX}), ReportedCost::Ticks),
            Some(MicroUsd(1_844_674_407_370_955))
        );
        assert_eq!(
            read(&json!({"cost": "0.5"}), ReportedCost::Usd),
            Some(MicroUsd(500_000))
        );
        assert_eq!(read(&usage, ReportedCost::None), None);
        for odd in [
            json!({}),
            json!({"cost": null, "cost_in_usd_ticks": -1}),
            json!({"cost": [], "cost_in_usd_ticks": 1.5}),
            json!(7),
        ] {
            assert_eq!(
                (
                    read(&odd, ReportedCost::Usd),
                    read(&odd, ReportedCost::Ticks)
                ),
                (None, None),
                "{odd}"
            );
        }
    }
}
