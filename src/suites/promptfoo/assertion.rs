//! The assertions of promptfoo that mean the same as a matcher here. All others are errors with
//! their line: a case that lost its check would count as right.

use serde_json::{Value, json};

use crate::domain::names::did_you_mean;
use crate::suites::log::FileLog;
use crate::suites::raw_case::node_of;
use crate::text::node::{Node, NodeMap, NodeValue};

use super::template::{Vars, render, scalar};

/// How an assertion is compared here.
#[derive(Clone, Copy)]
enum AssertionKind {
    Exact,
    /// An escaped value after this part of a pattern. promptfoo looks for any part of a text, which
    /// a pattern does too and `contains` does not.
    Part(&'static str),
    Pattern,
    Edits,
    Rubric,
    /// The same facts as in the value.
    Facts,
}

/// The assertions that are read.
const TYPES: [(&str, AssertionKind); 14] = [
    ("equals", AssertionKind::Exact),
    ("contains", AssertionKind::Part("")),
    ("icontains", AssertionKind::Part("(?i)")),
    ("contains-any", AssertionKind::Part("")),
    ("icontains-any", AssertionKind::Part("(?i)")),
    ("contains-all", AssertionKind::Part("")),
    ("icontains-all", AssertionKind::Part("(?i)")),
    ("starts-with", AssertionKind::Part(r"\A")),
    ("regex", AssertionKind::Pattern),
    ("levenshtein", AssertionKind::Edits),
    ("llm-rubric", AssertionKind::Rubric),
    ("model-graded-closedqa", AssertionKind::Rubric),
    ("factuality", AssertionKind::Facts),
    ("model-graded-factuality", AssertionKind::Facts),
];

/// Types that begin a cell and cannot be compared here.
const OTHER_TYPES: &str = include_str!("other_types.txt");

/// promptfoo's own threshold of `levenshtein`.
const LEVENSHTEIN: f64 = 5.0;

fn names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(name, _)| *name)
}

pub(super) fn add(
    assertion: &Node,
    vars: &Vars<'_>,
    case: &mut NodeMap,
    log: &mut FileLog<'_>,
) -> Option<()> {
    let Some(map) = assertion.as_map() else {
        return log.wrong("an assertion", assertion, "a map with a `type`");
    };
    let Some(member) = map.get("type") else {
        return log.refuse(assertion.line, "the assertion has no `type`");
    };
    let line = member.line;
    let name = member.as_word().unwrap_or_default();
    let Some((_, comparison)) = TYPES.iter().find(|(known, _)| *known == name) else {
        let meant = did_you_mean(name, names());
        let problem = format!("the assertion `{name}` cannot be compared here{meant}");
        return log.refuse(line, problem);
    };
    check_keys(name, map, log)?;
    let values = values(name, map, line, vars, log)?;
    if name.ends_with("-all") && values.len() > 1 {
        let problem = format!("`{name}` with several values cannot be compared here");
        return log.refuse(line, problem);
    }
    let (matcher, expected) = match comparison {
        AssertionKind::Exact => (json!("exact"), values),
        AssertionKind::Part(before) => {
            let escaped = values.iter().map(|value| regex::escape(value));
            let patterns = escaped.map(|value| format!("{before}{value}"));
            (json!("regex"), patterns.collect())
        }
        AssertionKind::Pattern => (json!("regex"), values),
        AssertionKind::Edits => (levenshtein(map, line, &values, log)?, values),
        AssertionKind::Rubric => (json!({"judge": {"rubric": values.join("\n")}}), Vec::new()),
        AssertionKind::Facts => (json!({"judge": {}}), values),
    };
    if !expected.is_empty() {
        case.insert("expected".to_owned(), node_of(line, &json!(expected)));
    }
    case.insert("match".to_owned(), node_of(line, &matcher));
    Some(())
}

/// Checks that the assertion says nothing that would be lost.
fn check_keys(name: &str, map: &NodeMap, log: &mut FileLog<'_>) -> Option<()> {
    let before = log.problems();
    for (key, member) in map {
        let is_usable = match key.as_str() {
            // What it is called, and who grades.
            "type" | "value" | "metric" | "provider" => true,
            "threshold" => name == "levenshtein",
            "weight" => member.as_number() == Some(1.0),
            _ => false,
        };
        if !is_usable && !member.is_null() {
            let problem = format!("`{key}` of the assertion `{name}` cannot be applied here");
            log.add(member.line, problem);
        }
        if key == "provider" {
            log.note("the grading `provider` is not used: see `grader`");
        }
    }
    (log.problems() == before).then_some(())
}

/// With their variables replaced.
fn values(
    name: &str,
    map: &NodeMap,
    line: usize,
    vars: &Vars<'_>,
    log: &mut FileLog<'_>,
) -> Option<Vec<String>> {
    let takes_list = name.ends_with("-any") || name.ends_with("-all");
    let value = map.get("value");
    let list = match value.map(|node| &node.value) {
        Some(NodeValue::List(list)) if takes_list => Some(list.as_slice()),
        _ => None,
    };
    let mut values = Vec::new();
    for node in list.unwrap_or(value.map_or(&[], std::slice::from_ref)) {
        let Some(text) = scalar(&node.value) else {
            return log.wrong(&format!("the value of `{name}`"), node, "a text");
        };
        if text.starts_with("file://") {
            return log.refuse(node.line, "values in other files are not read");
        }
        match render(&text, vars) {
            // One text with commas is a list.
            Ok(text) if takes_list && list.is_none() => {
                values.extend(text.split(',').map(|part| part.trim().to_owned()));
            }
            Ok(text) => values.push(text),
            Err(problem) => return log.refuse(node.line, problem),
        }
    }
    if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
        return log.refuse(line, format!("the assertion `{name}` has no `value`"));
    }
    Some(values)
}

fn levenshtein(
    map: &NodeMap,
    line: usize,
    values: &[String],
    log: &mut FileLog<'_>,
) -> Option<Value> {
    let threshold = map.get("threshold").filter(|node| !node.is_null());
    let threshold = threshold.map_or(Some(LEVENSHTEIN), Node::as_number);
    let length: usize = values.iter().map(|value| value.chars().count()).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let share = threshold.map(|threshold| threshold / f64::from(length));
    match share.filter(|share| (0.0..=1.0).contains(share)) {
        Some(share) => Some(json!({"cer": share})),
        None => log.refuse(
            line,
            "the `threshold` of `levenshtein` must be a number of edits up to the length of the \
             value",
        ),
    }
}

/// `contains: Paris`, `levenshtein(3): x`.
pub(super) fn of_cell(node: &Node) -> Node {
    let text = node.as_word().unwrap_or_default();
    let (kind, value) = text.split_once(':').unwrap_or(("", text));
    let (name, threshold) = match kind.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')),
        None => (kind, None),
    };
    let name = if name == "grade" { "llm-rubric" } else { name };
    // Words and hyphens before a colon are a type; promptfoo takes only those it knows.
    let mut types = names().chain(OTHER_TYPES.lines());
    let assertion = if types.any(|known| known == name) || name.starts_with("not-") {
        let threshold = threshold.map(|text| match text.parse::<f64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text),
        });
        json!({"type": name, "value": value.trim(), "threshold": threshold})
    } else {
        json!({"type": "equals", "value": text})
    };
    node_of(node.line, &assertion)
}
