//! The assertions of promptfoo that mean the same as a matcher here. All others are errors with
//! their line: a case that lost its check would count as right.

use crate::domain::names::did_you_mean;
use crate::domain::node::{Node, NodeMap, NodeValue};
use crate::suites::log::FileLog;
use crate::suites::raw_case::set;

use super::template::render;

/// What is read, for suggestions.
const TYPES: [&str; 14] = [
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "icontains-any",
    "contains-all",
    "icontains-all",
    "starts-with",
    "regex",
    "levenshtein",
    "llm-rubric",
    "model-graded-closedqa",
    "factuality",
    "model-graded-factuality",
];

/// promptfoo's own threshold of `levenshtein`.
const LEVENSHTEIN: f64 = 5.0;

/// Adds what an assertion says to the fields of a case.
pub(super) fn add(
    assertion: &Node,
    vars: &NodeMap,
    case: &mut NodeMap,
    log: &mut FileLog<'_>,
) -> Option<()> {
    let Some(map) = assertion.as_map() else {
        let kind = assertion.kind();
        let problem = format!("an assertion is {kind}, but must have a `type`");
        log.add(assertion.line, problem);
        return None;
    };
    let Some(member) = map.get("type") else {
        log.add(assertion.line, "the assertion has no `type`");
        return None;
    };
    let line = member.line;
    let name = member.node.as_word().unwrap_or_default();
    if !TYPES.contains(&name) {
        let meant = did_you_mean(name, TYPES.into_iter());
        let problem = format!("the assertion `{name}` cannot be compared here{meant}");
        log.add(line, problem);
        return None;
    }
    check_keys(name, map, log)?;
    let values = values(name, map, line, vars, log)?;
    let (matcher, values) = translated(name, map, line, values, log)?;
    let expected = values.into_iter().map(|value| Node::text(line, value));
    let expected: Vec<Node> = expected.collect();
    if !expected.is_empty() {
        set(case, "expected", line, NodeValue::List(expected));
    }
    set(case, "match", line, matcher);
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
            "weight" => member.node.as_number() == Some(1.0),
            _ => false,
        };
        if !is_usable && member.node.value != NodeValue::Null {
            let problem = format!("`{key}` of the assertion `{name}` cannot be applied here");
            log.add(member.line, problem);
        }
        if key == "provider" {
            log.note("the grading `provider` is not used: see `grader`");
        }
    }
    (log.problems() == before).then_some(())
}

/// Returns the values of an assertion with their variables replaced.
fn values(
    name: &str,
    map: &NodeMap,
    line: usize,
    vars: &NodeMap,
    log: &mut FileLog<'_>,
) -> Option<Vec<String>> {
    let takes_list = name.ends_with("-any") || name.ends_with("-all");
    let value = map.get("value").map(|member| &member.node);
    let nodes = match value.map(|node| &node.value) {
        Some(NodeValue::List(list)) if takes_list => list.iter().collect(),
        Some(_) => Vec::from_iter(value),
        None => Vec::new(),
    };
    let mut values = Vec::new();
    for node in nodes {
        let text = match &node.value {
            NodeValue::Text(text) | NodeValue::Number(text) => text.clone(),
            NodeValue::Bool(value) => value.to_string(),
            NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => {
                let kind = node.kind();
                let problem = format!("the value of `{name}` is {kind}, but must be a text");
                log.add(node.line, problem);
                return None;
            }
        };
        if text.starts_with("file://") {
            log.add(node.line, "values in other files are not read");
            return None;
        }
        match render(&text, vars) {
            // One text with commas is a list.
            Ok(text) if takes_list && value.is_some_and(|node| node.as_word().is_some()) => {
                values.extend(text.split(',').map(|part| part.trim().to_owned()));
            }
            Ok(text) => values.push(text),
            Err(problem) => {
                log.add(node.line, problem);
                return None;
            }
        }
    }
    if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
        log.add(line, format!("the assertion `{name}` has no `value`"));
        return None;
    }
    Some(values)
}

