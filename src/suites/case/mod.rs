//! Makes a case of a node: the one mapping of all formats, with the checks of what each field says.

mod answer;
mod chat;

use std::io::Read;
use std::path::Path;

use indexmap::IndexSet;
use sha2::{Digest, Sha256};

use crate::benchmark::case::{Case, CaseId, Matcher};
use crate::benchmark::matching::AnswerKey;
use crate::domain::hash::hex;
use crate::domain::names::{did_you_mean, likely};
use crate::files::{SizeLimit, resolved};

use super::log::FileLog;
use super::matcher::texts;
use super::raw_case::{RawCase, path_inside, unusable};
use super::suite::SuiteCase;
use crate::text::node::{Node, NodeMap, NodeValue};

/// The fields of a case: the name, and the names that other programs have for it. Of the metadata,
/// only the groups count.
const FIELDS: [&str; 10] = [
    "id",
    "question input prompt",
    "context",
    "files",
    "expected target answer gold",
    "match",
    "options choices",
    "tags",
    "source",
    "metadata",
];

/// Entries of `metadata` that group cases.
const GROUPS: [&str; 4] = ["tags", "category", "subject", "topic"];

/// Fields of the inspect style that need an environment to act in.
const SANDBOX: [&str; 3] = ["sandbox", "setup", "files"];

/// The longest tag, in characters.
const LONGEST_TAG: usize = 100;

/// What holds for cases that do not say it themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct CaseDefaults {
    pub(super) question: Option<String>,
    pub(super) matcher: Option<Matcher>,
}

/// The habits of the people who wrote a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Every field counts, and values have types.
    Own,
    /// A row of a table: all values are texts, and other columns may be there.
    Table,
    /// `input` and `target`, as inspect reads them: all answers are texts, and other fields may be
    /// there.
    Inspect,
}

impl Style {
    fn of(map: &NodeMap, is_table: bool) -> Self {
        if is_table {
            Self::Table
        } else if map.contains_key("input") || map.contains_key("target") {
            Self::Inspect
        } else {
            Self::Own
        }
    }
}

/// `None` if it has a problem, which is in the log then.
pub(super) fn read(
    raw: &RawCase,
    number: usize,
    defaults: &CaseDefaults,
    log: &mut FileLog<'_>,
) -> Option<SuiteCase> {
    let node = &raw.node;
    let Some(map) = node.as_map() else {
        return log.wrong("a case", node, "an object with `question` and `expected`");
    };
    let before = log.problems();
    let style = Style::of(map, raw.is_table);
    check_fields(map, style, log);
    let id = id(map, raw.id.as_deref(), number, log);
    let question = question(map, node.line, defaults, log);
    let answer = answer::read(map, node.line, style, defaults, log);
    let context = optional_text(map, "context", log);
    let source = optional_text(map, "source", log);
    let tags = tags(map, style, log);
    let mut files = Vec::new();
    let mut attachments = Vec::new();
    if let Some((_, member)) = field(map, "files", log) {
        for name in list("files", member, style, log) {
            match attachment(&name, &raw.folder) {
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
    let mut file = resolved::open(&path, SizeLimit::CASE_FILE).map_err(|error| unusable(&error))?;
    let shown = path.to_str().ok_or("has a name that is not UTF-8")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut hash = Sha256::new();
    let mut block = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut block).map_err(|error| unusable(&error))?;
        match block.get(..read) {
            Some([]) | None => break,
            Some(bytes) => hash.update(bytes),
        }
    }
    Ok((shown.to_owned(), (name.into_owned(), hex(&hash.finalize()))))
}

/// A `null` counts as absent.
fn field<'a>(
    map: &'a NodeMap,
    name: &str,
    log: &mut FileLog<'_>,
) -> Option<(&'static str, &'a Node)> {
    let names = FIELDS
        .iter()
        .find(|names| names.split(' ').next() == Some(name))?;
    let mut found = names.split(' ').filter_map(|name| {
        let member = map.get(name)?;
        (!member.is_null()).then_some((name, member))
    });
    let first = found.next()?;
    if let Some((other, member)) = found.next() {
        let problem = format!("`{}` and `{other}` mean the same field", first.0);
        log.add(member.line, problem);
    }
    Some(first)
}

