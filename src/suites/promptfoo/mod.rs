//! Configurations and test files of promptfoo: each test with each prompt is a case.

mod assertion;
mod template;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use self::template::{combinations, question_var};
use super::MAX_CASES;
use super::case::metadata_tags;
use super::log::FileLog;
use super::raw_case::{self, CaseFile, ParsedFile, RawCase, node_of, path_inside, set};
use crate::domain::names::did_you_mean;
use crate::files::{SizeLimit, resolved};
use crate::text::node::{Node, NodeMap, NodeValue};

/// Keys that only a configuration has.
const CONFIG_KEYS: &str = "prompts tests defaultTest scenarios";

/// Keys that say nothing of the cases.
const OTHER_CONFIG_KEYS: &str = "description providers targets evaluateOptions outputPath env \
                                 sharing tags commandLineOptions writeLatestResults metadata \
                                 $schema";

fn is_one_of(keys: &str, key: &str) -> bool {
    keys.split(' ').any(|known| known == key)
}

pub(super) fn is_config(map: &NodeMap) -> bool {
    CONFIG_KEYS.split(' ').any(|key| map.contains_key(key))
}

/// Returns whether a value is a test, or the name of a file of tests.
pub(super) fn is_test(node: &Node) -> bool {
    match &node.value {
        NodeValue::Map(map) => {
            map.contains_key("vars") || map.contains_key("assert") || has_expected_columns(node)
        }
        NodeValue::Text(text) => text.starts_with("file://"),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) => false,
    }
}

/// What holds for all tests.
#[derive(Default)]
struct Setup {
    /// Empty for a file of tests.
    prompts: Vec<String>,
    /// `defaultTest`.
    default: NodeMap,
}

/// Problems go to the log.
pub(super) fn cases_of_config(
    map: &NodeMap,
    line: usize,
    file: &CaseFile,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    for (key, member) in map {
        let key = key.as_str();
        if is_one_of(OTHER_CONFIG_KEYS, key) {
            if key == "providers" || key == "targets" {
                log.note(&format!("`{key}` is not used: choose the panel's models"));
            }
        } else if key == "scenarios" || !is_one_of(CONFIG_KEYS, key) {
            let known = CONFIG_KEYS.split(' ').chain(OTHER_CONFIG_KEYS.split(' '));
            let meant = did_you_mean(key, known.filter(|known| *known != key));
            log.add(
                member.line,
                format!("`{key}` of promptfoo is not read{meant}"),
            );
        }
    }
    let default = map.get("defaultTest").filter(|node| !node.is_null());
    if let Some(node) = default.filter(|node| node.as_map().is_none()) {
        log.add(node.line, "`defaultTest` must be a map of keys");
    }
    let setup = Setup {
        prompts: map
            .get("prompts")
            .map_or_else(Vec::new, |node| read_prompts(node, file, log)),
        default: default.and_then(Node::as_map).cloned().unwrap_or_default(),
    };
    let Some(tests) = map.get("tests") else {
        log.add(line, "there are no `tests`");
        return Vec::new();
    };
    let tests = read_tests(tests.elements(), file, log);
    cases(tests, &setup, log)
}

/// Problems go to the log.
pub(super) fn cases_of_tests(
    tests: &[Node],
    file: &CaseFile,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    let tests = read_tests(tests, file, log);
    cases(tests, &Setup::default(), log)
}

fn read_prompts(node: &Node, file: &CaseFile, log: &mut FileLog<'_>) -> Vec<String> {
    let mut prompts = Vec::new();
    for prompt in node.elements() {
        let raw = prompt.as_map().and_then(|map| map.get("raw"));
        let NodeValue::Text(text) = raw.map_or(&prompt.value, |member| &member.value) else {
            let problem = "a prompt must be a text, or a map with a `raw` one";
            log.add(prompt.line, problem);
            continue;
        };
        match prompt_text(text, file) {
            Ok(text) => prompts.push(text),
            Err(problem) => log.add(prompt.line, problem),
        }
    }
    prompts
}

/// The text may be in a file.
fn prompt_text(text: &str, file: &CaseFile) -> Result<String, String> {
    const ENDINGS: [&str; 7] = [".txt", ".md", ".json", ".yaml", ".js", ".py", ".j2"];
    if text.trim().is_empty() {
        return Err("a prompt is empty".to_owned());
    }
    let is_file = text.starts_with("file://")
        || !text.contains(char::is_whitespace)
            && ENDINGS.iter().any(|ending| text.ends_with(ending));
    let text = if is_file {
        let name = text.trim_start_matches("file://");
        if ![".txt", ".md"].iter().any(|ending| name.ends_with(ending)) {
            return Err(format!(
                "the prompt `{name}` is not read: only `.txt` and `.md` are"
            ));
        }
        path_inside(Path::new(name), &file.folder)
            .and_then(|path| resolved::read_text(&path, SizeLimit::SUITE))
            .map_err(|error| format!("the prompt `{name}` {}", raw_case::unusable(&error)))?
    } else {
        text.to_owned()
    };
    template::check(&text)?;
    if text.trim_start().starts_with('[') && text.contains("\"role\"") {
        return Err("prompts that are messages of a chat are not read".to_owned());
    }
    Ok(text)
}

