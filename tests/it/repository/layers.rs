//! Checks the dependency rule of `lib.rs`: the layers that each folder may use, and names that the
//! pure layers must not contain.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::source_tree::{files, relative, rust_files};

/// The folders of this crate, each with the others that it may use.
const MAY_USE: &str = "
    text:
    domain: text
    scrub: domain text
    stopping: domain text
    consultation: domain text stopping
    benchmark: domain text stopping consultation
    refinement: domain text stopping consultation
    files: domain text
    engine: domain text stopping consultation
    providers: domain text stopping consultation files engine
    context: domain text files
    agent_loop: domain text stopping files
    suites: domain text stopping consultation benchmark files
    records: domain text stopping consultation benchmark refinement files engine
    config: domain text stopping consultation files
    fleet: domain text stopping consultation files engine
    setup: domain text scrub stopping consultation benchmark files engine providers context \
        agent_loop suites records config error
    session: domain text scrub stopping consultation benchmark refinement files engine providers \
        context agent_loop suites records config fleet setup error
    terminal: domain text stopping consultation benchmark refinement files engine setup session
    commands: domain text scrub stopping consultation benchmark refinement files engine providers \
        context agent_loop suites records config fleet setup session terminal error
    error.rs:
";

/// More are not seen at a glance.
const MAX_ENTRIES: usize = 14;

/// Names that the pure layers must not contain: runtime, network, files, environment, clock,
/// unseeded randomness and terminal.
const IMPURE: [&str; 16] = [
    "tokio::",
    "reqwest::",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "rand::",
    "fastrand::",
    "Rng::new",
    "println!",
    "console::",
];

#[test]
fn folders_use_only_the_layers_below() {
    let mut violations = Vec::new();
    for row in MAY_USE.lines().filter(|row| !row.trim().is_empty()) {
        let (folder, allowed) = row.trim().split_once(':').unwrap();
        let own = folder.trim_end_matches(".rs");
        for (path, text) in rust_files(&format!("src/{folder}")) {
            for used in uses_of_this_crate(&text) {
                // Tests everywhere compare what is printed with its published schema.
                if used != own && used != "schema" && !allowed.split(' ').any(|name| name == used) {
                    violations.push(format!("{path} uses crate::{used}"));
                }
            }
        }
    }
    assert_eq!(violations, Vec::<String>::new());
}

/// The wings stand side by side in `src`, and `lib.rs` has their table.
#[test]
fn folders_have_at_most_fourteen_entries() {
    let paths = ["src", "tests/it"].into_iter().flat_map(files);
    let paths: Vec<String> = paths.map(|path| relative(&path)).collect();
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in &paths {
        for (end, _) in path.match_indices('/') {
            let entry = path[end + 1..].split('/').next().unwrap();
            folders.entry(&path[..end]).or_default().insert(entry);
        }
    }
    let is_crowded = |(folder, entries): &(&str, BTreeSet<&str>)| {
        let counted = entries.iter().filter(|entry| **entry != "snapshots");
        *folder != "src" && !folder.ends_with("snapshots") && counted.count() > MAX_ENTRIES
    };
    let crowded: Vec<_> = folders.into_iter().filter(is_crowded).collect();
    assert_eq!(crowded, []);
}

#[test]
fn pure_layers_name_nothing_impure() {
    let mut violations = Vec::new();
    for folder in [
        "domain",
        "text",
        "scrub",
        "stopping",
        "consultation",
        "benchmark",
        "refinement",
    ] {
        for (path, text) in rust_files(&format!("src/{folder}")) {
            if is_of_tests(&module_path(&path)) {
                continue;
            }
            violations.extend(
                IMPURE
                    .iter()
                    .filter(|name| names(&text, name))
                    .map(|name| format!("{path} names {name}")),
            );
        }
    }
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn only_the_printer_prints_and_only_config_reads_the_environment() {
    for (path, text) in rust_files("src") {
        if path != "src/terminal/output/printer.rs" {
            assert!(!text.contains("io::stdout()"), "{path} prints");
            assert!(!text.contains("io::stderr()"), "{path} prints");
        }
        if !path.starts_with("src/config/") {
            assert!(!text.contains("env::var"), "{path} reads the environment");
        }
    }
}

#[test]
fn only_records_name_the_database() {
    for (path, text) in rust_files("src") {
        if !path.starts_with("src/records/") {
            assert!(!text.contains("rusqlite"), "{path} names rusqlite");
        }
    }
}

fn names(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.match_indices(name).any(|(at, _)| {
                !line
                    .split_at(at)
                    .0
                    .ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
        })
}

fn uses_of_this_crate(text: &str) -> Vec<String> {
    let first_word = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| {
            line.match_indices("crate::")
                .map(|(at, prefix)| first_word(line.split_at(at + prefix.len()).1))
                .collect::<Vec<_>>()
        })
        .filter(|used| !used.is_empty())
        .collect()
}

