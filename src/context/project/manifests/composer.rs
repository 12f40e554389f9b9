//! PHP's `composer.json`.

use serde_json::Value;

use super::npm::{text_of, texts_of};
use super::{Dependency, ManifestContent, Scope};

pub(super) fn manifest(text: &str) -> Option<ManifestContent> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let mut dependencies = Vec::new();
    for (section, scope) in [
        ("require", Scope::Runtime),
        ("require-dev", Scope::Development),
    ] {
        let entries = manifest.get(section).and_then(Value::as_object);
        for (name, requirement) in entries.into_iter().flatten() {
            dependencies.push(Dependency::new(name, requirement.as_str(), scope));
        }
    }
    Some(ManifestContent {
        name: text_of(&manifest, "name"),
        description: text_of(&manifest, "description"),
        keywords: texts_of(&manifest, "keywords"),
        dependencies,
        ..ManifestContent::default()
    })
}
