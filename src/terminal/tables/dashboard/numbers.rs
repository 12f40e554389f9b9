//! Figures as a person reads them. Rounding never makes a false claim: less than all is never
//! `100%`, more than none is never `0%`.

use std::time::Duration;

use crate::terminal::output::format::{count, seconds, thousands};

/// `97%`, `<1%`, `>99%`, `>100%`, `126%`; `None` for a whole of zero.
pub(super) fn percent(part: u64, whole: u64) -> Option<String> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let rounded = (part * 200 + whole).checked_div(whole * 2)?;
    Some(match rounded {
        0 if part > 0 => "<1%".to_owned(),
        100.. if part < whole => ">99%".to_owned(),
        100 if part > whole => ">100%".to_owned(),
        rounded => format!("{rounded}%"),
    })
}

/// `142 (97%)`; the number alone for a whole of zero.
pub(super) fn share(part: u64, whole: u64) -> String {
    thousands(part) + &in_brackets(part, whole)
}

/// ` (97%)`; empty for a whole of zero.
pub(super) fn in_brackets(part: u64, whole: u64) -> String {
    let percent = percent(part, whole).map(|percent| format!(" ({percent})"));
    percent.unwrap_or_default()
}

/// `142/147`.
pub(super) fn of_all(part: u64, whole: u64) -> String {
    format!("{}/{}", thousands(part), thousands(whole))
}

/// `84%`, from a fraction.
pub(super) fn of_one(part: f64) -> String {
    format!("{:.0}%", (part * 100.0).round() + 0.0)
}

/// `+11%`, `-3%`, `0%`.
pub(super) fn change(part: f64) -> String {
    let percent = (part * 100.0).round();
    if percent == 0.0 {
        "0%".to_owned()
    } else {
        format!("{percent:+.0}%")
    }
}

/// `6.7`; `None` for a count of zero.
pub(super) fn mean(sum: u64, number: u64) -> Option<String> {
    let tenths = (u128::from(sum) * 20 + u128::from(number)).checked_div(u128::from(number) * 2)?;
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

/// `12.3s`, or `40ms`, `2m 05s`, `1h 02m` where seconds are a poor unit.
pub(super) fn time(ms: u64) -> String {
    let s = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..100_000 => seconds(Duration::from_millis(ms)),
        100_000..3_600_000 => format!("{}m {:02}s", s / 60, s % 60),
        3_600_000.. => format!("{}h {:02}m", s / 3_600, s / 60 % 60),
    }
}

/// `15s`, `7.5s`: a limit as it is set.
pub(super) fn limit(ms: u64) -> String {
    format!("{}s", Duration::from_millis(ms).as_secs_f64())
}

/// `1,200 calls`, `1 call`.
pub(super) fn thousands_of(number: u64, thing: &str) -> String {
    match number {
        1 => count(1, thing),
        number => format!("{} {thing}s", thousands(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_all_or_none() {
        let shown = [
            (142, 147),
            (5, 147),
            (1, 1_000),
            (999, 1_000),
            (0, 3),
            (3, 3),
            (1_001, 1_000),
            (63, 50),
        ]
        .map(|(part, whole)| percent(part, whole));
        assert_eq!(
            shown.map(Option::unwrap),
            ["97%", "3%", "<1%", ">99%", "0%", "100%", ">100%", "126%"]
        );
        assert_eq!(percent(0, 0), None);
        assert_eq!(percent(u64::MAX, u64::MAX), Some("100%".to_owned()));
        assert_eq!(share(1_200, 0), "1,200");
        assert_eq!(share(1, 2), "1 (50%)");
    }

    #[test]
    fn means_are_rounded_half_up_and_absent_for_no_values() {
        assert_eq!(
            [(147, 22), (9, 5), (3, 1), (1, 20)].map(|(sum, number)| mean(sum, number).unwrap()),
            ["6.7", "1.8", "3.0", "0.1"]
        );
        assert_eq!(mean(0, 0), None);
    }

    #[test]
    fn change_has_a_sign_unless_it_is_zero() {
        assert_eq!(
            [0.11, -0.03, -0.001, 0.0].map(change),
            ["+11%", "-3%", "0%", "0%"]
        );
        assert_eq!([0.84, 1.0, 0.0].map(of_one), ["84%", "100%", "0%"]);
    }

    #[test]
    fn times_have_a_suitable_unit() {
        let shown = [0, 40, 400, 12_300, 99_949, 125_000, 3_720_000].map(time);
        assert_eq!(
            shown,
            ["0ms", "40ms", "400ms", "12.3s", "99.9s", "2m 05s", "1h 02m"]
        );
        assert_eq!([15_000, 7_500].map(limit), ["15s", "7.5s"]);
    }
}
