//! The shapes of rows that people have: own cases, known data sets, and the fields that a user
//! maps. All become the fields of a case, so that the rest reads one form.

mod rows;
mod row;
mod value;
mod options;
mod expected;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use csv::StringRecord;
use indexmap::IndexMap;
use serde::Deserialize;

use super::log::FileLog;
use super::raw_case::RawCase;
use crate::domain::names::likely;
use crate::text::clean::count;
use crate::text::node::{Node, NodeMap, NodeValue};
use crate::text::word_list::load;

use expected::final_number;
use options::RowOptions;
use value::{is_same, typed, value};

pub(super) use rows::rows_of;

/// Fields of a case that no other program names otherwise.
const CASE_FIELDS: [&str; 7] = [
    "id", "context", "files", "match", "tags", "source", "metadata",
];

/// What can be mapped.
const FIELDS: [&str; 7] = [
    "question", "expected", "options", "context", "id", "tags", "index",
];

/// What a blank text is called.
const BLANK: &str = "blank";

/// Rows by which a shape is recognised.
const SAMPLE: usize = 1000;

/// The fields of rows by the names that cases have for them, as a user maps them; `index` is the
/// number of the first option.
pub type FieldMap = BTreeMap<String, String>;

/// What the fields of rows mean; `shapes.toml` says it of each key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Shape {
    name: String,
    needs: String,
    is: String,
    #[serde(flatten)]
    fields: FieldMap,
    shuffled: bool,
    #[serde(rename = "match")]
    matcher: String,
    leave_out_with: String,
    leave_out_without: String,
    single: bool,
    several: String,
    refused: String,
    /// The other fields are those of a case.
    is_case: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shapes {
    own: Shape,
    shape: Vec<Shape>,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let mut shapes: Shapes = load(include_str!("shapes.toml"));
    shapes.own.is_case = true;
    shapes
});

/// Names the columns of data sets whose tables have no header.
pub(super) fn columns_without_header(first: &StringRecord) -> Option<&'static str> {
    let cells: Vec<&str> = first.iter().map(str::trim).collect();
    let is_question = cells.first()?.split_whitespace().count() > 2;
    match cells.as_slice() {
        _ if !is_question => None,
        [_, _, _, _, _, "A" | "B" | "C" | "D" | "E"] => Some("input,A,B,C,D,target"),
        [_, number] if number.replace(',', "").parse::<f64>().is_ok() => {
            Some("question,answer_number")
        }
        _ => None,
    }
}

/// What a suite says of the rows of its files.
#[derive(Clone, Debug, Default)]
pub(super) struct RowTerms {
    pub(super) fields: FieldMap,
    /// A manifest asks the question.
    pub(super) has_question: bool,
    /// A manifest says how answers are compared.
    pub(super) has_match: bool,
    /// The rows stand in a document of another program, whose other fields belong to each.
    pub(super) is_foreign: bool,
}

/// The rows of a file.
struct FileRows<'a> {
    maps: Vec<&'a NodeMap>,
    /// Each with its first line.
    fields: IndexMap<&'a str, usize>,
    is_table: bool,
    /// Cases of this program's own form, in which a slip is an error.
    are_own: bool,
}

