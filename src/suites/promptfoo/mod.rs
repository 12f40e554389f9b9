//! Configurations and test files of promptfoo: each test with each prompt is a case.

mod types;
mod assertion;
mod files;
mod template;

use std::collections::BTreeSet;
use std::path::Path;

use self::template::{Vars, combinations, question_var};
use self::types::{check_keys, keys};
use super::case::metadata_tags;
use super::case_file::unusable;
use super::content::{self, ParsedFile};
use super::log::FileLog;
use super::raw_case::RawCase;
use crate::files::SizeLimit;
use crate::text::node::{Node, NodeMap, NodeValue, json, yaml};

/// The name of this form in announcements.
const SHAPE: &str = "promptfoo";

/// What a case takes at least of the room for all.
const BYTES_OF_CASE: usize = 640;

/// Other programs have `tests` too, which are rows.
pub(super) fn is_config(map: &NodeMap) -> bool {
    let is_entry = |node: &Node| is_test(node) || node.as_word().is_some();
    let mut others = keys("config").filter(|key| *key != "tests");
    list(map, "tests").iter().any(is_entry) || others.any(|key| map.contains_key(key))
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

/// A test, with the log of its file.
type Test = (Node, FileLog);

/// Returns the values of a key; none if it is absent.
fn list<'a>(map: &'a NodeMap, key: &str) -> &'a [Node] {
    let member = map.get(key).filter(|node| !node.is_null());
    member.map_or(&[], Node::elements)
}

fn inner(map: &NodeMap, key: &str) -> NodeMap {
    let member = map.get(key).and_then(Node::as_map);
    member.cloned().unwrap_or_default()
}

pub(super) fn cases_of_config(map: &NodeMap, line: usize, log: &FileLog) -> Vec<RawCase> {
    check_keys(SHAPE, map, &["config", "silent"], log);
    let default = read_tests(list(map, "defaultTest"), log).pop();
    let default = default.map(|(test, _)| test.as_map().cloned());
    let setup = Setup {
        prompts: read_prompts(list(map, "prompts"), log),
        default: default.map_or_else(NodeMap::new, |default| {
            default.unwrap_or_else(|| log.refuse(line, "`defaultTest` must be a map of keys"))
        }),
        templates: inner(map, "assertionTemplates"),
    };
    let mut tests = read_tests(list(map, "tests"), log);
    tests.extend(tests_of_scenarios(map, log));
    if tests.is_empty() {
        log.add(line, "there are no `tests`");
    }
    cases(tests, &setup, log)
}

pub(super) fn cases_of_tests(tests: &[Node], log: &FileLog) -> Vec<RawCase> {
    cases(read_tests(tests, log), &Setup::default(), log)
}

/// Each test of a scenario with each of its configurations.
fn tests_of_scenarios(map: &NodeMap, log: &FileLog) -> Vec<Test> {
    let mut all = Vec::new();
    for (scenario, log) in read_tests(list(map, "scenarios"), log) {
        let scenario = scenario.as_map().cloned().unwrap_or_default();
        let tests = read_tests(list(&scenario, "tests"), &log);
        for (config, _) in read_tests(list(&scenario, "config"), &log) {
            let config = config.as_map().cloned().unwrap_or_default();
            let over = tests.iter().map(|(test, log)| {
                let node = test
                    .as_map()
                    .map(|map| Node::map(test.line, merged(&config, map)));
                (node.unwrap_or_else(|| test.clone()), log.clone())
            });
            all.extend(over);
        }
    }
    all
}

/// Lays a test over what holds for several: variables, options and metadata by their names, and
/// all assertions.
fn merged(under: &NodeMap, over: &NodeMap) -> NodeMap {
    let mut both = under.clone();
    for (key, node) in over.iter().filter(|(_, node)| !node.is_null()) {
        let value = match (both.get(key).map(|under| &under.value), &node.value) {
            (Some(NodeValue::Map(under)), NodeValue::Map(over)) => {
                let members = under.clone().into_iter().chain(over.clone());
                NodeValue::Map(members.collect())
            }
            (Some(NodeValue::List(under)), NodeValue::List(over)) => {
                NodeValue::List([&under[..], over].concat())
            }
            (_, value) => value.clone(),
        };
        let line = node.line;
        both.insert(key.clone(), Node { line, value });
    }
    both
}

