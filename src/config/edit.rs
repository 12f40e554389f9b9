//! Changes to the text of a JSON file that leave the rest of it as its owner wrote it: order,
//! spelling, white space.
//!
//! The text must be JSON; what it then means is checked by whoever reads it next.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::names::snake_case;

/// One step from an object or a list into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member, or an item whose `name` this is.
    Exact(String),
    /// A member in `snake_case` or `camelCase`.
    Spelled(String),
}

/// Why a text cannot be changed as it was asked to be.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The number of steps that lead to it.
    #[error("step {0} leads into a value that has no parts")]
    NoParts(usize),
}

/// The text with a value at the end of a path, in the place of the one that is there.
pub fn set(text: &str, path: &[Step], value: &Value) -> Result<String, EditError> {
    let root = parsed(text)?;
    let mut node = &root;
    let mut name = None;
    for (at, step) in path.iter().enumerate() {
        let rest = path.get(at + 1..).unwrap_or_default();
        if matches!(node.parts, Parts::None) {
            return Err(EditError::NoParts(at));
        }
        match node.find(step) {
            Some(part) => {
                name = matches!(node.parts, Parts::List(_)).then_some(&part.name);
                node = &part.value;
            }
            None => return Ok(node.with_new(text, step, &nested(rest, value))),
        }
    }
    // The item of a list is found by its name, so that it keeps it.
    let value = match (name, value) {
        (Some(name), Value::Object(fields)) if !fields.contains_key("name") => named(name, fields),
        (_, value) => value.clone(),
    };
    Ok(spliced(
        text,
        node.start,
        node.end,
        &written(&value, &indent_at(text, node.start)),
    ))
}

/// The text without what is at the end of a path; `None` when there is nothing.
pub fn remove(text: &str, path: &[Step]) -> Result<Option<String>, EditError> {
    let root = parsed(text)?;
    let Some((last, before)) = path.split_last() else {
        return Ok(None);
    };
    let mut node = &root;
    for step in before {
        match node.find(step) {
            Some(part) => node = &part.value,
            None => return Ok(None),
        }
    }
    let Some(found) = node.find(last) else {
        return Ok(None);
    };
    let parts = node.parts();
    let at = parts
        .iter()
        .position(|part| part.start == found.start)
        .unwrap_or_default();
    let previous = at.checked_sub(1).and_then(|at| parts.get(at));
    Ok(Some(match (previous, parts.get(at + 1)) {
        (Some(previous), _) => spliced(text, previous.value.end, found.value.end, ""),
        (None, Some(next)) => spliced(text, found.start, next.start, ""),
        (None, None) => spliced(text, node.start + 1, node.end - 1, ""),
    }))
}

/// The names of the members at the end of a path, or of a list's items; empty where there are none.
pub fn names(text: &str, path: &[Step]) -> Result<Vec<String>, EditError> {
    let root = parsed(text)?;
    let end = path
        .iter()
        .try_fold(&root, |node, step| node.find(step).map(|part| &part.value));
    Ok(end
        .map(|node| node.parts().iter().map(|part| part.name.clone()).collect())
        .unwrap_or_default())
}

/// The dotted name of the first member that its object has twice. The text must be JSON; of
/// anything else, nothing is found.
pub fn repeated(text: &str) -> Option<String> {
    repeated_in(&parsed(text).ok()?)
}

fn repeated_in(node: &Node) -> Option<String> {
    let mut seen = BTreeSet::new();
    let is_object = matches!(node.parts, Parts::Object(_));
    node.parts()
        .iter()
        .find_map(|part| match repeated_in(&part.value) {
            _ if is_object && !seen.insert(part.name.as_str()) => Some(part.name.clone()),
            inner => inner.map(|inner| {
                if part.name.is_empty() {
                    inner
                } else {
                    format!("{}.{inner}", part.name)
                }
            }),
        })
}

/// A value and where it stands in the text.
struct Node {
    start: usize,
    end: usize,
    parts: Parts,
}

enum Parts {
    None,
    Object(Vec<Part>),
    List(Vec<Part>),
}

/// A member of an object, or an item of a list under what its `name` says.
struct Part {
    name: String,
    /// Where the member's name begins, or the item.
    start: usize,
    value: Node,
}

impl Node {
    fn parts(&self) -> &[Part] {
        match &self.parts {
            Parts::None => &[],
            Parts::Object(parts) | Parts::List(parts) => parts,
        }
    }

    /// Where a name is given twice, the last one counts, as it does for whoever reads the file.
    fn find(&self, step: &Step) -> Option<&Part> {
        self.parts().iter().rfind(|part| match step {
            Step::Exact(name) => part.name == *name,
            Step::Spelled(name) => snake_case(&part.name) == snake_case(name),
        })
    }

