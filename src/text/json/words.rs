//! Reads words without quotation marks: numbers, `true`, `null`, and words that should have been
//! strings.

use serde_json::{Number, Value};

use super::scan::Scan;
use super::{Leniency, Stop};

/// The most bytes of a key or value without quotation marks.
const LONGEST: usize = 400;

/// Reads a key without quotation marks, up to its colon.
pub(super) fn key(scan: &mut Scan<'_>) -> Result<String, Stop> {
    let rest = scan.rest();
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(rest.len());
    if length == 0 || length > LONGEST {
        return Err(Stop::Broken);
    }
    scan.skip(length);
    scan.tolerate(Leniency::Bareword);
    Ok(rest.get(..length).unwrap_or_default().to_owned())
}

/// Reads a value without quotation marks. A value at the very end of the text counts as cut off:
/// `0.8` may be the beginning of `0.85`.
pub(super) fn value(scan: &mut Scan<'_>, in_object: bool) -> Result<Value, Stop> {
    let rest = scan.rest();
    let length = rest
        .find([',', '}', ']', '\n', '{', '[', '"', '`'])
        .ok_or(Stop::CutOff)?;
    let raw = rest.get(..length).unwrap_or_default();
    let raw = raw.split_once("//").map_or(raw, |(before, _)| before);
    let raw = raw.split_once("/*").map_or(raw, |(before, _)| before);
    let word = raw.trim_end();
    if word.is_empty()
        || word.len() > LONGEST
        || !word.starts_with(|c: char| c.is_alphanumeric() || "+-.~≈<>$€".contains(c))
    {
        return Err(Stop::Broken);
    }
    scan.skip(word.len());
    if in_object && let Some((fraction, number)) = decimal_comma(word, scan.rest()) {
        scan.skip(fraction);
        scan.tolerate(Leniency::DecimalComma);
        return Ok(number);
    }
    Ok(match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "True" | "TRUE" | "False" | "FALSE" => {
            scan.tolerate(Leniency::Bareword);
            Value::Bool(word.eq_ignore_ascii_case("true"))
        }
        "None" | "NULL" | "Null" | "undefined" => {
            scan.tolerate(Leniency::Bareword);
            Value::Null
        }
        "NaN" | "Infinity" | "-Infinity" | "+Infinity" | "inf" | "-inf" => {
            scan.tolerate(Leniency::NotANumber);
            Value::Null
        }
        _ => number(word, scan).unwrap_or_else(|| {
            scan.tolerate(Leniency::Bareword);
            Value::String(word.to_owned())
        }),
    })
}

fn number(word: &str, scan: &mut Scan<'_>) -> Option<Value> {
    if let Ok(number) = serde_json::from_str::<Number>(word) {
        return Some(Value::Number(number));
    }
    if !word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
    {
        return None;
    }
    // `.8`, `+0.8`, `08`, and numbers that are too large.
    let number = Number::from_f64(word.parse().ok()?);
    scan.tolerate(if number.is_some() {
        Leniency::Bareword
    } else {
        Leniency::NotANumber
    });
    Some(number.map_or(Value::Null, Value::Number))
}

/// Reads `0,8` in an object, where no key begins with a digit; returns the length of `,8`.
fn decimal_comma(word: &str, rest: &str) -> Option<(usize, Value)> {
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let after = rest.strip_prefix(',')?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = after.get(..digits).filter(|digits| !digits.is_empty())?;
    let ends = after
        .get(digits..)
        .unwrap_or_default()
        .trim_start()
        .starts_with([',', '}']);
    let number = format!("{word}.{fraction}")
        .parse()
        .ok()
        .and_then(Number::from_f64)?;
    ends.then_some((digits + 1, Value::Number(number)))
}
