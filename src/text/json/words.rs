//! Reads words without quotation marks: numbers, `true`, `null`, and words that should have been
//! strings.

use serde_json::{Number, Value};

use super::strings::Place;
use super::{JsonReader, ParseStop};

/// The most bytes of a key or value without quotation marks.
const LONGEST: usize = 400;

impl JsonReader<'_> {
    /// Reads a key without quotation marks, up to its colon.
    pub(super) fn bare_key(&mut self) -> Result<String, ParseStop> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let key = self
            .rest()
            .split(|c| !is_part(c))
            .next()
            .unwrap_or_default();
        if key.is_empty() || key.len() > LONGEST {
            return Err(ParseStop::Broken);
        }
        self.skip(key.len());
        self.tolerate_bareword();
        Ok(key.to_owned())
    }

    /// A value at the very end of the text counts as cut off: `0.8` may be the beginning of `0.85`.
    pub(super) fn word(&mut self, place: Place) -> Result<Value, ParseStop> {
        let rest = self.rest();
        let end = rest.find([',', '}', ']', '\n', '{', '[', '"', '`']);
        let raw = rest
            .get(..end.ok_or(ParseStop::CutOff)?)
            .unwrap_or_default();
        let comment = ["//", "/*"].iter().filter_map(|sign| raw.find(sign)).min();
        let word = raw.get(..comment.unwrap_or(raw.len())).unwrap_or_default();
        let word = word.trim_end();
        if word.len() > LONGEST
            || !word.starts_with(|c: char| c.is_alphanumeric() || "+-.~≈<>$€".contains(c))
        {
            return Err(ParseStop::Broken);
        }
        self.skip(word.len());
        if place == Place::Member
            && let Some((fraction, number)) = decimal_comma(word, self.rest())
        {
            self.skip(fraction);
            self.tolerate_if(true);
            return Ok(number);
        }
        let value = match word {
            "true" => return Ok(true.into()),
            "false" => return Ok(false.into()),
            "null" => return Ok(Value::Null),
            "True" | "TRUE" => true.into(),
            "False" | "FALSE" => false.into(),
            "None" | "NULL" | "Null" | "undefined" => Value::Null,
            "NaN" | "Infinity" | "-Infinity" | "+Infinity" | "inf" | "-inf" => {
                return Ok(self.no_number());
            }
            _ => match serde_json::from_str::<Number>(word) {
                Ok(number) => return Ok(Value::Number(number)),
                Err(_) => match loose_number(word) {
                    Some(Value::Null) => return Ok(self.no_number()),
                    number => number.unwrap_or_else(|| Value::String(word.to_owned())),
                },
            },
        };
        self.tolerate_bareword();
        Ok(value)
    }

    /// A number that is none is no sign that strings lack their quotation marks.
    fn no_number(&mut self) -> Value {
        self.tolerate_if(true);
        Value::Null
    }
}

/// Reads `.8`, `+0.8`, `08`; null for a number that is too large.
fn loose_number(word: &str) -> Option<Value> {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let number = word.parse().ok().filter(|_| word.bytes().all(is_part))?;
    Some(Number::from_f64(number).map_or(Value::Null, Value::Number))
}

/// Reads `0,8` in an object, where no key begins with a digit; returns the length of `,8`.
fn decimal_comma(word: &str, rest: &str) -> Option<(usize, Value)> {
    let after = rest.strip_prefix(',')?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, behind) = after.split_at_checked(digits)?;
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit()) && digits > 0;
    let ends = behind.trim_start().starts_with([',', '}']);
    let number: f64 = format!("{word}.{fraction}").parse().ok()?;
    (is_number && ends).then(|| (digits + 1, number.into()))
}

#[cfg(test)]
mod tests {
    use super::super::{Parse, parse};

    #[test]
    fn number_that_is_none_leaves_quotation_marks_in_strings() {
        for number in ["NaN", "-Infinity", "1e999"] {
            let text =
                format!(r#"{{"confidence": {number}, "answer": "it is "fast", but costly"}}"#);
            let Parse::Whole { value, .. } = parse(&text, 0, &mut 10_000) else {
                panic!("{text}");
            };
            assert_eq!(value["answer"], r#"it is "fast", but costly"#, "{text}");
        }
    }
}
