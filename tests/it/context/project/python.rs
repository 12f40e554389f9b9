//! Frameworks and stacks of Python.

use serde_json::json;

use super::trees::{assert_framework, assert_stack};

#[test]
fn python_frameworks_are_known_in_every_kind_of_manifest() {
    let poetry = "[tool.poetry.dependencies]\npython = \"^3.11\"\n";
    let setup = "from setuptools import setup\nsetup(\n  name='a',\n  install_requires=[\n    \
                 'pyramid==2.0.2', # old\n  ],\n)\n";
    for (name, manifest, expected) in [
        (
            "requirements.txt",
            "Django==4.2.11  # web\npsycopg2-binary\n",
            "django 4.2.11",
        ),
        ("requirements/base.txt", "flask>=3.0,<4\n", "flask >=3.0,<4"),
        (
            "requirements.txt",
            "fastapi[all]~=0.111.0; python_version > '3.8'\n",
            "fastapi 0.111",
        ),
        (
            "pyproject.toml",
            "[project]\nname = \"a\"\ndependencies = [\"FastAPI>=0.110\"]\n",
            "fastapi >=0.110",
        ),
        (
            "pyproject.toml",
            &format!("{poetry}flask = \"^3.0\"\n"),
            "flask 3",
        ),
        (
            "pyproject.toml",
            &format!("{poetry}django = {{version = \"~5.0\", extras = [\"x\"]}}\n"),
            "django 5.0",
        ),
        (
            "Pipfile",
            "[packages]\nsanic = \"==23.12.1\"\n",
            "sanic 23.12.1",
        ),
        (
            "setup.cfg",
            "[metadata]\nname = a\n\n[options]\ninstall_requires =\n    tornado>=6\n    x\n",
            "tornado >=6",
        ),
        ("setup.py", setup, "pyramid 2.0.2"),
    ] {
        assert_framework(&[(name, manifest)], expected);
    }
}

#[test]
fn python_locks_have_versions_where_the_manifest_names_none() {
    let manifest = "[project]\nname = \"a\"\ndependencies = [\"fastapi\", \"SQLAlchemy\"]\n\n\
                    [dependency-groups]\ndev = [\"pytest>=8\", \"ruff\", {include-group = \"x\"}]\n";
    let lock = "version = 1\n\n[[package]]\nname = \"fastapi\"\nversion = \"0.111.0\"\n\n\
                [[package]]\nname = \"pytest\"\nversion = \"8.2.0\"\n";
    let stack = json!({
        "linting": "ruff",
        "orm": "sqlalchemy",
        "package_manager": "uv",
        "testing": ["pytest"],
    });
    let files = [("pyproject.toml", manifest), ("uv.lock", lock)];
    assert_stack(&files, "fastapi 0.111.0", &stack);
}

#[test]
fn requirements_for_development_are_no_framework() {
    let requirements = "-r other.txt\nnumpy==2.0.0\nhttps://a/b.whl\n./local\n";
    let files = [
        ("requirements.txt", requirements),
        ("requirements-dev.txt", "flask\npytest\n"),
    ];
    assert_stack(&files, "", &json!({"testing": ["pytest"]}));
}
