//! The expected answers of a case, and how they are compared.

use std::iter::zip;

use crate::benchmark::case::Matcher;
use crate::suites::log::FileLog;
use crate::suites::matcher;
use crate::text::node::{Node, NodeMap, NodeValue, json, plain_scalar};

use super::{CaseDefaults, Style, field, separated, tidy};

/// The expected answers as they are written.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) line: usize,
    pub(super) texts: Vec<String>,
    /// All of them are numbers.
    is_number: bool,
}

pub(super) fn read(
    map: &NodeMap,
    line: usize,
    style: Style,
    defaults: &CaseDefaults,
    log: &mut FileLog<'_>,
) -> Option<(Expected, Matcher)> {
    let own = field(map, "match", log);
    let own = own.map(|(_, member)| matcher::read(member, log));
    let options = field(map, "options", log);
    let options = options.map(|(_, member)| (member.line, options_of(member, style, log)));
    let expected = expected(map, style, log);
    let matcher = match (own, options) {
        (Some(None), _) => return None,
        (Some(Some(Matcher::Choice { options: inner })), outer) => {
            if let Some((line, _)) = outer.as_ref().filter(|_| !inner.is_empty()) {
                log.add(*line, "the options are given twice");
            }
            Matcher::Choice {
                options: outer.map_or(inner, |(_, options)| options),
            }
        }
        (Some(Some(_)), Some((line, _))) => {
            return log.refuse(line, "`options` need `match: choice`");
        }
        (Some(Some(own)), None) => own,
        (None, Some((_, options))) => Matcher::Choice { options },
        (None, None) => match (&defaults.matcher, &expected) {
            // Only cases with options are choices.
            (Some(Matcher::Choice { .. }) | None, Some(expected)) => inferred(expected),
            (Some(Matcher::Choice { .. }) | None, None) => Matcher::Exact,
            (Some(default), _) => default.clone(),
        },
    };
    let Some(expected) = expected else {
        let needs_none = matches!(matcher, Matcher::Judge { rubric: Some(_) });
        let is_missing = field(map, "expected", log).is_none();
        if !needs_none && is_missing {
            log.add(line, "the case has no `expected` answer");
        }
        let none = Expected {
            line,
            ..Expected::default()
        };
        return (needs_none && is_missing).then_some((none, matcher));
    };
    let is_choice = matches!(matcher, Matcher::Choice { .. });
    if style == Style::Inspect && expected.texts.len() > 1 && is_choice {
        let problem = "several options that must be chosen together cannot be compared";
        return log.refuse(expected.line, problem);
    }
    Some((expected, matcher))
}

fn inferred(expected: &Expected) -> Matcher {
    if expected.is_number {
        Matcher::Numeric {
            absolute: 0.0,
            relative: 0.0,
        }
    } else if expected.texts.iter().any(|text| text.contains('\n')) {
        matcher::transcription()
    } else {
        Matcher::Exact
    }
}

fn expected(map: &NodeMap, style: Style, log: &mut FileLog<'_>) -> Option<Expected> {
    let (name, member) = field(map, "expected", log)?;
    let elements = member.elements();
    if elements.is_empty() {
        return log.refuse(member.line, format!("`{name}` is an empty list"));
    }
    let mut texts = Vec::new();
    let mut is_number = true;
    for element in elements {
        let value = match &element.value {
            NodeValue::Text(text) if style != Style::Own => match plain_scalar(text.trim()) {
                NodeValue::Null => NodeValue::Text(text.clone()),
                typed => typed,
            },
            value => value.clone(),
        };
        is_number &= matches!(value, NodeValue::Number(_));
        match value {
            NodeValue::Bool(true) => texts.extend(["true".to_owned(), "yes".to_owned()]),
            NodeValue::Bool(false) => texts.extend(["false".to_owned(), "no".to_owned()]),
            NodeValue::Number(number) => texts.push(number),
            NodeValue::Text(text) if !text.trim().is_empty() => texts.push(tidy(&text)),
            _ => {
                let name = format!("`{name}`");
                return log.wrong(&name, element, "a text, a number, true or false");
            }
        }
    }
    Some(Expected {
        line: member.line,
        texts,
        is_number,
    })
}

/// A list, or a map of letters. Tables separate them with `|`.
fn options_of(node: &Node, style: Style, log: &mut FileLog<'_>) -> Vec<String> {
    let options = match &node.value {
        NodeValue::Text(text) if style == Style::Table => table_options(text, node, log),
        NodeValue::Map(map) => {
            let keys = map.keys().map(String::as_str);
            if !zip(keys, letters()).all(|(key, letter)| key.eq_ignore_ascii_case(&letter)) {
                log.add(node.line, "the keys of options must be `A`, `B` and so on");
            }
            let value = NodeValue::List(map.values().cloned().collect());
            let line = node.line;
            let list = Node { line, value };
            matcher::texts("options", &list, log)
        }
        _ => matcher::texts("options", node, log),
    };
    without_letters(options)
}

fn table_options(text: &str, node: &Node, log: &mut FileLog<'_>) -> Vec<String> {
    let is_list = text.trim_start().starts_with('[');
    if let (true, Ok(Some(list))) = (is_list, json::parse(text)) {
        return matcher::texts("options", &list.at_line(node.line), log);
    }
    separated(text, '|')
}

/// The question adds the letters itself.
fn without_letters(options: Vec<String>) -> Vec<String> {
    let bare: Option<Vec<String>> = zip(&options, letters())
        .map(|(option, letter)| {
            let rest = option.trim_start_matches('(').strip_prefix(&letter)?;
            let rest = rest.strip_prefix([')', '.', ':'])?;
            Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty())
        })
        .collect();
    bare.unwrap_or(options)
}

/// In order.
fn letters() -> impl Iterator<Item = String> {
    ('A'..='Z').map(String::from)
}
