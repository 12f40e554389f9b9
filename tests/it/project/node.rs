//! Frameworks and stacks of Node, Bun and Deno.

use serde_json::json;

use super::trees::{Project, assert_framework};

/// Returns a `package.json` with these dependencies, as JSON.
fn package(dependencies: &str) -> String {
    format!("{{\"name\": \"a\", \"dependencies\": {{{dependencies}}}}}")
}

fn assert_node(dependencies: &str, id: &str, version: Option<&str>) {
    assert_framework(
        &[("package.json", &package(dependencies))],
        id,
        version,
        None,
    );
}

#[test]
fn seed_stack_is_detected_as_the_record_has_it() {
    let manifest = r#"{"name": "shop", "dependencies": {"next": "^14.2.0", "react": "^18.0.0",
        "zustand": "^4.5.0", "@trpc/server": "^10.45.0", "@prisma/client": "^5.0.0"},
        "devDependencies": {"tailwindcss": "^3.4.0", "vitest": "^1.0.0",
        "@playwright/test": "^1.40.0", "typescript": "^5.0.0"}}"#;
    let project = Project::new(&[
        ("package.json", manifest),
        ("tsconfig.json", "{}"),
        ("README.md", "# Shop\n\nSells things.\n"),
        (
            "prisma/schema.prisma",
            "datasource db {\n  provider = \"postgresql\"\n}\n",
        ),
        (".github/workflows/ci.yml", "on: push\n"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n"),
    ])
    .with_sources("src/app", "tsx", 12)
    .with_sources("src/components", "tsx", 5)
    .with_commits(20);
    let detected = project.detected();
    assert_eq!(
        detected,
        json!({
            "framework": "nextjs",
            "version": "14",
            "architecture": "app_router",
            "stack": {
                "api": "trpc",
                "ci": ["github_actions"],
                "database": "postgresql",
                "orm": "prisma",
                "package_manager": "pnpm",
                "state_management": "zustand",
                "styling": "tailwind",
                "testing": ["vitest", "playwright"],
            },
        })
    );
    assert_eq!(
        project.describe().stack,
        [
            "Framework: Next.js 14 App Router",
            "Languages: TypeScript (17 files)",
            "Also: React 18",
            "State Management: Zustand 4",
            "Styling: Tailwind CSS 3",
            "Testing: Vitest 1 + Playwright 1",
            "API Layer: tRPC 10",
            "Database: PostgreSQL with Prisma 5 ORM",
            "Package Manager: pnpm",
            "CI: GitHub Actions",
        ]
    );
}

