//! Configurations and test files of promptfoo: each test with each prompt is a case.

mod assertion;
mod files;
mod template;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use self::template::{combinations, question_var};
use super::case::metadata_tags;
use super::log::FileLog;
use super::raw_case::{self, CaseFile, ParsedFile, RawCase, node_of, set};
use crate::domain::names::did_you_mean;
use crate::files::SizeLimit;
use crate::text::node::{Node, NodeMap, NodeValue, json, yaml};

/// The name of this form in announcements.
const SHAPE: &str = "promptfoo";

/// Keys of a configuration, and all keys that say nothing of its cases.
const CONFIG_KEYS: &str = "prompts tests defaultTest";
const OTHER_CONFIG_KEYS: &str = "assertionTemplates description evaluateOptions outputPath env \
                                 sharing tags commandLineOptions writeLatestResults metadata \
                                 extensions tracing $schema";

/// Keys of a test and its options.
const TEST_KEYS: &str = "description vars assert metadata options";
const OPTIONS: &str = "prefix suffix";

/// Keys that would change what is asked or how it is compared.
const DECIDING: &str = "scenarios nunjucksFilters threshold prompts assertScoringFunction \
                        storeOutputAs transform transformVars postprocess rubricPrompt \
                        disableVarExpansion disableDefaultAsserts config \
                        contextTransform __threshold __prefix __suffix";

/// What a case takes at least of the room for all.
const BYTES_OF_CASE: usize = 640;

/// Reports keys by which a case would not be what it says.
fn check_keys(of: &str, map: &NodeMap, known: &[&str], log: &mut FileLog<'_>) {
    let is_one_of = |keys: &str, key: &str| keys.split(' ').any(|known| known == key);
    for (key, member) in map.iter().filter(|(_, member)| !member.is_null()) {
        if known.iter().any(|keys| is_one_of(keys, key)) {
            continue;
        }
        let meant = did_you_mean(key, known.iter().flat_map(|keys| keys.split(' ')));
        if meant.is_empty() && !is_one_of(DECIDING, key) {
            log.note(&format!("`{key}` of {of} is not used"));
        } else {
            log.add(
                member.line,
                format!("`{key}` of {of} cannot be applied here{meant}"),
            );
        }
    }
}

/// Other programs have `tests` too, which are rows.
pub(super) fn is_config(map: &NodeMap) -> bool {
    let mut keys = CONFIG_KEYS.split(' ').chain(["scenarios"]);
    keys.any(|key| match map.get(key) {
        Some(tests) if key == "tests" => {
            let is_name = |node: &Node| node.as_word().is_some();
            tests
                .elements()
                .iter()
                .any(|node| is_test(node) || is_name(node))
        }
        found => found.is_some(),
    })
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
    /// Texts, or messages of a chat; empty for a file of tests.
    prompts: Vec<Node>,
    /// `defaultTest`.
    default: NodeMap,
    /// `assertionTemplates`, by their names.
    templates: NodeMap,
}

/// Problems go to the log.
pub(super) fn cases_of_config(
    map: &NodeMap,
    line: usize,
    file: &CaseFile,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    log.recognise(SHAPE);
    check_keys(SHAPE, map, &[CONFIG_KEYS, OTHER_CONFIG_KEYS], log);
    let list = |key: &str| {
        map.get(key)
            .filter(|node| !node.is_null())
            .map_or(&[][..], Node::elements)
    };
    let default = read_tests(list("defaultTest"), file, log).pop();
    let default = default.and_then(|test| test.0.as_map().cloned());
    if default.is_none() && !list("defaultTest").is_empty() {
        log.add(line, "`defaultTest` must be a map of keys");
    }
    let templates = map.get("assertionTemplates").and_then(Node::as_map);
    let setup = Setup {
        prompts: read_prompts(list("prompts"), file, log),
        default: default.unwrap_or_default(),
        templates: templates.cloned().unwrap_or_default(),
    };
    if list("tests").is_empty() {
        log.add(line, "there are no `tests`");
    }
    let tests = read_tests(list("tests"), file, log);
    cases(tests, &setup, log)
}

/// Lays a test over what holds for several: variables, options and metadata by their names, and
/// all assertions.
fn merged(under: &NodeMap, over: &NodeMap) -> NodeMap {
    let mut both = under.clone();
    for (key, node) in over.iter().filter(|(_, node)| !node.is_null()) {
        let line = node.line;
        let value = match (both.get(key).map(|node| &node.value), &node.value) {
            (Some(NodeValue::Map(under)), NodeValue::Map(over)) => {
                let mut both = under.clone();
                both.extend(over.clone());
                NodeValue::Map(both)
            }
            (Some(NodeValue::List(under)), NodeValue::List(over)) => {
                NodeValue::List([&under[..], over].concat())
            }
            _ => node.value.clone(),
        };
        both.insert(key.clone(), Node { line, value });
    }
    both
}