fn check_fields(map: &NodeMap, style: Style, log: &mut FileLog<'_>) {
    let known = || FIELDS.iter().flat_map(|names| names.split(' '));
    for (key, member) in map {
        if style == Style::Inspect && SANDBOX.contains(&key.as_str()) && !member.is_null() {
            let problem = format!("`{key}` cannot be applied: cases run in no sandbox");
            log.add(member.line, problem);
        } else if known().any(|name| name == key) {
        } else if style == Style::Own {
            let meant = did_you_mean(key, known());
            log.add(member.line, format!("a case has no field `{key}`{meant}"));
        } else {
            // People may have chosen a name that is farther away for something else.
            let is_typo = |name: &&str| strsim::damerau_levenshtein(key, name) == 1;
            if let Some(meant) = likely(key, known()).filter(is_typo) {
                let problem = format!("`{key}` is not a field; did you mean `{meant}`?");
                log.add(member.line, problem);
            } else {
                log.note(&format!("the field `{key}` is not used"));
            }
        }
    }
}

/// Returns the id, or the one that the case has by its place: a name or its number.
fn id(map: &NodeMap, name: Option<&str>, number: usize, log: &mut FileLog<'_>) -> Option<CaseId> {
    let Some((_, member)) = field(map, "id", log) else {
        return CaseId::parse(name.unwrap_or(&format!("case-{number}")));
    };
    let id = member.as_word().and_then(CaseId::parse);
    let problem = "the `id` must be one line of 1 to 200 characters";
    id.or_else(|| log.refuse(member.line, problem))
}

fn question(
    map: &NodeMap,
    line: usize,
    defaults: &CaseDefaults,
    log: &mut FileLog<'_>,
) -> Option<String> {
    let Some((name, member)) = field(map, "question", log) else {
        if defaults.question.is_none() {
            log.add(line, "the case has no `question`");
        }
        return defaults.question.clone();
    };
    match &member.value {
        NodeValue::List(messages) => chat::question(messages, log),
        NodeValue::Text(text) if !text.trim().is_empty() => Some(tidy(text)),
        _ => log.wrong(&format!("the `{name}`"), member, "a text"),
    }
}

fn optional_text(map: &NodeMap, name: &str, log: &mut FileLog<'_>) -> Option<String> {
    let (name, member) = field(map, name, log)?;
    match &member.value {
        NodeValue::Text(text) => Some(tidy(text)).filter(|text| !text.is_empty()),
        _ => log.wrong(&format!("the `{name}`"), member, "a text"),
    }
}

fn tags(map: &NodeMap, style: Style, log: &mut FileLog<'_>) -> Vec<String> {
    let mut tags = Vec::new();
    if let Some((_, member)) = field(map, "tags", log) {
        tags = list("tags", member, style, log);
        for _ in tags.iter().filter(|tag| !is_tag(tag)) {
            let problem = format!("a tag must be one line of at most {LONGEST_TAG} characters");
            log.add(member.line, problem);
        }
    }
    if let Some((_, member)) = field(map, "metadata", log) {
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
fn list(name: &str, node: &Node, style: Style, log: &mut FileLog<'_>) -> Vec<String> {
    match &node.value {
        NodeValue::Text(text) if style == Style::Table => separated(text, ';'),
        NodeValue::Text(text) if !text.trim().is_empty() => vec![text.trim().to_owned()],
        _ => texts(name, node, log),
    }
}

fn separated(text: &str, mark: char) -> Vec<String> {
    let entries = text.split(mark).map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty());
    entries.map(str::to_owned).collect()
}

/// The same for all line endings, and without blank lines around.
pub(super) fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.trim_end().trim_start_matches('\n').to_owned()
}
