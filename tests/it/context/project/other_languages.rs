//! Frameworks and stacks of other languages than JavaScript, Python, Java and Kotlin.

use serde_json::json;

use super::trees::{Project, assert_framework, assert_stack};

#[test]
fn rails_is_read_from_gemfile_and_lock() {
    let gemfile = "source \"https://rubygems.org\"\n# gem \"sinatra\"\ngem \"rails\", \"~> 7.1.2\"\n\
                   gem 'pg', '>= 0.18', '< 2.0'\ngem \"sidekiq\" # jobs\n\
                   group :development, :test do\n  gem \"rspec-rails\"\nend\n\
                   gem \"rubocop\", require: false, group: :development\n";
    let stack = json!({
        "api": "sidekiq",
        "database": "postgresql",
        "linting": "rubocop",
        "orm": "active_record",
        "package_manager": "bundler",
        "testing": ["rspec"],
    });
    assert_stack(&[("Gemfile", gemfile)], "rails 7.1", &stack);
    let lock = "GEM\n  specs:\n    rails (7.1.3.4)\n      actionpack (= 7.1.3.4)\n";
    let files = [("Gemfile", "gem 'rails'\n"), ("Gemfile.lock", lock)];
    assert_framework(&files, "rails 7.1.3.4");
}

#[test]
fn sinatra_is_known() {
    assert_framework(&[("Gemfile", "gem 'sinatra'\n")], "sinatra");
}

#[test]
fn rust_frameworks_are_known() {
    for (dependency, expected) in [
        ("axum = \"0.7\"", "axum 0.7"),
        (
            "actix-web = { version = \"4.5\", features = [] }",
            "actix_web 4.5",
        ),
        ("rocket = \"0.5.0\"", "rocket 0.5.0"),
        ("leptos = \"0.6\"", "leptos 0.6"),
        ("tauri = { version = \"=2.0.1\" }", "tauri 2.0.1"),
        ("bevy = \"0.14\"\nclap = \"4\"", "bevy 0.14"),
        ("clap = { version = \"4.5\" }", "clap 4.5"),
        (
            "web = { package = \"warp\", version = \"0.3\" }",
            "warp 0.3",
        ),
    ] {
        let manifest = format!("[package]\nname = \"a\"\n\n[dependencies]\n{dependency}\n");
        assert_framework(&[("Cargo.toml", &manifest)], expected);
    }
}

#[test]
fn rust_stack_has_databases_from_features() {
    let manifest = "[package]\nname = \"a\"\n[dependencies]\naxum = \"0.7\"\n\
                    sqlx = { version = \"0.7\", features = [\"postgres\", \"macros\"] }\ntokio = \"1\"\n\
                    [dev-dependencies]\ninsta = \"1\"\nproptest = \"1\"\n";
    let project = Project::new(&[("Cargo.toml", manifest)]);
    let description = project.describe();
    let stack = json!({
        "database": "postgresql",
        "orm": "sqlx",
        "package_manager": "cargo",
        "runtime": "tokio",
        "testing": ["proptest", "insta"],
    });
    assert_eq!(json!(description.context.tech_stack), stack);
    let database = "Database: PostgreSQL with SQLx 0.7 ORM".to_owned();
    assert!(description.stack.contains(&database));
}

#[test]
fn go_frameworks_are_known_by_their_modules() {
    for (module, expected) in [
        ("github.com/gin-gonic/gin v1.9.1", "gin 1.9.1"),
        ("github.com/labstack/echo/v4 v4.12.0", "echo 4.12.0"),
        ("github.com/gofiber/fiber/v2 v2.52.4", "fiber 2.52.4"),
        ("github.com/go-chi/chi/v5 v5.0.12", "chi 5.0.12"),
        ("github.com/spf13/cobra v1.8.0", "cobra 1.8.0"),
    ] {
        let manifest = format!(
            "module example.com/a\n\ngo 1.22\n\nrequire (\n\t{module}\n\tgithub.com/lib/pq v1.10.9\n\
             \tgithub.com/kataras/iris/v12 v12.0.0 // indirect\n)\n"
        );
        assert_framework(&[("go.mod", &manifest)], expected);
    }
}

#[test]
fn go_module_without_a_framework_has_none() {
    let manifest =
        "module example.com/a\n\ngo 1.22\n\nrequire github.com/stretchr/testify v1.9.0\n";
    let stack = json!({"package_manager": "go_modules", "testing": ["testify"]});
    assert_stack(&[("go.mod", manifest)], "", &stack);
}

#[test]
fn php_frameworks_are_read_from_composer() {
    let laravel = r#"{"require": {"php": "^8.2", "laravel/framework": "^11.0", "ext-pdo_mysql": "*"},
        "require-dev": {"phpunit/phpunit": "^11.0", "laravel/pint": "^1.13"}}"#;
    let stack = json!({
        "database": "mysql",
        "linting": "pint",
        "orm": "eloquent",
        "package_manager": "composer",
        "testing": ["phpunit"],
    });
    assert_stack(&[("composer.json", laravel)], "laravel 11", &stack);
    let symfony = r#"{"require": {"symfony/framework-bundle": "7.0.*", "doctrine/orm": "^3.1"}}"#;
    assert_framework(&[("composer.json", symfony)], "symfony 7.0.*");
}