fn read_prompts(nodes: &[Node], log: &FileLog) -> Vec<Node> {
    let mut prompts = Vec::new();
    for prompt in nodes {
        let line = prompt.line;
        let member = |key: &str| prompt.as_map().and_then(|map| map.get(key));
        let text = member("raw").or_else(|| member("id")).unwrap_or(prompt);
        match &text.value {
            NodeValue::Text(text) if !text.trim().is_empty() => match prompt_texts(text, log) {
                Ok(texts) => prompts.extend(texts.iter().map(|text| prompt_node(text, line))),
                Err(problem) => log.add(line, problem),
            },
            _ => log.add(line, "a prompt must be a text, or a map with a `raw` one"),
        }
    }
    prompts
}

/// The texts may be in files.
fn prompt_texts(text: &str, log: &FileLog) -> Result<Vec<String>, String> {
    const ENDINGS: [&str; 6] = [".txt", ".md", ".json", ".yaml", ".yml", ".j2"];
    let is_name = ENDINGS.iter().any(|ending| text.ends_with(ending)) || files::is_program(text);
    if !text.starts_with("file://") && (!is_name || text.contains(char::is_whitespace)) {
        return Ok(vec![text.to_owned()]);
    }
    let mut texts = Vec::new();
    for name in files::expanded(text.trim_start_matches("file://"), &log.file.folder) {
        let text = files::read(&name, log).map_err(|why| format!("the prompt `{name}` {why}"))?;
        // A line of hyphens separates the prompts of a plain text.
        let mark = match name.rsplit_once('.') {
            Some((_, "txt")) => "\n---\n",
            Some((_, "jsonl")) => "\n",
            Some((_, "csv")) => return Err(format!("the prompt `{name}` is a table")),
            _ => "\0",
        };
        let text = text.trim_end().replace("\r\n", "\n");
        texts.extend(text.split(mark).map(str::to_owned));
    }
    Ok(texts)
}

/// A text, or the messages that it holds as JSON or YAML.
fn prompt_node(text: &str, line: usize) -> Node {
    let is_message = |node: &Node| node.as_map().is_some_and(|map| map.contains_key("role"));
    let parsed = |parsed: Result<Option<Node>, _>| parsed.ok().flatten();
    let parse = || parsed(json::parse(text)).or_else(|| parsed(yaml::parse(text)));
    let messages = text.contains("role").then(parse).flatten();
    let messages = messages.filter(|node| node.elements().iter().all(is_message));
    messages.map_or_else(|| Node::text(line, text), |node| node.at_line(line))
}

fn read_tests(nodes: &[Node], log: &FileLog) -> Vec<Test> {
    let mut tests = Vec::new();
    for element in nodes {
        let path = element.as_map().and_then(|map| map.get("path"));
        match &path.unwrap_or(element).value {
            NodeValue::Text(name) => {
                let name = name.trim_start_matches("file://");
                for name in files::expanded(name, &log.file.folder) {
                    tests.extend(tests_of_file(&name, element.line, log));
                }
            }
            _ => tests.push((element.clone(), log.clone())),
        }
    }
    tests
}

fn tests_of_file(name: &str, line: usize, log: &FileLog) -> Vec<Test> {
    if name.contains("://") {
        let problem =
            format!("the file of tests `{name}` is not fetched: save it, and name the file");
        return log.refuse(line, problem);
    }
    let content = log.file.sibling(Path::new(name)).and_then(|other| {
        let other = log.of(other);
        Ok((content::parsed(&other)?, other))
    });
    let (nodes, other) = match content {
        Ok((ParsedFile::List { nodes, is_table }, other)) => {
            let test = |node: &Node| if is_table { of_row(node) } else { node.clone() };
            (nodes.iter().map(test).collect(), other)
        }
        Ok((ParsedFile::Document(node), other)) => {
            let nodes = node.as_ref().map_or(&[][..], Node::elements);
            (nodes.to_vec(), other)
        }
        failed => {
            let problem = failed.map_or_else(
                |error| unusable(&error),
                |_| "is not read: only `.yaml`, `.json`, `.jsonl` and `.csv` are".to_owned(),
            );
            return log.refuse(line, format!("the file of tests `{name}` {problem}"));
        }
    };
    let tests = nodes.into_iter();
    tests.map(|node: Node| (node, other.clone())).collect()
}