#[test]
fn no_sibling_imports_a_sibling_that_imports_it() {
    let mut circles = Vec::new();
    for (folder, graph) in sibling_graphs() {
        for (sibling, imports) in &graph {
            for import in imports {
                if reaches(&graph, import, sibling) {
                    let folder = folder.join("::");
                    circles.push(format!("{folder}: {sibling} -> {import} -> … -> {sibling}"));
                }
            }
        }
    }
    assert_eq!(circles, Vec::<String>::new());
}

/// The names of siblings, each with those that it imports.
type SiblingGraph = BTreeMap<String, BTreeSet<String>>;

/// Returns the imports among the siblings of each folder, where a folder with all that is in it is
/// one sibling. A module and its own parents may name each other.
fn sibling_graphs() -> BTreeMap<Vec<String>, SiblingGraph> {
    let modules: BTreeMap<Vec<String>, String> = rust_files("src")
        .into_iter()
        .map(|(path, text)| {
            let module = module_path(path.trim_start_matches("src/"));
            (module, without_tests_and_comments(&text))
        })
        .collect();
    let mut graphs: BTreeMap<Vec<String>, SiblingGraph> = BTreeMap::new();
    for (module, text) in modules.iter().filter(|(module, _)| !is_of_tests(module)) {
        for path in named_paths(module, text) {
            let named = (0..=path.len())
                .rev()
                .map(|length| &path[..length])
                .find(|path| modules.contains_key(*path));
            let Some(named) = named.filter(|named| !is_of_tests(named)) else {
                continue;
            };
            let shared = module.iter().zip(named).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(shared), named.get(shared)) {
                let graph = graphs.entry(module[..shared].to_vec()).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    graphs
}

fn module_path(file: &str) -> Vec<String> {
    let mut parts: Vec<String> = file
        .trim_end_matches(".rs")
        .split('/')
        .map(ToOwned::to_owned)
        .collect();
    match parts.last().map(String::as_str) {
        Some("mod") => drop(parts.pop()),
        Some("lib") if parts.len() == 1 => parts.clear(),
        _ => {}
    }
    parts
}

/// Tests use whatever they need.
fn is_of_tests(module: &[String]) -> bool {
    let of_tests = ["tests", "properties", "samples", "rule_cases"];
    module.iter().any(|part| of_tests.contains(&part.as_str()))
}

/// Leaves out comments and everything from the unit tests on.
fn without_tests_and_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines()
        .map(|line| line.split("//").next().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the paths from the root of the crate that a module names: imports, with their groups
/// expanded, and inline paths.
fn named_paths(module: &[String], text: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for statement in text.split(';') {
        let Some(at) = statement.find("use ") else {
            continue;
        };
        let tree: String = statement[at + 4..]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join("");
        for path in expand(&tree) {
            paths.extend(absolute(module, &path));
        }
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            let path: String = text[at..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':'))
                .collect();
            paths.extend(absolute(module, &path));
        }
    }
    paths
}

/// Expands the groups of an import: `a::{b, c::d}` into `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut items, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            items.push(String::new());
        } else {
            items.last_mut().unwrap().push(c);
        }
    }
    items
        .iter()
        .filter(|item| !item.is_empty())
        .flat_map(|item| expand(&format!("{prefix}{item}")))
        .collect()
}

fn absolute(module: &[String], path: &str) -> Option<Vec<String>> {
    let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
    let mut base = match *parts.peek()? {
        "crate" => {
            parts.next();
            Vec::new()
        }
        "self" => {
            parts.next();
            module.to_vec()
        }
        "super" => module.to_vec(),
        _ => return None,
    };
    while parts.next_if_eq(&"super").is_some() {
        base.pop();
    }
    base.extend(parts.map(ToOwned::to_owned));
    Some(base)
}

fn reaches(graph: &SiblingGraph, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(sibling) = open.pop() {
        if sibling == to {
            return true;
        }
        if seen.insert(sibling) {
            open.extend(graph.get(sibling).into_iter().flatten().map(String::as_str));
        }
    }
    false
}
