//! Reads the numbers in a text as people and models write them.
//!
//! - Thousands: `1,234,567`, `1.234.567`, `1 234 567`, `1'234`, `1_000`, `12,34,567`. Decimals: a
//!   point or a comma. `1,234` alone can be either, and is read with the given decimal mark.
//! - Signs: `-`, the Unicode minus, "minus", also before a currency sign. A dash between numbers
//!   or after a letter is none.
//! - `1e3`, `6.02 × 10^23`, `10⁶`, `2^10`; `3/4`, `1 3/4`, `½`, `\frac{3}{4}`.
//! - Digits within a name (`CO2`, `GPT-4`), a time (`12:30`), a date (`3/4/2020`), a list (`1,2,3`)
//!   and a version (`1.2.3`) are no numbers.

use icu_normalizer::ComposingNormalizerBorrowed;
use regex::Captures;

use super::text::{worded, words};
use crate::text::pattern::Pattern;

static NUMERAL: Pattern = worded(
    r"(?x)
    \d+ (?: : \d+ )+ | \d+ / \d+ / \d+ | \d{4} - \d\d - \d\d
    | (?<name> _ | \^ | [A-Za-z]+ [-‑]? )?
      (?: (?<sign> [-−–] ) | (?<minus> (?i: minus | negative ) \x20+ ) )?
      (?: \\? (?<currency> [$€£¥₹₽₩¢] ) \x20* )?
      (?<number>
        \\ [dt]? frac \{ (?<above> \d+ ) \} \{ (?<below> \d+ ) \}
        | (?<digits>
            [1-9] \d{0,2} (?: (?: [\x20'’_] | \\, | \\\x20 ) \d{3} )+ \b (?: [.,] \d+ )?
            | \d+ (?: [.,] \d+ )* | \. \d+ )
          (?: [eE] (?<exponent> [-−+]? \d{1,5} ) \b
            | \s* (?: [×x*·⋅] | \\times | \\cdot ) \s* 10 (?: \^ | \*\* ) [\{(]? (?<ten> [-−+]? \d{1,5} ) [\})]?
            | (?: \^ | \*\* ) [\{(]? (?<power> [-−+]? \d{1,5} ) [\})]?
            | \s+ (?<top> \d+ ) / (?<bottom> \d+ )
            | \s? / \s? (?<divisor> \d+ ) )? )
      (?: [\s\\]* (?<percent> % | {percent} ) )?
      (?: \s* (?: (?<thousand> {thousand} ) | (?<million> {million} ) | (?<billion> {billion} )
        | (?<trillion> {trillion} ) ) \b )?
      (?<suffix> [kKmMbB] n? \b )?",
);

/// A number with its unit, as far as that is a factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    value: Number,
    /// Whether a percent sign follows.
    is_percent: bool,
    /// The power of ten that a word such as "million" stands for; 0 without one.
    scale: i64,
}

impl Quantity {
    pub(super) fn whole(number: usize) -> Self {
        Self {
            value: Number::new(&number.to_string(), 0),
            is_percent: false,
            scale: 0,
        }
    }

    /// Whether it is the same as the expected one, within a tolerance. A percent sign and a word
    /// such as "million" count as factors, or as units if only one side has them: 45 % is 0.45
    /// and 45.
    pub(super) fn is(&self, expected: &Self, absolute: f64, relative: f64) -> bool {
        let is_alike =
            self.is_percent == expected.is_percent && (self.scale == 0) == (expected.scale == 0);
        let expected = expected.readings(is_alike);
        let is_near = |one: &Number| {
            expected
                .iter()
                .any(|other| one.is_near(other, absolute, relative))
        };
        self.readings(is_alike).iter().any(is_near)
    }

    fn readings(&self, is_alike: bool) -> Vec<Number> {
        let scaled = self.value.clone().shifted(self.scale);
        if is_alike {
            return vec![scaled];
        }
        let mut readings = vec![self.value.clone(), scaled];
        if self.is_percent {
            readings.push(self.value.clone().shifted(-2));
        }
        readings
    }
}

/// A number in a text.
#[derive(Clone, Debug)]
pub(super) struct Numeral {
    pub(super) quantity: Quantity,
    pub(super) start: usize,
    /// The end of its digits.
    pub(super) end: usize,
    /// The decimal mark that it shows beyond doubt.
    mark: Option<char>,
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
            '٫' => plain.push('.'),
            '٬' => plain.push(','),
            c => plain.push(c),
        }
    }
    let plain = ComposingNormalizerBorrowed::new_nfkc().normalize(&plain);
    plain.replace('⁄', "/").replace("{,}", ",")
}