fn cases(tests: Vec<Test>, setup: &Setup, log: &FileLog) -> Vec<RawCase> {
    log.recognise(SHAPE);
    let (mut cases, mut ids) = (Vec::new(), BTreeSet::new());
    let total = tests.len();
    let mut unasserted = 0;
    let mut room = SizeLimit::SUITE.bytes();
    for (mut node, log) in tests {
        if has_expected_columns(&node) {
            node = of_row(&node);
        }
        let Some(map) = node.as_map() else {
            log.wrong::<()>("a test", &node, "a map with `vars` and `assert`");
            continue;
        };
        let map = &merged(&setup.default, map);
        let made = cases_of_test(map, node.line, setup, &mut room, &log);
        if room == 0 {
            let mb = SizeLimit::SUITE.bytes() >> 20;
            let problem = format!("with their variables, the tests make more than {mb} MB of text");
            return log.refuse(node.line, problem);
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
                ..RawCase::new(Node::map(node.line, case), &log)
            });
        }
    }
    let why = "have no `assert` that compares an answer, so that every answer would be right";
    if unasserted > 0 && unasserted == total {
        log.add(0, format!("the `tests` {why}"));
    } else if unasserted > 0 {
        let left_out = format!("{unasserted} of {total} tests are left out");
        log.note(&format!("{left_out}: they {why}"));
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
        let own = member.clone();
        if let Some(name) = key.strip_prefix("__metadata:") {
            metadata.insert(name.to_owned(), own);
        } else if key.starts_with("__expected") {
            assertions.push(assertion::of_cell(member));
        } else if let Some(name) = key.strip_prefix("__") {
            // `__config:__expected:threshold` belongs to a `config`.
            let name = name.split(':').next().unwrap_or_default();
            test.insert(name.to_owned(), own);
        } else {
            vars.insert(key.clone(), own);
        }
    }
    let line = node.line;
    test.insert("vars".to_owned(), Node::map(line, vars));
    test.insert("assert".to_owned(), Node::list(line, assertions));
    test.insert("metadata".to_owned(), Node::map(line, metadata));
    Node::map(line, test)
}

/// `None` without an assertion; empty if there is a problem, which is then in the log. Takes the
/// room that its cases need: variables multiply them.
fn cases_of_test(
    test: &NodeMap,
    line: usize,
    setup: &Setup,
    room: &mut u64,
    log: &FileLog,
) -> Option<Vec<NodeMap>> {
    let before = log.problems();
    check_keys("a test", test, &["test"], log);
    let options = inner(test, "options");
    check_keys("`options`", &options, &["options"], log);
    // A table has them in columns.
    let options = merged(test, &options);
    let mut vars = inner(test, "vars");
    // Files may have them.
    let member = test
        .get("vars")
        .filter(|vars| !vars.is_null() && vars.as_map().is_none());
    let names = member.map_or(&[][..], Node::elements);
    if names.iter().any(|name| name.as_word().is_none()) {
        log.add(line, "`vars` must be a map of names");
    }
    for (node, _) in read_tests(names, log) {
        vars.extend(node.as_map().cloned().unwrap_or_default());
    }
    let assertions = assertion::compared(list(test, "assert"), &setup.templates, log);
    if assertions.is_empty() && log.problems() == before {
        return None;
    }
    let tags = test.get("metadata").map_or_else(Vec::new, metadata_tags);
    let tags: Vec<Node> = tags.into_iter().map(|tag| Node::text(line, tag)).collect();
    let mut cases = Vec::new();
    for vars in combinations(&vars, line, log) {
        for question in questions(setup, &options, &vars, line, log) {
            let mut case = NodeMap::from([
                ("tags".to_owned(), Node::list(line, tags.clone())),
                ("question".to_owned(), question.at_line(line)),
            ]);
            if assertion::add(&assertions, &vars, &mut case, log).is_some() {
                // Many small cases take as much as a suite of them may.
                let length: usize = case.values().map(Node::text_length).sum();
                *room = room.saturating_sub(length.max(BYTES_OF_CASE) as u64);
                if *room == 0 {
                    return None;
                }
                cases.push(case);
            }
        }
    }
    if log.problems() > before {
        cases.clear();
    }
    Some(cases)
}

/// Fills the prompts. Without them, a variable is the question.
fn questions(
    setup: &Setup,
    options: &NodeMap,
    vars: &Vars,
    line: usize,
    log: &FileLog,
) -> Vec<Node> {
    let variable = question_var(vars, line).filter(|_| setup.prompts.is_empty());
    if setup.prompts.is_empty() && variable.is_none() {
        log.add(
            line,
            "there are no `prompts`, and `vars` has no `question` or `input`",
        );
    }
    let around = |key: &str| options.get(key).and_then(Node::scalar).unwrap_or_default();
    let question = |prompt: &Node| {
        let prompt = match &prompt.value {
            NodeValue::Text(words) => {
                Node::text(line, around("prefix") + words + &around("suffix"))
            }
            _ => prompt.clone(),
        };
        let question = template::render_all(&prompt, vars).map(Some);
        question.unwrap_or_else(|problem| log.refuse(line, problem))
    };
    let prompts = setup.prompts.iter().chain(&variable);
    prompts.filter_map(question).collect()
}
