//! Frameworks and stacks of Node, Bun and Deno.

use serde_json::json;

use super::trees::{Project, assert_framework, assert_stack, framework, write};

/// Returns a `package.json` with these dependencies, as JSON.
fn package(dependencies: &str) -> String {
    format!("{{\"name\": \"a\", \"dependencies\": {{{dependencies}}}}}")
}

fn assert_node(dependencies: &str, expected: &str) {
    assert_framework(&[("package.json", &package(dependencies))], expected);
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
    let description = project.describe();
    assert_eq!(framework(&description.context), "nextjs 14 app_router");
    let stack = json!({
        "api": "trpc",
        "ci": ["github_actions"],
        "database": "postgresql",
        "orm": "prisma",
        "package_manager": "pnpm",
        "state_management": "zustand",
        "styling": "tailwind",
        "testing": ["vitest", "playwright"],
    });
    assert_eq!(json!(description.context.tech_stack), stack);
    assert_eq!(
        description.stack,
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
fn frameworks_are_known_by_their_packages() {
    for (dependencies, expected) in [
        (r#""react": "18.3.1""#, "react 18.3.1"),
        (r#""vue": "^3.4.0""#, "vue 3"),
        (r#""@angular/core": "~17.3.0", "rxjs": "7""#, "angular 17.3"),
        (r#""svelte": "^4.2.0""#, "svelte 4"),
        (r#""express": "^4.19.0""#, "express 4"),
        (r#""fastify": "4.x""#, "fastify 4.x"),
        (r#""@nestjs/core": "^10.0.0", "express": "4""#, "nestjs 10"),
        (r#""nuxt": "^3.11.0", "vue": "latest""#, "nuxt 3"),
        (r#""@remix-run/react": "^2.9.0", "react": "18""#, "remix 2"),
        (r#""astro": "^4.8.0", "react": "^18""#, "astro 4"),
        (r#""hono": "^4.3.0""#, "hono 4"),
        (r#""koa": "^2.15.0""#, "koa 2"),
        (
            r#""expo": "~51.0.0", "react-native": "0.74.1""#,
            "expo 51.0",
        ),
        (r#""electron": "^30.0.0", "react": "^18""#, "electron 30"),
        // An alias is the package that it names.
        (r#""old-react": "npm:react@^16.14.0""#, "react 16"),
        // Packages are compared whole.
        (r#""react-icons": "1", "nextjs-toploader": "1""#, ""),
        (r#""express-rate-limit": "7""#, ""),
    ] {
        assert_node(dependencies, expected);
    }
    let words = r#"{"description": "Not next, react or express", "scripts": {"vue": "vue"}}"#;
    assert_framework(&[("package.json", words)], "");
}

#[test]
fn sveltekit_counts_as_a_development_dependency() {
    let manifest =
        r#"{"devDependencies": {"@sveltejs/kit": "^2.5.0", "svelte": "^4.0.0", "vite": "^5"}}"#;
    assert_framework(&[("package.json", manifest)], "sveltekit 2");
}

#[test]
fn server_that_only_the_tests_use_is_no_framework() {
    let manifest = r#"{"devDependencies": {"express": "^4.0.0", "jest": "^29.0.0"}}"#;
    let stack = json!({"testing": ["jest"]});
    assert_stack(&[("package.json", manifest)], "", &stack);
}

#[test]
fn routers_of_nextjs_are_known_by_their_folders() {
    let manifest = package(r#""next": "14.2.3", "react": "18""#);
    for (folders, expected) in [
        (&["app"][..], "nextjs 14.2.3 app_router"),
        (&["src/app"], "nextjs 14.2.3 app_router"),
        (&["pages"], "nextjs 14.2.3 pages_router"),
        (&["src/pages"], "nextjs 14.2.3 pages_router"),
        (&["app", "pages"], "nextjs 14.2.3 app_and_pages_router"),
        (&["lib"], "nextjs 14.2.3"),
    ] {
        let project = Project::new(&[("package.json", &manifest)]);
        for folder in folders {
            write(&project.path().join(folder).join("index.tsx"), "");
        }
        assert_eq!(project.framework(), expected, "{folders:?}");
    }
}

#[test]
fn version_of_the_lock_file_is_taken_where_the_manifest_names_none() {
    let lock = r#"{"packages": {"node_modules/next": {"version": "14.2.3"}}}"#;
    for (requirement, expected) in [("latest", "nextjs 14.2.3"), ("^13.0.0", "nextjs 13")] {
        let manifest = package(&format!(r#""next": "{requirement}""#));
        let files = [
            ("package.json", manifest.as_str()),
            ("package-lock.json", lock),
        ];
        assert_framework(&files, expected);
    }
}

#[test]
fn deno_has_its_packages_in_its_imports() {
    let manifest = "{\n  // routes\n  \"imports\": { \"hono\": \"jsr:@hono/hono@^4.6.0\", },\n}\n";
    assert_framework(&[("deno.jsonc", manifest)], "hono 4");
}

#[test]
fn other_parts_of_the_stack_are_listed_by_kind() {
    let manifest = r#"{"dependencies": {"fastify": "4.26.0", "mongoose": "^8.0.0", "ioredis": "5",
        "pg": "8", "@apollo/server": "4"}, "devDependencies": {"jest": "29", "supertest": "7",
        "eslint": "9", "prettier": "3", "esbuild": "0.21.0"}}"#;
    let stack = json!({
        "api": "graphql",
        "build": "esbuild",
        "ci": ["gitlab_ci"],
        "database": ["postgresql", "mongodb", "redis"],
        "linting": ["eslint", "prettier"],
        "orm": "mongoose",
        "testing": ["jest", "supertest"],
    });
    let files = [("package.json", manifest), (".gitlab-ci.yml", "")];
    assert_stack(&files, "fastify 4.26.0", &stack);
}
