//! Reads the numbers in a text as people and models write them.
//!
//! - Thousands: `1,234,567`, `1.234.567`, `1 234 567`, `1'234`, `1_000`, `1{,}000`. Decimals: a
//!   point or a comma. `1,234` alone can be either, and is read with the given decimal mark.
//! - Signs: `-`, the Unicode minus, "minus", also before a currency sign. A dash between numbers
//!   or after a letter is none.
//! - `1e3`, `6.02 × 10^23`, `10⁶`, `2^10`; `3/4`, `1 3/4`, `½`, `\frac{3}{4}`.
//! - Digits within a name (`CO2`, `GPT-4`), a time (`12:30`), a date (`3/4/2020`) and a version
//!   (`1.2.3`) are no numbers.

use super::decimal::{Decimal, Number, Tolerance};
use super::statement::is_one_of;

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

/// The mark before decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

impl DecimalMark {
    /// Returns the mark that all clear numbers of a text use; `None` if there is none, or both are
    /// used.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let numerals = numerals(text, Self::Point);
        let mut marks = numerals.iter().filter_map(|numeral| numeral.mark);
        let first = marks.next()?;
        marks.all(|mark| mark == first).then_some(first)
    }
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

fn is_numeric_start(c: char) -> bool {
    c.is_ascii_digit() || vulgar_fraction(c).is_some()
}

fn vulgar_fraction(c: char) -> Option<(&'static str, &'static str)> {
    Some(match c {
        '½' => ("1", "2"),
        '⅓' => ("1", "3"),
        '⅔' => ("2", "3"),
        '¼' => ("1", "4"),
        '¾' => ("3", "4"),
        '⅕' => ("1", "5"),
        '⅖' => ("2", "5"),
        '⅗' => ("3", "5"),
        '⅘' => ("4", "5"),
        '⅙' => ("1", "6"),
        '⅚' => ("5", "6"),
        '⅛' => ("1", "8"),
        '⅜' => ("3", "8"),
        '⅝' => ("5", "8"),
        '⅞' => ("7", "8"),
        _ => return None,
    })
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

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn digits_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The digits of a number, with its exponent or denominator.
struct Body {
    value: Number,
    /// Bytes from the first digit.
    length: usize,
    /// Bytes before the first digit.
    lead: usize,
    /// Whether it is an integer without any mark.
    is_plain: bool,
    pub(super) mark: Option<DecimalMark>,
}

impl Body {
    /// Reads a number at the beginning of `text`; `None` if the digits are none.
    fn read(before: &str, text: &str, mark: DecimalMark) -> Option<Self> {
        if let Some((numerator, denominator)) = text.chars().next().and_then(vulgar_fraction) {
            let length = text.chars().next().map_or(1, char::len_utf8);
            return Some(Self {
                value: fraction(numerator, denominator)?,
                length,
                lead: 0,
                is_plain: false,
                mark: None,
            });
        }
        let plain = PlainNumber::read(text, mark)?;
        // ".5"
        let leading_point = before.strip_suffix('.').filter(|before| {
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '.') && plain.is_integer()
        });
        if leading_point.is_some() {
            let digits = digits_at(text);
            return Some(Self {
                value: Decimal::new(digits, digits.len(), 0).into(),
                length: digits.len(),
                lead: 1,
                is_plain: false,
                mark: None,
            });
        }
        let rest = text.get(plain.length..).unwrap_or_default();
        let (value, more, is_plain, lead) = if let Some((places, more)) = exponent(rest) {
            (plain.value.clone().shifted(places).into(), more, false, 0)
        } else if let Some((power, more)) = power(rest) {
            (raised(&plain.value, power)?.into(), more, false, 0)
        } else if let Some((numerator, denominator, more)) = mixed(rest)
            && plain.is_integer()
        {
            let value = mixed_number(&plain.value, numerator, denominator)?;
            (value, more, false, 0)
        } else if let Some((denominator, more)) = denominator(before, rest) {
            let value = Number::fraction(plain.value.clone(), denominator)?;
            // "\frac{" belongs to the number.
            let lead = before.len() - before.rfind('\\').unwrap_or(before.len());
            let is_latex = before.ends_with('{');
            (value, more, false, if is_latex { lead } else { 0 })
        } else {
            let is_plain = plain.is_integer();
            (plain.value.clone().into(), 0, is_plain, 0)
        };
        Some(Self {
            value,
            length: plain.length + more,
            lead,
            is_plain,
            mark: plain.mark,
        })
    }
}