/// Returns the matcher and the expected answers.
fn translated(
    name: &str,
    map: &NodeMap,
    line: usize,
    values: Vec<String>,
    log: &mut FileLog<'_>,
) -> Option<(NodeValue, Vec<String>)> {
    let named = |name: &str| NodeValue::Text(name.to_owned());
    let patterns = |before: &str| {
        let escaped = values.iter().map(|value| regex::escape(value));
        escaped
            .map(|value| format!("{before}{value}"))
            .collect::<Vec<_>>()
    };
    Some(match name {
        "equals" => (named("exact"), values),
        // They look for any part of a text, which a pattern does too and `contains` does not.
        "contains" | "contains-any" => (named("regex"), patterns("")),
        "icontains" | "icontains-any" => (named("regex"), patterns("(?i)")),
        "starts-with" => (named("regex"), patterns(r"\A")),
        "contains-all" | "icontains-all" => {
            if values.len() > 1 {
                let problem = format!("`{name}` with several values cannot be compared here");
                log.add(line, problem);
                return None;
            }
            let before = if name == "icontains-all" { "(?i)" } else { "" };
            (named("regex"), patterns(before))
        }
        "regex" => (named("regex"), values),
        "levenshtein" => (levenshtein(map, line, &values, log)?, values),
        "llm-rubric" | "model-graded-closedqa" => {
            let rubric = values.join("\n");
            (judge(line, Some(rubric)), Vec::new())
        }
        // The same facts as in the value.
        _ => (judge(line, None), values),
    })
}

fn judge(line: usize, rubric: Option<String>) -> NodeValue {
    let mut values = NodeMap::new();
    if let Some(rubric) = rubric {
        set(&mut values, "rubric", line, NodeValue::Text(rubric));
    }
    let mut matcher = NodeMap::new();
    set(&mut matcher, "judge", line, NodeValue::Map(values));
    NodeValue::Map(matcher)
}

/// Returns the error rate up to which so many edits are allowed.
fn levenshtein(
    map: &NodeMap,
    line: usize,
    values: &[String],
    log: &mut FileLog<'_>,
) -> Option<NodeValue> {
    let threshold = map.get("threshold").map(|member| member.node.as_number());
    let threshold = threshold.unwrap_or(Some(LEVENSHTEIN));
    let length: usize = values.iter().map(|value| value.chars().count()).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let share = threshold.map(|threshold| threshold / f64::from(length));
    let Some(share) = share.filter(|share| (0.0..=1.0).contains(share)) else {
        log.add(
            line,
            "the `threshold` of `levenshtein` must be a number of edits up to the length of the \
             value",
        );
        return None;
    };
    let mut matcher = NodeMap::new();
    set(
        &mut matcher,
        "cer",
        line,
        NodeValue::Number(share.to_string()),
    );
    Some(NodeValue::Map(matcher))
}

/// Reads an assertion as the tables of promptfoo have it: `contains: Paris`, `levenshtein(3): x`.
pub(super) fn of_cell(node: &Node) -> Node {
    let line = node.line;
    let text = node.as_word().unwrap_or_default();
    let (kind, value) = text.split_once(':').unwrap_or(("", text));
    let (name, threshold) = match kind.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')),
        None => (kind, None),
    };
    let name = match name {
        "grade" => "llm-rubric",
        name => name,
    };
    // Words and hyphens before a colon are a type; promptfoo takes only those it knows.
    let is_type = TYPES.contains(&name) || OTHER_TYPES.contains(&name) || name.starts_with("not-");
    let mut map = NodeMap::new();
    if is_type {
        set(&mut map, "type", line, NodeValue::Text(name.to_owned()));
        set(
            &mut map,
            "value",
            line,
            NodeValue::Text(value.trim().to_owned()),
        );
        if let Some(threshold) = threshold {
            set(
                &mut map,
                "threshold",
                line,
                NodeValue::Number(threshold.to_owned()),
            );
        }
    } else {
        set(&mut map, "type", line, NodeValue::Text("equals".to_owned()));
        set(&mut map, "value", line, NodeValue::Text(text.to_owned()));
    }
    Node {
        line,
        value: NodeValue::Map(map),
    }
}

/// Types that begin a cell and cannot be compared here.
const OTHER_TYPES: [&str; 24] = [
    "answer-relevance",
    "classifier",
    "contains-html",
    "contains-json",
    "contains-sql",
    "contains-xml",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "cost",
    "eval",
    "fn",
    "g-eval",
    "is-html",
    "is-json",
    "is-sql",
    "is-xml",
    "javascript",
    "latency",
    "perplexity",
    "perplexity-score",
    "python",
    "rouge-n",
    "similar",
];
