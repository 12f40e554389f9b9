//! Dart's `pubspec.yaml`, by its indentation: sections at the margin, packages in them.

use super::{Dependency, ManifestContent, Scope};

pub(super) fn pubspec(text: &str) -> Option<ManifestContent> {
    let mut content = ManifestContent::default();
    let mut section = "";
    let mut indent = None;
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        let trimmed = line.trim_start();
        let Some((key, value)) = trimmed.split_once(':') else {
            continue;
        };
        if trimmed.starts_with('#') {
            continue;
        }
        let value = value.trim().trim_matches(['"', '\'']);
        let depth = line.len() - trimmed.len();
        if depth == 0 {
            (section, indent) = (key, None);
            match key {
                "name" => content.name = Some(value.to_owned()),
                "description" => content.description = Some(value.to_owned()),
                _ => {}
            }
            continue;
        }
        let scope = match section {
            "dependencies" => Scope::Runtime,
            "dev_dependencies" => Scope::Development,
            _ => continue,
        };
        if *indent.get_or_insert(depth) == depth {
            let dependency = Dependency::new(key, Some(value), scope);
            content.dependencies.push(dependency);
        }
    }
    content.name.is_some().then_some(content)
}