fn fraction(numerator: &str, denominator: &str) -> Option<Number> {
    Number::fraction(
        Decimal::new(numerator, 0, 0),
        Decimal::new(denominator, 0, 0),
    )
}

/// A number of digits, separators and at most one decimal mark.
struct PlainNumber {
    value: Decimal,
    length: usize,
    groups: usize,
    pub(super) mark: Option<DecimalMark>,
}

impl PlainNumber {
    fn is_integer(&self) -> bool {
        self.groups == 1
    }

    fn read(text: &str, mark: DecimalMark) -> Option<Self> {
        let groups = groups(text);
        let (first, others) = groups.split_first()?;
        let commas = others.iter().filter(|group| group.separator == ',').count();
        let points = others.iter().filter(|group| group.separator == '.').count();
        let is_of_three = |group: &&Group| group.digits.len() == 3;
        let is_leading = (1..=3).contains(&first.digits.len()) && !first.digits.starts_with('0');
        let last = others.last();
        let last_mark = match last.map(|group| group.separator) {
            Some(',') => Some(DecimalMark::Comma),
            Some('.') => Some(DecimalMark::Point),
            _ => None,
        };
        let has_decimals = match (commas, points) {
            (0, 0) => false,
            // `1,234` and `1.234`
            (1, 0) | (0, 1)
                if others.len() == 1
                    && is_leading
                    && others.iter().all(|group| is_of_three(&group)) =>
            {
                return Some(Self::joined(&groups, last_mark == Some(mark), None));
            }
            (1, 0) | (0, 1) => true,
            (0, _) | (_, 0) => false,
            (1, _) if last_mark == Some(DecimalMark::Comma) => true,
            (_, 1) if last_mark == Some(DecimalMark::Point) => true,
            _ => return None,
        };
        let separators = others.len() - usize::from(has_decimals);
        let mut separated = others.iter().take(separators);
        let is_grouped =
            separators == 0 || is_leading && separated.all(|group| is_of_three(&group));
        if is_grouped {
            let mark = match (has_decimals, last_mark) {
                (true, mark) => mark,
                (false, Some(DecimalMark::Comma)) => Some(DecimalMark::Point),
                (false, Some(DecimalMark::Point)) => Some(DecimalMark::Comma),
                (false, None) => None,
            };
            return Some(Self::joined(&groups, has_decimals, mark));
        }
        let is_indian = points <= 1 && is_indian(first, others, has_decimals);
        if is_indian {
            return Some(Self::joined(
                &groups,
                has_decimals,
                Some(DecimalMark::Point),
            ));
        }
        // "1,2,3" is a list; "1.2.3" is a version.
        let first_comma = others.iter().position(|group| group.separator == ',');
        let listed = groups.get(..=first_comma?)?;
        Some(Self::joined(listed, listed.len() > 1, None))
    }

    /// Joins the groups; the last one is the decimals if there are any.
    fn joined(groups: &[Group], has_decimals: bool, mark: Option<DecimalMark>) -> Self {
        let digits: String = groups.iter().map(|group| group.digits.as_str()).collect();
        let last = groups.last().map_or(0, |group| group.digits.len());
        Self {
            value: Decimal::new(&digits, if has_decimals { last } else { 0 }, 0),
            length: groups.last().map_or(0, |group| group.end),
            groups: groups.len(),
            mark,
        }
    }
}

/// Whether groups are of two digits and the last of three: `12,34,567`.
fn is_indian(first: &Group, others: &[Group], has_decimals: bool) -> bool {
    let integers = others.get(..others.len() - usize::from(has_decimals));
    let Some((last, middle)) = integers.and_then(<[Group]>::split_last) else {
        return false;
    };
    let is_comma = |group: &Group| group.separator == ',';
    (1..=2).contains(&first.digits.len())
        && !middle.is_empty()
        && last.digits.len() == 3
        && is_comma(last)
        && middle
            .iter()
            .all(|group| group.digits.len() == 2 && is_comma(group))
}

