//! Values: where they come from and how they are written.

use serde_json::json;

use super::{config, file, set};
use crate::support::binary::Conclave;

#[test]
fn path_is_printed_even_without_a_file() {
    let conclave = Conclave::new();
    let path = format!("{}\n", conclave.home().join("config.json").display());
    assert_eq!(config(&conclave, &["path"]).ends_with(0).stdout, path);
    assert!(!conclave.home().exists(), "reading creates no folder");
    assert_eq!(
        config(&conclave.config("{"), &["path"]).ends_with(0).stdout,
        path
    );
}

#[test]
fn show_prints_every_value_with_its_origin() {
    let conclave = Conclave::new()
        .config(r#"{"judge": "a:j", "endpoints": {"work": {"base_url": "h:1", "api_key_cmd": "pass show work"}}}"#)
        .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0")
        .variable("OPENAI_API_KEY", "test-key-openai");
    let path = conclave.home().join("config.json").display().to_string();
    let shown = config(&conclave, &["show"]).ends_with(0).stdout;
    let row = |name: &str| {
        shown
            .lines()
            .find(|line| line.split_whitespace().next() == Some(name))
            .unwrap_or_else(|| panic!("{name}: {shown}"))
    };
    for (name, value, origin) in [
        ("always_allow_under", "0", "CONCLAVE_ALWAYS_ALLOW_UNDER"),
        ("judge", "a:j", "config.json"),
        ("endpoints.work.base_url", "h:1", "config.json"),
        (
            "endpoints.work.api_key_cmd",
            "pass show work",
            "config.json",
        ),
        ("max_in_flight", "4", "default"),
        ("hedge_after", "30", "default"),
        ("max_cost", "-", "default"),
        ("panels", "-", "default"),
        ("local_servers", "none", "CONCLAVE_LOCAL_SERVERS"),
    ] {
        let columns: Vec<&str> = row(name).split_whitespace().collect();
        let expected = format!("{name} {value} {origin}");
        assert!(columns.join(" ").starts_with(&expected), "{columns:?}");
    }
    let help = "The judge, as for `--judge`";
    assert!(row("judge").ends_with(help), "{shown}");
    let json = config(&conclave, &["show", "--json"]).ends_with(0).json();
    assert_eq!(
        json["judge"],
        json!({"value": "a:j", "origin": path, "help": help})
    );
    let help = "The experts, as for `--panel`";
    assert_eq!(
        json["panel"],
        json!({"value": null, "origin": "default", "help": help})
    );
    assert!(!shown.contains("test-key"));
    assert!(!json.to_string().contains("test-key"));
}

#[test]
fn get_prints_a_single_value() {
    let conclave =
        Conclave::new().config(r#"{"judge": "a:j", "endpoints": {"work": {"baseUrl": "h:1"}}}"#);
    let got = |key: &str| config(&conclave, &["get", key]).ends_with(0).stdout;
    assert_eq!(got("judge"), "a:j\n");
    assert_eq!(got("max_output_tokens"), "16384\n");
    assert_eq!(got("panel"), String::new());
    assert_eq!(got("endpoints.work.base_url"), "h:1\n");
    assert_eq!(got("endpoints.work.free"), String::new());
    let unknown = config(&conclave, &["get", "jugde"]).ends_with(2);
    assert_eq!(unknown.stdout, "");
    assert_eq!(
        unknown.stderr,
        "error: unknown setting `jugde`; did you mean `judge`?\n"
    );
}

#[test]
fn set_changes_one_value_and_preserves_the_rest_of_the_file() {
    let before = "{\n    \"alwaysAllowUnder\" : 1.50,\n    \"panel\": [ \"security=a:m\",\n               \"architect=a:m\" ]\n}\n";
    let conclave = Conclave::new().config(before);
    let output = set(&conclave, "always_allow_under", "0.25").ends_with(0);
    assert_eq!(output.stdout, "");
    assert_eq!(file(&conclave), before.replace("1.50", "0.25"));
    set(&conclave, "judge", "a:j").ends_with(0);
    assert_eq!(
        file(&conclave),
        before
            .replace("1.50", "0.25")
            .replace("\n}\n", ",\n    \"judge\": \"a:j\"\n}\n")
    );
    assert_eq!(
        config(&conclave, &["get", "judge"]).ends_with(0).stdout,
        "a:j\n"
    );
    config(&conclave, &["unset", "judge"]).ends_with(0);
    assert_eq!(file(&conclave), before.replace("1.50", "0.25"));
}

#[test]
fn first_set_creates_a_private_home() {
    use std::os::unix::fs::PermissionsExt;
    let conclave = Conclave::new();
    set(&conclave, "max_in_flight", "2").ends_with(0);
    assert_eq!(file(&conclave), "{\n  \"max_in_flight\": 2\n}\n");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&conclave.home()), 0o700);
    assert_eq!(mode(&conclave.home().join("config.json")), 0o600);
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "no temporary file remains"
    );
}

