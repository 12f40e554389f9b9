//! The `{{name}}` of promptfoo's prompts and values. Of its template language only names of
//! variables are read; everything else is an error, because it would be asked as it stands.

use indexmap::IndexMap;

use crate::files::SizeLimit;
use crate::suites::log::FileLog;
use crate::text::node::{Node, NodeMap, NodeValue};

/// The values of variables by their names.
pub(super) type Vars<'n> = IndexMap<&'n str, &'n Node>;

/// Replaces the names of variables by their values.
///
/// # Errors
///
/// What cannot be replaced, as a sentence.
pub(super) fn render(text: &str, vars: &Vars<'_>) -> Result<String, String> {
    check(text)?;
    let mut rendered = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (expression, behind) = after.split_once("}}").ok_or("`{{` is not closed")?;
        rendered.push_str(before);
        rendered.push_str(&value(bare(expression), vars)?);
        if rendered.len() as u64 > SizeLimit::DOCUMENT.bytes() {
            let mb = SizeLimit::DOCUMENT.bytes() >> 20;
            return Err(format!("a text with its variables is larger than {mb} MB"));
        }
        rest = behind;
    }
    rendered.push_str(rest);
    Ok(rendered)
}

/// Checks that a text has nothing of the template language but names.
///
/// # Errors
///
/// As those of [`render`].
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.contains("{%") || text.contains("{#") {
        return Err("`{% … %}` and `{# … #}` are not read, only `{{name}}`".to_owned());
    }
    for after in text.split("{{").skip(1) {
        let (expression, _) = after.split_once("}}").ok_or("`{{` is not closed")?;
        let name = bare(expression);
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(format!(
                "`{{{{{name}}}}}` is more than the name of a variable; only names are read"
            ));
        }
    }
    Ok(())
}

fn bare(expression: &str) -> &str {
    expression.trim_matches('-').trim()
}

fn value(expression: &str, vars: &Vars<'_>) -> Result<String, String> {
    let missing = || format!("there is no variable `{expression}`");
    let mut names = expression.split('.');
    let first = names.next().unwrap_or_default();
    let mut node: &Node = vars.get(first).ok_or_else(missing)?;
    for name in names {
        let map = node.as_map().ok_or_else(missing)?;
        node = map.get(name).ok_or_else(missing)?;
    }
    match &node.value {
        NodeValue::Text(text) if text.contains("{{") => Err(format!(
            "the variable `{expression}` is itself a template; templates in variables are not read"
        )),
        NodeValue::Null => Ok(String::new()),
        value => scalar(value).ok_or_else(|| {
            let kind = node.kind();
            format!("the variable `{expression}` is {kind}, but must be a text")
        }),
    }
}

/// Returns a text, a number, or true or false as text.
pub(super) fn scalar(value: &NodeValue) -> Option<String> {
    match value {
        NodeValue::Text(text) | NodeValue::Number(text) => Some(text.clone()),
        NodeValue::Bool(value) => Some(value.to_string()),
        NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => None,
    }
}

/// Variables that are the question where there is no prompt.
const QUESTION_VARS: [&str; 4] = ["question", "input", "prompt", "query"];

/// The most cases that the values of a test's variables make.
const MAX_COMBINATIONS: usize = 1000;

/// Returns the variables with each combination of those that have several values.
pub(super) fn combinations<'n>(
    vars: &'n NodeMap,
    line: usize,
    log: &mut FileLog<'_>,
) -> Vec<Vars<'n>> {
    let mut combinations = vec![Vars::new()];
    for (name, member) in vars {
        let values = member.elements();
        if combinations.len().saturating_mul(values.len()) > MAX_COMBINATIONS {
            let problem =
                format!("the values of the variables make more than {MAX_COMBINATIONS} cases");
            log.add(line, problem);
            return Vec::new();
        }
        let mut words = values.iter().filter_map(Node::as_word);
        if words.any(|text| text.starts_with("file://")) {
            log.add(
                member.line,
                format!("the variable `{name}` is a file, which is not read"),
            );
        }
        let mut next = Vec::new();
        for combination in &combinations {
            for value in values {
                let mut combination = combination.clone();
                combination.insert(name.as_str(), value);
                next.push(combination);
            }
        }
        combinations = next;
    }
    combinations
}

pub(super) fn question_var(vars: &Vars<'_>) -> Result<String, String> {
    let mut names = QUESTION_VARS
        .iter()
        .filter(|name| vars.contains_key(**name));
    match names.next() {
        Some(name) => render(&format!("{{{{{name}}}}}"), vars),
        None => Err("there is no prompt, and no variable `question` or `input`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::node::json;

    fn rendered(text: &str) -> Result<String, String> {
        let vars = r#"{"city": "Oslo", "n": 1.50, "place": {"name": "Bergen"}, "list": [1]}"#;
        let vars = json::parse(vars).unwrap().unwrap();
        let vars = vars.as_map().unwrap().iter();
        let vars = vars.map(|(name, member)| (name.as_str(), member));
        render(text, &vars.collect())
    }

    #[test]
    fn names_of_variables_are_replaced() {
        let text = rendered("{{city}} and {{- place.name -}}, {{ n }}").unwrap();
        assert_eq!(text, "Oslo and Bergen, 1.50");
    }

    #[test]
    fn everything_else_is_an_error() {
        for text in [
            "{{x}}",
            "{{city",
            "{{city | upper}}",
            "{% if x %}",
            "{{list}}",
            "{{}}",
        ] {
            rendered(text).unwrap_err();
        }
    }
}
