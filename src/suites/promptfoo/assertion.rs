//! The assertions of promptfoo that mean the same as a matcher here, alone or together. All others
//! are errors with their line: a case that lost its check would count as right.

use serde_json::{Value, json};

use crate::domain::names::did_you_mean;
use crate::suites::log::FileLog;
use crate::suites::raw_case::node_of;
use crate::text::node::{Node, NodeMap};

use super::files;
use super::template::{Vars, render};
use super::types::{assertion_type, check_keys, is_type, names};

/// promptfoo's own threshold of `levenshtein`.
const LEVENSHTEIN: f64 = 5.0;

/// Assertions that say nothing of an answer's text.
const UNCOMPARED: [&str; 2] = ["cost", "latency"];

/// Returns the assertions that an answer is compared by: those of sets, and what references name.
pub(super) fn compared(assertions: &[Node], templates: &NodeMap, log: &FileLog) -> Vec<Node> {
    let mut compared = Vec::new();
    for node in assertions.iter().filter(|node| !node.is_null()) {
        let member = |key: &str| node.as_map().and_then(|map| map.get(key));
        let word = |key: &str| member(key).and_then(Node::as_word);
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
            Some("assert-set") => {
                if let Some(map) = node.as_map() {
                    check_keys("`type: assert-set`", map, &["assert-set"], log);
                }
                let inner = member("assert").map_or(&[][..], Node::elements);
                compared.extend(self::compared(inner, templates, log));
            }
            _ => compared.push(node.clone()),
        }
    }
    // A weight of 0 is a measure that decides nothing.
    compared.retain(|node| {
        let weight = node.as_map().and_then(|map| map.get("weight"));
        weight.and_then(Node::as_number) != Some(0.0)
    });
    compared
}

/// What all assertions of a test expect together.
#[derive(Default)]
struct Expectations {
    /// The matcher of the only assertion, with what it expects.
    own: Option<(Value, Vec<String>)>,
    /// Patterns that all match.
    all: Vec<String>,
    /// Patterns of which none matches.
    none: Vec<String>,
    rubrics: Vec<String>,
}

/// Adds to a case what all assertions together expect.
pub(super) fn add(
    assertions: &[Node],
    vars: &Vars,
    case: &mut NodeMap,
    log: &FileLog,
) -> Option<()> {
    let line = assertions.first()?.line;
    let before = log.problems();
    let mut expectations = Expectations::default();
    for assertion in assertions {
        expectations.add(assertion, assertions.len() == 1, vars, log);
    }
    if log.problems() > before {
        return None;
    }
    let Expectations { own, all, none, .. } = expectations;
    let is_text = !all.is_empty() || !none.is_empty();
    let rubric = expectations.rubrics.join("\n");
    if is_text && !rubric.is_empty() {
        let problem = "a case is compared by text or by a model, and this test needs both";
        return log.refuse(line, format!("{problem}; split it by its `assert`"));
    }
    let (matcher, expected) = own.unwrap_or_else(|| {
        let of_text = json!({"all": {"none": none}});
        let of_model = json!({"judge": {"rubric": rubric}});
        (if is_text { of_text } else { of_model }, all)
    });
    case.insert("match".to_owned(), node_of(line, &matcher));
    if !expected.is_empty() {
        case.insert("expected".to_owned(), node_of(line, &json!(expected)));
    }
    Some(())
}

