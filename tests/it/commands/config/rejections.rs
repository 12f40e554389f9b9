//! Invalid settings: which are rejected, and how they can be removed.

use super::{config, file, set};
use crate::support::binary::Conclave;

#[test]
fn invalid_values_are_not_written() {
    let before = r#"{"judge": "a:j"}"#;
    let conclave = Conclave::new().config(before);
    for (key, value, message) in [
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
        assert!(
            ran.stderr.contains(message),
            "{key} {value}: {}",
            ran.stderr
        );
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
        ("{", "fix or remove it"),
        ("[]", "fix or remove it"),
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