#[test]
fn frameworks_of_the_seed_are_known_by_their_packages() {
    assert_node(r#""react": "18.3.1""#, "react", Some("18.3.1"));
    assert_node(r#""vue": "^3.4.0""#, "vue", Some("3"));
    assert_node(
        r#""@angular/core": "~17.3.0", "rxjs": "7""#,
        "angular",
        Some("17.3"),
    );
    assert_node(r#""svelte": "^4.2.0""#, "svelte", Some("4"));
    assert_node(r#""express": "^4.19.0""#, "express", Some("4"));
    assert_node(r#""fastify": "4.x""#, "fastify", Some("4.x"));
    assert_node(
        r#""@nestjs/core": "^10.0.0", "express": "^4.0.0""#,
        "nestjs",
        Some("10"),
    );
}

#[test]
fn frameworks_beyond_the_seed_are_known_too() {
    assert_node(r#""nuxt": "^3.11.0", "vue": "latest""#, "nuxt", Some("3"));
    assert_node(
        r#""@remix-run/react": "^2.9.0", "react": "^18""#,
        "remix",
        Some("2"),
    );
    assert_node(r#""astro": "^4.8.0", "react": "^18""#, "astro", Some("4"));
    assert_node(r#""hono": "^4.3.0""#, "hono", Some("4"));
    assert_node(r#""koa": "^2.15.0""#, "koa", Some("2"));
    assert_node(
        r#""expo": "~51.0.0", "react-native": "0.74.1", "react": "18""#,
        "expo",
        Some("51.0"),
    );
    assert_node(
        r#""electron": "^30.0.0", "react": "^18""#,
        "electron",
        Some("30"),
    );
}

#[test]
fn sveltekit_counts_as_a_development_dependency() {
    let manifest =
        r#"{"devDependencies": {"@sveltejs/kit": "^2.5.0", "svelte": "^4.0.0", "vite": "^5"}}"#;
    assert_framework(&[("package.json", manifest)], "sveltekit", Some("2"), None);
}

#[test]
fn server_that_only_the_tests_use_is_no_framework() {
    let manifest = r#"{"devDependencies": {"express": "^4.0.0", "jest": "^29.0.0"}}"#;
    let detected = Project::new(&[("package.json", manifest)]).detected();
    assert_eq!(detected["framework"], json!(null));
    assert_eq!(detected["stack"], json!({ "testing": ["jest"] }));
}

#[test]
fn routers_of_nextjs_are_known_by_their_folders() {
    let manifest = package(r#""next": "14.2.3", "react": "18""#);
    for (folders, architecture) in [
        (&["app"][..], Some("app_router")),
        (&["src/app"], Some("app_router")),
        (&["pages"], Some("pages_router")),
        (&["src/pages"], Some("pages_router")),
        (&["app", "pages"], Some("app_and_pages_router")),
        (&["lib"], None),
    ] {
        let mut files = vec![("package.json".to_owned(), manifest.clone())];
        files.extend(
            folders
                .iter()
                .map(|folder| (format!("{folder}/index.tsx"), String::new())),
        );
        let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_framework(&files, "nextjs", Some("14.2.3"), architecture);
    }
}

#[test]
fn packages_are_compared_whole() {
    let manifest =
        package(r#""react-icons": "1", "nextjs-toploader": "1", "express-rate-limit": "7""#);
    let detected = Project::new(&[("package.json", &manifest)]).detected();
    assert_eq!(detected["framework"], json!(null));
    let manifest = r#"{"description": "Not next, react or express", "scripts": {"vue": "vue"}}"#;
    let detected = Project::new(&[("package.json", manifest)]).detected();
    assert_eq!(detected["framework"], json!(null));
}

#[test]
fn version_of_the_lock_file_is_taken_where_the_manifest_names_none() {
    let lock = r#"{"packages": {"node_modules/next": {"version": "14.2.3"}}}"#;
    for (requirement, version) in [("latest", "14.2.3"), ("^13.0.0", "13")] {
        let manifest = package(&format!(r#""next": "{requirement}""#));
        let files = [
            ("package.json", manifest.as_str()),
            ("package-lock.json", lock),
        ];
        assert_framework(&files, "nextjs", Some(version), None);
    }
}

#[test]
fn alias_is_the_package_that_it_names() {
    assert_node(r#""old-react": "npm:react@^16.14.0""#, "react", Some("16"));
}

#[test]
fn deno_has_its_packages_in_its_imports() {
    let manifest = "{\n  // routes\n  \"imports\": { \"hono\": \"jsr:@hono/hono@^4.6.0\", },\n}\n";
    assert_framework(&[("deno.jsonc", manifest)], "hono", Some("4"), None);
}

#[test]
fn other_parts_of_the_stack_are_listed_by_kind() {
    let manifest = r#"{"dependencies": {"fastify": "4.26.0", "mongoose": "^8.0.0", "ioredis": "5",
        "pg": "8", "@apollo/server": "4"}, "devDependencies": {"jest": "29", "supertest": "7",
        "eslint": "9", "prettier": "3", "esbuild": "0.21.0"}}"#;
    let detected = Project::new(&[("package.json", manifest), (".gitlab-ci.yml", "")]).detected();
    assert_eq!(
        detected["stack"],
        json!({
            "api": "graphql",
            "build": "esbuild",
            "ci": ["gitlab_ci"],
            "database": ["postgresql", "mongodb", "redis"],
            "linting": ["eslint", "prettier"],
            "orm": "mongoose",
            "testing": ["jest", "supertest"],
        })
    );
}
