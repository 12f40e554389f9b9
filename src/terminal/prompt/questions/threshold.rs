//! The question behind `Always`: below which estimate consultations are approved from now on.

use crate::consultation::policy::estimate::Estimate;
use crate::domain::cost::money::{Cost, MicroUsd};

use crate::terminal::output::format::dollars;
use crate::text::clean::one_line;

pub(in crate::terminal) const QUESTION: &str = "Do not ask below, in dollars";

pub(in crate::terminal) const NO_AMOUNT: &str =
    "Please enter an amount in dollars, such as 0.50; 0 means always ask.";

pub(in crate::terminal) fn typed(suggested: MicroUsd) -> String {
    format!("{suggested:.2}").trim_start_matches('$').to_owned()
}

/// Returns an amount that would have let this estimate pass: its high figure, rounded up to one
/// that is easy to remember.
pub(in crate::terminal) fn suggestion(estimate: &Estimate) -> MicroUsd {
    let high = estimate.high.known.max(estimate.cost.known).0;
    let step = match high {
        ..1_000_000 => 100_000,
        1_000_000..10_000_000 => 500_000,
        10_000_000.. => 1_000_000,
    };
    MicroUsd((high / step + 1).saturating_mul(step))
}

/// Reads an amount in dollars.
pub(in crate::terminal) fn read(line: &str) -> Option<MicroUsd> {
    line.trim()
        .trim_start_matches('$')
        .trim_start()
        .parse()
        .ok()
        .and_then(MicroUsd::from_usd)
}

pub(in crate::terminal) fn saved(amount: MicroUsd, place: &str) -> String {
    match amount {
        MicroUsd::ZERO => format!("You will be asked about every consultation (saved in {place})"),
        amount => format!(
            "Consultations under {} will be auto-approved (saved in {place})",
            dollars(Cost::exactly(amount))
        ),
    }
}

pub(in crate::terminal) fn not_saved(why: &str) -> String {
    format!(
        "⚠️ The amount could not be saved: {}. This consultation continues.",
        one_line(why).trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_amount_would_have_approved_the_estimate() {
        let suggested = |high| {
            suggestion(&Estimate {
                high: Cost::exactly(MicroUsd(high)),
                ..Estimate::default()
            })
        };
        assert_eq!(
            [900_000, 990_000, 1_000_000, 12_300_000].map(|high| suggested(high).to_string()),
            ["$1.0000", "$1.0000", "$1.5000", "$13.0000"]
        );
        assert_eq!(typed(MicroUsd(1_500_000)), "1.50");
    }

    #[test]
    fn amounts_are_read_as_people_write_them() {
        assert_eq!(read(""), None);
        assert_eq!(read(" $0.5\n"), Some(MicroUsd(500_000)));
        assert_eq!(read("0"), Some(MicroUsd::ZERO));
        assert_eq!(
            [read("-1"), read("much"), read("NaN"), read("1e12")],
            [None; 4]
        );
    }

    #[test]
    fn saved_and_unsaved_amounts_are_reported() {
        assert_eq!(
            saved(MicroUsd(750_000), "/h/config.json"),
            "Consultations under $0.75 will be auto-approved (saved in /h/config.json)"
        );
        assert_eq!(
            saved(MicroUsd::ZERO, "/h/config.json"),
            "You will be asked about every consultation (saved in /h/config.json)"
        );
        assert_eq!(
            not_saved("disk full."),
            "⚠️ The amount could not be saved: disk full. This consultation continues."
        );
    }
}
