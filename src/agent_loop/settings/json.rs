//! JSON: an object.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::document::{Entry, EntryValue, SyntaxError, add, line_at};

pub(super) fn parse(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let strict = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict);
    let parsed = parsed.map_err(|error| SyntaxError {
        line: error.line_display(),
        problem: format!("not JSON: {}", error.kind().to_string().to_lowercase()),
    })?;
    match parsed.value {
        None => Ok(Vec::new()),
        Some(Value::Object(object)) => entries(text, object),
        Some(value) => Err(SyntaxError {
            line: line_at(text, value.start()),
            problem: "expected an object, such as `{\"exit_decision\": {}}`".to_owned(),
        }),
    }
}

fn entries(text: &str, object: Object<'_>) -> Result<Vec<Entry>, SyntaxError> {
    let mut entries = Vec::new();
    for property in object.properties {
        let line = line_at(text, property.range.start);
        let value = match property.value {
            Value::Object(object) => EntryValue::Section(self::entries(text, object)?),
            Value::NumberLit(number) => EntryValue::of_word(number.value),
            Value::NullKeyword(_) => EntryValue::Null,
            Value::StringLit(text) => EntryValue::Other(format!("the text `{}`", text.value)),
            Value::BooleanLit(word) => EntryValue::Other(format!("`{}`", word.value)),
            Value::Array(_) => EntryValue::Other("a list".to_owned()),
        };
        let key = property.name.into_string();
        add(&mut entries, Entry { key, value, line })?;
    }
    Ok(entries)
}
