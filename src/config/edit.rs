//! Changes to the text of a JSON file that leave the rest of it as its owner wrote it: order,
//! spelling, white space. An object that grows gets one line for each member.
//!
//! The text must be JSON; what it then means is checked when it is read. A step of a path is the
//! name of a member, in `snake_case` or `camelCase`.

use std::collections::BTreeSet;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObjectProp, CstRootNode};
use serde_json::Value;

use crate::domain::names::snake_case;

/// `None` when the path leads into a value that has no members.
pub fn set(text: &str, path: &[String], value: &Value) -> Option<String> {
    let root = parse(text)?;
    let mut node = root.value()?;
    for (at, name) in path.iter().enumerate() {
        let object = node.as_object()?;
        let rest = path.get(at + 1..).unwrap_or_default();
        match find(&node, name) {
            None => {
                // An object for each remaining step.
                let value = rest.iter().rev().fold(value.clone(), |value, name| {
                    Value::from_iter([(name.clone(), value)])
                });
                object.append(name, input(&value));
                break;
            }
            Some(member) if rest.is_empty() => member.set_value(input(value)),
            Some(member) => node = member.value()?,
        }
    }
    Some(root.to_string())
}

/// `None` when there is none.
pub fn remove(text: &str, path: &[String]) -> Option<String> {
    let root = parse(text)?;
    let (last, before) = path.split_last()?;
    let container = before
        .iter()
        .try_fold(root.value()?, |node, name| find(&node, name)?.value())?;
    let member = find(&container, last)?;
    let follows_bracket = member.child_index() == 1;
    member.remove();
    // The space after its comma would stay.
    if let Some(space) = container.child_at_index(1)
        && follows_bracket
        && space.is_whitespace()
    {
        space.remove();
    }
    Some(root.to_string())
}

/// `None` for text that is not JSON.
pub fn repeated(text: &str) -> Option<String> {
    repeated_in(&parse(text)?.value()?)
}

fn repeated_in(node: &CstNode) -> Option<String> {
    let mut seen = BTreeSet::new();
    for (name, member) in members(node) {
        if !seen.insert(name.clone()) {
            return Some(name);
        }
        if let Some(inner) = member.value().as_ref().and_then(repeated_in) {
            return Some(format!("{name}.{inner}"));
        }
    }
    node.as_array()?.elements().iter().find_map(repeated_in)
}

fn members(node: &CstNode) -> impl DoubleEndedIterator<Item = (String, CstObjectProp)> {
    let members = node.as_object().map(|object| object.properties());
    let members = members.unwrap_or_default().into_iter();
    members.map(|member| (member.decoded_name().unwrap_or_default(), member))
}

/// Of a name that is set twice, the last one counts, as it does when the file is read.
fn find(node: &CstNode, wanted: &str) -> Option<CstObjectProp> {
    let mut same = members(node);
    let exact = members(node).rfind(|(name, _)| name == wanted);
    let found = exact.or_else(|| same.rfind(|(name, _)| snake_case(name) == snake_case(wanted)));
    found.map(|(_, member)| member)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

fn parse(text: &str) -> Option<CstRootNode> {
    CstRootNode::parse(text, &ParseOptions::default()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn with(text: &str, names: &[&str], value: impl Into<Value>) -> String {
        set(text, &path(names), &value.into()).unwrap()
    }

    fn without(text: &str, names: &[&str]) -> Option<String> {
        remove(text, &path(names))
    }

    #[test]
    fn replacing_a_value_leaves_the_rest_as_written() {
        let text = "{\n\t\"alwaysAllowUnder\" :1.50,  \"judge\": \"a\\\"}\",\n\n\
            \t\"panel\":[ \"x=y\" ]\n}\n";
        for (name, value, old, new) in [
            ("always_allow_under", json!(0), "1.50", "0"),
            ("judge", json!("b"), "\"a\\\"}\"", "\"b\""),
            ("panel", json!("z=w"), "[ \"x=y\" ]", "\"z=w\""),
        ] {
            assert_eq!(with(text, &[name], value), text.replace(old, new));
        }
    }

    #[test]
    fn a_new_member_gets_a_line_with_the_indent_of_the_file() {
        assert_eq!(with("{}", &["a"], json!(1)), "{\n  \"a\": 1\n}");
        assert_eq!(
            with("{\n    \"a\": 1\n}\n", &["b"], json!({"c": 2})),
            "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": 2\n    }\n}\n"
        );
        assert_eq!(
            with("{\"a\": 1}", &["b"], json!({"c": [2]})),
            "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [2]\n  }\n}"
        );
        assert_eq!(
            with("{\n  \"a\": {}\n}", &["a", "b", "c"], json!(1)),
            "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}"
        );
    }

    #[test]
    fn a_removed_value_takes_its_comma_with_it() {
        let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
        for (name, left) in [
            ("a", "{\n  \"b\": 2,\n  \"c\": 3\n}"),
            ("b", "{\n  \"a\": 1,\n  \"c\": 3\n}"),
            ("c", "{\n  \"a\": 1,\n  \"b\": 2\n}"),
        ] {
            assert_eq!(without(text, &[name]).unwrap(), left);
        }
        assert_eq!(without("{ \"a\": 1 }", &["a"]).unwrap(), "{}");
        let beside = without(r#"{"a": 1, "b": 2}"#, &["a"]);
        assert_eq!(beside.unwrap(), r#"{"b": 2}"#);
        assert_eq!(without(text, &["d"]), None);
        assert_eq!(without(text, &["a", "b"]), None);
    }

    #[test]
    fn a_value_without_parts_is_not_overwritten() {
        assert_eq!(set(r#"{"a": "x"}"#, &path(&["a", "b"]), &json!(1)), None);
        assert_eq!(set("{", &path(&["a"]), &json!(1)), None);
    }

    #[test]
    fn a_name_in_the_other_spelling_is_found_unless_it_is_there_itself() {
        let text = r#"{"maxCost": 1, "rounds": 2}"#;
        assert_eq!(with(text, &["max_cost"], json!(3)), text.replace('1', "3"));
        let both = r#"{"max_cost": 1, "maxCost": 2}"#;
        assert_eq!(with(both, &["max_cost"], json!(3)), both.replace('1', "3"));
    }

    #[test]
    fn a_repeated_member_is_found_at_any_depth() {
        for (text, found) in [
            (
                r#"{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}, "x", "x"]}"#,
                None,
            ),
            (r#"{"a": 1, "\u0061": 2}"#, Some("a")),
            (r#"{"e": {"w": {"u": 1, "v": 2, "u": 3}}}"#, Some("e.w.u")),
            (r#"{"e": [{"u": 1, "u": 3}]}"#, Some("e.u")),
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
        fn editing_the_text_edits_its_meaning(
            object in proptest::collection::btree_map("[a-d\"\\\\{é]{0,3}", any_json(), 0..5),
            name in "[a-d\"\\\\{é]{0,3}",
            value in any_json(),
            pretty in any::<bool>(),
        ) {
            let mut meant = Value::Object(object.into_iter().collect());
            let text = if pretty {
                serde_json::to_string_pretty(&meant).unwrap()
            } else {
                meant.to_string()
            };
            let step = [name.clone()];
            let removed = remove(&text, &step)
                .map(|text| serde_json::from_str::<Value>(&text).unwrap());
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
