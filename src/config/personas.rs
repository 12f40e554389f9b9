//! The settings `panels`, `personas`, `persona_sets` and `default_personas`: the user's own panels
//! and personas by name, and sets of personas.
//!
//! Whether the personas of a set exist is not checked here: personas can also be files.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::value::{ConfigValue, ValueError, optional};
use crate::domain::panel::{RESERVED_NAMES, bare};
use crate::text::clean::capitalised;

/// A persona, and the model that plays it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CustomPersona {
    /// Derived from its id if not given.
    pub name: String,
    pub prompt: String,
    /// The prompt in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// `None` if not given: a persona that replaces another then keeps its aliases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// The model of its seat when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

pub const FIELDS: [&str; 5] = ["name", "prompt", "brief", "aliases", "model"];

/// The word that leaves the choice to the helper model.
pub const AUTO: &str = "auto";

/// The mark before the name of a set.
pub const SET_MARK: char = '@';

impl CustomPersona {
    fn read(id: &str, place: &ConfigValue<'_>) -> Result<Self, ValueError> {
        check_name(id, place)?;
        let fields = if place.value.is_string() {
            BTreeMap::from([("prompt", place.clone())])
        } else {
            place.fields(&FIELDS)?
        };
        let prompt = prompt(
            fields
                .get("prompt")
                .ok_or_else(|| place.error("has no `prompt`"))?,
        )?;
        let name = match fields.get("name") {
            Some(name) => {
                let text = name.text()?;
                check_name(&text, name)?;
                text
            }
            None => name_of(id),
        };
        let aliases = optional(&fields, "aliases", aliases)?;
        Ok(Self {
            name,
            prompt,
            brief: optional(&fields, "brief", ConfigValue::text)?,
            aliases,
            model: optional(&fields, "model", ConfigValue::text)?,
        })
    }
}

/// Each is an object, or a text that is its prompt.
pub(super) fn read(
    setting: &ConfigValue<'_>,
) -> Result<BTreeMap<String, CustomPersona>, ValueError> {
    setting
        .named()?
        .into_iter()
        .map(|(id, place)| Ok((id.clone(), CustomPersona::read(&id, &place)?)))
        .collect()
}

/// Each is a list of personas, or a text of them with commas.
pub(super) fn read_sets(
    setting: &ConfigValue<'_>,
) -> Result<BTreeMap<String, Vec<String>>, ValueError> {
    let set = |(name, place): (String, ConfigValue<'_>)| {
        let personas = entries(place.value)
            .ok_or_else(|| place.error("must be a string or list of personas"))?;
        match personas
            .iter()
            .find(|persona| persona.starts_with(SET_MARK) || *persona == AUTO)
        {
            Some(persona) => Err(place.error(format!(
                "holds `{persona}`, but a set can contain only personas"
            ))),
            None => Ok((name, personas)),
        }
    };
    setting.named()?.into_iter().map(set).collect()
}

pub(super) fn read_default(place: &ConfigValue<'_>) -> Result<Vec<String>, ValueError> {
    let personas = entries(place.value)
        .ok_or_else(|| place.error("must be `auto`, or a string or list of personas and sets"))?;
    if personas.len() > 1 && personas.iter().any(|persona| persona == AUTO) {
        return Err(place.error("combines `auto` with names; use it alone"));
    }
    Ok(personas)
}

fn prompt(place: &ConfigValue<'_>) -> Result<String, ValueError> {
    match place.value.as_str() {
        Some(text) if text.trim().is_empty() => {
            Err(place.error("is empty; a persona needs a prompt"))
        }
        _ => place.text(),
    }
}

fn aliases(place: &ConfigValue<'_>) -> Result<Vec<String>, ValueError> {
    // An empty list removes the aliases of the persona that it replaces.
    if place.value.as_array().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let aliases =
        entries(place.value).ok_or_else(|| place.error("must be a string or list of names"))?;
    aliases
        .iter()
        .try_for_each(|alias| check_name(alias, place))?;
    Ok(aliases)
}

/// Refuses reserved words, and names that no text could match.
fn check_name(name: &str, place: &ConfigValue<'_>) -> Result<(), ValueError> {
    let plain = bare(name);
    if plain.is_empty() {
        return Err(place.error("has a name without a letter or a digit"));
    }
    match RESERVED_NAMES.iter().find(|reserved| **reserved == plain) {
        Some(reserved) => Err(place.error(format!(
            "cannot be called `{reserved}`: the word is reserved"
        ))),
        None => Ok(()),
    }
}

/// `hebrew_linguist` is the Hebrew Linguist.
fn name_of(id: &str) -> String {
    let words = id.split(['_', '-']).filter(|word| !word.is_empty());
    words.map(capitalised).collect::<Vec<_>>().join(" ")
}

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
pub const PANEL_FIELDS: [&str; 2] = ["seats", "judge"];

/// Each panel is a text of seats, a list of seats, or an object of `seats` and `judge`.
pub(super) fn read_panels(
    setting: &ConfigValue<'_>,
) -> Result<BTreeMap<String, NamedPanel>, ValueError> {
    setting
        .named()?
        .into_iter()
        .map(|(name, place)| Ok((name, panel(&place)?)))
        .collect()
}