/// Digits with the separator before them.
struct Group {
    separator: char,
    digits: String,
    /// The end within the text.
    end: usize,
}

/// Separators that can only group thousands.
const GROUPING: [&str; 9] = [
    " ", "\u{a0}", "\u{2009}", "\u{202f}", "'", "’", "_", "\\,", "\\ ",
];

/// Separators that group thousands or begin the decimals, with the character that they stand for.
const MARKS: [(&str, char); 4] = [("{,}", ','), ("{.}", '.'), (",", ','), (".", '.')];

/// Returns the digits at the beginning of a text, in groups between points and commas.
fn groups(text: &str) -> Vec<Group> {
    let first = digits_at(text);
    let mut groups = vec![Group {
        separator: ' ',
        digits: first.to_owned(),
        end: first.len(),
    }];
    let mut at = first.len();
    while let Some(rest) = text.get(at..) {
        let marked = MARKS
            .iter()
            .find_map(|(mark, separator)| Some((rest.strip_prefix(mark)?, Some(*separator))));
        let grouped = GROUPING
            .iter()
            .find_map(|separator| Some((rest.strip_prefix(separator)?, None)));
        let Some((after, separator)) = marked.or(grouped) else {
            break;
        };
        let digits = digits_at(after);
        let end = at + (rest.len() - after.len()) + digits.len();
        match (separator, groups.as_mut_slice()) {
            _ if digits.is_empty() => break,
            (Some(separator), _) => groups.push(Group {
                separator,
                digits: digits.to_owned(),
                end,
            }),
            // "1 234", but neither "2020 100" nor "0 100" nor decimals.
            (None, [only]) if digits.len() == 3 && first.len() <= 3 && !first.starts_with('0') => {
                only.digits.push_str(digits);
                only.end = end;
            }
            (None, _) => break,
        }
        at = end;
    }
    groups
}

/// Reads `e3` or ` × 10^3` at the beginning of a text; returns the power of ten and the length.
fn exponent(rest: &str) -> Option<(i64, usize)> {
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let (places, left) = signed_integer(after)?;
        let is_name = left.starts_with(char::is_alphanumeric);
        return (!is_name).then_some((places, rest.len() - left.len()));
    }
    const TIMES: [&str; 7] = ["×", "x", "*", "·", "⋅", "\\times", "\\cdot"];
    let trimmed = rest.trim_start_matches([' ', '\u{a0}']);
    let after = TIMES.iter().find_map(|times| trimmed.strip_prefix(times))?;
    let base = after
        .trim_start_matches([' ', '\u{a0}'])
        .strip_prefix("10")?;
    let (places, length) = power(base)?;
    let left = base.get(length..)?;
    Some((places, rest.len() - left.len()))
}

/// Reads `^3`, `^{3}`, `**3` or `³` at the beginning of a text; returns the power and the length.
fn power(rest: &str) -> Option<(i64, usize)> {
    if let Some(after) = rest.strip_prefix("**").or_else(|| rest.strip_prefix('^')) {
        let close = [('{', '}'), ('(', ')')]
            .into_iter()
            .find(|(open, _)| after.starts_with(*open));
        let inner = after.strip_prefix(['{', '(']).unwrap_or(after);
        let (places, left) = signed_integer(inner)?;
        let left = match close {
            Some((_, close)) => left.strip_prefix(close)?,
            None => left,
        };
        return Some((places, rest.len() - left.len()));
    }
    let plain = |c: char| {
        Some(match c {
            '⁻' => '-',
            '⁺' => '+',
            '⁰' => '0',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            '⁴'..='⁹' => char::from_digit(u32::from(c) - 0x2070, 10)?,
            _ => return None,
        })
    };
    let raised: String = rest.chars().map_while(plain).collect();
    let length = rest
        .chars()
        .take_while(|c| plain(*c).is_some())
        .map(char::len_utf8)
        .sum();
    let (places, left) = signed_integer(&raised)?;
    left.is_empty().then_some((places, length))
}

