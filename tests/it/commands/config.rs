//! `conclave config`: shows and changes settings, and never writes a file that cannot be read. What
//! each setting takes is tested beside the settings.

use serde_json::json;

use crate::support::binary::{Conclave, RunOutput};

fn config(conclave: &Conclave, arguments: &[&str]) -> RunOutput {
    conclave.run(&[&["config"], arguments].concat())
}

fn set(conclave: &Conclave, key: &str, value: &str) -> RunOutput {
    config(conclave, &["set", key, value])
}

fn get(conclave: &Conclave, key: &str) -> String {
    config(conclave, &["get", key]).ends_with(0).stdout
}

fn file(conclave: &Conclave) -> String {
    std::fs::read_to_string(conclave.home().join("config.json")).unwrap()
}

#[test]
fn path_is_printed_even_without_a_readable_file() {
    let conclave = Conclave::new();
    let path = format!("{}\n", conclave.home().join("config.json").display());
    assert_eq!(config(&conclave, &["path"]).ends_with(0).stdout, path);
    assert!(!conclave.home().exists(), "reading creates no folder");
    let broken = conclave.config("{");
    assert_eq!(config(&broken, &["path"]).ends_with(0).stdout, path);
}

#[test]
fn show_prints_every_value_with_its_origin() {
    let work = r#"{"work": {"base_url": "h:1", "api_key_cmd": "pass show work"}}"#;
    let conclave = Conclave::new()
        .config(&format!(r#"{{"judge": "a:j", "endpoints": {work}}}"#))
        .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0")
        .variable("OPENAI_API_KEY", "test-key-openai");
    let path = conclave.home().join("config.json").display().to_string();
    let shown = config(&conclave, &["show"]).ends_with(0).stdout;
    let rows: Vec<String> = shown
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for row in [
        "always_allow_under 0 CONCLAVE_ALWAYS_ALLOW_UNDER",
        "judge a:j config.json",
        "endpoints.work.base_url h:1 config.json",
        "endpoints.work.api_key_cmd pass show work config.json",
        "max_in_flight 4 default",
        "max_cost - default",
        "local_servers none CONCLAVE_LOCAL_SERVERS",
    ] {
        assert!(
            rows.iter().any(|shown| shown.starts_with(row)),
            "{row}: {shown}"
        );
    }
    let help = "The judge, as for `--judge`";
    assert!(shown.contains(&format!("{help}\n")), "{shown}");
    let json = config(&conclave, &["show", "--json"]).ends_with(0).json();
    assert_eq!(
        json["judge"],
        json!({"value": "a:j", "origin": path, "help": help})
    );
    assert!(!shown.contains("test-key"));
    assert!(!json.to_string().contains("test-key"));
}

#[test]
fn edit_opens_the_file_in_the_editor_and_checks_it() {
    let conclave = Conclave::new();
    let edit = |conclave: &Conclave| config(conclave, &["edit"]);
    let ran = edit(&conclave).ends_with(2);
    ran.assert_stderr_contains("error: neither `VISUAL` nor `EDITOR` names an editor\nhint: ");
    let with = |conclave: Conclave, text: &str| {
        let editor = conclave.folder().join("my editor");
        std::fs::write(&editor, format!("printf '%s' '{text}' > \"$1\"\n")).unwrap();
        conclave.variable("EDITOR", format!("sh '{}'", editor.display()))
    };
    let conclave = with(conclave, r#"{"rounds": 2}"#);
    let path = conclave.home().join("config.json").display().to_string();
    assert_eq!(
        edit(&conclave).ends_with(0).stderr,
        format!("{path} can be used\n")
    );
    assert_eq!(get(&conclave, "rounds"), "2\n");
    let conclave = with(conclave, r#"{"rounds": 9}"#);
    let ran = edit(&conclave).ends_with(2);
    ran.assert_stderr_contains(&format!(
        "error: `rounds` in `{path}` is `9`, but must be 1, 2"
    ));
    let conclave = with(conclave, "{");
    let ran = edit(&conclave).ends_with(2);
    ran.assert_stderr_contains("at line 1 column 1");
    // What is wrong can be edited, and `VISUAL` comes first.
    let conclave = with(conclave, "{}").variable("VISUAL", "false");
    assert_eq!(
        edit(&conclave).ends_with(1).stderr,
        "error: `false` failed\n"
    );
    edit(&conclave.without("VISUAL")).ends_with(0);
}

#[test]
fn set_changes_one_value_and_preserves_the_rest_of_the_file() {
    let before = "{\n    \"alwaysAllowUnder\" : 1.50,\n    \"panel\": [ \"security=a:m\",\n               \"architect=a:m\" ]\n}\n";
    // A byte order mark is no part of the settings.
    let conclave = Conclave::new().config(&format!("\u{feff}{before}"));
    let output = set(&conclave, "always_allow_under", "0.25").ends_with(0);
    assert_eq!(output.stdout, "");
    let after = before.replace("1.50", "0.25");
    assert_eq!(file(&conclave).trim_start_matches('\u{feff}'), after);
    set(&conclave, "judge", "a:j").ends_with(0);
    assert_eq!(
        file(&conclave).trim_start_matches('\u{feff}'),
        after.replace("\n}\n", ",\n    \"judge\": \"a:j\"\n}\n")
    );
    assert_eq!(get(&conclave, "judge"), "a:j\n");
    config(&conclave, &["unset", "judge"]).ends_with(0);
    assert_eq!(file(&conclave).trim_start_matches('\u{feff}'), after);
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
}

#[test]
fn nested_settings_are_set_one_by_one() {
    let conclave = Conclave::new();
    for (key, value) in [
        ("endpoints.work.base_url", "https://h/v1"),
        ("endpoints.work.free", "true"),
        ("panels.fast", "security=work:m,architect=work:m"),
        ("parameters.openai:gpt-6.1-sol.reasoning_effort", "low"),
        ("parameters.openai:gpt-6.1-sol.seed", "7"),
        ("local_servers", r#"["127.0.0.1:1234"]"#),
        ("judge", "5"),
        ("monthlyBudget", "20"),
    ] {
        set(&conclave, key, value).ends_with(0);
    }
    let written: serde_json::Value = serde_json::from_str(&file(&conclave)).unwrap();
    assert_eq!(
        written,
        json!({
            "endpoints": {"work": {"base_url": "https://h/v1", "free": true}},
            "panels": {"fast": "security=work:m,architect=work:m"},
            "parameters": {"openai:gpt-6.1-sol": {"reasoning_effort": "low", "seed": 7}},
            "local_servers": ["127.0.0.1:1234"],
            "judge": "5",
            "monthly_budget": 20,
        })
    );
    config(&conclave, &["unset", "parameters.openai:gpt-6.1-sol.seed"]).ends_with(0);
    let left = get(&conclave, "parameters.openai:gpt-6.1-sol");
    assert_eq!(left, "{\n  \"reasoning_effort\": \"low\"\n}\n");
}

#[test]
fn set_names_an_overriding_variable() {
    let conclave = Conclave::new().variable("CONCLAVE_JUDGE", "env:j");
    let stderr = set(&conclave, "judge", "a:j").ends_with(0).stderr;
    let warning = "CONCLAVE_JUDGE is set in the environment and overrides the file\n";
    assert!(stderr.ends_with(warning), "{stderr}");
    assert_eq!(get(&conclave, "judge"), "env:j\n");
}

#[test]
fn symlinked_settings_stay_symlinked() {
    let conclave = Conclave::new().config("{}");
    let link = conclave.home().join("config.json");
    let real = conclave.folder().join("dotfiles.json");
    std::fs::rename(&link, &real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    set(&conclave, "judge", "a:j").ends_with(0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let written = std::fs::read_to_string(&real).unwrap();
    assert_eq!(written, "{\n  \"judge\": \"a:j\"\n}");
}

#[test]
fn concurrent_changes_are_all_saved() {
    let conclave = Conclave::new();
    let set = |at| {
        let key = format!("endpoints.w{at}.base_url");
        conclave.start(&["config", "set", &key, "h"])
    };
    for running in [0, 1, 2, 3, 4, 5, 6, 7].map(set) {
        running.wait().ends_with(0);
    }
    let endpoints = config(&conclave, &["get", "endpoints"]).ends_with(0).json();
    assert_eq!(endpoints.as_object().unwrap().len(), 8, "{endpoints}");
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "no temporary file remains"
    );
}

#[test]
fn invalid_values_are_not_written() {
    let before = r#"{"judge": "a:j"}"#;
    let conclave = Conclave::new().config(before);
    let work = r#"{"base_url": "h", "free": 1}"#;
    for (key, value, message) in [
        ("max_cost", "banana", "error: `max_cost` is `banana`, but"),
        ("jugde", "x", "did you mean `judge`?"),
        ("judge", "null", "conclave config unset judge"),
        ("judge", "[1]", "must be"),
        ("judge.x", "x", "`judge` has no parts"),
        ("endpoints.work.base_url", "", "work.base_url` must be"),
        ("endpoints.work.api_key_env", "KEY", "has no `base_url`"),
        ("endpoints.work.base_ulr", "h", "did you mean `base_url`?"),
        ("endpoints.work", work, "`endpoints.work.free`"),
        ("panels.fast", "security", "error: `panels.fast` has a seat"),
        ("parameters.openai.model", "x", "consultation itself sets"),
    ] {
        let output = set(&conclave, key, value).ends_with(2);
        let stderr = &output.stderr;
        assert!(stderr.contains(message), "{key} {value}: {stderr}");
        // The value is wrong, and not the file.
        assert!(!stderr.contains("config.json"), "{key} {value}: {stderr}");
        assert_eq!(output.stdout, "");
        assert_eq!(file(&conclave), before);
    }
}

#[test]
fn wrong_value_in_the_file_is_blamed_on_it() {
    let before = r#"{"max_cost": "banana", "endpoints": {"x": {"free": 1}}}"#;
    let conclave = Conclave::new().config(before);
    for (key, value) in [("judge", "a:j"), ("endpoints.y.base_url", "h")] {
        let stderr = set(&conclave, key, value).ends_with(2).stderr;
        assert!(stderr.contains("config.json"), "{stderr}");
    }
    assert_eq!(file(&conclave), before);
}

#[test]
fn broken_file_is_not_overwritten() {
    for broken in ["{\"judge\": ", "[]", ""] {
        let conclave = Conclave::new().config(broken);
        for arguments in [&["set", "judge", "a:j"][..], &["unset", "judge"]] {
            let output = config(&conclave, arguments).ends_with(2);
            output.assert_stderr_contains("nothing was written");
            assert_eq!(file(&conclave), broken);
        }
    }
}

#[test]
fn unusable_settings_can_be_unset_one_after_another() {
    let conclave =
        Conclave::new().config(r#"{"jugde": 1, "judge": "a:j", "pannel": 2, "judge": "b:j"}"#);
    let twice = config(&conclave, &["show"]).ends_with(2);
    twice.assert_stderr_contains("`judge` in `");
    twice.assert_stderr_contains("is set twice");
    config(&conclave, &["unset", "judge"]).ends_with(0);
    let stderr = set(&conclave, "panel", "fast").ends_with(2).stderr;
    assert!(stderr.contains("unknown setting `jugde`"), "{stderr}");
    let hint = "hint: remove it with `conclave config unset 'jugde'`\n";
    assert!(stderr.ends_with(hint), "{stderr}");
    let output = config(&conclave, &["unset", "jugde"]).ends_with(0);
    let next = "the settings cannot be used yet: unknown setting `pannel`";
    output.assert_stderr_contains(next);
    let stderr = config(&conclave, &["unset", "pannel"]).ends_with(0).stderr;
    assert!(!stderr.contains("yet"), "{stderr}");
    assert_eq!(file(&conclave), "{}");
    let stderr = config(&conclave, &["unset", "panel"]).ends_with(0).stderr;
    assert!(stderr.starts_with("`panel` is not set in "), "{stderr}");
}

#[test]
fn unusable_files_are_reported_with_a_hint() {
    let refused = |conclave: &Conclave, arguments: &[&str], hint: &str| {
        let stderr = conclave.run(arguments).ends_with(2).stderr;
        assert!(stderr.starts_with("error: "), "{stderr}");
        assert!(stderr.contains(&format!("hint: {hint}")), "{stderr}");
    };
    for (text, hint) in [
        ("{", "fix or remove it"),
        (
            r#"{"jugde": 1}"#,
            "remove it with `conclave config unset 'jugde'`",
        ),
        (
            r#"{"judge": 1}"#,
            "change it with `conclave config set judge VALUE`, or remove it with `conclave config unset judge`",
        ),
        (
            r#"{"endpoints": {"w": {"base_url": "h:99999"}}}"#,
            "fix or remove it there",
        ),
    ] {
        refused(&Conclave::new().config(text), &["config", "show"], hint);
    }
    let broken = Conclave::new().config("[]");
    for arguments in [&["models"][..], &["models", "list"], &["consult", "q"]] {
        refused(&broken, arguments, "fix or remove it");
    }
    let variable = Conclave::new().variable("CONCLAVE_ENDPOINTS", r#"{"w": {"base_url": 1}}"#);
    let hint = "change or unset CONCLAVE_ENDPOINTS\n";
    refused(&variable, &["config", "show"], hint);
    let folder = Conclave::new();
    std::fs::create_dir_all(folder.home().join("config.json")).unwrap();
    refused(&folder, &["config", "set", "judge", "a:j"], "make `");
}

#[test]
fn long_wrong_values_are_shortened() {
    let long = "x".repeat(100_000);
    let conclave = Conclave::new().config(&format!(r#"{{"always_allow_under": "{long}"}}"#));
    let stderr = config(&conclave, &["show"]).ends_with(2).stderr;
    assert!(stderr.len() < 1_000, "{}", stderr.len());
    assert!(stderr.contains("x…`"), "{stderr}");
}

#[test]
fn api_keys_are_rejected_everywhere_and_never_shown() {
    let key = "sk-proj-0123456789abcdef";
    let conclave = Conclave::new();
    let nested = |field: &str| format!(r#"{{"openai": {{"{field}": "{key}"}}}}"#);
    for (name, value) in [
        ("judge", key),
        ("panel", "echo 'sk-proj-0123456789abcdef'"),
        ("max_in_flight", key),
        ("OPENAI_API_KEY", key),
        ("api_keys.openai", key),
        ("openai_api_key", "plain"),
        ("endpoints.openai.api_key", "plain"),
        ("endpoints.openai.api_key_cmd", key),
        ("endpoints.w.api-key", key),
        ("endpoints", &nested("token")),
        ("endpoints.openai", &nested("api_key")),
        ("parameters", &nested("user_secret")),
        (key, "x"),
        ("endpoints.sk-proj-0123456789abcdef.base_url", "h"),
        ("endpoints.w.sk-proj-0123456789abcdef", "h"),
        ("parameters.openai.sk-proj-0123456789abcdef", "1"),
        ("judge.sk-proj-0123456789abcdef", "1"),
    ] {
        let stderr = set(&conclave, name, value).ends_with(2).stderr;
        assert!(!stderr.contains(key), "{name}: {stderr}");
        let is_explained = stderr.contains("stores no API keys") || stderr.contains("would store");
        assert!(is_explained, "{name}: {stderr}");
    }
    for action in ["get", "unset"] {
        let stderr = config(&conclave, &[action, key]).ends_with(2).stderr;
        assert!(!stderr.contains(key), "{stderr}");
    }
    assert!(!conclave.home().exists(), "nothing is written");
    for text in [
        r#"{"$": 1}"#,
        r#"{"max_in_flight": "$"}"#,
        r#"{"endpoints": {"$": {"base_url": "h"}}}"#,
        r#"{"endpoints": {"w": {"base_url": "h", "$": 1}}}"#,
        r#"{"endpoints": {"openai": {"api_key_cmd": "$"}}}"#,
        r#"{"panels": {"$": "security=openai:m"}}"#,
        r#"{"parameters": {"openai": {"x": {"$": 1}}}}"#,
        r#"{"$": 1, "$": 2}"#,
    ] {
        let conclave = Conclave::new().config(&text.replace('$', key));
        let stderr = conclave.run(&["consult", "q"]).ends_with(2).stderr;
        assert!(!stderr.contains(key), "{stderr}");
    }
    let conclave = Conclave::new().config(&format!(r#"{{"{key}": 1}}"#));
    let stderr = config(&conclave, &["unset", key]).ends_with(0).stderr;
    assert!(!stderr.contains(key), "{stderr}");
    assert_eq!(file(&conclave), "{}");
}
