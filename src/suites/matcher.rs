//! Reads the `match` of a case or a manifest: a name, or a name with its values.

use crate::benchmark::case::{ErrorRate, Matcher};
use crate::domain::names::did_you_mean;

use super::log::FileLog;
use crate::domain::node::{Member, Node, NodeMap, NodeValue, json};

/// The names of matchers.
const NAMES: [&str; 9] = [
    "exact",
    "choice",
    "contains",
    "regex",
    "numeric",
    "cer",
    "wer",
    "similarity",
    "judge",
];

/// The error rates up to which a transcription is right, unless its suite says another. Good
/// transcriptions of print are below them.
const CER_AT_MOST: f64 = 0.05;
const WER_AT_MOST: f64 = 0.10;

/// Returns the matcher for transcriptions whose suite names none.
pub(super) fn transcription() -> Matcher {
    similarity(ErrorRate::Cer, None)
}

/// Reads a matcher. A choice without options gets them from its case.
pub(super) fn read(node: &Node, log: &mut FileLog<'_>) -> Option<Matcher> {
    match &node.value {
        // The way to give values in a table.
        NodeValue::Text(text) if text.trim_start().starts_with('{') => match json::parse(text) {
            Ok(Some(inner)) => of_map(&inner.at_line(node.line), log),
            Ok(None) => None,
            Err(error) => {
                log.add(node.line, format!("`match` is {}", error.problem));
                None
            }
        },
        NodeValue::Text(name) => of_name(name.trim(), None, node.line, log),
        NodeValue::Map(_) => of_map(node, log),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) => {
            let kind = node.kind();
            let problem = format!(
                "`match` is {kind}, but must be a name or a map with one: {}",
                names()
            );
            log.add(node.line, problem);
            None
        }
    }
}

fn names() -> String {
    NAMES.map(|name| format!("`{name}`")).join(", ")
}

fn of_map(node: &Node, log: &mut FileLog<'_>) -> Option<Matcher> {
    let map = node.as_map()?;
    let mut members = map.iter();
    let (Some((name, member)), None) = (members.next(), members.next()) else {
        log.add(node.line, format!("`match` needs one name: {}", names()));
        return None;
    };
    of_name(name, Some(&member.node), member.line, log)
}

fn of_name(
    name: &str,
    argument: Option<&Node>,
    line: usize,
    log: &mut FileLog<'_>,
) -> Option<Matcher> {
    let argument = argument.filter(|node| node.value != NodeValue::Null);
    let before = log.problems();
    let matcher = match name {
        "exact" => without_values(name, argument, Matcher::Exact, log),
        "contains" => without_values(name, argument, Matcher::Contains, log),
        "regex" => without_values(name, argument, Matcher::Regex, log),
        "choice" => choice(argument, log),
        "numeric" => numeric(argument, log),
        "cer" => similarity(ErrorRate::Cer, at_most(name, argument, log)),
        "wer" => similarity(ErrorRate::Wer, at_most(name, argument, log)),
        "similarity" => similarity_of(argument, line, log),
        "judge" => judge(argument, log),
        _ => {
            let meant = did_you_mean(name, NAMES.into_iter());
            log.add(line, format!("`{name}` is not a way to match{meant}"));
            return None;
        }
    };
    (log.problems() == before).then_some(matcher)
}

fn without_values(
    name: &str,
    argument: Option<&Node>,
    matcher: Matcher,
    log: &mut FileLog<'_>,
) -> Matcher {
    let is_empty = |node: &Node| node.as_map().is_some_and(NodeMap::is_empty);
    if let Some(node) = argument.filter(|node| !is_empty(node)) {
        log.add(node.line, format!("`{name}` takes no values"));
    }
    matcher
}

fn choice(argument: Option<&Node>, log: &mut FileLog<'_>) -> Matcher {
    let options = argument.and_then(|node| match node.as_map() {
        Some(map) => {
            check_keys("choice", map, &["options"], log);
            map.get("options").map(|member| &member.node)
        }
        None => Some(node),
    });
    Matcher::Choice {
        options: options.map_or_else(Vec::new, |node| texts("options", node, log)),
    }
}

fn numeric(argument: Option<&Node>, log: &mut FileLog<'_>) -> Matcher {
    let (mut absolute, mut relative) = (0.0, 0.0);
    match argument.map(|node| (node, node.as_map())) {
        Some((_, Some(map))) => {
            check_keys("numeric", map, &["absolute", "relative"], log);
            absolute = tolerance("absolute", map.get("absolute"), log);
            relative = tolerance("relative", map.get("relative"), log);
        }
        Some((node, None)) => absolute = at_least_zero("numeric", node, log),
        None => {}
    }
    Matcher::Numeric { absolute, relative }
}

