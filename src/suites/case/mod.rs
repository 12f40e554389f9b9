//! Makes a case of a node: the one mapping of all formats, with the checks of what each field says.

mod answer;
mod chat;

use std::path::Path;

use indexmap::IndexSet;
use sha2::{Digest, Sha256};

use crate::benchmark::case::{Case, CaseId, Matcher};
use crate::benchmark::matching::AnswerKey;
use crate::domain::hash::hex;
use crate::files::{SizeLimit, resolved};

use super::case_file::{path_inside, unusable};
use super::log::FileLog;
use super::matcher::texts;
use super::raw_case::RawCase;
use super::suite::SuiteCase;
use crate::text::node::{Node, NodeMap, NodeValue};

/// Entries of `metadata` that group cases.
const GROUPS: [&str; 4] = ["tags", "category", "subject", "topic"];

/// The longest tag, in characters.
const LONGEST_TAG: usize = 100;

/// What holds for cases that do not say it themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct CaseDefaults {
    pub(super) question: Option<String>,
    pub(super) matcher: Option<Matcher>,
}

/// `None` if it has a problem, which is in the log then.
pub(super) fn read(raw: &RawCase, number: usize, defaults: &CaseDefaults) -> Option<SuiteCase> {
    let (node, log) = (&raw.node, &raw.log);
    let Some(map) = node.as_map() else {
        return log.wrong("a case", node, "an object with `question` and `expected`");
    };
    let before = log.problems();
    let id = id(map, raw.id.as_deref(), number, log);
    let question = question(node, map, defaults.question.as_ref(), log);
    let answer = answer::read(map, raw, defaults);
    let context = optional_text(map, "context", log);
    let source = optional_text(map, "source", log);
    let tags = tags(map, raw.is_table, log);
    let mut files = Vec::new();
    let mut attachments = Vec::new();
    if let Some(member) = field(map, "files") {
        for name in list("files", member, raw.is_table, log) {
            match attachment(&name, &log.file.folder) {
                Ok((path, attachment)) => {
                    files.push(path);
                    attachments.push(attachment);
                }
                Err(problem) => log.add(member.line, format!("the file `{name}` {problem}")),
            }
        }
    }
    if log.problems() > before {
        return None;
    }
    let (answer, matcher) = answer?;
    let mut case = Case {
        id: id?,
        question: question?,
        context,
        files,
        expected: answer.texts,
        matcher,
        tags,
        source,
    };
    let key = match AnswerKey::for_case(&case) {
        Ok(key) => key,
        Err(error) => return log.refuse(answer.line, error),
    };
    // A suite says the same in every format.
    if let Some(letters) = key.right_letters() {
        case.expected = letters;
    }
    Some(SuiteCase {
        case,
        place: log.place(node.line),
        files: attachments,
    })
}

/// Returns the absolute path of a file, and its name without the folder with its SHA-256.
///
/// # Errors
///
/// Why it cannot be used, as the end of a sentence.
fn attachment(name: &str, folder: &Path) -> Result<(String, (String, String)), String> {
    let path = path_inside(Path::new(name), folder).map_err(|error| unusable(&error))?;
    let bytes = resolved::read(&path, SizeLimit::CASE_FILE).map_err(|error| unusable(&error))?;
    let shown = path.to_str().ok_or("has a name that is not UTF-8")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hash = hex(&Sha256::digest(&bytes));
    Ok((shown.to_owned(), (name.into_owned(), hash)))
}

/// A `null` counts as absent.
fn field<'a>(map: &'a NodeMap, name: &str) -> Option<&'a Node> {
    map.get(name).filter(|member| !member.is_null())
}

/// Returns the id, or the one that the case has by its place: a name or its number.
fn id(map: &NodeMap, name: Option<&str>, number: usize, log: &FileLog) -> Option<CaseId> {
    let Some(member) = field(map, "id") else {
        return CaseId::parse(name.unwrap_or(&format!("case-{number}")));
    };
    let id = member.as_word().and_then(CaseId::parse);
    let problem = "the `id` must be one line of 1 to 200 characters";
    id.or_else(|| log.refuse(member.line, problem))
}

fn question(node: &Node, map: &NodeMap, usual: Option<&String>, log: &FileLog) -> Option<String> {
    let Some(member) = field(map, "question") else {
        let missing = || log.refuse(node.line, "the case has no `question`");
        return usual.cloned().or_else(missing);
    };
    match &member.value {
        NodeValue::List(messages) => chat::question(messages, log),
        NodeValue::Text(text) if !text.trim().is_empty() => Some(tidy(text)),
        _ => log.wrong("the `question`", member, "a text"),
    }
}

fn optional_text(map: &NodeMap, name: &str, log: &FileLog) -> Option<String> {
    let member = field(map, name)?;
    match &member.value {
        NodeValue::Text(text) => Some(tidy(text)).filter(|text| !text.is_empty()),
        _ => log.wrong(&format!("the `{name}`"), member, "a text"),
    }
}

fn tags(map: &NodeMap, is_table: bool, log: &FileLog) -> Vec<String> {
    let mut tags = Vec::new();
    if let Some(member) = field(map, "tags") {
        tags = list("tags", member, is_table, log);
        for _ in tags.iter().filter(|tag| !is_tag(tag)) {
            let problem = format!("a tag must be one line of at most {LONGEST_TAG} characters");
            log.add(member.line, problem);
        }
    }
    if let Some(member) = field(map, "metadata") {
        tags.extend(metadata_tags(member));
    }
    let unique: IndexSet<String> = tags.into_iter().collect();
    unique.into_iter().collect()
}

/// Other entries are the user's own and stay unread.
pub(super) fn metadata_tags(metadata: &Node) -> Vec<String> {
    let Some(map) = metadata.as_map() else {
        return Vec::new();
    };
    let members = GROUPS.iter().filter_map(|name| map.get(*name));
    let words = members.flat_map(Node::elements).filter_map(Node::as_word);
    words.filter(|tag| is_tag(tag)).map(str::to_owned).collect()
}

fn is_tag(text: &str) -> bool {
    text.chars().count() <= LONGEST_TAG && !text.contains(char::is_control)
}

/// Tables separate entries with semicolons.
fn list(name: &str, node: &Node, is_table: bool, log: &FileLog) -> Vec<String> {
    match &node.value {
        NodeValue::Text(text) if is_table => {
            let entries = text.split(';').map(str::trim);
            let entries = entries.filter(|entry| !entry.is_empty());
            entries.map(str::to_owned).collect()
        }
        NodeValue::Text(text) if !text.trim().is_empty() => vec![text.trim().to_owned()],
        _ => texts(name, node, log),
    }
}

/// The same for all line endings, and without blank lines around.
pub(super) fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.trim_end().trim_start_matches('\n').to_owned()
}
