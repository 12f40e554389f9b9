//! Brownfield and greenfield.

use conclave::domain::context::ProjectStance;

use super::trees::Project;

const MANIFEST: (&str, &str) = ("package.json", "{}");
const README: (&str, &str) = ("README.md", "# A\n");
const CONFIGURATION: (&str, &str) = ("tsconfig.json", "{}");

fn is_brownfield(project: &Project) -> bool {
    let description = project.describe();
    let is_brownfield = description.stance == ProjectStance::Brownfield;
    assert_eq!(description.context.bias_applied, is_brownfield);
    let kind = if is_brownfield {
        "brownfield"
    } else {
        "greenfield"
    };
    assert_eq!(description.context.project_type, kind);
    is_brownfield
}

#[test]
fn three_kinds_of_indicators_make_a_brownfield_project() {
    for project in [
        Project::new(&[MANIFEST, README, CONFIGURATION]),
        Project::new(&[MANIFEST, README]).with_commits(10),
        Project::new(&[MANIFEST, README]).with_sources("src", "ts", 10),
        Project::new(&[README])
            .with_sources("lib", "rb", 10)
            .with_commits(12),
    ] {
        assert!(is_brownfield(&project));
    }
}

#[test]
fn two_kinds_of_indicators_are_greenfield_however_many_files() {
    assert!(!is_brownfield(&Project::new(&[MANIFEST, README])));
    assert!(!is_brownfield(&Project::new(&[
        MANIFEST,
        ("apps/a/package.json", "{}"),
        ("apps/b/package.json", "{}"),
        README,
        ("CONTRIBUTING.md", "x"),
    ])));
    let project = Project::new(&[MANIFEST, README])
        .with_sources("src", "ts", 9)
        .with_commits(9);
    assert!(!is_brownfield(&project));
}

#[test]
fn empty_folder_is_greenfield() {
    let description = Project::new(&[]).describe();
    assert_eq!(description.stance, ProjectStance::Greenfield);
    assert_eq!(description.context.indicators_found, [""; 0]);
    assert_eq!(
        description.text,
        "**Framework:** none detected\n**Structure:** no source files\n"
    );
}

#[test]
fn folder_with_only_a_readme_is_greenfield() {
    let description = Project::new(&[README]).describe();
    assert_eq!(description.stance, ProjectStance::Greenfield);
    assert_eq!(description.context.indicators_found, ["README.md"]);
}

#[test]
fn indicators_are_named_as_found() {
    let project = Project::new(&[MANIFEST, README, CONFIGURATION])
        .with_sources("src", "ts", 12)
        .with_commits(10);
    assert_eq!(
        project.describe().context.indicators_found,
        ["package.json", "tsconfig.json", "README.md", "src/", "git"]
    );
}

#[test]
fn sources_count_wherever_a_language_keeps_them() {
    for (folder, extension, shown) in [
        ("crates/core/src", "rs", "crates/"),
        ("cmd/tool", "go", "cmd/"),
        ("internal/store", "go", "internal/"),
        ("packages/ui/src", "tsx", "packages/"),
        ("app/models", "rb", "app/"),
        ("src/main/java/com/acme", "java", "src/"),
        ("mypackage", "py", "mypackage/"),
        ("Sources/App", "swift", "Sources/"),
        ("", "go", "./"),
    ] {
        let project = Project::new(&[]).with_sources(folder, extension, 10);
        let found = project.describe().context.indicators_found;
        assert_eq!(found, [shown], "{folder}");
    }
}

#[test]
fn vendored_and_generated_folders_are_skipped() {
    for (manifest, folder) in [
        ("package.json", "node_modules/react/src"),
        ("package.json", "dist"),
        ("package.json", "build/static"),
        ("package.json", ".next/server"),
        ("go.mod", "vendor/example.com/b"),
        ("Cargo.toml", "target/debug/build"),
        ("pyproject.toml", ".venv/lib/python3.12/site-packages/a"),
        ("pyproject.toml", "build/lib/a"),
        ("requirements.txt", "__pycache__"),
        ("mix.exs", "deps/phoenix/lib"),
        ("App.csproj", "obj/Debug"),
        ("App.csproj", "bin/Debug"),
        ("pom.xml", "target/classes"),
        ("CMakeLists.txt", "third_party/zlib"),
    ] {
        let project = Project::new(&[(manifest, "")]).with_sources(folder, "js", 20);
        let found = project.describe().context.indicators_found;
        assert_eq!(found, [manifest], "{folder}");
    }
}

#[test]
fn folders_with_such_names_count_elsewhere() {
    for folder in ["src/build", "src/target", "bin", "pkg/out", "lib/env"] {
        let project = Project::new(&[]).with_sources(folder, "go", 10);
        let found = project.describe().context.indicators_found;
        assert_eq!(found.len(), 1, "{folder}");
    }
}

#[test]
fn caches_are_known_by_their_tag() {
    let project = Project::new(&[("my-cache/CACHEDIR.TAG", ""), ("my-env/pyvenv.cfg", "")]);
    let project = project
        .with_sources("my-cache/a", "rs", 20)
        .with_sources("my-env/lib", "py", 20);
    assert_eq!(project.describe().context.indicators_found, [""; 0]);
}

#[test]
fn ignored_files_do_not_count() {
    let project = Project::new(&[(".gitignore", "generated/\n*.gen.ts\n")])
        .with_sources("generated", "ts", 20)
        .with_sources("src", "gen.ts", 20);
    assert_eq!(project.describe().context.indicators_found, [""; 0]);
}

#[test]
fn ignored_folder_that_is_named_is_read() {
    let project = Project::new(&[(".git/HEAD", ""), (".gitignore", "playground/\n")]);
    let project = project.with_sources("playground", "py", 12);
    let folder = project.path().join("playground");
    let description = conclave::context::project::describe(&folder, 1_000).unwrap();
    assert_eq!(description.context.indicators_found, ["./"]);
}

#[test]
fn minified_scripts_and_configuration_are_no_sources() {
    let project = Project::new(&[("vite.config.ts", ""), ("eslint.config.js", "")])
        .with_sources("public", "min.js", 20);
    assert_eq!(
        project.describe().context.indicators_found,
        ["eslint.config.js", "vite.config.ts"]
    );
}