fn panel(place: &ConfigValue<'_>) -> Result<NamedPanel, ValueError> {
    let fields = if place.value.is_object() {
        place.fields(&PANEL_FIELDS)?
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

/// `None` when there is none, or one is empty.
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
    use serde_json::{Value, json};

    use super::*;

    fn personas(json: &str) -> Result<BTreeMap<String, CustomPersona>, String> {
        let value = serde_json::from_str(json).unwrap();
        read(&ConfigValue::new("personas", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    fn sets(json: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
        let value = serde_json::from_str(json).unwrap();
        read_sets(&ConfigValue::new("persona_sets", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    #[test]
    fn a_persona_is_an_object_or_its_prompt_alone() {
        let read = personas(
            r#"{"hebrew_linguist": {"name": "Linguist", "prompt": " You read. ", "model": "openai:x", "brief": "b", "aliases": "heb, lang"},
                "tax-lawyer": "You know the law."}"#,
        )
        .unwrap();
        let linguist = json!({
            "name": "Linguist",
            "prompt": "You read.",
            "brief": "b",
            "aliases": ["heb", "lang"],
            "model": "openai:x",
        });
        let lawyer = json!({"name": "Tax Lawyer", "prompt": "You know the law."});
        assert_eq!(json!(read["hebrew_linguist"]), linguist);
        assert_eq!(json!(read["tax-lawyer"]), lawyer);
    }

    fn assert_refused(json: &str, words: &str) {
        let (error, start) = (personas(json).unwrap_err(), format!("personas{words}"));
        assert!(error.starts_with(&start), "{json}: {error}");
    }

    #[test]
    fn an_invalid_persona_is_named_by_its_place() {
        for (json, words) in [
            (r#"{"a": {"name": "A"}}"#, ".a has no `prompt`"),
            (r#"{"a": {"prompt": "  "}}"#, ".a.prompt is empty"),
            (r#"{"a": ""}"#, ".a is empty"),
            (r#"{"a": 1}"#, ".a must be an object"),
            (r#"{"A b": "p"}"#, ".A b is not a valid name"),
            (r#"{"judge": "p"}"#, ".judge cannot be called `judge`"),
            ("[]", " must be an object"),
        ] {
            assert_refused(json, words);
        }
        for (field, value, words) in [
            ("alias", r#""x""#, "is not a field; did you mean `aliases`?"),
            ("name", r#""Consensus""#, "cannot be called `consensus`"),
            ("aliases", r#"["x", "AUTO"]"#, "cannot be called `auto`"),
            ("aliases", r#"["!"]"#, "has a name without a letter"),
            ("aliases", "[1]", "must be a string or list of names"),
            ("api_key", r#""x""#, "would store a key in the settings"),
        ] {
            let json = format!(r#"{{"a": {{"prompt": "p", "{field}": {value}}}}}"#);
            assert_refused(&json, &format!(".a.{field} {words}"));
        }
    }

    #[test]
    fn a_set_is_a_list_or_a_text_of_personas_and_nothing_else() {
        let read =
            sets(r#"{"web": ["security", "accessibility"], "ops": "devops, security"}"#).unwrap();
        assert_eq!(read["web"], ["security", "accessibility"]);
        assert_eq!(read["ops"], ["devops", "security"]);
        for (json, words) in [
            (r#"{"web": []}"#, "web must be a string or list of personas"),
            (r#"{"web": ["@ops"]}"#, "web holds `@ops`"),
            (r#"{"web": "auto"}"#, "web holds `auto`"),
            (r#"{"Web": "security"}"#, "Web is not a valid name"),
        ] {
            let (error, start) = (sets(json).unwrap_err(), format!("persona_sets.{words}"));
            assert!(error.starts_with(&start), "{json}: {error}");
        }
    }

    #[test]
    fn auto_is_not_combined_with_other_default_personas() {
        let read = |json: Value| {
            read_default(&ConfigValue::new("default_personas", &json)).map_err(|error| error.what)
        };
        assert_eq!(read(json!("auto")).unwrap(), ["auto"]);
        assert_eq!(read(json!("security,@web")).unwrap(), ["security", "@web"]);
        for (json, words) in [
            (json!(["auto", "security"]), "use it alone"),
            (json!([]), "must be"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    fn panels(json: &str) -> Result<BTreeMap<String, NamedPanel>, String> {
        let value = serde_json::from_str(json).unwrap();
        read_panels(&ConfigValue::new("panels", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    #[test]
    fn a_panel_is_a_text_a_list_or_an_object_with_a_judge() {
        let read = panels(
            r#"{"a": "x=m, y=n", "b": ["x=m", "y=n"], "c": {"seats": "x=m,y=n", "judge": "j"}}"#,
        )
        .unwrap();
        assert!(read.values().all(|panel| panel.seats == ["x=m", "y=n"]));
        assert!(read["a"].judge.is_none() && read["b"].judge.is_none());
        let judged = serde_json::json!({"seats": ["x=m", "y=n"], "judge": "j"});
        assert_eq!(serde_json::json!(read["c"]), judged);
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
            let (error, start) = (panels(json).unwrap_err(), format!("panels{words}"));
            assert!(error.starts_with(&start), "{json}: {error}");
        }
    }
}
