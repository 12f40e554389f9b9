//! Checks JSON against a published schema, and that the schema describes every field.

use serde_json::Value;

/// Fails with all differences from the schema. A published schema allows additional fields; here
/// every field must be described.
pub(crate) fn check(schema: &str, json: &Value) {
    let root: Value = serde_json::from_str(schema).unwrap();
    let mut schema = root.clone();
    close(&mut schema, &root, true);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(json)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// Forbids other fields wherever a value is described: not in a part of its description, which may
/// know only some of the fields.
fn close(schema: &mut Value, root: &Value, is_whole: bool) {
    if is_whole && names_fields(schema, root) {
        schema["unevaluatedProperties"] = false.into();
    }
    let Value::Object(parts) = schema else { return };
    for (name, part) in parts {
        match name.as_str() {
            "properties" | "patternProperties" => each(part, |part| close(part, root, true)),
            "items" | "additionalProperties" => close(part, root, true),
            "anyOf" | "oneOf" | "allOf" | "$defs" => each(part, |part| close(part, root, false)),
            _ => {}
        }
    }
}

fn names_fields(schema: &Value, root: &Value) -> bool {
    let target = schema["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix('#'));
    let target = target.and_then(|name| root.pointer(name));
    let parts = ["anyOf", "oneOf", "allOf"].map(|name| schema[name].as_array());
    let mut parts = parts.into_iter().flatten().flatten().chain(target);
    schema["properties"].is_object() || parts.any(|part| names_fields(part, root))
}

fn each(parts: &mut Value, mut act: impl FnMut(&mut Value)) {
    match parts {
        Value::Object(parts) => parts.values_mut().for_each(act),
        Value::Array(parts) => parts.iter_mut().for_each(&mut act),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