fn tolerance(name: &str, member: Option<&Member>, log: &mut FileLog<'_>) -> f64 {
    member.map_or(0.0, |member| at_least_zero(name, &member.node, log))
}

fn at_least_zero(name: &str, node: &Node, log: &mut FileLog<'_>) -> f64 {
    match node.as_number() {
        Some(number) if number >= 0.0 => number,
        Some(number) => {
            log.add(
                node.line,
                format!("the tolerance `{name}` is {number}, but must not be below 0"),
            );
            0.0
        }
        None => {
            let kind = node.kind();
            log.add(
                node.line,
                format!("the tolerance `{name}` is {kind}, but must be a number"),
            );
            0.0
        }
    }
}

fn at_most(name: &str, argument: Option<&Node>, log: &mut FileLog<'_>) -> Option<f64> {
    let node = argument?;
    let Some(map) = node.as_map() else {
        return share(name, node, log);
    };
    check_keys(name, map, &["at_most"], log);
    map.get("at_most")
        .and_then(|member| share("at_most", &member.node, log))
}

fn share(name: &str, node: &Node, log: &mut FileLog<'_>) -> Option<f64> {
    let share = node.as_number().filter(|share| (0.0..=1.0).contains(share));
    if share.is_none() {
        log.add(
            node.line,
            format!("the error rate `{name}` must be a number from 0 to 1"),
        );
    }
    share
}

fn similarity(measure: ErrorRate, at_most: Option<f64>) -> Matcher {
    let default = match measure {
        ErrorRate::Cer => CER_AT_MOST,
        ErrorRate::Wer => WER_AT_MOST,
    };
    Matcher::Similarity {
        measure,
        at_most: at_most.unwrap_or(default),
    }
}

fn similarity_of(argument: Option<&Node>, line: usize, log: &mut FileLog<'_>) -> Matcher {
    let Some(map) = argument.and_then(Node::as_map) else {
        log.add(line, "`similarity` needs a `measure`: `cer` or `wer`");
        return transcription();
    };
    check_keys("similarity", map, &["measure", "at_most"], log);
    let measure = match map.get("measure").and_then(|member| member.node.as_word()) {
        Some("cer") => ErrorRate::Cer,
        Some("wer") => ErrorRate::Wer,
        Some(_) | None => {
            log.add(line, "the `measure` of `similarity` must be `cer` or `wer`");
            ErrorRate::Cer
        }
    };
    let at_most = map.get("at_most");
    let at_most = at_most.and_then(|member| share("at_most", &member.node, log));
    similarity(measure, at_most)
}

fn judge(argument: Option<&Node>, log: &mut FileLog<'_>) -> Matcher {
    let rubric = match argument.map(|node| (node, node.as_map())) {
        None => return Matcher::Judge { rubric: None },
        Some((node, None)) => node,
        Some((_, Some(map))) => {
            check_keys("judge", map, &["rubric"], log);
            match map.get("rubric") {
                Some(member) => &member.node,
                None => return Matcher::Judge { rubric: None },
            }
        }
    };
    let text = rubric.as_word();
    if text.is_none() {
        let kind = rubric.kind();
        log.add(
            rubric.line,
            format!("the `rubric` is {kind}, but must be a text"),
        );
    }
    Matcher::Judge {
        rubric: text.map(str::to_owned),
    }
}

/// Reads a list of texts; numbers count as they are written.
pub(super) fn texts(name: &str, node: &Node, log: &mut FileLog<'_>) -> Vec<String> {
    let NodeValue::List(list) = &node.value else {
        let kind = node.kind();
        log.add(node.line, format!("`{name}` is {kind}, but must be a list"));
        return Vec::new();
    };
    let mut texts = Vec::new();
    for element in list {
        if let Some(text) = element.as_word() {
            texts.push(text.to_owned());
        } else {
            let kind = element.kind();
            let problem = format!("an entry of `{name}` is {kind}, but must be a text");
            log.add(element.line, problem);
        }
    }
    texts
}

/// Reports keys that do not exist.
pub(super) fn check_keys(of: &str, map: &NodeMap, known: &[&str], log: &mut FileLog<'_>) {
    for (key, member) in map {
        if !known.contains(&key.as_str()) {
            let meant = did_you_mean(key, known.iter().copied());
            log.add(member.line, format!("`{of}` has no key `{key}`{meant}"));
        }
    }
}
