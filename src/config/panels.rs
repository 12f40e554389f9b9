//! The setting `panels`: the user's own panels by name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::value::{ConfigValue, ValueError, optional};

/// The seats of a panel, and its judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedPanel {
    /// One `persona=provider:model` a seat.
    pub seats: Vec<String>,
    /// As `--judge` takes it; without one, the usual rules choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// The fields of a panel that is written as an object.
pub const FIELDS: [&str; 2] = ["seats", "judge"];

/// Reads the setting: each panel is a text of seats, a list of seats, or an object of `seats` and
/// `judge`.
pub(super) fn read(setting: &ConfigValue<'_>) -> Result<BTreeMap<String, NamedPanel>, ValueError> {
    setting
        .named()?
        .into_iter()
        .map(|(name, place)| Ok((name, panel(&place)?)))
        .collect()
}

fn panel(place: &ConfigValue<'_>) -> Result<NamedPanel, ValueError> {
    let fields = if place.value.is_object() {
        place.fields(&FIELDS)?
    } else {
        BTreeMap::from([("seats", place.clone())])
    };
    let seats = fields
        .get("seats")
        .ok_or_else(|| place.error("has no `seats`"))?;
    Ok(NamedPanel {
        seats: seats_of(seats)?,
        judge: optional(&fields, "judge", ConfigValue::text)?,
    })
}

fn seats_of(place: &ConfigValue<'_>) -> Result<Vec<String>, ValueError> {
    let seats =
        entries(place.value).ok_or_else(|| place.error("must be a string or list of seats"))?;
    if seats.iter().all(|seat| seat.contains('=')) {
        Ok(seats)
    } else {
        Err(place.error("has a seat that is not `persona=provider:model`"))
    }
}

/// Returns the entries of a panel, from a list or from a text with commas. `None` when there is
/// none, or one is empty.
pub(super) fn entries(value: &Value) -> Option<Vec<String>> {
    let entries: Vec<String> = match value {
        Value::String(text) => text
            .split(',')
            .map(|entry| entry.trim().to_owned())
            .collect(),
        Value::Array(list) => list
            .iter()
            .map(|entry| entry.as_str().map(|text| text.trim().to_owned()))
            .collect::<Option<_>>()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    (!entries.is_empty() && entries.iter().all(|entry| !entry.is_empty())).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(json: &str) -> Result<BTreeMap<String, NamedPanel>, String> {
        let value = serde_json::from_str(json).unwrap();
        read(&ConfigValue::new("panels", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    #[test]
    fn a_panel_is_a_text_a_list_or_an_object_with_a_judge() {
        let read = panels(
            r#"{"a": "x=m, y=n", "b": ["x=m", "y=n"], "c": {"seats": "x=m,y=n", "judge": "j"}}"#,
        )
        .unwrap();
        assert!(read.values().all(|panel| panel.seats == ["x=m", "y=n"]));
        assert_eq!(
            read.values()
                .map(|panel| panel.judge.as_deref())
                .collect::<Vec<_>>(),
            [None, None, Some("j")]
        );
        assert_eq!(
            serde_json::json!(read["c"]),
            serde_json::json!({"seats": ["x=m", "y=n"], "judge": "j"})
        );
    }

    #[test]
    fn an_invalid_panel_is_named_by_its_place() {
        for (json, words) in [
            (
                r#"{"a": "x"}"#,
                ".a has a seat that is not `persona=provider:model`",
            ),
            (r#"{"a": []}"#, ".a must be a string or list of seats"),
            (r#"{"a": {"judge": "j"}}"#, ".a has no `seats`"),
            (
                r#"{"a": {"seats": "x=m", "jugde": "j"}}"#,
                ".a.jugde is not a field; did you mean `judge`?",
            ),
            (r#"{"a b": "x=m"}"#, ".a b is not a valid name"),
            ("[]", " must be an object"),
        ] {
            let error = panels(json).unwrap_err();
            assert!(
                error.starts_with(&format!("panels{words}")),
                "{json}: {error}"
            );
        }
    }
}
