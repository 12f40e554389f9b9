//! A manifest: the suite it names, what holds for its cases, and the settings of its runs.

use crate::consultation::plan::mode::Mode;
use crate::domain::names::did_you_mean;

use super::case::CaseDefaults;
use super::log::FileLog;
use super::matcher::{self, check_keys};
use super::suite::{StopLimit, StopSettings, SuiteSettings};
use crate::domain::node::{Member, Node, NodeMap, NodeValue};

/// Its keys.
const KEYS: [&str; 18] = [
    "name",
    "description",
    "suite",
    "cases",
    "question",
    "match",
    "panel",
    "personas",
    "models",
    "judge",
    "single",
    "grader",
    "mode",
    "rounds",
    "attempts_per_case",
    "jobs",
    "retry",
    "$schema",
];

const CONDITIONS: [&str; 6] = [
    "max_retry_rate",
    "max_reject_rate",
    "max_consecutive_fails",
    "max_total_attempts",
    "min_items",
    "window",
];

/// The greatest number of anything that is counted.
const MOST: u32 = 1_000_000;

/// A manifest as it was read.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    /// The path of the cases, and its line.
    pub(super) suite: Option<(String, usize)>,
    /// The cases in the manifest itself.
    pub(super) cases: Option<Vec<Node>>,
    pub(super) defaults: CaseDefaults,
    pub(super) settings: SuiteSettings,
}

/// Reads a manifest; its problems are in the log.
pub(super) fn read(map: &NodeMap, log: &mut FileLog<'_>) -> Manifest {
    for (key, member) in map {
        if !KEYS.contains(&key.as_str()) {
            let meant = did_you_mean(key, KEYS.into_iter());
            log.add(member.line, format!("a manifest has no key `{key}`{meant}"));
        }
    }
    let mut keys = Keys { map, log };
    let suite = keys.get("suite").map(|member| member.line);
    let suite = keys.text("suite").zip(suite);
    let cases = keys.cases();
    if let (Some(_), Some(member)) = (&suite, keys.get("cases")) {
        let problem = "a manifest has either `suite` or `cases`";
        keys.log.add(member.line, problem);
    }
    let matcher = keys.get("match");
    let matcher = matcher.and_then(|member| matcher::read(&member.node, keys.log));
    Manifest {
        name: keys.text("name"),
        suite,
        cases,
        defaults: CaseDefaults {
            question: keys.text("question"),
            matcher,
        },
        settings: SuiteSettings {
            panel: keys.list("panel").map(|entries| entries.join(",")),
            personas: keys.list("personas").map(|entries| entries.join(",")),
            models: keys.list("models").unwrap_or_default(),
            judge: keys.text("judge"),
            single: keys.text("single"),
            grader: keys.text("grader"),
            mode: keys.mode(),
            rounds: keys
                .count("rounds", 4)
                .and_then(|rounds| u8::try_from(rounds).ok()),
            attempts_per_case: keys.count("attempts_per_case", 10),
            jobs: keys.count("jobs", 1000),
            stop_conditions: keys.stop_conditions(),
        },
    }
}

/// The keys of a map, with the log of their problems.
struct Keys<'a, 'log, 'file> {
    map: &'a NodeMap,
    log: &'log mut FileLog<'file>,
}