/// Each with its file.
fn read_tests(nodes: &[Node], file: &CaseFile, log: &mut FileLog<'_>) -> Vec<RawCase> {
    let mut tests = Vec::new();
    for element in nodes {
        match &element.value {
            NodeValue::Text(name) => {
                let name = name.trim_start_matches("file://");
                tests.extend(tests_of_file(name, element.line, file, log));
            }
            _ => tests.push(file.case(element.clone())),
        }
    }
    tests
}

fn tests_of_file(name: &str, line: usize, file: &CaseFile, log: &mut FileLog<'_>) -> Vec<RawCase> {
    let content = file.sibling(Path::new(name)).and_then(|other| {
        let content = raw_case::content(&other, &mut log.of_file(&other.shown))?;
        Ok((content, other))
    });
    let (nodes, is_table, other) = match content {
        Ok((ParsedFile::List { nodes, is_table }, other)) => (nodes, is_table, other),
        Ok((ParsedFile::Document(node), other)) => (Vec::from_iter(node), false, other),
        unread => {
            let problem = match unread {
                Ok(_) => "is not read: only `.yaml`, `.json`, `.jsonl` and `.csv` are".to_owned(),
                Err(error) => raw_case::unusable(&error),
            };
            log.add(line, format!("the file of tests `{name}` {problem}"));
            return Vec::new();
        }
    };
    let test = |node: &Node| RawCase {
        is_table,
        ..other.case(node.clone())
    };
    nodes.iter().flat_map(Node::elements).map(test).collect()
}

/// The cases that tests have made so far: variables multiply them.
#[derive(Default)]
struct MadeCases {
    count: usize,
    bytes: usize,
}

impl MadeCases {
    fn add(&mut self, case: &Node) -> Result<(), String> {
        self.count += 1;
        self.bytes += case.text_length();
        let limit = if self.count > MAX_CASES {
            format!("{MAX_CASES} cases")
        } else if self.bytes as u64 > SizeLimit::SUITE.bytes() {
            format!("{} MB of text", SizeLimit::SUITE.bytes() >> 20)
        } else {
            return Ok(());
        };
        Err(format!(
            "with their variables, the tests make more than {limit}"
        ))
    }
}

fn cases(tests: Vec<RawCase>, setup: &Setup, log: &mut FileLog<'_>) -> Vec<RawCase> {
    let mut cases = Vec::new();
    let mut ids = BTreeSet::new();
    let mut all = MadeCases::default();
    for test in tests {
        let mut log = log.of_file(&test.file);
        let is_row = test.is_table || has_expected_columns(&test.node);
        let node = if is_row {
            of_row(&test.node)
        } else {
            test.node
        };
        let Some(map) = node.as_map() else {
            let _: Option<()> = log.wrong("a test", &node, "a map with `vars` and `assert`");
            continue;
        };
        let made = match cases_of_test(map, node.line, setup, &mut all, &mut log) {
            Ok(made) => made,
            Err(problem) => {
                log.add(node.line, problem);
                return Vec::new();
            }
        };
        let description = map.get("description").and_then(Node::as_word);
        let is_one = made.len() == 1;
        for case in made {
            // A description that is not unique is no id.
            let id = description.filter(|text| is_one && ids.insert((*text).to_owned()));
            cases.push(RawCase {
                id: id.map(str::to_owned),
                node: case,
                file: Arc::clone(&test.file),
                folder: Arc::clone(&test.folder),
                is_table: false,
            });
        }
    }
    cases
}

fn has_expected_columns(node: &Node) -> bool {
    let is_column = |key: &String| key.starts_with("__expected");
    node.as_map().is_some_and(|map| map.keys().any(is_column))
}

