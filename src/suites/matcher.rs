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

pub(super) fn transcription() -> Matcher {
    Matcher::Similarity {
        measure: ErrorRate::Cer,
        at_most: CER_AT_MOST,
    }
}

/// A choice without options gets them from its case.
pub(super) fn read(node: &Node, log: &mut FileLog<'_>) -> Option<Matcher> {
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

fn of_map(node: &Node, log: &mut FileLog<'_>) -> Option<Matcher> {
    let mut members = node.as_map()?.iter();
    match (members.next(), members.next()) {
        (Some((name, member)), None) => of_name(name, Some(member), member.line, log),
        _ => log.refuse(node.line, format!("`match` needs one name: {}", names())),
    }
}

fn of_name(
    name: &str,
    argument: Option<&Node>,
    line: usize,
    log: &mut FileLog<'_>,
) -> Option<Matcher> {
    let Some((_, keys)) = NAMES.iter().find(|(known, _)| *known == name) else {
        let meant = did_you_mean(name, NAMES.iter().map(|(name, _)| *name));
        return log.refuse(line, format!("`{name}` is not a way to match{meant}"));
    };
    let before = log.problems();
    let argument = argument.filter(|node| !node.is_null());
    let map = match argument.map(|node| (node, &node.value)) {
        Some((_, NodeValue::Map(map))) => map.clone(),
        Some((node, _)) if keys.is_empty() => {
            return log.refuse(node.line, format!("`{name}` takes no values"));
        }
        // The first value needs no name.
        Some((node, _)) => {
            let first = keys.split(' ').next().unwrap_or_default();
            NodeMap::from([(first.to_owned(), node.clone())])
        }
        None => NodeMap::new(),
    };
    log.check_keys(&format!("`{name}`"), &map, keys);
    let mut values = Values {
        name,
        map: &map,
        log,
    };
    let matcher = match name {
        "exact" => Matcher::Exact,
        "contains" => Matcher::Contains,
        "regex" => Matcher::Regex,
        "all" => Matcher::All {
            none: values.list("none"),
        },
        "choice" => Matcher::Choice {
            options: values.list("options"),
        },
        "numeric" => Matcher::Numeric {
            absolute: values.tolerance("absolute"),
            relative: values.tolerance("relative"),
        },
        "judge" => Matcher::Judge {
            rubric: values.rubric(),
        },
        _ => values.similarity(line),
    };
    (log.problems() == before).then_some(matcher)
}

/// The values of a matcher, with the log of their problems.
struct Values<'a, 'log, 'file> {
    name: &'a str,
    map: &'a NodeMap,
    log: &'log mut FileLog<'file>,
}

impl<'a> Values<'a, '_, '_> {
    fn get(&self, key: &str) -> Option<&'a Node> {
        self.map.get(key).filter(|node| !node.is_null())
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let list = self.get(key);
        list.map_or_else(Vec::new, |node| texts(key, node, self.log))
    }

    fn tolerance(&mut self, key: &str) -> f64 {
        let number = self.get(key).and_then(|node| {
            let number = node.as_number().filter(|number| *number >= 0.0);
            let problem = format!("the tolerance `{key}` must be a number from 0 up");
            number.or_else(|| self.log.refuse(node.line, problem))
        });
        number.unwrap_or_default()
    }

    fn rubric(&mut self) -> Option<String> {
        let node = self.get("rubric")?;
        let text = node.as_word().map(str::to_owned);
        text.or_else(|| self.log.wrong("the `rubric`", node, "a text"))
    }

    fn similarity(&mut self, line: usize) -> Matcher {
        let measure = match self.name {
            "similarity" => self.get("measure").and_then(Node::as_word),
            name => Some(name),
        };
        let (measure, default) = match measure {
            Some("wer") => (ErrorRate::Wer, WER_AT_MOST),
            Some("cer") => (ErrorRate::Cer, CER_AT_MOST),
            _ => {
                let problem = "`similarity` needs a `measure`: `cer` or `wer`";
                self.log.add(line, problem);
                return transcription();
            }
        };
        let at_most = self.get("at_most").and_then(|node| {
            let share = node.as_number().filter(|share| (0.0..=1.0).contains(share));
            let problem = format!(
                "the error rate of `{}` must be a number from 0 to 1",
                self.name
            );
            share.or_else(|| self.log.refuse(node.line, problem))
        });
        Matcher::Similarity {
            measure,
            at_most: at_most.unwrap_or(default),
        }
    }
}

/// Numbers count as they are written.
pub(super) fn texts(name: &str, node: &Node, log: &mut FileLog<'_>) -> Vec<String> {
    let NodeValue::List(list) = &node.value else {
        let list: Option<Vec<String>> = log.wrong(&format!("`{name}`"), node, "a list");
        return list.unwrap_or_default();
    };
    let text = |node: &Node| {
        let text = node.as_word().map(str::to_owned);
        text.or_else(|| log.wrong(&format!("an entry of `{name}`"), node, "a text"))
    };
    list.iter().filter_map(text).collect()
}
