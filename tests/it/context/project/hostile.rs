//! Trees that are not what they should be.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use conclave::context::project::{ProjectError, describe};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::trees::{Project, TOKENS};

fn error(path: &Path) -> ProjectError {
    describe(path, TOKENS).unwrap_err()
}

#[test]
fn missing_folder_is_an_error_with_its_name() {
    let path = Path::new("/nowhere/at/all");
    assert!(matches!(error(path), ProjectError::NotFound(_)));
    let message = "project folder not found: `/nowhere/at/all`";
    assert_eq!(error(path).to_string(), message);
}

#[test]
fn file_is_an_error() {
    let project = Project::new(&[("a.txt", "")]);
    let path = project.path().join("a.txt");
    assert!(matches!(error(&path), ProjectError::NotAFolder(_)));
    let below = path.join("b");
    assert!(matches!(error(&below), ProjectError::Unreadable { .. }));
}

#[test]
fn dangling_link_is_not_found() {
    let project = Project::new(&[]);
    let link = project.path().join("link");
    symlink("/nowhere", &link).unwrap();
    assert!(matches!(error(&link), ProjectError::NotFound(_)));
}

#[test]
fn linked_folder_is_read() {
    let project = Project::new(&[("a/package.json", "{}")]);
    let link = project.path().join("link");
    symlink(project.path().join("a"), &link).unwrap();
    let found = describe(&link, TOKENS).unwrap().context.indicators_found;
    assert_eq!(found, ["package.json"]);
}

#[test]
fn loops_of_links_end() {
    let project = Project::new(&[("src/a.rs", "")]);
    symlink("..", project.path().join("src/up")).unwrap();
    symlink("self", project.path().join("self")).unwrap();
    symlink("package.json", project.path().join("package.json")).unwrap();
    let description = project.describe();
    assert_eq!(description.context.indicators_found, [""; 0]);
}

#[test]
fn nothing_outside_the_project_is_read() {
    let outside = Project::new(&[
        ("README.md", "# Outside\n"),
        ("lib.rs", "//! Outside of the project, in another folder.\n"),
        ("pages/x.tsx", ""),
    ]);
    let project = Project::new(&[(
        "Cargo.toml",
        "[package]\nname = \"a\"\n[lib]\npath = \"../lib.rs\"\n",
    )]);
    let readme = project.path().join("README.md");
    symlink(outside.path().join("README.md"), readme).unwrap();
    symlink(outside.path(), project.path().join("src")).unwrap();
    let text = project.describe().text;
    assert!(!text.contains("utside"), "{text}");
}

#[test]
fn pipes_in_the_place_of_files_are_passed_over() {
    let project = Project::new(&[("go.mod", "module a\n")]);
    for name in ["package.json", "README.md", "Cargo.lock", "main.go"] {
        let path = project.path().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap();
    }
    assert_eq!(project.describe().context.indicators_found, ["go.mod"]);
}

#[test]
fn unreadable_folder_is_counted_and_passed_over() {
    let project = Project::new(&[("README.md", "# A\n"), ("secret/a.rs", "")]);
    let secret = project.path().join("secret");
    fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
    let is_privileged = fs::read_dir(&secret).is_ok();
    let description = project.describe();
    fs::set_permissions(&secret, Permissions::from_mode(0o700)).unwrap();
    if !is_privileged {
        let line = "(1 folders or files could not be read)";
        assert!(description.text.contains(line), "{}", description.text);
    }
    assert_eq!(description.context.indicators_found, ["README.md"]);
}

#[test]
fn unreadable_project_is_an_error() {
    let project = Project::new(&[("a/b.rs", "")]);
    let folder = project.path().join("a");
    fs::set_permissions(&folder, Permissions::from_mode(0o000)).unwrap();
    let is_privileged = fs::read_dir(&folder).is_ok();
    let described = describe(&folder, TOKENS);
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    if !is_privileged {
        assert!(matches!(described, Err(ProjectError::Unreadable { .. })));
    }
}

#[test]
fn very_large_manifests_and_documents_are_passed_over() {
    let project = Project::new(&[("go.mod", "module a\n")]);
    for name in ["package.json", "README.md"] {
        let file = fs::File::create(project.path().join(name)).unwrap();
        file.set_len(1 << 30).unwrap();
    }
    let description = project.describe();
    let expected = ["go.mod", "package.json", "README.md"];
    assert_eq!(description.context.indicators_found, expected);
    assert_eq!(description.context.documentation_used, [""; 0]);
}

#[test]
fn deep_trees_are_read() {
    let path = "a/".repeat(100) + "file.rs";
    let project = Project::new(&[(&path, "")]);
    let text = project.describe().text;
    assert!(text.contains("Rust (1 file)"), "{text}");
}

#[test]
fn files_of_several_folders_are_counted_together() {
    let project = Project::new(&[("package.json", "{}"), ("README.md", "# A\n")]);
    let project = project.with_sources("src/a", "ts", 300);
    let project = project.with_sources("src/b", "ts", 300);
    let text = project.describe().text;
    assert!(text.contains("TypeScript (600 files)"), "{text}");
}