/// `None` if there is none, or both are used.
pub(super) fn decimal_mark(text: &str) -> Option<char> {
    let numerals = numerals(text, '.');
    let mut marks = numerals.iter().filter_map(|numeral| numeral.mark);
    let first = marks.next()?;
    marks.all(|mark| mark == first).then_some(first)
}

/// `mark` is the decimal mark of those that are ambiguous.
pub(super) fn numerals(text: &str, mark: char) -> Vec<Numeral> {
    let all = NUMERAL.all(text);
    all.filter_map(|found| numeral(text, &found, mark))
        .collect()
}

fn numeral(text: &str, found: &Captures<'_>, mark: char) -> Option<Numeral> {
    let number = found.name("number")?;
    let before = |at: usize| text.get(..at).unwrap_or_default();
    let name = found.name("name");
    if name.is_some_and(|name| is_name(name.as_str(), before(name.start()))) {
        return None;
    }
    // "3-5" is a range.
    let sign = found.name("sign").filter(|sign| {
        let is_value = |c: char| c.is_alphanumeric() || matches!(c, ')' | '%');
        !before(sign.start()).ends_with(is_value)
    });
    let (value, mark) = value(found, mark)?;
    let scales = [
        ("thousand", 3),
        ("million", 6),
        ("billion", 9),
        ("trillion", 12),
    ];
    let word = scales.iter().find(|(name, _)| found.name(name).is_some());
    let suffix = found.name("suffix");
    let letter = suffix.filter(|_| found.name("currency").is_some());
    Some(Numeral {
        quantity: Quantity {
            value: value.negated_if(sign.is_some() || found.name("minus").is_some()),
            is_percent: found.name("percent").is_some(),
            scale: match letter.and_then(|letter| letter.as_str().chars().next()) {
                Some('k' | 'K') => 3,
                Some('m' | 'M') => 6,
                Some(_) => 9,
                None => word.map_or(0, |(_, places)| *places),
            },
        },
        start: sign.map_or(number.start(), |sign| sign.start()),
        end: number.end(),
        mark,
    })
}

/// Whether digits after a word belong to a name: `CO2`, `GPT-4`, `x_1`, but not `\times10`, `EUR5`
/// or `x-5`.
fn is_name(word: &str, before: &str) -> bool {
    let stem = word.trim_end_matches(['-', '‑']);
    let is_currency = words("currency_codes").contains(&stem.to_lowercase());
    let is_hyphened = stem.len() < word.len() && !stem.contains(char::is_uppercase);
    !is_currency && !is_hyphened && !before.ends_with('\\')
}

/// Without its sign and unit; with the decimal mark that it shows.
fn value(found: &Captures<'_>, mark: char) -> Option<(Number, Option<char>)> {
    let of = |name| Some(found.name(name)?.as_str().replace('−', "-"));
    let whole = |name| of(name)?.parse::<u128>().ok();
    if let Some(above) = whole("above") {
        return Some((Number::fraction(above, whole("below")?)?, None));
    }
    let (number, integer, mark) = digits(&of("digits")?, mark)?;
    let places = |name| of(name)?.trim_start_matches('+').parse::<i64>().ok();
    let value = if let Some(places) = places("exponent").or_else(|| places("ten")) {
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
    } else if let (Some(above), Some(below)) = (integer, whole("divisor")) {
        Number::fraction(above, below)?
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