/// Problems go to the log.
pub(super) fn cases_of_tests(
    tests: &[Node],
    file: &CaseFile,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    log.recognise(SHAPE);
    let tests = read_tests(tests, file, log);
    cases(tests, &Setup::default(), log)
}

fn read_prompts(nodes: &[Node], file: &CaseFile, log: &mut FileLog<'_>) -> Vec<Node> {
    let mut prompts = Vec::new();
    for prompt in nodes {
        let line = prompt.line;
        let member = |key: &str| prompt.as_map().and_then(|map| map.get(key));
        let text = member("raw").or_else(|| member("id")).unwrap_or(prompt);
        match &text.value {
            NodeValue::Text(text) if !text.trim().is_empty() => match prompt_texts(text, file) {
                Ok(texts) => prompts.extend(texts.iter().map(|text| prompt_node(text, line))),
                Err(problem) => log.add(line, problem),
            },
            _ => log.add(line, "a prompt must be a text, or a map with a `raw` one"),
        }
    }
    prompts
}

/// The texts may be in files.
fn prompt_texts(text: &str, file: &CaseFile) -> Result<Vec<String>, String> {
    const ENDINGS: [&str; 6] = [".txt", ".md", ".json", ".yaml", ".yml", ".j2"];
    let is_name = ENDINGS.iter().any(|ending| text.ends_with(ending)) || files::is_program(text);
    if !text.starts_with("file://") && (!is_name || text.contains(char::is_whitespace)) {
        return Ok(vec![text.to_owned()]);
    }
    let mut texts = Vec::new();
    for name in files::expanded(text.trim_start_matches("file://"), &file.folder) {
        let text = files::read(&name, file).map_err(|why| format!("the prompt `{name}` {why}"))?;
        // A line of hyphens separates the prompts of a plain text.
        let is_plain = Path::new(&name)
            .extension()
            .is_some_and(|ending| ending == "txt");
        let mark = if is_plain { "\n---\n" } else { "\0" };
        texts.extend(text.split(mark).map(str::to_owned));
    }
    Ok(texts)
}

/// A text, or the messages that it holds as JSON or YAML.
fn prompt_node(text: &str, line: usize) -> Node {
    let is_message = |node: &Node| node.as_map().is_some_and(|map| map.contains_key("role"));
    let parse = || {
        json::parse(text)
            .ok()
            .flatten()
            .or_else(|| yaml::parse(text).ok()?)
    };
    let messages = text.contains("role").then(parse).flatten();
    let messages = messages.filter(|node| node.elements().iter().all(is_message));
    messages.map_or_else(|| Node::text(line, text), |node| node.at_line(line))
}

/// Each with its file.
fn read_tests(nodes: &[Node], file: &CaseFile, log: &mut FileLog<'_>) -> Vec<Test> {
    let mut tests = Vec::new();
    for element in nodes {
        let path = element.as_map().and_then(|map| map.get("path"));
        match &path.unwrap_or(element).value {
            NodeValue::Text(name) => {
                let name = name.trim_start_matches("file://");
                for name in files::expanded(name, &file.folder) {
                    tests.extend(tests_of_file(&name, element.line, file, log));
                }
            }
            _ => tests.push((element.clone(), file.clone())),
        }
    }
    tests
}

fn tests_of_file(name: &str, line: usize, file: &CaseFile, log: &mut FileLog<'_>) -> Vec<Test> {
    let content = file.sibling(Path::new(name)).and_then(|other| {
        let content = raw_case::content(&other, &mut log.of_file(&other.shown))?;
        Ok((content, other))
    });
    let problem = match content {
        Ok((ParsedFile::List { nodes, is_table }, other)) => {
            let test = |node: &Node| if is_table { of_row(node) } else { node.clone() };
            return nodes
                .iter()
                .map(|node| (test(node), other.clone()))
                .collect();
        }
        Ok((ParsedFile::Document(node), other)) => {
            let tests = node.as_ref().map_or(&[][..], Node::elements).iter();
            return tests.map(|node| (node.clone(), other.clone())).collect();
        }
        Ok(_) => "is not read: only `.yaml`, `.json`, `.jsonl` and `.csv` are".to_owned(),
        Err(error) => raw_case::unusable(&error),
    };
    log.add(line, format!("the file of tests `{name}` {problem}"));
    Vec::new()
}

