//! Deserialises JSON of any origin: what has an unexpected type counts as missing.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::strict::Strict;

/// Files with more unexpected values than this are not records.
const MAX_REMOVALS: usize = 1_000;

/// Deserialises a value without the fields and list entries of an unexpected type. `None` if the
/// value itself is of another type.
///
/// Types with internally tagged or flattened parts lose the places of errors within them: such a
/// part is removed as a whole.
pub(super) fn tolerant<T: DeserializeOwned>(mut value: Value) -> Option<T> {
    for _ in 0..MAX_REMOVALS {
        let error = match serde_path_to_error::deserialize(Strict(&value)) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let path: Vec<&Segment> = error.path().iter().collect();
        if !remove(&mut value, &path) {
            return None;
        }
    }
    None
}

/// Removes what is at the end of a path, or at the last place on it that exists.
fn remove(value: &mut Value, path: &[&Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    match (value, first) {
        (Value::Array(items), Segment::Seq { index }) => {
            let Some(item) = items.get_mut(*index) else {
                return false;
            };
            if !remove(item, rest) {
                items.remove(*index);
            }
            true
        }
        (Value::Object(fields), Segment::Map { key } | Segment::Enum { variant: key }) => {
            let Some(field) = fields.get_mut(key) else {
                return false;
            };
            remove(field, rest) || fields.shift_remove(key).is_some()
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            Segment::Seq { .. } | Segment::Map { .. } | Segment::Enum { .. } | Segment::Unknown,
        ) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Sample {
        name: String,
        items: Vec<Item>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Item {
        id: String,
        #[serde(default)]
        share: Option<f64>,
    }

    #[test]
    fn unexpected_values_count_as_missing() {
        let value = json!({
            "name": 7,
            "items": [
                { "id": "a", "share": 1 },
                null,
                { "id": "b", "share": "half" },
                { "share": 1 },
            ],
        });
        let item = |id: &str, share| Item {
            id: id.to_owned(),
            share,
        };
        assert_eq!(
            tolerant(value),
            Some(Sample {
                name: String::new(),
                items: vec![item("a", Some(1.0)), item("b", None)],
            })
        );
    }

    #[test]
    fn list_in_place_of_an_object_counts_as_missing() {
        let value = json!({ "name": "a list", "items": [["a", 1], [], { "id": "b" }] });
        let expected = Sample {
            name: "a list".to_owned(),
            items: vec![Item {
                id: "b".to_owned(),
                share: None,
            }],
        };
        assert_eq!(tolerant(value), Some(expected));
        assert_eq!(tolerant::<Sample>(json!(["a list", []])), None);
    }

    #[test]
    fn value_of_another_type_is_missing_itself() {
        assert_eq!(tolerant::<Sample>(json!("text")), None);
    }

    #[test]
    fn number_of_removals_is_bounded() {
        let items = vec![Value::Null; 2 * MAX_REMOVALS];
        assert_eq!(tolerant::<Sample>(json!({ "items": items })), None);
    }
}
