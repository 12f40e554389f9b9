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
use crate::domain::names::likely;
use crate::text::clean::count;
use crate::text::node::{Node, NodeMap, NodeValue};
use crate::text::word_list::load;

use expected::{Numbers, final_number};
use value::{is_same, typed, value};

pub(super) use rows::rows_of;

/// Fields of a case that no other program names otherwise.
const CASE_FIELDS: [&str; 7] = [
    "id", "context", "files", "match", "tags", "source", "metadata",
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
#[serde(deny_unknown_fields, default)]
pub(super) struct Shape {
    pub(super) name: String,
    needs: String,
    is: String,
    question: String,
    context: String,
    options: String,
    expected: String,
    id: String,
    tags: String,
    index: Option<usize>,
    shuffled: bool,
    #[serde(rename = "match")]
    pub(super) matcher: String,
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

/// The rows of a file, and what they are read by.
pub(super) struct ShapedRows {
    /// With the fields of a case.
    pub(super) nodes: Vec<Node>,
    pub(super) shape: Shape,
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

/// Problems go to the log. Returns no rows if there is one with all of them.
pub(super) fn shaped(
    nodes: Vec<Node>,
    is_table: bool,
    terms: &RowTerms,
    log: &mut FileLog<'_>,
) -> ShapedRows {
    let maps: Vec<&NodeMap> = nodes.iter().filter_map(Node::as_map).collect();
    let mut fields = Fields::new();
    for (key, member) in maps.iter().copied().flatten() {
        fields.entry(key).or_insert(member.line);
    }
    let mut shapes = SHAPES.shape.iter();
    let known = shapes.find(|shape| shape.is_met(&maps, is_table));
    let mut shape = known.unwrap_or(&SHAPES.own).clone();
    let is_foreign = is_table || terms.is_foreign || !terms.fields.is_empty();
    let is_own = known.is_none() && !is_foreign;
    let is_usable = if terms.fields.is_empty() {
        shape.check(&maps, &fields, is_own, terms, log)
    } else {
        shape.map(&terms.fields, &fields, log)
    };
    let mut rows = Vec::new();
    if !is_usable {
        return ShapedRows { nodes: rows, shape };
    }
    let numbers = shape.numbers(&maps);
    if let Numbers::Index(first) = numbers
        && shape.index != Some(first)
    {
        let note = "answers that are numbers count options from";
        log.note(&format!("{note} {first}; `--field index=NUMBER` sets it"));
    }
    let total = nodes.len();
    let mut left_out: IndexMap<String, usize> = IndexMap::new();
    for node in nodes {
        let line = node.line;
        let Some(map) = node.as_map() else {
            rows.push(node);
            continue;
        };
        if let Some(why) = shape.left_out(map, is_own) {
            *left_out.entry(why).or_default() += 1;
        } else {
            let map = shape.row(map, line, numbers, is_own, log);
            rows.extend(map.map(|map| Node::map(line, map)));
        }
    }
    for (why, rows) in left_out {
        let problem = format!("left out: {rows} of {}; {why}", count(total, "row"));
        if rows == total {
            log.add(0, problem);
        } else {
            log.note(&problem);
        }
    }
    ShapedRows { nodes: rows, shape }
}

/// The fields of all rows, each with its first line.
type Fields<'a> = IndexMap<&'a str, usize>;

fn names(fields: &Fields<'_>) -> String {
    let names: Vec<String> = fields.keys().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The separate parts of a list in `shapes.toml`.
fn parts(list: &str, mark: char) -> impl Iterator<Item = &str> {
    let parts = list.split(mark).map(str::trim);
    parts.filter(|part| !part.is_empty())
}

impl Shape {
    fn is_met(&self, maps: &[&NodeMap], is_table: bool) -> bool {
        let sample = || maps.iter().take(SAMPLE);
        if !sample().any(|map| parts(&self.needs, ',').all(|names| value(map, names).is_some())) {
            return false;
        }
        let Some((field, kind)) = self.is.split_once(' ') else {
            return true;
        };
        let is_of_kind = |node: &Node| {
            let is_whole = node
                .as_word()
                .is_some_and(|word| word.parse::<i64>().is_ok());
            match (kind, &typed(node).value) {
                ("digits", _) => is_whole,
                ("whole", value) => is_whole && (is_table || *value == node.value),
                ("truth", NodeValue::Bool(_)) | ("list", NodeValue::List(_)) => true,
                ("marked", NodeValue::Text(text)) => final_number(text).is_some(),
                _ => false,
            }
        };
        sample().all(|map| value(map, field).as_ref().is_none_or(is_of_kind))
    }

    /// Checks that the fields of a file are those of its shape, and says which one is not.
    fn check(
        &self,
        maps: &[&NodeMap],
        fields: &Fields<'_>,
        is_own: bool,
        terms: &RowTerms,
        log: &mut FileLog<'_>,
    ) -> bool {
        if !self.refused.is_empty() {
            return log.refuse(0, &*self.refused).unwrap_or(false);
        }
        if !self.is_case {
            return true;
        }
        let known = || {
            let names = CASE_FIELDS.into_iter().chain(self.mapped());
            names.filter(|name| name.len() > 1)
        };
        let mut unknown = fields.clone();
        unknown.retain(|key, _| !self.is_known(key));
        // In others' files, a name that is farther away is one of something else.
        let typo = |key: &str| likely(key, known().filter(|name| is_own || is_near(key, name)));
        let is_missing = |field: &str| !maps.iter().any(|map| value(map, field).is_some());
        let missing = if !terms.has_question && is_missing(&self.question) {
            Some("question")
        } else {
            let is_decided = terms.has_match || fields.contains_key("match");
            (!is_decided && is_missing(&self.expected)).then_some("expected")
        };
        let has_typo = unknown
            .keys()
            .any(|key| known().any(|name| is_near(key, name)));
        // A file without its question or answer names it otherwise.
        if let Some(missing) = missing.filter(|_| !has_typo && !unknown.is_empty()) {
            let problem = format!("the rows have no `{missing}`, but {}", names(fields));
            let problem = format!("{problem}: map one with `--field {missing}=NAME`");
            return log.refuse(0, problem).unwrap_or(false);
        }
        for (key, line) in unknown {
            let why = match typo(key) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if !is_own => {
                    log.note(&format!("the field `{key}` is not used"));
                    continue;
                }
                None => format!(
                    "the rows have {}: name those that count with `--field question=NAME,expected=NAME`",
                    names(fields)
                ),
            };
            log.add(line, format!("a case has no field `{key}`; {why}"));
        }
        true
    }

    /// The names of fields that the shape maps.
    fn mapped(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.question, &self.expected, &self.options];
        lists.into_iter().flat_map(|list| list.split(['|', ',']))
    }

    fn is_known(&self, key: &str) -> bool {
        let mut names = CASE_FIELDS.into_iter().chain(self.mapped());
        names.any(|name| is_same(name, key))
    }

    /// Lays the user's fields over those of the shape.
    fn map(&mut self, map: &FieldMap, fields: &Fields<'_>, log: &mut FileLog<'_>) -> bool {
        let before = log.problems();
        for (of, name) in map {
            let place = match of.as_str() {
                "question" => &mut self.question,
                "context" => &mut self.context,
                "options" => &mut self.options,
                "expected" => &mut self.expected,
                "id" => &mut self.id,
                "tags" => &mut self.tags,
                _ => {
                    self.index = name.parse().ok();
                    continue;
                }
            };
            place.clone_from(name);
            let outer = name.split(['.', '|', ',']).next().unwrap_or_default();
            let mut keys = fields.keys();
            if !keys.any(|key| is_same(key, name) || is_same(key, outer)) {
                let rows = names(fields);
                log.add(
                    0,
                    format!("no row has the field `{name}`; the rows have {rows}"),
                );
            }
        }
        self.refused.clear();
        let mut unused = fields.clone();
        unused.retain(|key, _| !self.is_known(key) && !map.values().any(|name| name == key));
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
        let twice = options::options(map, &self.options).is_some_and(|options| options.has_twins());
        (twice && !is_own).then(|| "an option occurs twice".to_owned())
    }

    fn numbers(&self, maps: &[&NodeMap]) -> Numbers {
        let rows = maps.iter().filter_map(|map| {
            let options = options::options(map, &self.options)?;
            Some((options, value(map, &self.expected)?))
        });
        Numbers::of(&rows.collect::<Vec<_>>(), self.index)
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
    const FIELDS: &str = "question expected options context id tags index";
    let (of, name) = text.split_once('=').unwrap_or((text, ""));
    let (of, name) = (of.trim(), name.trim());
    let Shapes { own, .. } = &*SHAPES;
    let lists = [&own.question, &own.expected, &own.options]
        .into_iter()
        .zip(FIELDS.split(' '));
    let own = lists.filter(|(names, _)| names.split('|').any(|name| name == of));
    let of = own.map(|(_, name)| name).next().unwrap_or(of);
    if !FIELDS.split(' ').any(|field| field == of) {
        return Err(format!("`{of}` is none of {}", FIELDS.replace(' ', ", ")));
    }
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