impl Expectations {
    /// `None` if it has a problem, which is in the log then.
    fn add(&mut self, node: &Node, is_alone: bool, vars: &Vars, log: &FileLog) -> Option<()> {
        let Some(map) = node.as_map() else {
            return log.wrong("an entry of `assert`", node, "a map with a `type`");
        };
        let Some(member) = map.get("type") else {
            return log.refuse(node.line, "an entry of `assert` has no `type`");
        };
        let line = member.line;
        let full = member.as_word().unwrap_or_default();
        let name = full.strip_prefix("not-").unwrap_or(full);
        let is_negated = name != full;
        let refuse = |why: &str| log.refuse(line, format!("`type: {full}` {why}"));
        let Some(kind) = assertion_type(name) else {
            let meant = did_you_mean(full, names());
            return refuse(&format!("of `assert` cannot be compared here{meant}"));
        };
        let before = log.problems();
        let keys = if name == "levenshtein" {
            name
        } else {
            "assertion"
        };
        check_keys(&format!("`type: {full}`"), map, &[keys], log);
        if log.problems() > before {
            return None;
        }
        let values = values(full, map, line, vars, log)?;
        if let Some(matcher) = kind.alone.as_ref().filter(|_| is_alone && !is_negated) {
            let matcher = match matcher.as_str() {
                "cer" => levenshtein(map, line, &values, log)?,
                matcher => json!(matcher),
            };
            self.own = Some((matcher, values));
            return Some(());
        }
        let patterns = match &kind.pattern {
            Some(pattern) => {
                let escaped = values.iter().map(|value| regex::escape(value));
                escaped.map(|value| pattern.replace("{}", &value)).collect()
            }
            None if kind.is_regex => values,
            None if kind.is_rubric && !is_negated => {
                self.rubrics.push(values.join("\n"));
                return Some(());
            }
            None if is_negated => return refuse("cannot be compared here"),
            None => return refuse("cannot be compared here beside others"),
        };
        let is_any = name.ends_with("-any");
        if is_negated {
            // All of several must not stand there together, while each of them may.
            if name.ends_with("-all") && patterns.len() > 1 {
                return refuse("with several values cannot be compared here");
            }
            self.none.extend(patterns);
        } else if is_alone && (is_any || patterns.len() == 1) {
            // Any of them will do.
            self.own = Some((json!("regex"), patterns));
        } else if is_any {
            let patterns = patterns.iter().map(|pattern| format!("(?:{pattern})"));
            self.all.push(patterns.collect::<Vec<_>>().join("|"));
        } else {
            self.all.extend(patterns);
        }
        Some(())
    }
}

/// With their variables replaced.
fn values(
    name: &str,
    map: &NodeMap,
    line: usize,
    vars: &Vars,
    log: &FileLog,
) -> Option<Vec<String>> {
    let takes_list = name.ends_with("-any") || name.ends_with("-all");
    let member = map.get("value");
    let nodes = match member {
        Some(node) if takes_list => node.elements(),
        Some(node) => std::slice::from_ref(node),
        None => &[],
    };
    let is_list = member.is_some_and(|node| node.as_word().is_none());
    let mut values = Vec::new();
    for node in nodes {
        let Some(text) = node.scalar() else {
            return log.wrong(&format!("the `value` of `type: {name}`"), node, "a text");
        };
        let text = match text
            .strip_prefix("file://")
            .map(|name| files::read(name, log))
        {
            Some(Ok(content)) => content.trim_end().to_owned(),
            Some(Err(why)) => return log.refuse(node.line, format!("`value: {text}` {why}")),
            None => text,
        };
        match render(&text, vars) {
            // One text with commas is a list.
            Ok(text) if takes_list && !is_list => {
                values.extend(text.split(',').map(|part| part.trim().to_owned()));
            }
            Ok(text) => values.push(text),
            Err(problem) => return log.refuse(node.line, problem),
        }
    }
    if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
        return log.refuse(line, format!("`type: {name}` has no `value`"));
    }
    Some(values)
}

fn levenshtein(map: &NodeMap, line: usize, values: &[String], log: &FileLog) -> Option<Value> {
    let threshold = map.get("threshold").filter(|node| !node.is_null());
    let threshold = threshold.map_or(Some(LEVENSHTEIN), Node::as_number);
    let length: usize = values.iter().map(|value| value.chars().count()).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let share = threshold.map(|threshold| threshold / f64::from(length));
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    let wrong = "the `threshold` of `levenshtein` must be a number of edits up to the length of the \
                 value";
    share.map_or_else(
        || log.refuse(line, wrong),
        |share| Some(json!({"cer": share})),
    )
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
    let threshold = threshold.map(|text| {
        text.parse::<f64>()
            .map_or(json!(text), |edits| json!(edits))
    });
    // Words and hyphens before a colon are a type; promptfoo takes only those it knows.
    let assertion = if is_type(name) {
        json!({"type": name, "value": value.trim(), "threshold": threshold})
    } else {
        json!({"type": "equals", "value": text})
    };
    node_of(node.line, &assertion)
}