    /// The text with one more part in this object or list.
    fn with_new(&self, text: &str, step: &Step, value: &Value) -> String {
        let (Step::Exact(name) | Step::Spelled(name)) = step;
        let whole = match (&self.parts, value) {
            (Parts::List(_), Value::Object(fields)) => named(name, fields),
            (_, value) => value.clone(),
        };
        let part = |indent: &str| match self.parts {
            Parts::List(_) => written(&whole, indent),
            Parts::Object(_) | Parts::None => format!(
                "{}: {}",
                Value::from(name.as_str()),
                written(&whole, indent)
            ),
        };
        let Some(last) = self.parts().last() else {
            let outer = indent_at(text, self.start);
            let inner = format!("{outer}  ");
            return spliced(
                text,
                self.start + 1,
                self.end - 1,
                &format!("\n{inner}{}\n{outer}", part(&inner)),
            );
        };
        let before = text.get(..last.start).unwrap_or_default();
        let space = before
            .rsplit(|c: char| !c.is_whitespace())
            .next()
            .unwrap_or_default();
        let new = match (space.rsplit_once('\n'), &self.parts) {
            (Some((_, indent)), _) => format!(",\n{indent}{}", part(indent)),
            (None, Parts::List(_)) => format!(", {whole}"),
            (None, Parts::Object(_) | Parts::None) => {
                format!(", {}: {whole}", Value::from(name.as_str()))
            }
        };
        spliced(text, last.value.end, last.value.end, &new)
    }
}

fn named(name: &str, fields: &Map<String, Value>) -> Value {
    let own = std::iter::once(("name".to_owned(), Value::from(name)));
    Value::Object(own.chain(fields.clone()).collect())
}

/// The value as the only thing at the end of the steps that are left.
fn nested(rest: &[Step], value: &Value) -> Value {
    rest.iter().rev().fold(
        value.clone(),
        |value, (Step::Exact(name) | Step::Spelled(name))| {
            Value::Object(Map::from_iter([(name.clone(), value)]))
        },
    )
}

/// A value over as many lines as it needs, the later ones indented.
fn written(value: &Value, indent: &str) -> String {
    // A value of JSON can always be written.
    serde_json::to_string_pretty(value)
        .unwrap_or_default()
        .replace('\n', &format!("\n{indent}"))
}

/// The white space that the line of this place begins with.
fn indent_at(text: &str, at: usize) -> String {
    let line = text
        .get(..at)
        .unwrap_or_default()
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    line.chars().take_while(|c| c.is_whitespace()).collect()
}

fn spliced(text: &str, start: usize, end: usize, middle: &str) -> String {
    [
        text.get(..start).unwrap_or_default(),
        middle,
        text.get(end..).unwrap_or_default(),
    ]
    .concat()
}

fn parsed(text: &str) -> Result<Node, EditError> {
    // Whatever is no JSON is found here; what follows only has to find where things stand.
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(EditError::NotJson)?;
    Ok(Scanner { text, at: 0 }.value())
}

