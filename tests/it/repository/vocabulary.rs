//! The words of the code and of the messages: phrases that were given up do not come back, a type
//! name means one thing, and a folder shows few entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::source_tree::{files, relative, rust_files};

/// Phrases that are not used, in any case; a letter or digit beside them makes another word.
const UNUSED: [&str; 31] = [
    "nobody",
    "whoever",
    "whom",
    "anew",
    "is told",
    "are told",
    "was told",
    "told",
    "untold",
    "what became of",
    "go on with",
    "goes on with",
    "going on with",
    "gone on with",
    "clerk",
    "errand",
    "errands",
    "stand-in",
    "stand-ins",
    "stands in for",
    "standing in for",
    "mend",
    "mends",
    "mended",
    "mending",
    "casting",
    "recast",
    "purse",
    "second go",
    "lose patience",
    "end vainly",
];

/// What is checked.
const CHECKED: [&str; 7] = [
    "src",
    "docs",
    "prompts",
    "schemas",
    "README.md",
    "CHANGELOG.md",
    "fuzz/README.md",
];

/// Texts that keep their words, and the reason.
const FIXED: &[(&str, &str)] = &[
    ("prompts/", "prompts are versioned and hashed"),
    ("schemas/answers/", "models get these schemas"),
    (
        "src/agent_loop/signals/phrases/",
        "agents choose their words",
    ),
    (
        "src/agent_loop/signals/admissions/",
        "agents choose their words",
    ),
    (
        "src/records/index/migrations/",
        "a published migration never changes",
    ),
];

/// Lines that may use a phrase: a part of the line, and the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("rename = \"", "a name on the wire"),
    ("alias = \"", "a name on the wire"),
    ("\"casting\"", "a name on the wire"),
    ("\"clerk\"", "the id of the helper model on the wire"),
    ("written `clerk`", "the id of the helper model on the wire"),
    ("clerk/", "former names of templates"),
    ("answers/casting.json", "a published schema"),
    ("\"usage_told\"", "a name on the wire"),
    ("\"const\": \"mended\"", "a name on the wire"),
    ("\"nobody_there\"", "a name on the wire"),
    ("\"nobody_to_ask\"", "a name on the wire"),
];

/// Type names that several modules may define, and the reason.
const REPEATED_TYPES: &[(&str, &str)] = &[
    ("Args", "one for each command, always named with its module"),
    (
        "WireUsage",
        "one for each wire format, private to its codec",
    ),
];

/// The folders of the pipeline and above it, of which a reader sees all entries at once.
const SHORT_FOLDERS: [&str; 5] = ["consultation", "terminal", "commands", "setup", "session"];
const MAX_ENTRIES: usize = 14;

/// Returns the unused phrases in a line.
fn unused_phrases(line: &str) -> Vec<&'static str> {
    let line = line.to_lowercase();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let occurs = |phrase: &str| {
        line.match_indices(phrase).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + phrase.len()..].chars().next();
            !is_word(before) && !is_word(after)
        })
    };
    UNUSED.into_iter().filter(|phrase| occurs(phrase)).collect()
}

#[test]
fn unused_phrases_are_recognised_as_whole_words() {
    assert_eq!(unused_phrases("Nobody is here"), ["nobody"]);
    assert_eq!(unused_phrases("fn is_clerk()"), ["clerk"]);
    assert_eq!(unused_phrases("recommended, amended, clerks"), [""; 0]);
}

#[test]
fn given_up_phrases_do_not_come_back() {
    let mut found = Vec::new();
    for path in CHECKED.into_iter().flat_map(files) {
        let name = relative(&path);
        let is_text = Path::new(&name)
            .extension()
            .is_none_or(|ending| ending != "snap" && ending != "png")
            && !name.ends_with("models.json");
        let is_fixed = FIXED.iter().any(|(fixed, _)| name.starts_with(fixed));
        if !is_text || is_fixed {
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if ALLOWED.iter().any(|(part, _)| line.contains(part)) {
                continue;
            }
            for phrase in unused_phrases(line) {
                found.push(format!(
                    "{name}:{}: `{phrase}`: {}",
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn test_files_are_named_without_given_up_phrases() {
    for path in files("tests") {
        let name = relative(&path);
        let words = name.replace(['_', '/', '.'], " ");
        assert_eq!(unused_phrases(&words), [""; 0], "{name}");
    }
}

/// Returns the name of the type that a line defines at the top level of a module.
fn defined_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let is_indented = line.starts_with(' ');
    let keyword = words.find(|word| !word.starts_with("pub") && !word.ends_with(')'))?;
    let is_type = ["struct", "enum", "type", "trait"].contains(&keyword);
    let name = words.next().filter(|_| is_type && !is_indented)?;
    name.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn type_names_are_not_defined_in_three_modules() {
    let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in rust_files("src") {
        for name in text.lines().filter_map(defined_type) {
            let name = name.to_owned();
            modules.entry(name).or_default().push(path.clone());
        }
    }
    assert!(modules.len() > 100, "types are not recognised");
    let is_allowed = |name: &str| REPEATED_TYPES.iter().any(|(allowed, _)| *allowed == name);
    for (name, modules) in modules {
        assert!(
            modules.len() < 3 || is_allowed(&name),
            "`{name}`: {modules:?}"
        );
    }
}

#[test]
fn folders_show_few_entries() {
    for folder in SHORT_FOLDERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(folder);
        let entries = fs::read_dir(path).unwrap().count();
        assert!(entries <= MAX_ENTRIES, "src/{folder}: {entries} entries");
    }
}
