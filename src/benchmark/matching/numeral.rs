//! Reads the numbers in a text as people and models write them.
//!
//! - Thousands: `1,234,567`, `1.234.567`, `1 234 567`, `1'234`, `1_000`, `1{,}000`. Decimals: a
//!   point or a comma. `1,234` alone can be either, and is read with the given decimal mark.
//! - Signs: `-`, the Unicode minus, "minus", also before a currency sign. A dash between numbers
//!   or after a letter is none.
//! - `1e3`, `6.02 × 10^23`, `10⁶`, `2^10`; `3/4`, `1 3/4`, `½`, `\frac{3}{4}`.
//! - Digits within a name (`CO2`, `GPT-4`), a time (`12:30`), a date (`3/4/2020`) and a version
//!   (`1.2.3`) are no numbers.

use super::affixes::{Head, Tail, is_list_number, is_name};
use super::decimal::{Decimal, Number, Tolerance};
use super::digits::{DecimalMark, starts_with_digit};
use super::notation::{Body, is_numeric_start};

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
            value: Decimal::new(&number.to_string(), 0, 0).into(),
            is_percent: false,
            scale: 0,
        }
    }

    /// Whether it is the same as the expected one, within the tolerance. A percent sign and a word
    /// such as "million" count as factors, or as units if only one side has them: 45 % is 0.45
    /// and 45.
    pub(super) fn is(&self, expected: &Self, tolerance: &Tolerance) -> bool {
        let has_scale = |quantity: &Self| quantity.scale != 0;
        let is_alike =
            self.is_percent == expected.is_percent && has_scale(self) == has_scale(expected);
        let expected = expected.readings(is_alike);
        let answers = self.readings(is_alike);
        answers
            .iter()
            .any(|answer| expected.iter().any(|right| tolerance.allows(answer, right)))
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

/// Returns the decimal mark that all clear numbers of a text use; `None` if there is none, or both
/// are used.
pub(super) fn decimal_mark(text: &str) -> Option<DecimalMark> {
    let numerals = numerals(text, DecimalMark::Point);
    let mut marks = numerals.iter().filter_map(|numeral| numeral.mark);
    let first = marks.next()?;
    marks.all(|mark| mark == first).then_some(first)
}

/// A number in a text.
#[derive(Clone, Debug)]
pub(super) struct Numeral {
    pub(super) quantity: Quantity,
    pub(super) start: usize,
    /// The end of its digits.
    pub(super) end: usize,
    /// Whether it numbers an item of a list.
    pub(super) is_list_number: bool,
    /// The decimal mark that it shows beyond doubt.
    pub(super) mark: Option<DecimalMark>,
}

/// Returns the text with the digits of other scripts as ASCII.
pub(super) fn with_plain_digits(text: &str) -> String {
    let digit = |c: char, zero: u32| {
        let value = u32::from(c) - zero;
        char::from_digit(value, 10).unwrap_or(c)
    };
    text.chars()
        .map(|c| match c {
            '０'..='９' => digit(c, 0xFF10),
            '\u{660}'..='\u{669}' => digit(c, 0x660),
            '\u{6F0}'..='\u{6F9}' => digit(c, 0x6F0),
            '\u{66B}' | '．' => '.',
            '\u{66C}' | '，' => ',',
            '／' => '/',
            '％' | '٪' => '%',
            '－' => '-',
            c => c,
        })
        .collect()
}

/// Returns the numbers of a text in their order. `mark` reads those that are ambiguous.
pub(super) fn numerals(text: &str, mark: DecimalMark) -> Vec<Numeral> {
    let mut numerals = Vec::new();
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(is_numeric_start)) {
        let start = at + offset;
        let (numeral, end) = numeral(text, start, mark);
        numerals.extend(numeral);
        at = end;
    }
    numerals
}

/// Reads the number that begins with the digit at `start`; `None` for digits that are none.
/// Returns also where reading ends, after `start`.
fn numeral(text: &str, start: usize, mark: DecimalMark) -> (Option<Numeral>, usize) {
    let before = text.get(..start).unwrap_or_default();
    let digits = text.get(start..).unwrap_or_default();
    let body = Body::read(before, digits, mark);
    let Some(body) = body else {
        let run = digits.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ':' | '/'));
        return (None, start + run.unwrap_or(digits.len()).max(1));
    };
    let end = start + body.length;
    let rest = text.get(end..).unwrap_or_default();
    let is_time = body.is_plain && rest.strip_prefix(':').is_some_and(starts_with_digit);
    let is_date = rest.strip_prefix('/').is_some_and(starts_with_digit);
    if is_time || is_date {
        let run = digits.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ':' | '/'));
        return (None, start + run.unwrap_or(digits.len()));
    }
    if is_name(before) {
        return (None, end);
    }
    let head = Head::read(before);
    let tail = Tail::read(rest, head.has_currency);
    let numeral = Numeral {
        quantity: Quantity {
            value: body.value.negated_if(head.is_negative),
            is_percent: tail.is_percent,
            scale: tail.scale,
        },
        start: head.start.min(start - body.lead),
        end,
        is_list_number: body.is_plain && is_list_number(before, rest),
        mark: body.mark,
    };
    (Some(numeral), end)
}
