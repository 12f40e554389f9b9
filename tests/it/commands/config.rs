//! `conclave config`: what it shows, and that it changes the file only into one that can be read.

use serde_json::json;

use crate::support::binary::{Conclave, RunOutput};

fn config(conclave: &Conclave, arguments: &[&str]) -> RunOutput {
    conclave.run(&[&["config"], arguments].concat())
}

fn set(conclave: &Conclave, key: &str, value: &str) -> RunOutput {
    config(conclave, &["set", key, value])
}

fn file(conclave: &Conclave) -> String {
    std::fs::read_to_string(conclave.home().join("config.json")).unwrap()
}

#[test]
fn path_is_printed_even_without_a_file() {
    let conclave = Conclave::new();
    let path = format!("{}\n", conclave.home().join("config.json").display());
    assert_eq!(config(&conclave, &["path"]).ends_with(0).stdout, path);
    assert!(!conclave.home().exists(), "looking makes no folder");
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
        ("judge", "a:j", path.as_str()),
        ("endpoints.work.base_url", "h:1", &path),
        ("endpoints.work.api_key_cmd", "pass show work", &path),
        ("max_in_flight", "4", "default"),
        ("hedge_after", "10", "default"),
        ("max_cost", "-", "default"),
        ("panels", "-", "default"),
        ("local_servers", "none", "CONCLAVE_LOCAL_SERVERS"),
    ] {
        let words: Vec<&str> = row(name).split_whitespace().collect();
        assert_eq!(words.join(" "), format!("{name} {value} {origin}"));
    }
    let json = config(&conclave, &["show", "--json"]).ends_with(0).json();
    assert_eq!(json["judge"], json!({"value": "a:j", "origin": path}));
    assert_eq!(json["panel"], json!({"value": null, "origin": "default"}));
    assert!(!shown.contains("test-key"));
    assert!(!json.to_string().contains("test-key"));
}