/// Reads an integer of at most five digits; returns also the text after it.
fn signed_integer(text: &str) -> Option<(i64, &str)> {
    let unsigned = text.strip_prefix(['-', '−', '+']).unwrap_or(text);
    let digits = digits_at(unsigned);
    if digits.is_empty() || digits.len() > 5 {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let is_negative = text.starts_with(['-', '−']);
    Some((
        if is_negative { -number } else { number },
        unsigned.get(digits.len()..)?,
    ))
}

/// Returns a power of an integer; `None` if it has more than 38 digits, unless the base is ten.
fn raised(base: &Decimal, power: i64) -> Option<Decimal> {
    let base = base.integer()?;
    if base == 10 {
        return Some(Decimal::new("1", 0, power));
    }
    let power = u32::try_from(power).ok()?;
    let product = base.checked_pow(power)?;
    Some(Decimal::new(&product.to_string(), 0, 0))
}

/// Reads the fraction of a mixed number, ` 3/4` or `½`, after its integer; returns numerator,
/// denominator and length.
fn mixed(rest: &str) -> Option<(i128, i128, usize)> {
    let after = rest.strip_prefix(' ').unwrap_or(rest);
    if let Some(c) = after.chars().next()
        && let Some((numerator, denominator)) = vulgar_fraction(c)
    {
        let length = rest.len() - after.len() + c.len_utf8();
        return Some((numerator.parse().ok()?, denominator.parse().ok()?, length));
    }
    let after = rest.strip_prefix(' ')?;
    let numerator = digits_at(after);
    let below = after.get(numerator.len()..)?.strip_prefix(['/', '⁄'])?;
    let denominator = digits_at(below);
    let left = below.get(denominator.len()..)?;
    let (above, under): (i128, i128) = (numerator.parse().ok()?, denominator.parse().ok()?);
    (above < under && !left.starts_with('/')).then_some((above, under, rest.len() - left.len()))
}

fn mixed_number(whole: &Decimal, numerator: i128, denominator: i128) -> Option<Number> {
    let above = whole
        .integer()?
        .checked_mul(denominator)?
        .checked_add(numerator)?;
    fraction(&above.to_string(), &denominator.to_string())
}

/// Reads the denominator after a numerator: `/4`, or `}{4}` of a LaTeX fraction. Returns also the
/// length.
fn denominator(before: &str, rest: &str) -> Option<(Decimal, usize)> {
    if before.ends_with("frac{") {
        let below = rest.strip_prefix("}{")?;
        let digits = digits_at(below);
        let left = below.get(digits.len()..)?.strip_prefix('}')?;
        return (!digits.is_empty()).then(|| (Decimal::new(digits, 0, 0), rest.len() - left.len()));
    }
    let spaced = rest
        .strip_prefix(" / ")
        .or_else(|| rest.strip_prefix(" ⁄ "));
    let below = spaced.or_else(|| rest.strip_prefix(['/', '⁄']))?;
    let digits = digits_at(below);
    let left = below.get(digits.len()..)?;
    // "3/4/2020" is a date, "24/7" an idiom that no question asks for.
    let is_fraction = !digits.is_empty() && !left.starts_with('/');
    is_fraction.then(|| (Decimal::new(digits, 0, 0), rest.len() - left.len()))
}

const CURRENCIES: [char; 8] = ['$', '€', '£', '¥', '₹', '₽', '₩', '¢'];

const CURRENCY_CODES: [&str; 9] = ["USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "US", "Rs"];

/// What stands before a number.
struct Head {
    is_negative: bool,
    has_currency: bool,
    /// Where the number begins, with a sign that counts.
    start: usize,
}

impl Head {
    fn read(before: &str) -> Self {
        let trimmed = before
            .trim_end_matches(|c| CURRENCIES.contains(&c) || matches!(c, ' ' | '\u{a0}' | '\\'));
        let has_currency = before
            .get(trimmed.len()..)
            .is_some_and(|between| between.contains(CURRENCIES));
        let is_spaced = !has_currency && trimmed.len() < before.len();
        let unsigned = trimmed.strip_suffix(['-', '−', '–']);
        let signed = unsigned.filter(|left| {
            let open = left.trim_end().chars().next_back();
            let is_minus = trimmed.ends_with('−');
            // "3-5" is a range, and "- 5" an item of a list.
            let is_after_value =
                left.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '%'));
            let is_item = is_spaced && !is_minus && !matches!(open, Some('=' | ':' | '('));
            !is_after_value && !is_item
        });
        let words = trimmed.trim_end().to_lowercase();
        let named = ["minus", "negative"]
            .into_iter()
            .find(|word| words.ends_with(word) && trimmed.len() < before.len());
        match (signed, named) {
            (Some(left), _) => Self {
                is_negative: true,
                has_currency,
                start: left.len(),
            },
            (None, named) => Self {
                is_negative: named.is_some(),
                has_currency,
                start: before.len(),
            },
        }
    }
}

