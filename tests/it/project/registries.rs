//! Real packages, as the registries have them: those in the caches of this machine. A package that
//! is not there is passed over.

use std::path::PathBuf;

use conclave::context::project::{ProjectDescription, describe};

use super::trees::TOKENS;

/// Returns the description of the crate whose folder begins with a name; none if Cargo has not
/// unpacked it.
fn described(name: &str) -> Option<ProjectDescription> {
    let home = match option_env!("CARGO_HOME") {
        Some(path) => PathBuf::from(path),
        None => std::env::home_dir()?.join(".cargo"),
    };
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    for registry in registries.flatten() {
        for folder in std::fs::read_dir(registry.path()).ok()?.flatten() {
            let rest = folder.file_name().into_string().ok()?;
            let version = rest
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('-'));
            if version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit())) {
                return Some(describe(&folder.path(), TOKENS).unwrap());
            }
        }
    }
    None
}

#[test]
fn crates_are_existing_projects_in_rust() {
    for name in [
        "axum",
        "clap",
        "indexmap",
        "reqwest",
        "rusqlite",
        "tokio",
        "toml",
        "serde_json",
    ] {
        let Some(description) = described(name) else {
            continue;
        };
        let context = description.context;
        assert_eq!(context.project_type, "brownfield", "{name}");
        assert!(
            context.indicators_found.contains(&"Cargo.toml".to_owned()),
            "{name}"
        );
        let has_sources = context
            .indicators_found
            .iter()
            .any(|found| found.ends_with('/'));
        assert!(has_sources, "{name}: {:?}", context.indicators_found);
        assert!(description.text.contains("**Languages:** Rust ("), "{name}");
        assert!(!context.documentation_used.is_empty(), "{name}");
    }
}

#[test]
fn axum_does_not_use_itself() {
    if let Some(description) = described("axum") {
        assert_eq!(
            description.context.framework_detected.as_deref(),
            Some("hyper")
        );
    }
}