#[test]
fn get_prints_a_single_value() {
    let conclave = Conclave::new()
        .config(r#"{"judge": "a:j", "endpoints": [{"name": "work", "baseUrl": "h:1"}]}"#);
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
    let ran = set(&conclave, "always_allow_under", "0.25").ends_with(0);
    assert_eq!(ran.stdout, "");
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
        "nothing is left beside it"
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
            "endpoints": {"work": {"base_url": "https://h/v1", "api_key_cmd": "pass show work", "free": true}},
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
fn invalid_values_are_not_written() {
    let before = r#"{"judge": "a:j"}"#;
    let conclave = Conclave::new().config(before);
    for (key, value, words) in [
        ("max_in_flight", "0", "must be a whole number above 0"),
        ("always_allow_under", "-1", "must be an amount of dollars"),
        ("jugde", "x", "did you mean `judge`?"),
        ("judge", "null", "conclave config unset judge"),
        (
            "endpoints.work.api_key_env",
            "WORK_KEY",
            "has no `base_url`",
        ),
        ("endpoints.work.base_ulr", "h", "did you mean `base_url`?"),
        (
            "endpoints.work",
            r#"{"base_url": "h", "free": 1}"#,
            "`endpoints.work.free`",
        ),
        ("panels.fast", "security", "`persona=provider:model`"),
        (
            "parameters.openai.model",
            "x",
            "the consultation itself sets",
        ),
        ("judge.x", "x", "`judge` has no parts"),
        (
            "hedge_after",
            "soon",
            "must be a number of seconds or `off`",
        ),
        (
            "on_failure",
            "panic",
            "must be `ask`, `substitute`, `skip` or `fail`",
        ),
        (
            "pulse_seconds",
            "-1",
            "must be a number of seconds, or 0 for never",
        ),
        ("max_cost", "lots", "must be an amount of dollars"),
    ] {
        let ran = set(&conclave, key, value).ends_with(2);
        assert!(ran.stderr.contains(words), "{key} {value}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
        assert_eq!(file(&conclave).as_str(), before);
    }
}

#[test]
fn broken_file_is_not_overwritten() {
    for broken in ["{\"judge\": ", "[]", ""] {
        let conclave = Conclave::new().config(broken);
        for arguments in [&["set", "judge", "a:j"][..], &["unset", "judge"]] {
            let ran = config(&conclave, arguments).ends_with(2);
            assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
            assert_eq!(file(&conclave), broken);
        }
    }
}

#[test]
fn unknown_setting_can_be_unset() {
    let conclave = Conclave::new().config(r#"{"jugde": "a:j", "judge": "b:j"}"#);
    config(&conclave, &["show"]).ends_with(2);
    let ran = set(&conclave, "panel", "fast").ends_with(2);
    assert!(
        ran.stderr.contains("unknown setting `jugde`"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.ends_with("hint: nothing was written\n"),
        "{}",
        ran.stderr
    );
    config(&conclave, &["unset", "jugde"]).ends_with(0);
    assert_eq!(file(&conclave), r#"{"judge": "b:j"}"#);
    let ran = config(&conclave, &["unset", "panel"]).ends_with(0);
    assert!(
        ran.stderr.starts_with("`panel` is not set in "),
        "{}",
        ran.stderr
    );
}

#[test]
fn set_names_an_overriding_variable() {
    let conclave = Conclave::new().variable("CONCLAVE_JUDGE", "env:j");
    let ran = set(&conclave, "judge", "a:j").ends_with(0);
    assert!(
        ran.stderr
            .ends_with("CONCLAVE_JUDGE is set in the environment and outweighs the file\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        config(&conclave, &["get", "judge"]).ends_with(0).stdout,
        "env:j\n"
    );
}

#[test]
fn api_keys_are_rejected_without_being_repeated() {
    let conclave = Conclave::new();
    for arguments in [
        &["set", "openai_api_key", "sk-secret"][..],
        &["set", "endpoints.openai.api_key", "sk-secret"],
        &["set", "endpoints.openai", r#"{"api_key": "sk-secret"}"#],
        &["set", "endpoints.openai.api_key_env", "sk-secret"],
        &["set", "endpoints", r#"{"openai": {"token": "sk-secret"}}"#],
    ] {
        let ran = config(&conclave, arguments).ends_with(2);
        assert!(!ran.stderr.contains("sk-secret"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("api_key_cmd") || ran.stderr.contains("never the key itself"),
            "{}",
            ran.stderr
        );
        assert!(!conclave.home().exists(), "nothing is written");
    }
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
    let kept = config(&conclave, &["get", "endpoints"]).ends_with(0).json();
    assert_eq!(kept.as_object().unwrap().len(), keys.len(), "{kept}");
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn duplicate_settings_are_reported_and_unset_together() {
    let conclave = Conclave::new().config(r#"{"judge": "a:j", "panel": "fast", "judge": "b:j"}"#);
    let shown = config(&conclave, &["show"]).ends_with(2);
    assert!(shown.stderr.contains("`judge` in `"), "{}", shown.stderr);
    assert!(shown.stderr.contains("is given twice"), "{}", shown.stderr);
    config(&conclave, &["unset", "judge"]).ends_with(0);
    assert_eq!(file(&conclave), r#"{"panel": "fast"}"#);
}

#[test]
fn unknown_settings_can_be_unset_one_after_another() {
    let conclave = Conclave::new().config(r#"{"jugde": 1, "pannel": 2, "judge": "a:j"}"#);
    let ran = config(&conclave, &["unset", "jugde"]).ends_with(0);
    assert!(
        ran.stderr
            .contains("the settings cannot be used yet: unknown setting `pannel`"),
        "{}",
        ran.stderr
    );
    let ran = config(&conclave, &["unset", "pannel"]).ends_with(0);
    assert!(!ran.stderr.contains("yet"), "{}", ran.stderr);
    assert_eq!(file(&conclave), r#"{"judge": "a:j"}"#);
}

#[test]
fn unusable_files_are_reported_with_a_hint() {
    for (text, hint) in [
        ("{", "mend or remove it"),
        ("[]", "mend or remove it"),
        (
            r#"{"jugde": 1}"#,
            "take it out: conclave config unset 'jugde'",
        ),
        (
            r#"{"judge": 1}"#,
            "write another: conclave config set judge VALUE; or take it out: conclave config unset judge",
        ),
        (
            r#"{"endpoints": {"w": {"base_url": "h:99999"}}}"#,
            "mend or remove it there",
        ),
    ] {
        let conclave = Conclave::new().config(text);
        for arguments in [
            &["config", "show"][..],
            &["models"],
            &["model", "list"],
            &["consult", "q"],
        ] {
            let ran = conclave.run(arguments).ends_with(2);
            assert!(ran.stderr.starts_with("error: "), "{text}: {}", ran.stderr);
            assert!(
                ran.stderr.contains(&format!("hint: {hint}")),
                "{text}: {}",
                ran.stderr
            );
        }
    }
    let variable = Conclave::new().variable("CONCLAVE_ENDPOINTS", r#"{"w": {"base_url": 1}}"#);
    let ran = config(&variable, &["show"]).ends_with(2);
    assert!(
        ran.stderr
            .ends_with("hint: change or unset CONCLAVE_ENDPOINTS\n"),
        "{}",
        ran.stderr
    );
    let folder = Conclave::new();
    std::fs::create_dir_all(folder.home().join("config.json")).unwrap();
    let ran = config(&folder, &["set", "judge", "a:j"]).ends_with(2);
    assert!(ran.stderr.contains("hint: make `"), "{}", ran.stderr);
    assert!(ran.stderr.contains("CONCLAVE_HOME"), "{}", ran.stderr);
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

#[test]
fn lists_and_objects_are_never_written_as_text() {
    let conclave = Conclave::new();
    for (key, value) in [
        ("judge", "[1]"),
        ("panel", "[]"),
        ("panel", "[1]"),
        ("local_model", "{}"),
    ] {
        let ran = set(&conclave, key, value).ends_with(2);
        assert!(
            ran.stderr.contains("must be"),
            "{key} {value}: {}",
            ran.stderr
        );
    }
}

#[test]
fn api_keys_are_rejected_in_every_setting_and_never_shown() {
    let key = "sk-proj-0123456789abcdef";
    let conclave = Conclave::new();
    for name in [
        "judge",
        "panel",
        "OPENAI_API_KEY",
        "api_keys.openai",
        "endpoints.openai.api_key_cmd",
        "max_in_flight",
        "endpoints.w.api-key",
    ] {
        for value in [key.to_owned(), format!("echo '{key}'")] {
            let ran = set(&conclave, name, &value).ends_with(2);
            assert!(!ran.stderr.contains(key), "{name}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("no key is kept in one"),
                "{name}: {}",
                ran.stderr
            );
        }
    }
    assert!(!conclave.home().exists(), "nothing is written");
    for text in [
        format!(r#"{{"endpoints": {{"openai": {{"api_key_cmd": "{key}"}}}}}}"#),
        format!(r#"{{"max_in_flight": "{key}"}}"#),
    ] {
        let ran = Conclave::new()
            .config(&text)
            .run(&["consult", "q"])
            .ends_with(2);
        assert!(!ran.stderr.contains(key), "{}", ran.stderr);
    }
}

#[test]
fn long_wrong_values_are_shortened() {
    let conclave = Conclave::new().config(&format!(
        r#"{{"always_allow_under": "{}"}}"#,
        "x".repeat(100_000)
    ));
    let ran = config(&conclave, &["show"]).ends_with(2);
    assert!(ran.stderr.len() < 1_000, "{}", ran.stderr.len());
    assert!(ran.stderr.contains("x…`"), "{}", ran.stderr.len());
}

#[test]
fn request_fields_set_by_the_tool_are_rejected_as_parameters() {
    use conclave::domain::body_fields::{OWN, STRUCTURE};
    let conclave = Conclave::new();
    for path in OWN.into_iter().chain(STRUCTURE) {
        let ran = set(&conclave, &format!("parameters.google.{path}"), "1").ends_with(2);
        assert!(
            ran.stderr.contains("the consultation itself sets"),
            "{path}: {}",
            ran.stderr
        );
        let fields = path.rsplit('.').fold("1".to_owned(), |inner, name| {
            format!(r#"{{"{name}": {inner}}}"#)
        });
        let ran = Conclave::new()
            .config(&format!(r#"{{"parameters": {{"google": {fields}}}}}"#))
            .run(&["config", "show"])
            .ends_with(2);
        assert!(ran.stderr.contains(path), "{path}: {}", ran.stderr);
    }
}
