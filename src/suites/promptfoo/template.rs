//! The templates of promptfoo's prompts and values, and the variables they stand for.

use std::collections::BTreeMap;
use std::io::{self, Write};

use indexmap::IndexMap;
use minijinja::value::Value;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use super::files;
use crate::files::SizeLimit;
use crate::suites::log::FileLog;
use crate::text::node::{Node, NodeMap, NodeValue};

/// The values of variables by their names.
pub(super) type Vars = IndexMap<String, Node>;

/// Steps of the loops of a template.
const FUEL: u64 = 1_000_000;

/// Fills a template.
///
/// # Errors
///
/// What cannot be filled, as a sentence.
pub(super) fn render(text: &str, vars: &Vars) -> Result<String, String> {
    if !text.contains("{{") && !text.contains("{%") && !text.contains("{#") {
        return Ok(text.to_owned());
    }
    let values = |except: &str| -> BTreeMap<String, Value> {
        let others = vars.iter().filter(|(name, _)| *name != except);
        let others = others.map(|(name, node)| (name.clone(), value_of(node)));
        others.collect()
    };
    let mut all = values("");
    for (name, node) in vars {
        // A variable may be made of others.
        if let NodeValue::Text(inner) = &node.value
            && inner.contains("{{")
            && text.contains(name.as_str())
        {
            all.insert(name.clone(), filled(inner, values(name))?.into());
        }
    }
    filled(text, all)
}

fn filled(text: &str, values: BTreeMap<String, Value>) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("dump", |value: Value| serde_json::to_string(&value).ok());
    let mut rendered = Limited(Vec::new());
    let mut missing = None;
    let template = environment.template_from_str(text);
    let filled = template.and_then(|template| {
        let mut names = template.undeclared_variables(false);
        names.retain(|name| !values.contains_key(name));
        missing = names.into_iter().min();
        template
            .render_captured_to(Value::from(values), &mut rendered)
            .map(drop)
    });
    let mb = SizeLimit::DOCUMENT.bytes() >> 20;
    match (filled.map_err(|error| error.kind()), missing) {
        (Ok(()), _) => String::from_utf8(rendered.0).map_err(|error| error.to_string()),
        (Err(ErrorKind::WriteFailure), _) => {
            Err(format!("a text with its variables is larger than {mb} MB"))
        }
        (Err(ErrorKind::UndefinedError), Some(name)) => {
            Err(format!("there is no variable `{name}`"))
        }
        (Err(kind), _) => Err(format!("a template cannot be filled: {kind}")),
    }
}

struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.0.len() + bytes.len()) as u64 > SizeLimit::DOCUMENT.bytes() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn value_of(node: &Node) -> Value {
    match &node.value {
        NodeValue::Null => Value::from(""),
        NodeValue::Bool(value) => Value::from(*value),
        // As they are written.
        NodeValue::Text(text) | NodeValue::Number(text) => Value::from(text.as_str()),
        NodeValue::List(list) => list.iter().map(value_of).collect(),
        NodeValue::Map(map) => {
            let members = map.iter();
            let members = members.map(|(name, node)| (name.clone(), value_of(node)));
            Value::from(members.collect::<BTreeMap<_, _>>())
        }
    }
}

/// Fills all texts of a value.
pub(super) fn render_all(node: &Node, vars: &Vars) -> Result<Node, String> {
    let value = match &node.value {
        NodeValue::Text(text) => NodeValue::Text(render(text, vars)?),
        NodeValue::List(list) => {
            let nodes = list.iter().map(|node| render_all(node, vars));
            NodeValue::List(nodes.collect::<Result<_, _>>()?)
        }
        NodeValue::Map(map) => {
            let members = map.iter();
            let members = members.map(|(key, node)| Ok((key.clone(), render_all(node, vars)?)));
            NodeValue::Map(members.collect::<Result<_, String>>()?)
        }
        value => value.clone(),
    };
    let line = node.line;
    Ok(Node { line, value })
}

/// Variables that are the question where there is no prompt.
const QUESTION_VARS: [&str; 4] = ["question", "input", "prompt", "query"];

/// The most cases that the values of a test's variables make.
const MAX_COMBINATIONS: usize = 1000;

/// Returns the variables with each combination of those that have several values.
pub(super) fn combinations(vars: &NodeMap, line: usize, log: &FileLog) -> Vec<Vars> {
    let mut combinations = vec![Vars::new()];
    for (name, member) in vars {
        let values = member.elements().iter().map(|value| texts_of(value, log));
        let values: Vec<Node> = match values.collect::<Result<Vec<_>, _>>() {
            Ok(values) => values.concat(),
            Err(why) => return log.refuse(member.line, format!("`{name}` of `vars`: {why}")),
        };
        if combinations.len().saturating_mul(values.len()) > MAX_COMBINATIONS {
            let problem = "the values of the variables make more than";
            return log.refuse(line, format!("{problem} {MAX_COMBINATIONS} cases"));
        }
        let all = combinations.iter().flat_map(|combination| {
            values.iter().map(|value| {
                let mut combination = combination.clone();
                combination.insert(name.clone(), value.clone());
                combination
            })
        });
        combinations = all.collect();
    }
    combinations
}

/// A value, or the texts of the files that it names.
fn texts_of(value: &Node, log: &FileLog) -> Result<Vec<Node>, String> {
    let name = value
        .as_word()
        .and_then(|text| text.strip_prefix("file://"));
    let Some(pattern) = name.filter(|name| !name.contains("{{")) else {
        return Ok(vec![value.clone()]);
    };
    let names = files::expanded(pattern, &log.file.folder).into_iter();
    let text = |name: String| match files::read(&name, log) {
        Ok(text) => Ok(Node::text(value.line, text.trim_end())),
        Err(why) => Err(format!("`{name}` {why}")),
    };
    names.map(text).collect()
}

/// A prompt of the variable that is the question.
pub(super) fn question_var(vars: &Vars, line: usize) -> Option<Node> {
    let mut names = QUESTION_VARS.into_iter();
    let name = names.find(|name| vars.contains_key(*name))?;
    Some(Node::text(line, format!("{{{{{name}}}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::node::json;

    fn rendered(text: &str) -> Result<String, String> {
        let vars = r#"{"city": "Oslo", "n": 1.50, "place": {"name": "Bergen"}, "list": [1, 2],
            "whole": "{{city}}!"}"#;
        let vars = json::parse(vars).unwrap().unwrap();
        render(text, vars.as_map().unwrap())
    }

    #[test]
    fn templates_are_filled_with_variables() {
        for (text, expected) in [
            (
                "{{city}} and {{- place.name -}}, {{ n }}",
                "Oslo andBergen, 1.50",
            ),
            ("{{ city | upper }}{# note #}", "OSLO"),
            ("{% for n in list %}{{n}};{% endfor %}", "1;2;"),
            (
                "{% if city %}yes{% endif %}{% if absent %}no{% endif %}",
                "yes",
            ),
            ("{{whole}}", "Oslo!"),
            ("no template: {x}", "no template: {x}"),
        ] {
            assert_eq!(rendered(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_an_error() {
        let endless =
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
        for text in [
            "{{x}}",
            "{{city",
            "{{city | shout}}",
            "{% if x",
            "{{}}",
            endless,
        ] {
            rendered(text).unwrap_err();
        }
    }
}