#[test]
fn nested_settings_are_set_one_by_one() {
    let conclave = Conclave::new();
    for (key, value) in [
        ("endpoints.work.base_url", "https://h/v1"),
        ("endpoints.work.api_key_cmd", "pass show work"),
        ("endpoints.work.free", "true"),
        ("panels.fast", "security=work:m,architect=work:m"),
        ("parameters.openai:gpt-6.1-sol.reasoning_effort", "low"),
        ("parameters.openai:gpt-6.1-sol.seed", "7"),
        ("local_servers", r#"["127.0.0.1:1234"]"#),
        ("judge", "5"),
        ("hedge_after", "off"),
        ("monthlyBudget", "20"),
        ("on_failure", "substitute"),
    ] {
        set(&conclave, key, value).ends_with(0);
    }
    let written: serde_json::Value = serde_json::from_str(&file(&conclave)).unwrap();
    assert_eq!(
        written,
        json!({
            "endpoints": {
                "work": {"base_url": "https://h/v1", "api_key_cmd": "pass show work", "free": true},
            },
            "panels": {"fast": "security=work:m,architect=work:m"},
            "parameters": {"openai:gpt-6.1-sol": {"reasoning_effort": "low", "seed": 7}},
            "local_servers": ["127.0.0.1:1234"],
            "judge": "5",
            "hedge_after": "off",
            "monthly_budget": 20,
            "on_failure": "substitute",
        })
    );
    config(&conclave, &["unset", "parameters.openai:gpt-6.1-sol.seed"]).ends_with(0);
    assert_eq!(
        config(&conclave, &["get", "parameters.openai:gpt-6.1-sol"])
            .ends_with(0)
            .json(),
        json!({"reasoning_effort": "low"})
    );
}

#[test]
fn set_names_an_overriding_variable() {
    let conclave = Conclave::new().variable("CONCLAVE_JUDGE", "env:j");
    let output = set(&conclave, "judge", "a:j").ends_with(0);
    assert!(
        output
            .stderr
            .ends_with("CONCLAVE_JUDGE is set in the environment and overrides the file\n"),
        "{}",
        output.stderr
    );
    assert_eq!(
        config(&conclave, &["get", "judge"]).ends_with(0).stdout,
        "env:j\n"
    );
}

#[test]
fn symlinked_settings_stay_symlinked() {
    let conclave = Conclave::new().config("{}");
    let (link, real) = (
        conclave.home().join("config.json"),
        conclave.folder().join("dotfiles.json"),
    );
    std::fs::rename(&link, &real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    set(&conclave, "judge", "a:j").ends_with(0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(
        std::fs::read_to_string(&real).unwrap(),
        "{\n  \"judge\": \"a:j\"\n}"
    );
}

#[test]
fn concurrent_changes_are_all_saved() {
    let conclave = Conclave::new();
    let keys: Vec<String> = (0..8)
        .map(|at| format!("endpoints.w{at}.base_url"))
        .collect();
    let running: Vec<_> = keys
        .iter()
        .map(|key| conclave.start(&["config", "set", key, "h"]))
        .collect();
    for one in running {
        one.wait().ends_with(0);
    }
    let endpoints = config(&conclave, &["get", "endpoints"]).ends_with(0).json();
    assert_eq!(
        endpoints.as_object().unwrap().len(),
        keys.len(),
        "{endpoints}"
    );
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "no temporary file remains"
    );
}

#[test]
fn byte_order_mark_is_ignored() {
    let conclave = Conclave::new().config("\u{feff}{\"judge\": \"a:j\"}");
    assert_eq!(
        config(&conclave, &["get", "judge"]).ends_with(0).stdout,
        "a:j\n"
    );
    set(&conclave, "judge", "b:j").ends_with(0);
    assert_eq!(
        config(&conclave, &["get", "judge"]).ends_with(0).stdout,
        "b:j\n"
    );
}