#[test]
fn dotnet_frameworks_have_the_version_of_their_target() {
    let web = "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><PropertyGroup><TargetFramework>net8.0\
               </TargetFramework></PropertyGroup><ItemGroup><PackageReference \
               Include=\"Npgsql.EntityFrameworkCore.PostgreSQL\" Version=\"8.0.2\" /></ItemGroup></Project>";
    let stack = json!({"database": "postgresql", "orm": "ef_core"});
    assert_stack(&[("Shop.csproj", web)], "aspnet_core 8.0", &stack);
    let blazor = "<Project Sdk=\"Microsoft.NET.Sdk.BlazorWebAssembly\"><PropertyGroup><TargetFramework>\
                  net8.0</TargetFramework></PropertyGroup></Project>";
    assert_framework(&[("App.csproj", blazor)], "blazor 8.0");
    let maui = "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><TargetFrameworks>net8.0-android;\
                net8.0-ios</TargetFrameworks><UseMaui>true</UseMaui></PropertyGroup></Project>";
    assert_framework(&[("App.csproj", maui)], "maui 8.0");
}

#[test]
fn dotnet_versions_may_be_central() {
    let packages = "<Project><ItemGroup><PackageVersion Include=\"Dapper\" Version=\"2.1.35\" />\
                    </ItemGroup></Project>";
    let project = "<Project Sdk=\"Microsoft.NET.Sdk\"><ItemGroup><PackageReference Include=\"Dapper\" />\
                   </ItemGroup></Project>";
    let files = [
        ("Directory.Packages.props", packages),
        ("src/App/App.csproj", project),
    ];
    let lines = Project::new(&files).describe().stack;
    assert!(
        lines.contains(&"ORM: Dapper 2.1.35".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn phoenix_is_read_from_mix() {
    let mix = "defmodule A.MixProject do\n  use Mix.Project\n\n  def project do\n    [app: :a, deps: deps()]\n  \
               end\n\n  # {:nerves, \"~> 1.0\"}\n  defp deps do\n    [\n      {:phoenix, \"~> 1.7.10\"},\n      \
               {:phoenix_live_view, \"~> 0.20\"},\n      {:ecto_sql, \"~> 3.10\"},\n      {:postgrex, \">= \
               0.0.0\"},\n      {:credo, \"~> 1.7\", only: [:dev, :test], runtime: false}\n    ]\n  end\nend\n";
    let stack = json!({
        "database": "postgresql",
        "linting": "credo",
        "orm": "ecto",
        "package_manager": "mix",
        "state_management": "live_view",
        "testing": ["exunit"],
    });
    assert_stack(&[("mix.exs", mix)], "phoenix 1.7", &stack);
}

#[test]
fn vapor_is_read_from_the_swift_package() {
    let package = "// swift-tools-version:5.9\nimport PackageDescription\nlet package = Package(\n  \
                   name: \"a\",\n  dependencies: [\n    // .package(url: \"https://x/y/z\", from: \"1.0.0\"),\n    \
                   .package(url: \"https://github.com/vapor/vapor.git\", from: \"4.89.0\"),\n    \
                   .package(\n      url: \"https://github.com/vapor/fluent.git\", .upToNextMajor(from: \
                   \"4.8.0\")),\n  ]\n)\n";
    let stack = json!({"orm": "fluent", "package_manager": "swiftpm"});
    assert_stack(&[("Package.swift", package)], "vapor 4.89.0", &stack);
}

#[test]
fn flutter_is_read_from_pubspec() {
    let pubspec = "name: app\nenvironment:\n  sdk: \">=3.3.0 <4.0.0\"\ndependencies:\n  flutter:\n    sdk: \
                   flutter\n  flutter_riverpod: ^2.5.1\ndev_dependencies:\n  mocktail: ^1.0.0\n";
    let stack = json!({
        "package_manager": "pub",
        "state_management": "riverpod",
        "testing": ["mocktail"],
    });
    assert_stack(&[("pubspec.yaml", pubspec)], "flutter", &stack);
}

#[test]
fn broken_manifests_are_passed_over() {
    let names = "package.json deno.json pyproject.toml requirements.txt Pipfile setup.cfg setup.py \
        Cargo.toml go.mod Gemfile composer.json pom.xml build.gradle gradle/libs.versions.toml \
        mix.exs Package.swift pubspec.yaml App.csproj Directory.Packages.props a.gemspec";
    for text in [
        "",
        "{",
        "[[[",
        "<a><b>",
        "\"unclosed",
        "react = react",
        "\u{0}\u{1}",
        "[[{\"a\":",
        ".package(((",
        "{:a,",
        "gem '",
        "require (",
        "- \t:\n  x",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        "[]",
        "null",
        "\"text\"",
        "{\"dependencies\": 3}",
        "[package]\nname = 3\n",
    ] {
        let manifests = names.split_whitespace().map(|name| (name, text));
        let files: Vec<_> = manifests.chain([("README.md", "# A\n")]).collect();
        let context = Project::new(&files).describe().context;
        assert_eq!(context.framework_detected, None, "{text}");
        assert_eq!(context.documentation_used, ["README.md"], "{text}");
    }
}
