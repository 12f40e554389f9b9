//! JSON: one value, or one on each line.

use indexmap::map::Entry;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Lines, Node, NodeMap, NodeValue, SyntaxProblem};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// `None` for an empty one.
pub fn parse(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    parse_from(text, 1, &STRICT)
}

/// Parses values as Python and its tables print them, too: with single quotes, and maybe without
/// commas.
pub fn parse_loose(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    parse_from(text, 1, &ParseOptions::default())
}

/// Parses each line that is not blank.
pub fn parse_lines(text: &str) -> impl Iterator<Item = Result<Node, SyntaxProblem>> {
    let lines = text.lines().zip(1..);
    lines.filter_map(|(line, number)| parse_from(line, number, &STRICT).transpose())
}

fn parse_from(
    text: &str,
    first_line: usize,
    options: &ParseOptions,
) -> Result<Option<Node>, SyntaxProblem> {
    let lines = Lines::new(text, first_line);
    let parsed = parse_to_ast(text, &CollectOptions::default(), options);
    let parsed = parsed.map_err(|error| {
        let why = error.kind().to_string().to_lowercase();
        SyntaxProblem::new(lines.at(error.range().start), format!("not JSON: {why}"))
    })?;
    parsed.value.map(|value| node(value, &lines)).transpose()
}

fn node(value: Value<'_>, lines: &Lines) -> Result<Node, SyntaxProblem> {
    let line = lines.at(value.start());
    let value = match value {
        Value::NullKeyword(_) => NodeValue::Null,
        Value::BooleanLit(word) => NodeValue::Bool(word.value),
        Value::NumberLit(number) => NodeValue::Number(number.value.to_owned()),
        Value::StringLit(text) => NodeValue::Text(text.value.into_owned()),
        Value::Array(list) => {
            let elements = list.elements.into_iter();
            let nodes: Result<Vec<Node>, _> = elements.map(|value| node(value, lines)).collect();
            NodeValue::List(nodes?)
        }
        Value::Object(object) => NodeValue::Map(map(object, lines)?),
    };
    Ok(Node { line, value })
}

fn map(object: Object<'_>, lines: &Lines) -> Result<NodeMap, SyntaxProblem> {
    let mut map = NodeMap::new();
    for property in object.properties {
        let line = lines.at(property.range.start);
        let node = node(property.value, lines)?;
        match map.entry(property.name.into_string()) {
            Entry::Occupied(earlier) => {
                return Err(set_before(line, earlier.key(), earlier.get().line));
            }
            Entry::Vacant(place) => drop(place.insert(Node { line, ..node })),
        }
    }
    Ok(map)
}

pub fn set_before(line: usize, key: &str, earlier: usize) -> SyntaxProblem {
    let problem = if line == earlier {
        format!("`{key}` is set twice")
    } else {
        format!("`{key}` is set in line {earlier} already")
    };
    SyntaxProblem::new(line, problem)
}
