//! Frameworks and stacks of Python.

use serde_json::json;

use super::trees::{Project, assert_framework};

#[test]
fn python_frameworks_are_known_in_every_kind_of_manifest() {
    for (name, manifest, id, version) in [
        (
            "requirements.txt",
            "Django==4.2.11  # web\npsycopg2-binary\n",
            "django",
            Some("4.2.11"),
        ),
        (
            "requirements/base.txt",
            "flask>=3.0,<4\n",
            "flask",
            Some(">=3.0,<4"),
        ),
        (
            "requirements.txt",
            "fastapi[all]~=0.111.0; python_version > '3.8'\n",
            "fastapi",
            Some("0.111"),
        ),
        (
            "pyproject.toml",
            "[project]\nname = \"a\"\ndependencies = [\"FastAPI>=0.110\"]\n",
            "fastapi",
            Some(">=0.110"),
        ),
        (
            "pyproject.toml",
            "[tool.poetry]\nname = \"a\"\n[tool.poetry.dependencies]\npython = \"^3.11\"\nflask = \"^3.0\"\n",
            "flask",
            Some("3"),
        ),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\ndjango = {version = \"~5.0\", extras = [\"x\"]}\n",
            "django",
            Some("5.0"),
        ),
        (
            "Pipfile",
            "[packages]\nsanic = \"==23.12.1\"\n",
            "sanic",
            Some("23.12.1"),
        ),
        (
            "setup.cfg",
            "[metadata]\nname = a\n\n[options]\ninstall_requires =\n    tornado>=6\n    x\n",
            "tornado",
            Some(">=6"),
        ),
        (
            "setup.py",
            "from setuptools import setup\nsetup(\n  name='a',\n  install_requires=[\n    'pyramid==2.0.2', # old\n  ],\n)\n",
            "pyramid",
            Some("2.0.2"),
        ),
    ] {
        assert_framework(&[(name, manifest)], id, version, None);
    }
}

#[test]
fn python_locks_have_versions_where_the_manifest_names_none() {
    let manifest = "[project]\nname = \"a\"\ndependencies = [\"fastapi\", \"SQLAlchemy\"]\n\n\
                    [dependency-groups]\ndev = [\"pytest>=8\", \"ruff\", {include-group = \"x\"}]\n";
    let lock = "version = 1\n\n[[package]]\nname = \"fastapi\"\nversion = \"0.111.0\"\n\n\
                [[package]]\nname = \"pytest\"\nversion = \"8.2.0\"\n";
    let project = Project::new(&[("pyproject.toml", manifest), ("uv.lock", lock)]);
    assert_eq!(
        project.detected(),
        json!({
            "framework": "fastapi",
            "version": "0.111.0",
            "architecture": null,
            "stack": {
                "linting": "ruff",
                "orm": "sqlalchemy",
                "package_manager": "uv",
                "testing": ["pytest"],
            },
        })
    );
}

#[test]
fn requirements_for_development_are_no_framework() {
    let project = Project::new(&[
        (
            "requirements.txt",
            "-r other.txt\nnumpy==2.0.0\nhttps://a/b.whl\n./local\n",
        ),
        ("requirements-dev.txt", "flask\npytest\n"),
    ]);
    let detected = project.detected();
    assert_eq!(detected["framework"], json!(null));
    assert_eq!(detected["stack"], json!({ "testing": ["pytest"] }));
}
