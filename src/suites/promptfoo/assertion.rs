//! The assertions of promptfoo that mean the same as a matcher here, alone or together. All others
//! are errors with their line: a case that lost its check would count as right.

use serde_json::{Value, json};

use crate::domain::names::did_you_mean;
use crate::suites::log::FileLog;
use crate::suites::raw_case::node_of;
use crate::text::node::{Node, NodeMap, NodeValue};

use super::check_keys;
use super::template::{Vars, render};

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

/// Keys of an assertion. All must hold, whatever they weigh.
const KEYS: &str = "type value metric weight";

/// Assertions that say nothing of an answer's text.
const UNCOMPARED: [&str; 2] = ["cost", "latency"];

/// Returns the assertions that an answer is compared by: those of sets, and what references name.
pub(super) fn compared(
    assertions: &[Node],
    templates: &NodeMap,
    log: &mut FileLog<'_>,
) -> Vec<Node> {
    let mut compared = Vec::new();
    for node in assertions.iter().filter(|node| !node.is_null()) {
        let map = node.as_map();
        let word = |key: &str| map.and_then(|map| map.get(key)).and_then(Node::as_word);
        if let Some(name) = word("$ref") {
            let template = name.rsplit('/').next().and_then(|name| templates.get(name));
            match template {
                Some(template) => compared.push(template.clone()),
                None => log.add(node.line, format!("there is no `{name}`")),
            }
            continue;
        }
        match word("type") {
            Some(name) if UNCOMPARED.contains(&name) => {
                log.note(&format!("`{name}` is not used: a report has it"));
            }
            Some("assert-set") if map.is_some_and(|map| !map.contains_key("threshold")) => {
                let inner = map.and_then(|map| map.get("assert"));
                let inner = inner.map_or(&[][..], Node::elements);
                compared.extend(self::compared(inner, templates, log));
            }
            _ => compared.push(node.clone()),
        }
    }
    let is_counted = |node: &Node| {
        let weight = node.as_map().and_then(|map| map.get("weight"));
        weight.and_then(Node::as_number) != Some(0.0)
    };
    // A weight of 0 is a measure that decides nothing.
    compared.retain(is_counted);
    compared
}

/// How answers are compared, with what is expected.
enum Comparison {
    /// By one matcher.
    Own(Value, Vec<String>),
    /// By patterns that all match.
    All(Vec<String>),
    /// By patterns of which none matches.
    None(Vec<String>),
    Rubric(String),
}

/// Adds to a case what all assertions together expect.
pub(super) fn add(
    assertions: &[Node],
    vars: &Vars,
    case: &mut NodeMap,
    log: &mut FileLog<'_>,
) -> Option<()> {
    let is_alone = assertions.len() == 1;
    let (mut all, mut none, mut rubrics) = (Vec::new(), Vec::new(), Vec::new());
    let line = assertions.first()?.line;
    let mut own = None;
    for assertion in assertions {
        match comparison(assertion, is_alone, vars, log)? {
            Comparison::Own(matcher, expected) => own = Some((matcher, expected)),
            Comparison::All(patterns) => all.extend(patterns),
            Comparison::None(patterns) => none.extend(patterns),
            Comparison::Rubric(rubric) => rubrics.push(rubric),
        }
    }
    let is_text = !all.is_empty() || !none.is_empty();
    if is_text && !rubrics.is_empty() {
        let problem = "a case is compared by text or by a model, and this test needs both";
        return log.refuse(line, format!("{problem}; split it"));
    }
    let (matcher, expected) = own.unwrap_or_else(|| match rubrics.as_slice() {
        [] => (json!({"all": {"none": none}}), all),
        rubrics => (json!({"judge": {"rubric": rubrics.join("\n")}}), all),
    });
    case.insert("match".to_owned(), node_of(line, &matcher));
    if !expected.is_empty() {
        case.insert("expected".to_owned(), node_of(line, &json!(expected)));
    }
    Some(())
}

fn comparison(
    assertion: &Node,
    is_alone: bool,
    vars: &Vars,
    log: &mut FileLog<'_>,
) -> Option<Comparison> {
    let Some(map) = assertion.as_map() else {
        return log.wrong("an assertion", assertion, "a map with a `type`");
    };
    let Some(member) = map.get("type") else {
        return log.refuse(assertion.line, "the assertion has no `type`");
    };
    let line = member.line;
    let full = member.as_word().unwrap_or_default();
    let name = full.strip_prefix("not-").unwrap_or(full);
    let is_negated = name != full;
    let Some((_, kind)) = TYPES.iter().find(|(known, _)| *known == name) else {
        let meant = did_you_mean(full, names());
        let problem = format!("the assertion `{full}` cannot be compared here{meant}");
        return log.refuse(line, problem);
    };
    let keys = if name == "levenshtein" {
        "threshold"
    } else {
        ""
    };
    let before = log.problems();
    check_keys(&format!("the assertion `{full}`"), map, &[KEYS, keys], log);
    if log.problems() > before {
        return None;
    }
    let values = values(name, map, line, vars, log)?;
    let escaped = |before: &str, after: &str| -> Vec<String> {
        let values = values.iter().map(|value| regex::escape(value));
        values
            .map(|value| format!("{before}{value}{after}"))
            .collect()
    };
    let patterns = match kind {
        AssertionKind::Exact if is_alone && !is_negated => {
            return Some(Comparison::Own(json!("exact"), values));
        }
        AssertionKind::Exact => escaped(r"\A\s*", r"\s*\z"),
        AssertionKind::Part(before) => escaped(before, ""),
        AssertionKind::Pattern => values,
        AssertionKind::Rubric if !is_negated => {
            return Some(Comparison::Rubric(values.join("\n")));
        }
        AssertionKind::Edits if is_alone && !is_negated => {
            let matcher = levenshtein(map, line, &values, log)?;
            return Some(Comparison::Own(matcher, values));
        }
        AssertionKind::Facts if is_alone && !is_negated => {
            return Some(Comparison::Own(json!({"judge": {}}), values));
        }
        AssertionKind::Rubric | AssertionKind::Edits | AssertionKind::Facts => {
            let how = if is_negated {
                "negated"
            } else {
                "beside others"
            };
            return log.refuse(line, format!("`{name}` cannot be compared here {how}"));
        }
    };
    // All of several must not stand there together, while each of them may.
    if is_negated && name.ends_with("-all") && patterns.len() > 1 {
        let problem = format!("`{full}` with several values cannot be compared here");
        return log.refuse(line, problem);
    }
    let is_any = name.ends_with("-any");
    Some(match (is_negated, is_alone) {
        (true, _) => Comparison::None(patterns),
        // Any of them will do.
        (false, true) if is_any || patterns.len() == 1 => Comparison::Own(json!("regex"), patterns),
        (false, _) if is_any => {
            let patterns = patterns.iter().map(|pattern| format!("(?:{pattern})"));
            Comparison::All(vec![patterns.collect::<Vec<_>>().join("|")])
        }
        (false, _) => Comparison::All(patterns),
    })
}

/// With their variables replaced.
fn values(
    name: &str,
    map: &NodeMap,
    line: usize,
    vars: &Vars,
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
        let Some(text) = node.scalar() else {
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