/// Returns rows as cases; none if there is a problem with all of them.
pub(super) fn cases(
    nodes: &[Node],
    is_table: bool,
    terms: &RowTerms,
    log: &FileLog,
) -> Vec<RawCase> {
    let mut rows = FileRows {
        maps: nodes.iter().filter_map(Node::as_map).collect(),
        fields: IndexMap::new(),
        is_table,
        are_own: false,
    };
    for (key, member) in rows.maps.iter().copied().flatten() {
        rows.fields.entry(key).or_insert(member.line);
    }
    let mut shapes = SHAPES.shape.iter();
    let known = shapes.find(|shape| shape.is_met(&rows));
    let mut shape = known.unwrap_or(&SHAPES.own).clone();
    let is_foreign = is_table || terms.is_foreign || !terms.fields.is_empty();
    rows.are_own = known.is_none() && !is_foreign;
    log.recognise(&shape.name);
    let is_usable = if terms.fields.is_empty() {
        shape.check(&rows, terms, log)
    } else {
        shape.map(&terms.fields, &rows, log)
    };
    if !is_usable {
        return Vec::new();
    }
    let first = shape.first_number(&rows.maps);
    if let Some(first) = first.filter(|_| first != shape.index()) {
        let note = "answers that are numbers count options from";
        log.note(&format!("{note} {first}; `--field index=NUMBER` sets it"));
    }
    let mut left_out: IndexMap<String, usize> = IndexMap::new();
    let mut cases = Vec::new();
    for node in nodes {
        let case = match node.as_map() {
            None => Some(node.clone()),
            Some(map) => match shape.left_out(map, rows.are_own) {
                None => shape.row(map, node.line, first, rows.are_own, log),
                Some(why) => {
                    *left_out.entry(why).or_default() += 1;
                    None
                }
            },
        };
        cases.extend(case.map(|node| RawCase {
            is_table,
            matcher: shape.matcher.clone(),
            ..RawCase::new(node, log)
        }));
    }
    for (why, rows) in left_out {
        let all = count(nodes.len(), "row");
        let problem = format!("left out: {rows} of {all}; {why}");
        if rows == nodes.len() {
            log.add(0, problem);
        } else {
            log.note(&problem);
        }
    }
    cases
}

