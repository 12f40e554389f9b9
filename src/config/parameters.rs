//! The setting `parameters`: fields that the user adds to the bodies of requests.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::answer::body_fields::{holds_reserved, is_reserved};

use super::keys::detection::{holds_key, is_key_name};
use super::value::{ConfigValue, NO_KEYS_HERE, ValueError, is_name};

/// Body fields by `provider` or `provider:model`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parameters(BTreeMap<String, Map<String, Value>>);

/// Checks that no field at any depth is a key: requests show in previews, and settings are shared.
fn check_keyless(place: &ConfigValue<'_>) -> Result<(), ValueError> {
    match place.value {
        Value::String(text) if holds_key(text) => Err(place.error(NO_KEYS_HERE)),
        Value::Array(list) => list
            .iter()
            .try_for_each(|item| check_keyless(&ConfigValue::new(&place.at, item))),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            let field = place.inside(name, value);
            if holds_key(name) || value.is_string() && is_key_name(name) {
                return Err(field.error(NO_KEYS_HERE));
            }
            check_keyless(&field)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn check(fields: &Map<String, Value>, place: &ConfigValue<'_>) -> Result<(), ValueError> {
    let taken = |path: &str, at: &ConfigValue<'_>| {
        if is_reserved(path) {
            Err(at.error("is a field that the consultation itself sets"))
        } else {
            Ok(())
        }
    };
    for (name, value) in fields {
        let field = place.inside(name, value);
        taken(name, &field)?;
        if let Value::Object(children) = value {
            for (child, value) in children {
                taken(&format!("{name}.{child}"), &field.inside(child, value))?;
            }
        } else if holds_reserved(name) {
            return Err(
                field.error("must be an object: the consultation itself sets fields inside it")
            );
        }
    }
    Ok(())
}

impl Parameters {
    pub fn of(&self, provider: &str) -> (Map<String, Value>, BTreeMap<String, Map<String, Value>>) {
        let single = self.0.iter().filter_map(|(name, fields)| {
            let (of, model) = name.split_once(':')?;
            (of == provider).then(|| (model.to_owned(), fields.clone()))
        });
        (
            self.0.get(provider).cloned().unwrap_or_default(),
            single.collect(),
        )
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn read(setting: &ConfigValue<'_>) -> Result<Self, ValueError> {
        let object = setting
            .value
            .as_object()
            .ok_or_else(|| setting.error("must be an object by `provider` or `provider:model`"))?;
        check_keyless(setting)?;
        let entry = |(name, value): (&String, &Value)| {
            let place = setting.inside(name, value);
            let names_something = match name.split_once(':') {
                Some((provider, model)) => is_name(provider) && !model.trim().is_empty(),
                None => is_name(name),
            };
            if !names_something {
                return Err(place.error("is neither `provider` nor `provider:model`"));
            }
            let fields = value
                .as_object()
                .ok_or_else(|| place.error("must be an object of body fields"))?;
            check(fields, &place)?;
            Ok((name.clone(), fields.clone()))
        };
        object.iter().map(entry).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::answer::body_fields::{OWN, STRUCTURE};

    fn parameters(json: &str) -> Result<Parameters, String> {
        let value = serde_json::from_str(json).unwrap();
        Parameters::read(&ConfigValue::new("parameters", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    #[test]
    fn fields_are_found_by_provider_and_by_model() {
        let read =
            parameters(r#"{"openai": {"reasoning_effort": "low", "seed": 0}, "openai:m:free": {"reasoning_effort": null}}"#).unwrap();
        let (for_all, by_model) = read.of("openai");
        assert_eq!(
            json!(for_all),
            json!({"reasoning_effort": "low", "seed": 0})
        );
        let expected = json!({"m:free": {"reasoning_effort": null}});
        assert_eq!(json!(by_model), expected);
        assert_eq!(read.of("google"), Default::default());
    }

    #[test]
    fn a_key_is_refused_at_any_depth_and_not_repeated() {
        let key = "sk-proj-0123456789abcdef";
        for (json, at) in [
            (r#"{"a": {"x": "$"}}"#, "a.x"),
            (r#"{"a": {"x": {"y": ["Bearer $"]}}}"#, "a.x.y"),
            (r#"{"a": {"$": 1}}"#, "a.[key]"),
            (r#"{"a": {"x": {"$": 1}}}"#, "a.x.[key]"),
            (r#"{"a:$": {"x": 1}}"#, "a:[key]"),
            (r#"{"a": {"api_key": "plain"}}"#, "a.api_key"),
        ] {
            let error = parameters(&json.replace('$', key)).unwrap_err();
            let begins = format!("parameters.{at} would store a key in the settings");
            assert!(error.starts_with(&begins), "{error}");
        }
        assert!(parameters(r#"{"a": {"prompt_cache_key": "x", "tokens": 5}}"#).is_ok());
    }

    #[test]
    fn fields_that_the_consultation_sets_are_refused() {
        let sets = "is a field that the consultation itself sets";
        for path in OWN.into_iter().chain(STRUCTURE) {
            let fields = path.rsplit('.').fold("1".to_owned(), |inner, name| {
                format!(r#"{{"{name}": {inner}}}"#)
            });
            let error = parameters(&format!(r#"{{"openai:m": {fields}}}"#)).unwrap_err();
            assert_eq!(error, format!("parameters.openai:m.{path} {sets}"));
        }
        for (field, what) in [
            ("generationConfig.maxOutputTokens", sets),
            (
                "options",
                "must be an object: the consultation itself sets fields inside it",
            ),
        ] {
            let error = parameters(&format!(r#"{{"a": {{"{field}": null}}}}"#)).unwrap_err();
            assert_eq!(error, format!("parameters.a.{field} {what}"));
        }
        assert!(parameters(r#"{"a": {"generationConfig": {"topK": 1, "thinkingConfig": {"n": 1}}, "options": {"seed": 1}}}"#).is_ok());
        let unnamed = parameters(r#"{"openai:": {}}"#).unwrap_err();
        let message = "parameters.openai: is neither `provider` nor `provider:model`";
        assert_eq!(unnamed, message);
        let number = parameters(r#"{"openai": 1}"#).unwrap_err();
        assert_eq!(number, "parameters.openai must be an object of body fields");
    }
}
