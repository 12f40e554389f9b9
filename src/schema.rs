//! The published JSON Schemas, which follow from the types that are printed.

use std::path::Path;

use schemars::JsonSchema;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

/// Fails if `schemas/<name>.schema.json` differs from the schema of the type, which it then holds.
/// Doc comments are its descriptions.
pub(crate) fn check<T: JsonSchema>(name: &str, title: &str) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    let about = schema.get("description").and_then(Value::as_str);
    let about = about.map_or_else(String::new, |about| format!("{about} "));
    let about = about + "Keys may be added within a version; existing ones stay.";
    schema.insert("description".to_owned(), about.into());
    PlainWords.transform(&mut schema);
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let file = folder.join(format!("{name}.schema.json"));
    if std::fs::read_to_string(&file).ok().as_deref() != Some(text.as_str()) {
        std::fs::write(&file, text).unwrap();
        panic!("{} was not that of the type; it is now", file.display());
    }
}

/// Leaves out what only a reader of the code understands, and null where a field is left out
/// instead.
struct PlainWords;

impl Transform for PlainWords {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            for (code, plain) in [("[`", "`"), ("`]", "`"), ("Self::", ""), ("`None`", "null")] {
                *text = text.replace(code, plain);
            }
        }
        // Defaults are for reading.
        schema.remove("default");
        let required = schema.get("required").and_then(Value::as_array).cloned();
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            let is_required = |name: &String| required.iter().flatten().any(|field| field == name);
            for (_, field) in fields.iter_mut().filter(|(name, _)| !is_required(name)) {
                exclude_null(field);
            }
        }
        transform_subschemas(self, schema);
    }
}

/// Excludes null from a field, which is left out instead.
fn exclude_null(field: &mut Value) {
    let Value::Object(field) = field else { return };
    if let Some(Value::String(text)) = field.get_mut("description") {
        *text = text.replace("`None`", "absent");
    }
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            field.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(forms)) = field.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(only)] = forms.as_slice() {
            let only = only.clone();
            field.shift_remove("anyOf");
            field.extend(only);
        }
    }
}