fn names(fields: &IndexMap<&str, usize>) -> String {
    let names: Vec<String> = fields.keys().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The separate parts of a list in `shapes.toml`.
fn parts(list: &str, mark: char) -> impl Iterator<Item = &str> {
    let parts = list.split(mark).map(str::trim);
    parts.filter(|part| !part.is_empty())
}

impl Shape {
    /// Returns the fields of rows that are this one of a case; blank if there is none.
    fn field(&self, of: &str) -> &str {
        self.fields.get(of).map_or("", String::as_str)
    }

    /// Returns the number of the first option.
    fn index(&self) -> Option<usize> {
        self.field("index").parse().ok()
    }

    fn is_met(&self, rows: &FileRows<'_>) -> bool {
        let sample = || rows.maps.iter().take(SAMPLE);
        if !sample().any(|map| parts(&self.needs, ',').all(|names| value(map, names).is_some())) {
            return false;
        }
        let Some((field, kind)) = self.is.split_once(' ') else {
            return true;
        };
        let is_of_kind = |node: &Node| {
            let word = node.as_word().unwrap_or_default();
            let is_whole = word.parse::<i64>().is_ok();
            match (kind, &typed(node).value) {
                ("digits", _) => is_whole,
                ("whole", value) => is_whole && (rows.is_table || *value == node.value),
                ("truth", NodeValue::Bool(_)) | ("list", NodeValue::List(_)) => true,
                ("marked", NodeValue::Text(text)) => final_number(text).is_some(),
                _ => false,
            }
        };
        sample().all(|map| value(map, field).as_ref().is_none_or(is_of_kind))
    }

    /// Checks that the fields of a file are those of its shape, and says which one is not.
    fn check(&self, rows: &FileRows<'_>, terms: &RowTerms, log: &FileLog) -> bool {
        if !self.refused.is_empty() {
            return log.refuse(0, &*self.refused);
        }
        if !self.is_case {
            return true;
        }
        let known = || self.names().filter(|name| name.len() > 1);
        let mut unknown = rows.fields.clone();
        unknown.retain(|key, _| !self.is_known(key));
        let is_missing = |of: &str| {
            let mut rows = rows.maps.iter();
            !rows.any(|map| value(map, self.field(of)).is_some())
        };
        let is_decided = terms.has_match || rows.fields.contains_key("match");
        let missing = if !terms.has_question && is_missing("question") {
            Some("question")
        } else {
            (!is_decided && is_missing("expected")).then_some("expected")
        };
        let has_typo = unknown
            .keys()
            .any(|key| known().any(|name| is_near(key, name)));
        // A file without its question or answer names it otherwise.
        if let Some(missing) = missing.filter(|_| !has_typo && !unknown.is_empty()) {
            let all = names(&rows.fields);
            let problem = format!("the rows have no `{missing}`, but {all}");
            return log.refuse(
                0,
                format!("{problem}: map one with `--field {missing}=NAME`"),
            );
        }
        for (key, line) in unknown {
            // In others' files, a name that is farther away is one of something else.
            let meant = known().filter(|name| rows.are_own || is_near(key, name));
            let why = match likely(key, meant) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if !rows.are_own => {
                    log.note(&format!("the field `{key}` is not used"));
                    continue;
                }
                None => format!(
                    "the rows have {}: name those that count with `--field question=NAME,expected=NAME`",
                    names(&rows.fields)
                ),
            };
            log.add(line, format!("a case has no field `{key}`; {why}"));
        }
        true
    }

    /// The names of the fields of a case, and of those that the shape maps.
    fn names(&self) -> impl Iterator<Item = &str> {
        let lists = self.fields.values();
        let mapped = lists.flat_map(|list| list.split(['|', ',']));
        CASE_FIELDS.into_iter().chain(mapped)
    }

    fn is_known(&self, key: &str) -> bool {
        let outer = |name: &str| {
            name.split('.')
                .next()
                .is_some_and(|outer| is_same(outer, key))
        };
        self.names().any(|name| is_same(name, key) || outer(name))
    }

    /// Lays the user's fields over those of the shape.
    fn map(&mut self, map: &FieldMap, rows: &FileRows<'_>, log: &FileLog) -> bool {
        let before = log.problems();
        for (_, name) in map.iter().filter(|(of, _)| *of != "index") {
            let outer = name.split(['.', '|', ',']).next().unwrap_or_default();
            let mut keys = rows.fields.keys();
            if !keys.any(|key| is_same(key, name) || is_same(key, outer)) {
                let all = names(&rows.fields);
                let problem = format!("no row has the field `{name}`; the rows have {all}");
                log.add(0, problem);
            }
        }
        self.fields.extend(map.clone());
        self.refused.clear();
        let mut unused = rows.fields.clone();
        unused.retain(|key, _| !self.is_known(key));
        if !unused.is_empty() {
            log.note(&format!("not used: {}", names(&unused)));
        }
        log.problems() == before
    }

    /// Returns why a row cannot be asked.
    fn left_out(&self, map: &NodeMap, is_own: bool) -> Option<String> {
        let is_filled = |field: &str| value(map, field).is_some_and(|node| node.kind() != BLANK);
        let (with, without) = (&self.leave_out_with, &self.leave_out_without);
        if is_filled(with) {
            return Some(format!("they need what is in `{with}`"));
        }
        if !without.is_empty() && !is_filled(without) {
            return Some(format!("they have no `{without}`"));
        }
        // Known data sets have a few such rows; in own cases it is a slip.
        let twice = self.options(map).is_some_and(|options| options.has_twins());
        (twice && !is_own).then(|| "an option occurs twice, or is the letter of another".to_owned())
    }

    fn options(&self, map: &NodeMap) -> Option<RowOptions> {
        options::options(map, self.field("options"))
    }

    fn first_number(&self, maps: &[&NodeMap]) -> Option<usize> {
        let rows = maps.iter().filter_map(|map| {
            let options = self.options(map)?;
            Some((options, value(map, self.field("expected"))?))
        });
        options::first_number(&rows.collect::<Vec<_>>(), self.index())
    }
}

fn is_near(one: &str, other: &str) -> bool {
    one.len() > 1 && strsim::damerau_levenshtein(one, other) == 1
}

/// A pair of `--field`.
///
/// # Errors
///
/// If it maps no field of a case.
pub fn field_pair(text: &str) -> Result<(String, String), String> {
    let (of, name) = text.split_once('=').unwrap_or((text, ""));
    let (of, name) = (of.trim(), name.trim());
    let is_named = |field: &&str| {
        let mut names = SHAPES.own.field(field).split('|');
        *field == of || names.any(|name| name == of)
    };
    let Some(of) = FIELDS.into_iter().find(is_named) else {
        let fields = FIELDS.join(", ");
        return Err(format!("`{of}` is none of {fields}; join names with `+`"));
    };
    if name.is_empty() || of == "index" && name.parse::<usize>().is_err() {
        return Err("must be such as `question=NAME` or `index=1`".to_owned());
    }
    // Flags separate pairs with commas.
    let name = if of == "options" {
        name.replace('+', ",")
    } else {
        name.to_owned()
    };
    Ok((of.to_owned(), name))
}

#[cfg(test)]
mod tests;
