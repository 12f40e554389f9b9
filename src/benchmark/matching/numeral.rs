//! Numbers, and how people and models write them.
//!
//! - Thousands: `1,234,567`, `1.234.567`, `1 234 567`, `1'234`, `1_000`, `12,34,567`. Decimals: a
//!   point or a comma. `1,234` alone can be either, and is read with the given decimal mark.
//! - `1e3`, `6.02 × 10^23`, `10⁶`, `2^10`; `3/4`, `1 3/4`, `½`.

use icu_normalizer::ComposingNormalizerBorrowed;
use regex::Captures;

use super::text::{worded, words};
use crate::text::pattern::Pattern;

/// A number with its unit, as far as that is a factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) value: Number,
    /// Whether a percent sign follows.
    pub(super) is_percent: bool,
}

impl Quantity {
    /// Whether it is the same as the expected one, within a tolerance. A percent sign counts as a
    /// factor, or as a unit if only one side has it: 45 % is 0.45 and 45.
    pub(super) fn is(&self, expected: &Self, absolute: f64, relative: f64) -> bool {
        let is_near = |one: &Number, other: &Number| one.is_near(other, absolute, relative);
        let share = |of: &Self| of.value.clone().shifted(if of.is_percent { -2 } else { 0 });
        is_near(&self.value, &expected.value)
            || self.is_percent != expected.is_percent && is_near(&share(self), &share(expected))
    }
}

static SPELLED: Pattern = worded(
    r"(?i)\b(?:a (?:hundred|thousand|million|billion)|{number_words})(?:(?: (?:thousand|million|billion), (?:and )?| and |[ -]){number_words})*\b",
);

/// Returns the text with numbers in words as digits: `700` for "seven hundred". In a text `is_prose`
/// a lone "one" can count nothing. English only: the question asks for digits.
pub(super) fn in_digits(text: &str, is_prose: bool) -> String {
    let digits = |found: &Captures<'_>| {
        let is_word = is_prose && found[0].eq_ignore_ascii_case("one");
        let text = found[0].to_lowercase().replace(',', "");
        let number = |word: &str| spelled(word).map(|number| number.to_string());
        // "Two and three" are two numbers.
        let single = |word| number(word).unwrap_or_else(|| String::from(word));
        let all = || text.split(' ').map(single).collect::<Vec<_>>().join(" ");
        match number(&text).filter(|_| !is_word) {
            Some(number) => number,
            None if is_word => text,
            None => all(),
        }
    };
    SPELLED.replace_in(text, digits).into_owned()
}

/// "two million three hundred and twenty-five thousand and six"
fn spelled(text: &str) -> Option<u128> {
    let (mut total, mut group, mut most, mut joins) = (0_u128, 0_u128, u128::MAX, false);
    for word in text.split([' ', '-']) {
        let place = words("number_words").iter().position(|known| known == word);
        let one = place.map_or(1, |place| place as u128);
        let has_room = group % 100 == 0 || group % 100 >= 20 && group % 10 == 0 && one < 10;
        match (word, place) {
            ("a", _) => group = 1,
            ("and", _) if joins => {}
            ("hundred", _) if (1..100).contains(&group) => group *= 100,
            ("zero", _) if text != "zero" => return None,
            (_, Some(..20)) if has_room => group += one,
            (_, Some(20..=27)) if group % 100 == 0 => group += (one - 18) * 10,
            (_, Some(29..)) if group > 0 => {
                let factor = 10_u128.pow(3 * u32::try_from(one - 28).ok()?);
                total += group.checked_mul(factor).filter(|_| factor < most)?;
                (group, most) = (0, factor);
            }
            _ => return None,
        }
        joins = place.is_some_and(|place| place > 27);
    }
    Some(total + group)
}

/// Returns the text with digits and signs of other scripts and shapes as ASCII, and with `10^6` for
/// `10⁶`.
pub(super) fn plain(text: &str) -> String {
    let is_raised = |c: char| "⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    let mut plain = String::new();
    for c in text.chars() {
        if is_raised(c) && !plain.ends_with(is_raised) {
            plain.push('^');
        }
        match c {
            // "1½" is 1 1/2.
            '¼'..='¾' | '⅐'..='⅞' if plain.ends_with(|c: char| c.is_ascii_digit()) => {
                plain.extend([' ', c]);
            }
            '\u{660}'..='\u{669}' | '\u{6F0}'..='\u{6F9}' => {
                plain.extend(char::from_digit(u32::from(c) & 0xF, 10));
            }
            '₀'..='₉' => plain.extend(['_', c]),
            '٫' => plain.push('.'),
            '٬' => plain.push(','),
            c => plain.push(c),
        }
    }
    let plain = ComposingNormalizerBorrowed::new_nfkc().normalize(&plain);
    plain.replace('⁄', "/").replace("{,}", ",")
}

