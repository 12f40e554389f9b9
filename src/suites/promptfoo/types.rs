//! What is known of promptfoo's keys and types: the tables of `types.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::domain::names::did_you_mean;
use crate::suites::log::FileLog;
use crate::text::node::NodeMap;
use crate::text::word_list::load;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    keys: BTreeMap<String, String>,
    types: IndexMap<String, AssertionType>,
}

/// How an assertion is compared here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AssertionType {
    pub(super) pattern: Option<String>,
    pub(super) is_regex: bool,
    pub(super) alone: Option<String>,
    pub(super) is_rubric: bool,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| load(include_str!("types.toml")));

pub(super) fn assertion_type(name: &str) -> Option<&'static AssertionType> {
    TABLES.types.get(name)
}

/// Returns the types that are read.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.types.keys().map(String::as_str)
}

pub(super) fn is_type(name: &str) -> bool {
    let mut types = names().chain(keys("other-types"));
    types.any(|known| known == name) || name.starts_with("not-")
}

pub(super) fn keys(list: &str) -> impl Iterator<Item = &'static str> {
    TABLES
        .keys
        .get(list)
        .map_or("", String::as_str)
        .split_whitespace()
}

/// Reports keys by which a case would not be what it says.
pub(super) fn check_keys(of: &str, map: &NodeMap, lists: &[&str], log: &FileLog) {
    let known = || lists.iter().copied().flat_map(keys);
    for (key, member) in map.iter().filter(|(_, member)| !member.is_null()) {
        // Of several assertions, all hold here anyway.
        let is_all = key == "threshold" && member.scalar().as_deref() == Some("1");
        if is_all || known().any(|known| known == key) {
            continue;
        }
        let is_deciding = keys("deciding").any(|other| other == key);
        let meant = did_you_mean(key, known().filter(|_| !is_deciding));
        if meant.is_empty() && !is_deciding {
            log.note(&format!("`{key}` of {of} is not used"));
        } else {
            let problem = format!("`{key}` of {of} cannot be applied here{meant}");
            log.add(member.line, problem);
        }
    }
}
