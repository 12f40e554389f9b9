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
    let mut values = Values {
        name,
        keys,
        map: argument.and_then(Node::as_map),
        single: argument.filter(|node| node.as_map().is_none()),
        log,
    };
    if let Some(map) = values.map {
        values.log.check_keys(&format!("`{name}`"), map, keys);
    }
    if let (Some(node), "") = (values.single, *keys) {
        values
            .log
            .add(node.line, format!("`{name}` takes no values"));
    }
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
    keys: &'a str,
    map: Option<&'a NodeMap>,
    /// The first value, without its name.
    single: Option<&'a Node>,
    log: &'log mut FileLog<'file>,
}

impl<'a> Values<'a, '_, '_> {
    fn get(&self, key: &'a str) -> Option<(&'a str, &'a Node)> {
        let single = self
            .single
            .filter(|_| self.keys.split(' ').next() == Some(key));
        let member = self.map.and_then(|map| map.get(key));
        let named = member.map(|member| (key, member));
        let value = single.map(|node| (self.name, node)).or(named);
        value.filter(|(_, node)| !node.is_null())
    }

    fn list(&mut self, key: &'a str) -> Vec<String> {
        let list = self.get(key);
        list.map_or_else(Vec::new, |(_, node)| texts(key, node, self.log))
    }

    fn tolerance(&mut self, key: &'a str) -> f64 {
        let Some((name, node)) = self.get(key) else {
            return 0.0;
        };
        let name = format!("the tolerance `{name}`");
        let number = match node.as_number() {
            Some(number) if number < 0.0 => self.log.refuse(
                node.line,
                format!("{name} is {number}, but must not be below 0"),
            ),
            None => self.log.wrong(&name, node, "a number"),
            number => number,
        };
        number.unwrap_or_default()
    }

    fn rubric(&mut self) -> Option<String> {
        let (_, node) = self.get("rubric")?;
        let text = node.as_word().map(str::to_owned);
        text.or_else(|| self.log.wrong("the `rubric`", node, "a text"))
    }

    fn similarity(&mut self, line: usize) -> Matcher {
        let measure = match self.name {
            "similarity" => self.get("measure").and_then(|(_, node)| node.as_word()),
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
        let at_most = self.get("at_most").and_then(|(name, node)| {
            let share = node.as_number().filter(|share| (0.0..=1.0).contains(share));
            let problem = format!("the error rate `{name}` must be a number from 0 to 1");
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