/// A test and its file.
type Test = (Node, CaseFile);

fn cases(tests: Vec<Test>, setup: &Setup, log: &mut FileLog<'_>) -> Vec<RawCase> {
    let mut cases = Vec::new();
    let mut ids = BTreeSet::new();
    let total = tests.len();
    let mut unasserted = 0;
    let mut room = SizeLimit::SUITE.bytes();
    for (mut node, file) in tests {
        let mut log = log.of_file(&file.shown);
        if has_expected_columns(&node) {
            node = of_row(&node);
        }
        let Some(map) = node.as_map() else {
            let _: Option<()> = log.wrong("a test", &node, "a map with `vars` and `assert`");
            continue;
        };
        let map = &merged(&setup.default, map);
        let made = cases_of_test(map, node.line, setup, &file, &mut room, &mut log);
        if room == 0 {
            let mb = SizeLimit::SUITE.bytes() >> 20;
            let problem = format!("with their variables, the tests make more than {mb} MB of text");
            log.add(node.line, problem);
            return Vec::new();
        }
        let Some(made) = made else {
            unasserted += 1;
            continue;
        };
        let description = map.get("description").and_then(Node::as_word);
        let is_one = made.len() == 1;
        for case in made {
            // A description that is not unique is no id.
            let id = description.filter(|text| is_one && ids.insert((*text).to_owned()));
            cases.push(RawCase {
                id: id.map(str::to_owned),
                ..file.case(case)
            });
        }
    }
    if unasserted > 0 {
        let why = "have no assertion that compares an answer, so that every answer would be right";
        if unasserted == total {
            log.add(0, format!("the tests {why}"));
        } else {
            log.note(&format!(
                "{unasserted} of {total} tests are left out: they {why}"
            ));
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
    Node::map(line, test)
}

/// `None` without an assertion; empty if there is a problem, which is then in the log. Takes the
/// room that its cases need: variables multiply them.
fn cases_of_test(
    test: &NodeMap,
    line: usize,
    setup: &Setup,
    file: &CaseFile,
    room: &mut u64,
    log: &mut FileLog<'_>,
) -> Option<Vec<Node>> {
    let before = log.problems();
    check_keys("a test", test, &[TEST_KEYS], log);
    let member = |key: &str| test.get(key).filter(|node| !node.is_null());
    let options = member("options")
        .and_then(Node::as_map)
        .cloned()
        .unwrap_or_default();
    check_keys("`options`", &options, &[OPTIONS], log);
    let around = |key: &str| options.get(key).and_then(Node::scalar).unwrap_or_default();
    if let Some(vars) = member("vars").filter(|vars| vars.as_map().is_none()) {
        log.add(vars.line, "`vars` must be a map of names");
    }
    let assertions = member("assert").map_or(&[][..], Node::elements);
    let assertions = assertion::compared(assertions, &setup.templates, log);
    if assertions.is_empty() && log.problems() == before {
        return None;
    }
    let mut cases = Vec::new();
    let tags: Vec<String> = member("metadata").map_or_else(Vec::new, metadata_tags);
    let vars = member("vars")
        .and_then(Node::as_map)
        .cloned()
        .unwrap_or_default();
    for vars in combinations(&vars, line, file, log) {
        // Without prompts, a variable is the question.
        let has_prompts = !setup.prompts.is_empty();
        let variable = question_var(&vars, line).filter(|_| !has_prompts);
        if !has_prompts && variable.is_none() {
            let problem = "there is no prompt, and no variable `question` or `input`";
            log.add(line, problem);
        }
        for prompt in setup.prompts.iter().chain(&variable) {
            let question = match &prompt.value {
                NodeValue::Text(words) => {
                    Node::text(line, around("prefix") + words + &around("suffix"))
                }
                _ => prompt.clone(),
            };
            let question = match template::render_all(&question, &vars) {
                Ok(question) => question.at_line(line).value,
                Err(problem) => {
                    log.add(line, problem);
                    continue;
                }
            };
            let mut node = node_of(line, &json!({"tags": tags}));
            if let NodeValue::Map(case) = &mut node.value {
                set(case, "question", line, question);
                if assertion::add(&assertions, &vars, case, log).is_some() {
                    // Many small cases take as much as a suite of them may.
                    let length = node.text_length().max(BYTES_OF_CASE) as u64;
                    *room = room.saturating_sub(length);
                    if *room == 0 {
                        return None;
                    }
                    cases.push(node);
                }
            }
        }
    }
    if log.problems() > before {
        cases.clear();
    }
    Some(cases)
}