/// Walks through a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        self.skip(|byte| byte.is_ascii_whitespace());
    }

    /// Goes over a string, from one quotation mark to the other.
    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip(|byte| byte != b'"' && byte != b'\\');
            match self.peek() {
                Some(b'\\') => self.at += 2,
                Some(_) => break,
                None => return String::new(),
            }
        }
        self.at += 1;
        self.text
            .get(start..self.at)
            .and_then(|string| serde_json::from_str(string).ok())
            .unwrap_or_default()
    }

    fn value(&mut self) -> Node {
        self.skip_space();
        let start = self.at;
        let parts = match self.peek() {
            Some(b'{') => Parts::Object(self.parts(b'}')),
            Some(b'[') => Parts::List(self.parts(b']')),
            Some(b'"') => {
                self.string();
                Parts::None
            }
            Some(_) | None => {
                self.skip(|byte| !byte.is_ascii_whitespace() && !b",]}".contains(&byte));
                Parts::None
            }
        };
        Node {
            start,
            end: self.at,
            parts,
        }
    }

    fn parts(&mut self, close: u8) -> Vec<Part> {
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => break,
                None => return parts,
                Some(_) => parts.push(self.part(close)),
            }
        }
        self.at += 1;
        parts
    }

    fn part(&mut self, close: u8) -> Part {
        let start = self.at;
        if close == b'}' {
            let name = self.string();
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            return Part {
                name,
                start,
                value: self.value(),
            };
        }
        let value = self.value();
        let own = value
            .find(&Step::Exact("name".to_owned()))
            .map(|part| (part.value.start, part.value.end));
        let name = own
            .and_then(|(start, end)| serde_json::from_str(self.text.get(start..end)?).ok())
            .unwrap_or_default();
        Part { name, start, value }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path(names: &[&str]) -> Vec<Step> {
        names
            .iter()
            .map(|name| Step::Spelled((*name).to_owned()))
            .collect()
    }

    fn with(text: &str, names: &[&str], value: impl Into<Value>) -> String {
        set(text, &path(names), &value.into()).unwrap()
    }

    fn without(text: &str, names: &[&str]) -> Option<String> {
        remove(text, &path(names)).unwrap()
    }

    #[test]
    fn a_value_is_replaced_and_everything_else_stays_as_it_was_written() {
        let text = "{\n\t\"alwaysAllowUnder\" :1.50,  \"judge\": \"a\\\"}\",\n\n\t\"panel\":[ \"x=y\" ]\n}\n";
        assert_eq!(
            with(text, &["always_allow_under"], json!(0)),
            text.replace("1.50", "0")
        );
        assert_eq!(
            with(text, &["judge"], json!("b")),
            text.replace("\"a\\\"}\"", "\"b\"")
        );
        assert_eq!(
            with(text, &["panel"], json!("z=w")),
            text.replace("[ \"x=y\" ]", "\"z=w\"")
        );
    }

    #[test]
    fn a_new_member_is_written_as_its_neighbours_are() {
        assert_eq!(with("{}", &["a"], json!(1)), "{\n  \"a\": 1\n}");
        assert_eq!(
            with("{\n    \"a\": 1\n}\n", &["b"], json!({"c": 2})),
            "{\n    \"a\": 1,\n    \"b\": {\n      \"c\": 2\n    }\n}\n"
        );
        assert_eq!(
            with("{\"a\": 1}", &["b"], json!({"c": [2]})),
            "{\"a\": 1, \"b\": {\"c\":[2]}}"
        );
        assert_eq!(
            with("{\n  \"a\": {}\n}", &["a", "b", "c"], json!(1)),
            "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}"
        );
    }

    #[test]
    fn an_item_of_a_list_is_found_by_its_name_and_keeps_it() {
        let list = r#"{"e": [{"name": "a", "u": 1}, {"name": "b", "u": 2}]}"#;
        assert_eq!(
            with(list, &["e", "b", "u"], json!(3)),
            list.replace("2}", "3}")
        );
        assert_eq!(
            with(list, &["e", "c", "u"], json!(3)),
            list.replace("2}]", r#"2}, {"name":"c","u":3}]"#)
        );
        let exact = |names: [&str; 2]| names.map(|name| Step::Exact(name.to_owned()));
        let whole = set(list, &exact(["e", "a"]), &json!({"u": 9})).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&whole).unwrap()["e"][0],
            json!({"name": "a", "u": 9})
        );
        assert_eq!(
            without(list, &["e", "a"]).unwrap(),
            r#"{"e": [{"name": "b", "u": 2}]}"#
        );
        assert_eq!(names(list, &path(&["e"])).unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_is_removed_takes_its_comma_with_it() {
        let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
        assert_eq!(
            without(text, &["a"]).unwrap(),
            "{\n  \"b\": 2,\n  \"c\": 3\n}"
        );
        assert_eq!(
            without(text, &["b"]).unwrap(),
            "{\n  \"a\": 1,\n  \"c\": 3\n}"
        );
        assert_eq!(
            without(text, &["c"]).unwrap(),
            "{\n  \"a\": 1,\n  \"b\": 2\n}"
        );
        assert_eq!(without("{ \"a\": 1 }", &["a"]).unwrap(), "{}");
        assert_eq!(
            (without(text, &["d"]), without(text, &["a", "b"])),
            (None, None)
        );
    }

    #[test]
    fn what_has_no_parts_is_not_overwritten_and_neither_is_what_is_not_json() {
        assert!(matches!(
            set(r#"{"a": "x"}"#, &path(&["a", "b"]), &json!(1)),
            Err(EditError::NoParts(1))
        ));
        assert!(matches!(
            set("{", &path(&["a"]), &json!(1)),
            Err(EditError::NotJson(_))
        ));
    }

    #[test]
    fn a_member_that_is_there_twice_is_found_wherever_it_is() {
        for (text, found) in [
            (
                r#"{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}, "x", "x"]}"#,
                None,
            ),
            (r#"{"a": 1, "\u0061": 2}"#, Some("a")),
            (r#"{"e": {"w": {"u": 1, "v": 2, "u": 3}}}"#, Some("e.w.u")),
            (r#"{"e": [{"name": "w", "u": 1, "u": 3}]}"#, Some("e.w.u")),
            ("{", None),
        ] {
            assert_eq!(repeated(text).as_deref(), found, "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-d\"\\\\{é]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_change_of_the_text_is_the_change_of_what_it_means(
            object in proptest::collection::btree_map("[a-d\"\\\\{é]{0,3}", any_json(), 0..5),
            name in "[a-d\"\\\\{é]{0,3}",
            value in any_json(),
            pretty in any::<bool>(),
        ) {
            let mut meant = Value::Object(object.into_iter().collect());
            let text = if pretty { serde_json::to_string_pretty(&meant).unwrap() } else { meant.to_string() };
            let step = [Step::Exact(name.clone())];
            let removed = remove(&text, &step).unwrap().map(|text| serde_json::from_str::<Value>(&text).unwrap());
            let edited: Value = serde_json::from_str(&set(&text, &step, &value).unwrap()).unwrap();
            let fields = meant.as_object_mut().unwrap();
            let mut expected = fields.clone();
            let old = expected.insert(name.clone(), value.clone());
            prop_assert_eq!(edited, Value::Object(expected));
            let was_there = fields.shift_remove(&name).is_some();
            prop_assert_eq!(was_there, old.is_some());
            prop_assert_eq!(removed, was_there.then_some(meant));
        }
    }
}
