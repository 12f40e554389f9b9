//! Reads the `match` of a case or a manifest: a name, or a name with its values.

use crate::benchmark::case::{ErrorRate, Matcher};
use crate::domain::names::did_you_mean;
use crate::text::node::{Node, NodeMap, NodeValue, json};

use super::log::FileLog;

/// The names of matchers, each with its values. A value without a name is the first of them.
const NAMES: [(&str, &str); 10] = [
    ("exact", ""),
    ("choice", "options"),
    ("contains", ""),
    ("regex", ""),
    ("all", "none"),
    ("numeric", "absolute relative"),
    ("cer", "at_most"),
    ("wer", "at_most"),
    ("similarity", "measure at_most"),
    ("judge", "rubric"),
];

/// The error rates up to which a transcription is right, unless its suite says another. Good
/// transcriptions of print are below them.
const CER_AT_MOST: f64 = 0.05;
const WER_AT_MOST: f64 = 0.10;

/// A choice without options gets them from its case.
pub(super) fn read(node: &Node, log: &FileLog) -> Option<Matcher> {
    match &node.value {
        // The way to give values in a table.
        NodeValue::Text(text) if text.trim_start().starts_with('{') => match json::parse(text) {
            Ok(inner) => of_map(&inner?.at_line(node.line), log),
            Err(error) => log.refuse(node.line, format!("`match` is {}", error.problem)),
        },
        NodeValue::Text(name) => of_name(name.trim(), None, node.line, log),
        NodeValue::Map(_) => of_map(node, log),
        _ => log.wrong(
            "`match`",
            node,
            &format!("a name or a map with one: {}", names()),
        ),
    }
}

fn names() -> String {
    NAMES.map(|(name, _)| format!("`{name}`")).join(", ")
}

fn of_map(node: &Node, log: &FileLog) -> Option<Matcher> {
    let mut members = node.as_map()?.iter();
    match (members.next(), members.next()) {
        (Some((name, member)), None) => of_name(name, Some(member), member.line, log),
        _ => log.refuse(node.line, format!("`match` needs one name: {}", names())),
    }
}

fn of_name(name: &str, value: Option<&Node>, line: usize, log: &FileLog) -> Option<Matcher> {
    let Some((_, keys)) = NAMES.iter().find(|(known, _)| *known == name) else {
        let meant = did_you_mean(name, NAMES.iter().map(|(name, _)| *name));
        return log.refuse(line, format!("`{name}` is not a way to match{meant}"));
    };
    let before = log.problems();
    let map = match value.filter(|node| !node.is_null()) {
        Some(node) if node.as_map().is_none() && keys.is_empty() => {
            return log.refuse(node.line, format!("`{name}` takes no values"));
        }
        Some(node) => node.as_map().cloned().unwrap_or_else(|| {
            // The first value needs no name.
            let first = keys.split(' ').next().unwrap_or_default();
            NodeMap::from([(first.to_owned(), node.clone())])
        }),
        None => NodeMap::new(),
    };
    log.check_keys(&format!("`{name}`"), &map, keys);
    let get = |key: &str| map.get(key).filter(|node| !node.is_null());
    let list = |key| get(key).map_or_else(Vec::new, |node| texts(key, node, log));
    let number = |key, most: f64, what: String| {
        let node = get(key)?;
        let number = node
            .as_number()
            .filter(|number| (0.0..=most).contains(number));
        number.or_else(|| log.refuse(node.line, what))
    };
    let tolerance = |key| {
        let what = format!("the tolerance `{key}` must be a number from 0 up");
        number(key, f64::INFINITY, what).unwrap_or_default()
    };
    let rubric = || {
        let node = get("rubric")?;
        let text = node.as_word().map(str::to_owned);
        text.or_else(|| log.wrong("the `rubric`", node, "a text"))
    };
    let matcher = match name {
        "exact" => Matcher::Exact,
        "contains" => Matcher::Contains,
        "regex" => Matcher::Regex,
        "all" => Matcher::All { none: list("none") },
        "choice" => Matcher::Choice {
            options: list("options"),
        },
        "numeric" => Matcher::Numeric {
            absolute: tolerance("absolute"),
            relative: tolerance("relative"),
        },
        "judge" => Matcher::Judge { rubric: rubric() },
        _ => {
            let named = get("measure").and_then(Node::as_word);
            let (measure, usual) = match named.filter(|_| name == "similarity").unwrap_or(name) {
                "wer" => (ErrorRate::Wer, WER_AT_MOST),
                "cer" => (ErrorRate::Cer, CER_AT_MOST),
                _ => return log.refuse(line, "`similarity` needs a `measure`: `cer` or `wer`"),
            };
            let what = format!("the error rate of `{name}` must be a number from 0 to 1");
            let at_most = number("at_most", 1.0, what).unwrap_or(usual);
            Matcher::Similarity { measure, at_most }
        }
    };
    (log.problems() == before).then_some(matcher)
}

/// Numbers count as they are written.
pub(super) fn texts(name: &str, node: &Node, log: &FileLog) -> Vec<String> {
    let NodeValue::List(list) = &node.value else {
        return log.wrong(&format!("`{name}`"), node, "a list");
    };
    let text = |node: &Node| {
        let text = node.as_word().map(str::to_owned);
        text.or_else(|| log.wrong(&format!("an entry of `{name}`"), node, "a text"))
    };
    list.iter().filter_map(text).collect()
}