/// Reads what [`super::token`] captures as a number: its value, and the decimal mark that it shows
/// beyond doubt. `usual` is the decimal mark of those that are ambiguous.
pub(super) fn literal(found: &Captures<'_>, usual: char) -> Option<(Number, Option<char>)> {
    let of = |name| Some(found.name(name)?.as_str().replace('−', "-"));
    let whole = |name| of(name)?.parse::<u128>().ok();
    let places = |name| of(name)?.trim_start_matches('+').parse::<i64>().ok();
    let (number, integer, mark) = digits(&of("digits")?, usual)?;
    let value = if let Some(places) = places("exponent") {
        number.shifted(places)
    } else if let Some(power) = places("power") {
        match integer? {
            10 => Number::new("1", power),
            base => {
                let power = base.checked_pow(u32::try_from(power).ok()?)?;
                Number::new(&power.to_string(), 0)
            }
        }
    } else if let Some(bottom) = whole("bottom") {
        let top = integer?.checked_mul(bottom)?.checked_add(whole("top")?)?;
        Number::fraction(top, bottom)?
    } else if found.name("divisor").is_some() {
        Number::fraction(integer?, whole("divisor")?)?
    } else {
        number
    };
    Some((value, mark))
}

/// Reads digits with their separators: thousands and at most one decimal mark. Returns the number,
/// its value if it is an integer that fits, and the decimal mark that it shows.
fn digits(text: &str, usual: char) -> Option<(Number, Option<u128>, Option<char>)> {
    let is_part = |c: &char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let text: String = text.chars().filter(is_part).collect();
    let digits = text.replace(['.', ','], "");
    let Some((whole, decimals)) = text.rsplit_once(['.', ',']) else {
        return Some((Number::new(&digits, 0), digits.parse().ok(), None));
    };
    let is_point = text
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .ends_with('.');
    let (separator, other) = if is_point { ('.', ',') } else { (',', '.') };
    let (has_decimals, mark) = match (whole.contains(separator), whole.contains(other)) {
        // `1,234` and `1.234`
        (false, false) if is_grouped(&text, separator) => (separator == usual, None),
        (false, false) => (true, Some(separator)),
        (false, true) if is_grouped(whole, other) => (true, Some(separator)),
        (true, false) if is_grouped(&text, separator) => (false, Some(other)),
        // "1,2,3" is a list; "1.2.3" is a version.
        _ => return None,
    };
    if !has_decimals {
        return Some((Number::new(&digits, 0), digits.parse().ok(), mark));
    }
    let places = i64::try_from(decimals.len()).ok()?;
    Some((Number::new(&digits, -places), None, mark))
}

/// Whether a separator sets thousands apart, or lakhs: `1,234,567`, `12,34,567`.
fn is_grouped(text: &str, separator: char) -> bool {
    let mut groups = text.split(separator).map(str::len);
    let leading = groups.next().unwrap_or_default();
    let mut others = groups.rev();
    (1..=3).contains(&leading)
        && !text.starts_with('0')
        && others.next() == Some(3)
        && others.all(|length| (2..=3).contains(&length))
}

/// A number: `digits` × 10^`exponent` / `divisor`.
///
/// Invariant: the same number has the same fields. The digits have no zeros at either end and are
/// empty for zero; the divisor has no factor in common with them or with ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    is_negative: bool,
    digits: String,
    exponent: i64,
    divisor: u128,
}

impl Number {
    pub(super) fn new(digits: &str, exponent: i64) -> Self {
        let whole = digits.trim_start_matches('0');
        let short = whole.trim_end_matches('0');
        let zeros = i64::try_from(whole.len() - short.len()).unwrap_or(i64::MAX);
        Self {
            is_negative: false,
            digits: short.to_owned(),
            exponent: if short.is_empty() {
                0
            } else {
                exponent.saturating_add(zeros)
            },
            divisor: 1,
        }
    }

    pub(super) fn is_whole(&self, number: u128) -> bool {
        *self == Self::new(&number.to_string(), 0)
    }

    /// `None` for a denominator of zero, or numbers that are too large.
    pub(super) fn fraction(above: u128, below: u128) -> Option<Self> {
        let (mut one, mut other) = (above, below);
        while let Some(rest) = one.checked_rem(other) {
            (one, other) = (other, rest);
        }
        let (mut above, mut below) = (above.checked_div(one)?, below.checked_div(one)?);
        let mut exponent = 0;
        for (factor, other) in [(2, 5), (5, 2)] {
            while below != 0 && below % factor == 0 {
                (above, below) = (above.checked_mul(other)?, below / factor);
                exponent -= 1;
            }
        }
        (below != 0).then(|| Self {
            divisor: below,
            ..Self::new(&above.to_string(), exponent)
        })
    }

    pub(super) fn shifted(mut self, places: i64) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(places);
        }
        self
    }

    pub(super) fn negated_if(mut self, is_negated: bool) -> Self {
        self.is_negative = is_negated && !self.digits.is_empty();
        self
    }

    /// Either distance is enough. Equal numbers are compared exactly, distances as floating-point
    /// numbers.
    pub(super) fn is_near(&self, expected: &Self, absolute: f64, relative: f64) -> bool {
        let (answer, right) = (self.float(), expected.float());
        let most = absolute.max(relative * right.abs());
        // 0.4 is 0.1 from 0.3, which no floating-point number is.
        let rounding = 4.0 * f64::EPSILON * answer.abs().max(right.abs());
        let distance = (answer - right).abs();
        self == expected || most > 0.0 && distance.is_finite() && distance <= most + rounding
    }

    /// Infinite beyond its range.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a distance is compared as nearly as floats do"
    )]
    fn float(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        let text = format!("{sign}0{}e{}", self.digits, self.exponent);
        text.parse().unwrap_or(f64::NAN) / self.divisor as f64
    }
}