fn of_row(node: &Node) -> Node {
    let (mut vars, mut test) = (NodeMap::new(), NodeMap::new());
    let (mut assertions, mut metadata) = (Vec::new(), NodeMap::new());
    for (key, member) in node.as_map().into_iter().flatten() {
        if let Some(name) = key.strip_prefix("__metadata:") {
            metadata.insert(name.to_owned(), member.clone());
        } else if key.starts_with("__expected") {
            assertions.push(assertion::of_cell(member));
        } else if key == "__description" {
            test.insert("description".to_owned(), member.clone());
        } else if key.starts_with("__") {
            // Reported as an unknown key of the test.
            test.insert(key.clone(), member.clone());
        } else {
            vars.insert(key.clone(), member.clone());
        }
    }
    let line = node.line;
    set(&mut test, "vars", line, NodeValue::Map(vars));
    set(&mut test, "assert", line, NodeValue::List(assertions));
    set(&mut test, "metadata", line, NodeValue::Map(metadata));
    Node {
        line,
        value: NodeValue::Map(test),
    }
}

/// `None` if there is a problem, which is then in the log. The error says that the tests make too
/// many cases.
fn cases_of_test(
    test: &NodeMap,
    line: usize,
    setup: &Setup,
    made: &mut MadeCases,
    log: &mut FileLog<'_>,
) -> Result<Vec<Node>, String> {
    let before = log.problems();
    let mut wrapping = Wrapping::default();
    check_test(&setup.default, &mut wrapping, log);
    check_test(test, &mut wrapping, log);
    let both = |key: &'static str| {
        let maps = [&setup.default, test].into_iter();
        maps.filter_map(move |map| map.get(key))
    };
    let vars: NodeMap = both("vars")
        .filter_map(Node::as_map)
        .flat_map(Clone::clone)
        .collect();
    let assertions = both("assert").flat_map(Node::elements);
    let assertions: Vec<&Node> = assertions.filter(|node| !node.is_null()).collect();
    match assertions.as_slice() {
        [_] => {}
        [] => log.add(
            line,
            "the test has no assertion, so that every answer would be right",
        ),
        [_, second, ..] => log.add(
            second.line,
            "a case has one assertion, and this is the second; split the test",
        ),
    }
    let mut cases = Vec::new();
    let tags: Vec<String> = both("metadata").flat_map(metadata_tags).collect();
    for vars in combinations(&vars, line, log) {
        // Without prompts, a variable is the question.
        let prompts = setup.prompts.iter().map(Some);
        let variable = setup.prompts.is_empty().then_some(None);
        for prompt in prompts.chain(variable) {
            let question = match prompt {
                Some(prompt) => template::render(prompt, &vars),
                None => question_var(&vars),
            };
            let question = match question {
                Ok(question) => format!("{}{question}{}", wrapping.prefix, wrapping.suffix),
                Err(problem) => {
                    log.add(line, problem);
                    continue;
                }
            };
            let mut node = node_of(line, &json!({"question": question, "tags": tags}));
            if let (NodeValue::Map(case), [assertion, ..]) = (&mut node.value, &*assertions)
                && assertion::add(assertion, &vars, case, log).is_some()
            {
                made.add(&node)?;
                cases.push(node);
            }
        }
    }
    if log.problems() > before {
        cases.clear();
    }
    Ok(cases)
}

const TEST_KEYS: &str = "description vars assert metadata options provider providers";

/// Texts around each prompt.
#[derive(Default)]
struct Wrapping {
    prefix: String,
    suffix: String,
}

/// Checks that a test says nothing that would be lost.
fn check_test(map: &NodeMap, wrapping: &mut Wrapping, log: &mut FileLog<'_>) {
    for (key, member) in map {
        let is_null = member.is_null();
        match key.as_str() {
            "provider" | "providers" if !is_null => {
                log.note(&format!("`{key}` is not used: choose the panel's models"));
            }
            "vars" if !is_null && member.as_map().is_none() => {
                log.add(member.line, "`vars` must be a map of names");
            }
            "options" => check_options(member, wrapping, log),
            key if is_one_of(TEST_KEYS, key) || is_null => {}
            key => {
                let meant = did_you_mean(key, TEST_KEYS.split(' '));
                let problem = format!("`{key}` of a test cannot be applied here{meant}");
                log.add(member.line, problem);
            }
        }
    }
}

fn check_options(member: &Node, wrapping: &mut Wrapping, log: &mut FileLog<'_>) {
    for (key, option) in member.as_map().into_iter().flatten() {
        match (key.as_str(), &option.value) {
            ("prefix", NodeValue::Text(text)) => wrapping.prefix.clone_from(text),
            ("suffix", NodeValue::Text(text)) => wrapping.suffix.clone_from(text),
            ("provider", _) => {
                log.note("the grading `provider` is not used: see `grader`");
            }
            (_, NodeValue::Null) => {}
            _ => {
                let problem = format!("the option `{key}` cannot be applied here");
                log.add(option.line, problem);
            }
        }
    }
}
