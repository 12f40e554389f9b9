//! Real packages, as the registry has them: crates of the lock file that Cargo has unpacked on this
//! machine. One that is not there is passed over; `--nocapture` shows which were looked at.

use std::path::PathBuf;

use conclave::context::project::describe;

use super::trees::TOKENS;

const LOCK_FILE: &str = include_str!("../../../../Cargo.lock");

/// Returns the name of a crate's folder, which has the version of the lock file.
fn folder_name(name: &str) -> String {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = LOCK_FILE.split_once(&entry).expect("the crate is locked");
    let (version, _) = rest.split_once('"').unwrap();
    format!("{name}-{version}")
}

/// Returns the folder of a crate; none if Cargo has not unpacked it.
fn folder(name: &str) -> Option<PathBuf> {
    let home = match option_env!("CARGO_HOME") {
        Some(path) => PathBuf::from(path),
        None => std::env::home_dir()?.join(".cargo"),
    };
    let folder = folder_name(name);
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    registries
        .flatten()
        .map(|registry| registry.path().join(&folder))
        .find(|path| path.is_dir())
}

#[test]
#[expect(clippy::print_stdout, reason = "shows which crates were looked at")]
fn ten_crates_are_existing_projects_in_rust() {
    let names = "axum clap ignore indexmap regex reqwest rusqlite serde_json tokio toml";
    for name in names.split(' ') {
        let Some(folder) = folder(name) else {
            println!("passed over: {name}");
            continue;
        };
        println!("looked at: {}", folder.display());
        let description = describe(&folder, TOKENS).unwrap();
        let context = description.context;
        assert_eq!(context.project_type, "brownfield", "{name}");
        let found = context.indicators_found;
        assert!(found.contains(&"Cargo.toml".to_owned()), "{name}");
        let has_sources = found.iter().any(|indicator| indicator.ends_with('/'));
        assert!(has_sources, "{name}: {found:?}");
        assert!(description.text.contains("**Languages:** Rust ("), "{name}");
        assert!(!context.documentation_used.is_empty(), "{name}");
    }
}

#[test]
fn axum_does_not_use_itself() {
    if let Some(folder) = folder("axum") {
        let context = describe(&folder, TOKENS).unwrap().context;
        assert_eq!(context.framework_detected.as_deref(), Some("hyper"));
    }
}
