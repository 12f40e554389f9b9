//! The user's own parameters of a request, such as a temperature. None is sent unless the user sets
//! it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::answer::body_fields::{holds_reserved, is_reserved};

/// Parameters for the bodies of one provider's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pub for_all: Map<String, Value>,
    /// For single models, by the provider's name for them. They override those for all.
    pub by_model: BTreeMap<String, Map<String, Value>>,
}

impl Parameters {
    pub fn of(&self, model: &str) -> Map<String, Value> {
        let mut merged = self.for_all.clone();
        for (key, value) in self.by_model.get(model).into_iter().flatten() {
            merge(&mut merged, key, value.clone());
        }
        merged
    }

    /// The settings reject them by name.
    #[cfg(test)]
    pub fn reserved(&self) -> Vec<String> {
        let all = std::iter::once(&self.for_all).chain(self.by_model.values());
        let refused = |fields: &Map<String, Value>| {
            let replacing = fields
                .iter()
                .filter(|(key, value)| holds_reserved(key) && !value.is_object())
                .map(|(key, _)| key.clone());
            paths(fields)
                .into_iter()
                .filter(|path| is_reserved(path))
                .chain(replacing)
                .collect::<Vec<_>>()
        };
        let mut found: Vec<String> = all.flat_map(refused).collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Returns the paths of the fields and of their direct children, the children first.
pub(super) fn paths(fields: &Map<String, Value>) -> Vec<String> {
    let inner = fields.iter().flat_map(|(key, value)| {
        let children = value.as_object().into_iter().flat_map(Map::keys);
        children.map(move |child| format!("{key}.{child}"))
    });
    inner.chain(fields.keys().cloned()).collect()
}

/// Reserved fields stay unchanged, and a value that would replace an object with reserved fields is
/// left out.
pub(super) fn lay_over(body: &mut Value, parameters: Map<String, Value>) {
    let Some(fields) = body.as_object_mut() else {
        return;
    };
    for (key, mut value) in parameters {
        if is_reserved(&key) || (holds_reserved(&key) && !value.is_object()) {
            continue;
        }
        if let Value::Object(children) = &mut value {
            children.retain(|child, _| !is_reserved(&format!("{key}.{child}")));
        }
        merge(fields, &key, value);
    }
}

/// An object is merged into an existing object.
fn merge(fields: &mut Map<String, Value>, key: &str, value: Value) {
    match (fields.get_mut(key), value) {
        (Some(Value::Object(there)), Value::Object(children)) => {
            for (key, child) in children {
                merge(there, &key, child);
            }
        }
        (_, value) => _ = fields.insert(key.to_owned(), value),
    }
}

/// Removes one field, and its object if that becomes empty.
pub(super) fn remove(body: &mut Value, path: &str) {
    let Some(fields) = body.as_object_mut() else {
        return;
    };
    match path.split_once('.') {
        None => {
            fields.shift_remove(path);
        }
        Some((key, rest)) => {
            if let Some(child) = fields.get_mut(key) {
                remove(child, rest);
                if child.as_object().is_some_and(Map::is_empty) {
                    fields.shift_remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn parameters() -> Parameters {
        Parameters {
            for_all: fields(
                &json!({"temperature": 0.2, "provider": {"order": ["a"], "zdr": true}}),
            ),
            by_model: BTreeMap::from([(
                "m".to_owned(),
                fields(&json!({"temperature": 0.7, "provider": {"order": ["b"]}})),
            )]),
        }
    }

    #[test]
    fn what_is_set_for_one_model_wins_and_objects_are_merged_deeply() {
        assert_eq!(
            Value::Object(parameters().of("m")),
            json!({"temperature": 0.7, "provider": {"order": ["b"], "zdr": true}})
        );
        assert_eq!(
            Value::Object(parameters().of("other")),
            json!({"temperature": 0.2, "provider": {"order": ["a"], "zdr": true}})
        );
        let mut body = json!({"model": "m", "provider": {"require_parameters": true}});
        lay_over(&mut body, parameters().of("m"));
        let expected = json!({
            "model": "m",
            "temperature": 0.7,
            "provider": {"require_parameters": true, "order": ["b"], "zdr": true},
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn fields_of_the_request_itself_are_never_replaced() {
        let own = fields(&json!({
            "model": "x",
            "messages": [],
            "stream": false,
            "max_tokens": 1,
            "response_format": {},
            "format": "json",
            "n": 9,
            "output_config": {"effort": "low", "format": {}},
            "generationConfig": {"topK": 1, "maxOutputTokens": 9, "responseMimeType": "x"},
            "options": "none",
            "seed": 7,
        }));
        let mut body = json!({
            "model": "m",
            "options": {"num_predict": 5},
            "generationConfig": {"maxOutputTokens": 5},
        });
        lay_over(&mut body, own.clone());
        let expected = json!({
            "model": "m",
            "options": {"num_predict": 5},
            "generationConfig": {"maxOutputTokens": 5, "topK": 1},
            "output_config": {"effort": "low"},
            "seed": 7,
        });
        assert_eq!(body, expected);
        let reserved = Parameters {
            for_all: own,
            by_model: BTreeMap::new(),
        }
        .reserved();
        let expected = [
            "format",
            "generationConfig.maxOutputTokens",
            "generationConfig.responseMimeType",
            "max_tokens",
            "messages",
            "model",
            "n",
            "options",
            "output_config.format",
            "response_format",
            "stream",
        ];
        assert_eq!(reserved, expected);
        assert_eq!(parameters().reserved(), Vec::<String>::new());
    }

    #[test]
    fn a_field_is_taken_out_with_the_object_that_only_it_was_in() {
        let mut body = json!({"a": 1, "b": {"c": 2}, "d": {"e": 3, "f": 4}});
        for path in ["a", "b.c", "d.e", "x", "x.y", "d.x"] {
            remove(&mut body, path);
        }
        assert_eq!(body, json!({"d": {"f": 4}}));
    }
}
