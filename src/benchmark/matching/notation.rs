//! Reads a number in its notation: with an exponent, as a power, or as a fraction.

use super::decimal::{Decimal, Number};
use super::digits::{DecimalMark, PlainNumber, digits_at};

pub(super) fn is_numeric_start(c: char) -> bool {
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

/// The digits of a number, with its exponent or denominator.
pub(super) struct Body {
    pub(super) value: Number,
    /// Bytes from the first digit.
    pub(super) length: usize,
    /// Bytes before the first digit.
    pub(super) lead: usize,
    /// Whether it is an integer without any mark.
    pub(super) is_plain: bool,
    pub(super) mark: Option<DecimalMark>,
}

impl Body {
    /// Reads a number at the beginning of `text`; `None` if the digits are none.
    pub(super) fn read(before: &str, text: &str, mark: DecimalMark) -> Option<Self> {
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

/// Signs of multiplication.
const TIMES: [&str; 7] = ["×", "x", "*", "·", "⋅", "\\times", "\\cdot"];

/// Reads `e3` or ` × 10^3` at the beginning of a text; returns the power of ten and the length.
fn exponent(rest: &str) -> Option<(i64, usize)> {
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let (places, left) = signed_integer(after)?;
        let is_name = left.starts_with(char::is_alphanumeric);
        return (!is_name).then_some((places, rest.len() - left.len()));
    }
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
