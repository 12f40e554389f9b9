//! A manifest: the suite it names, what holds for its cases, and the settings of its runs.

use crate::consultation::policy::mode::Mode;
use crate::domain::answer::confidence::Confidence;

use super::case::CaseDefaults;
use super::log::FileLog;
use super::matcher;
use super::shapes::{FieldMap, field_pair};
use super::suite::{StopLimit, StopSettings, SuiteSettings};
use crate::text::node::{Node, NodeMap, NodeValue};

const KEYS: &str = "name description suite cases fields question match panel personas models judge single \
                    grader mode rounds attempts_per_case jobs retry $schema";

const CONDITIONS: &str = "max_retry_rate max_reject_rate max_consecutive_fails max_total_attempts \
                          min_items window";

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
    /// What the fields of its rows are.
    pub(super) fields: FieldMap,
    pub(super) defaults: CaseDefaults,
    pub(super) settings: SuiteSettings,
}

/// Returns whether a document names or has cases, or has nothing but keys of a manifest.
pub(super) fn is(map: &NodeMap) -> bool {
    let is_key = |key: &String| KEYS.split(' ').any(|known| known == key);
    map.contains_key("suite") || map.contains_key("cases") || map.keys().all(is_key)
}

/// Problems go to the log.
pub(super) fn read(map: &NodeMap, log: &FileLog) -> Manifest {
    log.check_keys("a manifest", map, KEYS);
    let keys = Keys { map, log };
    let suite = keys
        .get("suite")
        .and_then(|node| Some((keys.text("suite")?, node.line)));
    let cases = keys.read("cases", "a list", |node| match &node.value {
        NodeValue::List(cases) => Some(cases.clone()),
        _ => None,
    });
    if let (Some(_), Some(member)) = (&suite, keys.get("cases")) {
        log.add(member.line, "a manifest has either `suite` or `cases`");
    }
    Manifest {
        name: keys.text("name"),
        suite,
        cases,
        fields: keys.fields(),
        defaults: CaseDefaults {
            question: keys.text("question"),
            matcher: keys.get("match").and_then(|node| matcher::read(node, log)),
        },
        settings: SuiteSettings {
            panel: keys.list("panel").map(|entries| entries.join(",")),
            personas: keys.list("personas").map(|entries| entries.join(",")),
            models: keys.list("models").unwrap_or_default(),
            judge: keys.text("judge"),
            single: keys.text("single"),
            grader: keys.text("grader"),
            mode: keys.read("mode", "`converge` or `explore`", |node| {
                match node.as_word()? {
                    "converge" => Some(Mode::Converge),
                    "explore" => Some(Mode::Explore),
                    _ => None,
                }
            }),
            rounds: keys.count("rounds", 4),
            attempts_per_case: keys.count("attempts_per_case", 10),
            jobs: keys.count("jobs", 1000),
            stop_conditions: keys.stop_conditions(),
        },
    }
}

/// The keys of a map, with the log of their problems.
#[derive(Clone, Copy)]
struct Keys<'a> {
    map: &'a NodeMap,
    log: &'a FileLog,
}

impl<'a> Keys<'a> {
    /// `null` counts as absent.
    fn get(self, key: &str) -> Option<&'a Node> {
        let member = self.map.get(key)?;
        (!member.is_null()).then_some(member)
    }

    /// Reports a value, and returns that there is none.
    fn wrong<T>(self, key: &str, member: &Node, expected: &str) -> Option<T> {
        let problem = format!("`{key}` is {}, but must be {expected}", member.described());
        self.log.refuse(member.line, problem)
    }

    /// Reports one of another kind.
    fn read<T>(self, key: &str, expected: &str, read: impl Fn(&'a Node) -> Option<T>) -> Option<T> {
        let member = self.get(key)?;
        read(member).or_else(|| self.wrong(key, member, expected))
    }

    fn text(self, key: &str) -> Option<String> {
        self.read(key, "a text", |member| match &member.value {
            NodeValue::Text(_) => member.as_word().map(str::to_owned),
            _ => None,
        })
    }

    /// A text is one of a single entry.
    fn list(self, key: &str) -> Option<Vec<String>> {
        let member = self.get(key)?;
        match &member.value {
            NodeValue::List(_) => Some(matcher::texts(key, member, self.log)),
            _ => self.text(key).map(|text| vec![text]),
        }
    }

    fn count<T: TryFrom<u32>>(self, key: &str, most: u32) -> Option<T> {
        let expected = format!("a whole number from 1 to {most}");
        self.read(key, &expected, |node| {
            T::try_from(whole_number(node, most)?).ok()
        })
    }

    fn fields(self) -> FieldMap {
        let map = self.read("fields", "a map of fields", Node::as_map);
        let mut fields = FieldMap::new();
        for (of, member) in map.into_iter().flatten() {
            let names: Option<Vec<&str>> = member.elements().iter().map(Node::as_word).collect();
            match field_pair(&format!("{of}={}", names.unwrap_or_default().join(","))) {
                Ok((of, name)) => drop(fields.insert(of, name)),
                Err(problem) => self.log.add(member.line, format!("`fields`: {problem}")),
            }
        }
        fields
    }

    fn stop_conditions(self) -> StopSettings {
        let retry = self.section("retry", "stop_conditions");
        let Some(keys) = retry.and_then(|retry| retry.section("stop_conditions", CONDITIONS))
        else {
            return StopSettings::default();
        };
        let count = |node: &Node| whole_number(node, MOST).map(u64::from);
        let counts = format!("a whole number from 1 to {MOST}");
        let share = |node: &Node| node.as_number().and_then(Confidence::new);
        let shares = "a share from 0 to 1";
        StopSettings {
            max_retry_rate: keys.limit("max_retry_rate", share, shares),
            max_reject_rate: keys.limit("max_reject_rate", share, shares),
            max_consecutive_fails: keys.limit("max_consecutive_fails", count, &counts),
            max_total_attempts: keys.limit("max_total_attempts", count, &counts),
            min_items: keys.count("min_items", MOST),
            window: keys.count("window", MOST),
        }
    }

    fn section(self, key: &str, known: &str) -> Option<Self> {
        let map = self.read(key, "a map of keys", Node::as_map)?;
        self.log.check_keys(&format!("`{key}`"), map, known);
        Some(Self { map, ..self })
    }

    /// `off`, `null` and `false` switch the limit off: some programs turn an `off` into `false`.
    fn limit<T>(
        self,
        key: &str,
        read: impl Fn(&Node) -> Option<T>,
        expected: &str,
    ) -> Option<StopLimit<T>> {
        let member = self.map.get(key)?;
        let is_off = match &member.value {
            NodeValue::Text(text) => text == "off",
            value => matches!(value, NodeValue::Null | NodeValue::Bool(false)),
        };
        if is_off {
            return Some(StopLimit::Off);
        }
        let limit = read(member).map(StopLimit::At);
        limit.or_else(|| self.wrong(key, member, &format!("{expected}, or `off`")))
    }
}

fn whole_number(node: &Node, most: u32) -> Option<u32> {
    match &node.value {
        NodeValue::Number(text) => text.parse().ok().filter(|count| (1..=most).contains(count)),
        _ => None,
    }
}
