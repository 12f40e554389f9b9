//! Monorepos and workspaces.

use conclave::context::project::describe;
use serde_json::json;

use super::trees::{Project, TOKENS};

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
    assert_eq!(context.framework_detected.as_deref(), Some("nextjs"));
    assert_eq!(context.framework_version.as_deref(), Some("14"));
    assert_eq!(context.architecture_pattern.as_deref(), Some("app_router"));
    assert_eq!(context.tech_stack["build"], json!("turborepo"));
    assert!(
        description
            .stack
            .contains(&"Also: NestJS 10 in apps/api/, React 18 in packages/ui/".to_owned()),
        "{:?}",
        description.stack
    );
}

#[test]
fn workspace_of_cargo_has_versions_at_its_top() {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\naxum = \"0.7\"\n\
                        sqlx = { version = \"0.7\", features = [\"sqlite\"] }\n",
        ),
        (
            "crates/api/Cargo.toml",
            "[package]\nname = \"api\"\n[dependencies]\naxum = { workspace = true }\nsqlx.workspace = true\n",
        ),
        ("crates/core/Cargo.toml", "[package]\nname = \"core\"\n"),
    ]);
    assert_eq!(
        project.detected(),
        json!({
            "framework": "axum",
            "version": "0.7",
            "architecture": "workspace",
            "stack": { "database": "sqlite", "orm": "sqlx", "package_manager": "cargo" },
        })
    );
}

#[test]
fn member_of_a_workspace_is_described_with_what_stands_above_it() {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\naxum = \"*\"\n",
        ),
        (
            "Cargo.lock",
            "version = 4\n[[package]]\nname = \"axum\"\nversion = \"0.7.5\"\n",
        ),
        (
            "crates/api/Cargo.toml",
            "[package]\nname = \"api\"\n[dependencies]\naxum.workspace = true\n",
        ),
    ])
    .with_commits(12);
    let description = describe(&project.path().join("crates/api"), TOKENS).unwrap();
    assert_eq!(
        description.context.framework_detected.as_deref(),
        Some("axum")
    );
    assert_eq!(
        description.context.framework_version.as_deref(),
        Some("0.7.5")
    );
    assert_eq!(description.context.indicators_found, ["Cargo.toml", "git"]);
}

#[test]
fn member_of_a_workspace_has_the_versions_of_its_root() {
    let cargo = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\naxum = \"0.7\"\n",
        ),
        (
            "crates/api/Cargo.toml",
            "[package]\nname = \"api\"\n[dependencies]\naxum.workspace = true\n",
        ),
    ])
    .with_commits(1);
    let gradle = Project::new(&[
        ("settings.gradle.kts", "include(\":api\")\n"),
        (
            "gradle/libs.versions.toml",
            "[versions]\nktor = \"2.3.7\"\n[libraries]\nktor-core = { module = \
             \"io.ktor:ktor-server-core\", version.ref = \"ktor\" }\n",
        ),
        (
            "api/build.gradle.kts",
            "dependencies {\n    implementation(libs.ktor.core)\n}\n",
        ),
    ])
    .with_commits(1);
    for (project, member, framework, version) in [
        (&cargo, "crates/api", "axum", "0.7"),
        (&gradle, "api", "ktor", "2.3.7"),
    ] {
        let context = describe(&project.path().join(member), TOKENS)
            .unwrap()
            .context;
        assert_eq!(context.framework_detected.as_deref(), Some(framework));
        assert_eq!(context.framework_version.as_deref(), Some(version));
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
    let detected = project.detected();
    assert_eq!(detected["framework"], json!("spring_boot"));
    assert_eq!(detected["version"], json!("3.3.0"));
    assert_eq!(detected["architecture"], json!("workspace"));
    assert_eq!(detected["stack"]["api"], json!("spring_webflux"));
}

#[test]
fn several_manifests_without_a_workspace_are_a_monorepo() {
    let project = Project::new(&[
        (
            "backend/go.mod",
            "module a\nrequire github.com/gin-gonic/gin v1.9.1\n",
        ),
        (
            "frontend/package.json",
            r#"{"dependencies": {"vue": "^3.4.0", "pinia": "^2.1.0"}}"#,
        ),
    ])
    .with_sources("backend", "go", 5)
    .with_sources("frontend/src", "vue", 50);
    let description = project.describe();
    assert_eq!(
        description.context.framework_detected.as_deref(),
        Some("gin")
    );
    assert_eq!(
        description.context.architecture_pattern.as_deref(),
        Some("monorepo")
    );
    assert_eq!(
        description.context.tech_stack["state_management"],
        json!("pinia")
    );
    assert!(
        description
            .stack
            .contains(&"Also: Vue 3 in frontend/".to_owned())
    );
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
    assert_eq!(project.detected()["framework"], json!("django"));
}

#[test]
fn manifests_of_tests_and_examples_count_only_alone() {
    let example = (
        "examples/web/package.json",
        r#"{"dependencies": {"next": "14.0.0"}}"#,
    );
    let project = Project::new(&[("package.json", r#"{"name": "lib"}"#), example]);
    assert_eq!(project.detected()["framework"], json!(null));
    let project = Project::new(&[example]);
    assert_eq!(project.detected()["framework"], json!("nextjs"));
}

#[test]
fn application_with_two_languages_has_the_framework_of_the_highest_tier() {
    let project = Project::new(&[
        (
            "package.json",
            r#"{"dependencies": {"react": "^18.0.0"}, "devDependencies": {"vite": "^5.0.0"}}"#,
        ),
        (
            "src-tauri/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\ntauri = \"2.0\"\n",
        ),
    ])
    .with_sources("src", "tsx", 40);
    let description = project.describe();
    assert_eq!(
        description.context.framework_detected.as_deref(),
        Some("tauri")
    );
    assert!(description.stack.contains(&"Also: React 18".to_owned()));
}

#[test]
fn workspace_of_pnpm_is_known_by_its_file() {
    let project = Project::new(&[
        ("package.json", "{}"),
        ("pnpm-workspace.yaml", "packages:\n  - apps/*\n"),
        (
            "apps/site/package.json",
            r#"{"dependencies": {"astro": "^4.0.0"}}"#,
        ),
    ]);
    let detected = project.detected();
    assert_eq!(detected["framework"], json!("astro"));
    assert_eq!(detected["version"], json!("4"));
    assert_eq!(detected["architecture"], json!("workspace"));
}