impl<'a> Keys<'a, '_, '_> {
    /// Returns a member; `null` counts as absent.
    fn get(&self, key: &str) -> Option<&'a Member> {
        let member = self.map.get(key)?;
        (member.node.value != NodeValue::Null).then_some(member)
    }

    fn wrong(&mut self, key: &str, member: &Member, expected: &str) {
        let is = match member.node.as_word() {
            Some(word) => format!("`{}`", crate::domain::text::shortened(word, 40)),
            None => member.node.kind().to_owned(),
        };
        let problem = format!("`{key}` is {is}, but must be {expected}");
        self.log.add(member.line, problem);
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let member = self.get(key)?;
        if let NodeValue::Text(text) = &member.node.value
            && !text.trim().is_empty()
        {
            return Some(text.trim().to_owned());
        }
        self.wrong(key, member, "a text");
        None
    }

    /// Returns a list; a text is one of a single entry.
    fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let member = self.get(key)?;
        match &member.node.value {
            NodeValue::List(_) => Some(matcher::texts(key, &member.node, self.log)),
            _ => self.text(key).map(|text| vec![text]),
        }
    }

    fn cases(&mut self) -> Option<Vec<Node>> {
        let member = self.get("cases")?;
        if let NodeValue::List(cases) = &member.node.value {
            return Some(cases.clone());
        }
        self.wrong("cases", member, "a list");
        None
    }

    fn mode(&mut self) -> Option<Mode> {
        let member = self.get("mode")?;
        match member.node.as_word() {
            Some("converge") => Some(Mode::Converge),
            Some("explore") => Some(Mode::Explore),
            Some(_) | None => {
                self.wrong("mode", member, "`converge` or `explore`");
                None
            }
        }
    }

    /// Returns a whole number from 1.
    fn count(&mut self, key: &str, most: u32) -> Option<u32> {
        let member = self.get(key)?;
        let count = whole_number(&member.node, most);
        if count.is_none() {
            self.wrong(key, member, &format!("a whole number from 1 to {most}"));
        }
        count
    }

    fn stop_conditions(&mut self) -> StopSettings {
        let Some(retry) = self.section("retry", &["stop_conditions"]) else {
            return StopSettings::default();
        };
        let mut retry = Keys {
            map: retry,
            log: self.log,
        };
        let Some(map) = retry.section("stop_conditions", &CONDITIONS) else {
            return StopSettings::default();
        };
        let mut keys = Keys {
            map,
            log: retry.log,
        };
        StopSettings {
            max_retry_rate: keys.rate("max_retry_rate"),
            max_reject_rate: keys.rate("max_reject_rate"),
            max_consecutive_fails: keys.count_or_off("max_consecutive_fails"),
            max_total_attempts: keys.count_or_off("max_total_attempts"),
            min_items: keys.count("min_items", MOST),
            window: keys.count("window", MOST),
        }
    }

    fn section(&mut self, key: &str, known: &[&str]) -> Option<&'a NodeMap> {
        let member = self.get(key)?;
        let map = member.node.as_map();
        match map {
            Some(map) => check_keys(key, map, known, self.log),
            None => self.wrong(key, member, "a map of keys"),
        }
        map
    }

    fn rate(&mut self, key: &str) -> Option<StopLimit<f64>> {
        let member = self.map.get(key)?;
        if is_off(&member.node) {
            return Some(StopLimit::Off);
        }
        let rate = member.node.as_number();
        let rate = rate.filter(|rate| (0.0..=1.0).contains(rate));
        if rate.is_none() {
            self.wrong(key, member, "a share from 0 to 1, or `off`");
        }
        rate.map(StopLimit::At)
    }

    fn count_or_off(&mut self, key: &str) -> Option<StopLimit<u32>> {
        let member = self.map.get(key)?;
        if is_off(&member.node) {
            return Some(StopLimit::Off);
        }
        let count = whole_number(&member.node, MOST);
        if count.is_none() {
            let expected = format!("a whole number from 1 to {MOST}, or `off`");
            self.wrong(key, member, &expected);
        }
        count.map(StopLimit::At)
    }
}

/// Returns whether a value switches a condition off: `off`, `null` or `false`, which is what some
/// programs make of an `off`.
fn is_off(node: &Node) -> bool {
    match &node.value {
        NodeValue::Null | NodeValue::Bool(false) => true,
        NodeValue::Text(text) => text == "off",
        NodeValue::Bool(true) | NodeValue::Number(_) | NodeValue::List(_) | NodeValue::Map(_) => {
            false
        }
    }
}

fn whole_number(node: &Node, most: u32) -> Option<u32> {
    match &node.value {
        NodeValue::Number(text) => text.parse().ok().filter(|count| (1..=most).contains(count)),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Text(_)
        | NodeValue::List(_)
        | NodeValue::Map(_) => None,
    }
}