/// What follows a number.
struct Tail {
    is_percent: bool,
    scale: i64,
}

impl Tail {
    fn read(rest: &str, has_currency: bool) -> Self {
        const PERCENT: [&str; 7] = [
            "percent",
            "per cent",
            "prozent",
            "pct",
            "pour cent",
            "por ciento",
            "procent",
        ];
        let after = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '\\']);
        let lower: String = after.chars().take(12).collect::<String>().to_lowercase();
        let is_percent =
            after.starts_with('%') || PERCENT.iter().any(|word| lower.starts_with(word));
        let word: String = after.chars().take_while(|c| c.is_alphabetic()).collect();
        let suffix: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
        let scale = scale_of(&word).or_else(|| suffix_scale(&suffix).filter(|_| has_currency));
        Self {
            is_percent,
            scale: scale.unwrap_or_default(),
        }
    }
}

/// Returns the power of ten of a word. "Billion" is English.
fn scale_of(word: &str) -> Option<i64> {
    const SCALES: [(i64, &[&str]); 4] = [
        (3, &["thousand", "tausend", "tsd", "mille", "mil"]),
        (
            6,
            &[
                "million",
                "millions",
                "millionen",
                "mio",
                "millones",
                "milhões",
                "milioni",
            ],
        ),
        (
            9,
            &[
                "billion",
                "billions",
                "milliarde",
                "milliarden",
                "mrd",
                "milliard",
                "milliards",
            ],
        ),
        (12, &["trillion", "trillions"]),
    ];
    let scale = SCALES.iter().find(|(_, words)| is_one_of(words, word));
    scale.map(|(places, _)| *places)
}

/// Returns the power of ten of a letter after an amount of money. Elsewhere it is a unit.
fn suffix_scale(suffix: &str) -> Option<i64> {
    match suffix {
        "k" | "K" => Some(3),
        "m" | "M" | "mn" => Some(6),
        "b" | "B" | "bn" => Some(9),
        _ => None,
    }
}

/// Whether the digits after a text belong to a name: "CO2", "GPT-4", "x_1".
fn is_name(before: &str) -> bool {
    let hyphened = before.strip_suffix(['-', '‑']);
    let stem = hyphened.unwrap_or(before);
    let letters: Vec<char> = stem
        .chars()
        .rev()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let word: String = letters.iter().rev().collect();
    if before.ends_with('_') {
        return true;
    }
    // LaTeX and scripts without spaces put numbers next to letters.
    let is_western = word
        .chars()
        .all(|c| c.is_ascii() || c.is_lowercase() || c.is_uppercase());
    if word.is_empty() || !is_western || CURRENCY_CODES.contains(&word.as_str()) {
        return false;
    }
    let is_command = stem
        .strip_suffix(&word)
        .is_some_and(|left| left.ends_with('\\'));
    if is_command {
        return false;
    }
    hyphened.is_none() || word.contains(char::is_uppercase)
}

/// Whether digits number an item: "1. First", "2) Second" at the beginning of a line.
fn is_list_number(before: &str, rest: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_first = line
        .chars()
        .all(|c| c.is_whitespace() || matches!(c, '#' | '*' | '>' | '-'));
    let item = rest
        .strip_prefix(['.', ')'])
        .and_then(|rest| rest.strip_prefix(' '));
    is_first && item.is_some_and(|item| item.trim_start().starts_with(char::is_alphabetic))
}
