//! Monorepos and workspaces.

use conclave::context::project::describe;
use serde_json::json;

use super::trees::{Project, TOKENS, assert_framework, assert_stack, framework};

#[test]
fn workspace_of_node_has_the_framework_of_its_main_application() {
    let project = Project::new(&[
        ("package.json", r#"{"name": "mono", "workspaces": ["apps/*", "packages/*"], "devDependencies": {"turbo": "^2.0.0"}}"#),
        ("turbo.json", "{}"),
        ("apps/web/package.json", r#"{"name": "web", "dependencies": {"next": "^14.0.0", "react": "^18.0.0"}}"#),
        ("apps/api/package.json", r#"{"name": "api", "dependencies": {"@nestjs/core": "^10.0.0"}}"#),
        ("packages/ui/package.json", r#"{"name": "ui", "peerDependencies": {"react": "^18.0.0"}}"#),
    ])
    .with_sources("apps/web/app", "tsx", 20)
    .with_sources("apps/api/src", "ts", 10)
    .with_sources("packages/ui/src", "tsx", 60);
    let description = project.describe();
    let context = description.context;
    assert_eq!(framework(&context), "nextjs 14 app_router");
    assert_eq!(context.tech_stack["build"], json!("turborepo"));
    let also = "Also: NestJS 10 in apps/api/, React 18 in packages/ui/".to_owned();
    assert!(description.stack.contains(&also), "{:?}", description.stack);
}

#[test]
fn workspace_of_cargo_has_versions_at_its_top() {
    let root = "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\naxum = \"0.7\"\n\
                sqlx = { version = \"0.7\", features = [\"sqlite\"] }\n";
    let member = "[package]\nname = \"api\"\n[dependencies]\naxum = { workspace = true }\n\
                  sqlx.workspace = true\n";
    let files = [
        ("Cargo.toml", root),
        ("crates/api/Cargo.toml", member),
        ("crates/core/Cargo.toml", "[package]\nname = \"core\"\n"),
    ];
    let stack = json!({"database": "sqlite", "orm": "sqlx", "package_manager": "cargo"});
    assert_stack(&files, "axum 0.7 workspace", &stack);
}

#[test]
fn member_of_a_workspace_is_described_with_what_stands_above_it() {
    let root = WORKSPACE.replace("0.7", "*");
    let lock = "version = 4\n[[package]]\nname = \"axum\"\nversion = \"0.7.5\"\n";
    let files = [("Cargo.toml", &*root), ("Cargo.lock", lock), MEMBER];
    let project = Project::new(&files).with_commits(12);
    let description = describe(&project.path().join("crates/api"), TOKENS).unwrap();
    assert_eq!(framework(&description.context), "axum 0.7.5");
    assert_eq!(description.context.indicators_found, ["Cargo.toml", "git"]);
}

const WORKSPACE: &str =
    "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\naxum = \"0.7\"\n";
const MEMBER: (&str, &str) = (
    "crates/api/Cargo.toml",
    "[package]\nname = \"api\"\n[dependencies]\naxum.workspace = true\n",
);

#[test]
fn member_of_a_workspace_has_the_versions_of_its_root() {
    let cargo = Project::new(&[("Cargo.toml", WORKSPACE), MEMBER]).with_commits(1);
    let catalog = "[versions]\nktor = \"2.3.7\"\n[libraries]\nktor-core = { module = \
                   \"io.ktor:ktor-server-core\", version.ref = \"ktor\" }\n";
    let module = "dependencies {\n    implementation(libs.ktor.core)\n}\n";
    let gradle = Project::new(&[
        ("settings.gradle.kts", "include(\":api\")\n"),
        ("gradle/libs.versions.toml", catalog),
        ("api/build.gradle.kts", module),
    ])
    .with_commits(1);
    for (project, member, expected) in [
        (&cargo, "crates/api", "axum 0.7"),
        (&gradle, "api", "ktor 2.3.7"),
    ] {
        let described = describe(&project.path().join(member), TOKENS).unwrap();
        assert_eq!(framework(&described.context), expected);
    }
}

#[test]
fn modules_of_maven_have_the_version_of_their_parent() {
    let parent = "<project><groupId>com.acme</groupId><artifactId>parent</artifactId><modules><module>web\
                  </module></modules><parent><groupId>org.springframework.boot</groupId><artifactId>\
                  spring-boot-starter-parent</artifactId><version>3.3.0</version></parent></project>";
    let child = "<project><parent><groupId>com.acme</groupId><artifactId>parent</artifactId><version>1\
                 </version></parent><artifactId>web</artifactId><dependencies><dependency><groupId>\
                 org.springframework.boot</groupId><artifactId>spring-boot-starter-webflux</artifactId>\
                 </dependency></dependencies></project>";
    let project = Project::new(&[("pom.xml", parent), ("web/pom.xml", child)]);
    let context = project.describe().context;
    assert_eq!(framework(&context), "spring_boot 3.3.0 workspace");
    assert_eq!(context.tech_stack["api"], json!("spring_webflux"));
}

#[test]
fn several_manifests_without_a_workspace_are_a_monorepo() {
    let vue = r#"{"dependencies": {"vue": "^3.4.0", "pinia": "^2.1.0"}}"#;
    let project = Project::new(&[
        (
            "backend/go.mod",
            "module a\nrequire github.com/gin-gonic/gin v1.9.1\n",
        ),
        ("frontend/package.json", vue),
    ])
    .with_sources("backend", "go", 5)
    .with_sources("frontend/src", "vue", 50);
    let description = project.describe();
    assert_eq!(framework(&description.context), "gin 1.9.1 monorepo");
    let state = &description.context.tech_stack["state_management"];
    assert_eq!(*state, json!("pinia"));
    let also = "Also: Vue 3 in frontend/".to_owned();
    assert!(description.stack.contains(&also));
}

#[test]
fn of_applications_at_one_depth_the_largest_is_the_main_one() {
    let project = Project::new(&[
        (
            "admin/package.json",
            r#"{"dependencies": {"nuxt": "3.11.0"}}"#,
        ),
        ("shop/requirements.txt", "django==5.0\n"),
    ])
    .with_sources("admin/pages", "vue", 5)
    .with_sources("shop/shop", "py", 30);
    assert_eq!(project.framework(), "django 5.0");
}

#[test]
fn manifests_of_tests_and_examples_count_only_alone() {
    let next = r#"{"dependencies": {"next": "14.0.0"}}"#;
    let example = ("examples/web/package.json", next);
    assert_framework(&[("package.json", r#"{"name": "lib"}"#), example], "");
    assert_framework(&[example], "nextjs 14.0.0");
}

#[test]
fn application_with_two_languages_has_the_framework_of_the_highest_tier() {
    let react = r#"{"dependencies": {"react": "^18.0.0"}, "devDependencies": {"vite": "^5.0.0"}}"#;
    let tauri = "[package]\nname = \"app\"\n[dependencies]\ntauri = \"2.0\"\n";
    let files = [("package.json", react), ("src-tauri/Cargo.toml", tauri)];
    let description = Project::new(&files)
        .with_sources("src", "tsx", 40)
        .describe();
    assert_eq!(framework(&description.context), "tauri 2.0");
    assert!(description.stack.contains(&"Also: React 18".to_owned()));
}

#[test]
fn workspace_of_pnpm_is_known_by_its_file() {
    let files = [
        ("package.json", "{}"),
        ("pnpm-workspace.yaml", "packages:\n  - apps/*\n"),
        (
            "apps/site/package.json",
            r#"{"dependencies": {"astro": "^4.0.0"}}"#,
        ),
    ];
    assert_framework(&files, "astro 4 workspace");
}
