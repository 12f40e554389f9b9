//! Invalid settings: which are rejected, and how they can be removed.

use super::{config, file, set};
use crate::support::binary::Conclave;

#[test]
fn invalid_values_are_not_written() {
    let before = r#"{"judge": "a:j"}"#;
    let conclave = Conclave::new().config(before);
    for (key, value, message) in [
        (
            "max_in_flight",
            "0",
            "must be a whole number from 1 to 1000",
        ),
        ("always_allow_under", "-1", "must be an amount in dollars"),
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
            "must be a number of seconds up to 1000000, or `off`",
        ),
        (
            "on_failure",
            "panic",
            "must be `ask`, `substitute`, `skip` or `fail`",
        ),
        (
            "pulse_seconds",
            "-1",
            "must be a number of seconds from 0.1 to 1000000, or 0 for never",
        ),
        ("max_cost", "lots", "must be an amount in dollars"),
    ] {
        let output = set(&conclave, key, value).ends_with(2);
        assert!(
            output.stderr.contains(message),
            "{key} {value}: {}",
            output.stderr
        );
        assert_eq!(output.stdout, "");
        assert_eq!(file(&conclave).as_str(), before);
    }
}

#[test]
fn wrong_value_is_not_blamed_on_the_file() {
    let conclave = Conclave::new();
    for (key, value, message) in [
        (
            "max_cost",
            "banana",
            "`max_cost` is `banana`, but must be an amount in dollars, such as 0.50",
        ),
        (
            "endpoints.work.base_url",
            "",
            "`endpoints.work.base_url` must be",
        ),
        (
            "panels.fast",
            "security",
            "`panels.fast` has a seat that is not",
        ),
    ] {
        let stderr = set(&conclave, key, value).ends_with(2).stderr;
        assert!(stderr.starts_with(&format!("error: {message}")), "{stderr}");
        assert!(!stderr.contains("config.json"), "{stderr}");
        assert!(stderr.ends_with("hint: nothing was written\n"), "{stderr}");
    }
    assert!(!conclave.home().exists());
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
            assert!(
                output.stderr.contains("nothing was written"),
                "{}",
                output.stderr
            );
            assert_eq!(file(&conclave), broken);
        }
    }
}

#[test]
fn unknown_setting_can_be_unset() {
    let conclave = Conclave::new().config(r#"{"jugde": "a:j", "judge": "b:j"}"#);
    config(&conclave, &["show"]).ends_with(2);
    let output = set(&conclave, "panel", "fast").ends_with(2);
    assert!(
        output.stderr.contains("unknown setting `jugde`"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.ends_with("hint: nothing was written\n"),
        "{}",
        output.stderr
    );
    config(&conclave, &["unset", "jugde"]).ends_with(0);
    assert_eq!(file(&conclave), r#"{"judge": "b:j"}"#);
    let output = config(&conclave, &["unset", "panel"]).ends_with(0);
    assert!(
        output.stderr.starts_with("`panel` is not set in "),
        "{}",
        output.stderr
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
        let output = config(&conclave, arguments).ends_with(2);
        assert!(!output.stderr.contains("sk-secret"), "{}", output.stderr);
        assert!(
            output.stderr.contains("api_key_cmd") || output.stderr.contains("not the key itself"),
            "{}",
            output.stderr
        );
        assert!(!conclave.home().exists(), "nothing is written");
    }
}

#[test]
fn duplicate_settings_are_reported_and_unset_together() {
    let conclave = Conclave::new().config(r#"{"judge": "a:j", "panel": "fast", "judge": "b:j"}"#);
    let shown = config(&conclave, &["show"]).ends_with(2);
    assert!(shown.stderr.contains("`judge` in `"), "{}", shown.stderr);
    assert!(shown.stderr.contains("is set twice"), "{}", shown.stderr);
    config(&conclave, &["unset", "judge"]).ends_with(0);
    assert_eq!(file(&conclave), r#"{"panel": "fast"}"#);
}

#[test]
fn unknown_settings_can_be_unset_one_after_another() {
    let conclave = Conclave::new().config(r#"{"jugde": 1, "pannel": 2, "judge": "a:j"}"#);
    let output = config(&conclave, &["unset", "jugde"]).ends_with(0);
    assert!(
        output
            .stderr
            .contains("the settings cannot be used yet: unknown setting `pannel`"),
        "{}",
        output.stderr
    );
    let output = config(&conclave, &["unset", "pannel"]).ends_with(0);
    assert!(!output.stderr.contains("yet"), "{}", output.stderr);
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
            let output = conclave.run(arguments).ends_with(2);
            assert!(
                output.stderr.starts_with("error: "),
                "{text}: {}",
                output.stderr
            );
            assert!(
                output.stderr.contains(&format!("hint: {hint}")),
                "{text}: {}",
                output.stderr
            );
        }
    }
    let variable = Conclave::new().variable("CONCLAVE_ENDPOINTS", r#"{"w": {"base_url": 1}}"#);
    let output = config(&variable, &["show"]).ends_with(2);
    assert!(
        output
            .stderr
            .ends_with("hint: change or unset CONCLAVE_ENDPOINTS\n"),
        "{}",
        output.stderr
    );
    let folder = Conclave::new();
    std::fs::create_dir_all(folder.home().join("config.json")).unwrap();
    let output = config(&folder, &["set", "judge", "a:j"]).ends_with(2);
    assert!(output.stderr.contains("hint: make `"), "{}", output.stderr);
    assert!(output.stderr.contains("CONCLAVE_HOME"), "{}", output.stderr);
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
        let output = set(&conclave, key, value).ends_with(2);
        assert!(
            output.stderr.contains("must be"),
            "{key} {value}: {}",
            output.stderr
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
            let output = set(&conclave, name, &value).ends_with(2);
            assert!(!output.stderr.contains(key), "{name}: {}", output.stderr);
            assert!(
                output.stderr.contains("conclave stores no API keys"),
                "{name}: {}",
                output.stderr
            );
        }
    }
    assert!(!conclave.home().exists(), "nothing is written");
    for text in [
        format!(r#"{{"endpoints": {{"openai": {{"api_key_cmd": "{key}"}}}}}}"#),
        format!(r#"{{"max_in_flight": "{key}"}}"#),
    ] {
        let output = Conclave::new()
            .config(&text)
            .run(&["consult", "q"])
            .ends_with(2);
        assert!(!output.stderr.contains(key), "{}", output.stderr);
    }
}

#[test]
fn long_wrong_values_are_shortened() {
    let conclave = Conclave::new().config(&format!(
        r#"{{"always_allow_under": "{}"}}"#,
        "x".repeat(100_000)
    ));
    let output = config(&conclave, &["show"]).ends_with(2);
    assert!(output.stderr.len() < 1_000, "{}", output.stderr.len());
    assert!(output.stderr.contains("x…`"), "{}", output.stderr.len());
}

#[test]
fn request_fields_set_by_the_tool_are_rejected_as_parameters() {
    use conclave::domain::body_fields::{OWN, STRUCTURE};
    let conclave = Conclave::new();
    for path in OWN.into_iter().chain(STRUCTURE) {
        let output = set(&conclave, &format!("parameters.google.{path}"), "1").ends_with(2);
        assert!(
            output.stderr.contains("the consultation itself sets"),
            "{path}: {}",
            output.stderr
        );
        let fields = path.rsplit('.').fold("1".to_owned(), |inner, name| {
            format!(r#"{{"{name}": {inner}}}"#)
        });
        let output = Conclave::new()
            .config(&format!(r#"{{"parameters": {{"google": {fields}}}}}"#))
            .run(&["config", "show"])
            .ends_with(2);
        assert!(output.stderr.contains(path), "{path}: {}", output.stderr);
    }
}

#[test]
fn api_keys_in_place_of_a_name_are_rejected_and_never_shown() {
    let key = "sk-proj-0123456789abcdef";
    let conclave = Conclave::new();
    for arguments in [
        &["set", key, "x"][..],
        &["get", key],
        &["unset", key],
        &["set", "endpoints.sk-proj-0123456789abcdef.base_url", "h"],
        &["set", "endpoints.w.sk-proj-0123456789abcdef", "h"],
        &["set", "parameters.openai.sk-proj-0123456789abcdef", "1"],
        &["set", "judge.sk-proj-0123456789abcdef", "1"],
        &[
            "set",
            "parameters",
            r#"{"openai": {"user_secret": "plain"}}"#,
        ],
    ] {
        let output = config(&conclave, arguments).ends_with(2);
        assert!(!output.stderr.contains(key), "{}", output.stderr);
        assert!(output.stderr.contains("would store"), "{}", output.stderr);
        assert!(!conclave.home().exists(), "nothing is written");
    }
    for text in [
        r#"{"$": 1}"#,
        r#"{"endpoints": {"$": {"base_url": "h"}}}"#,
        r#"{"endpoints": {"w": {"base_url": "h", "$": 1}}}"#,
        r#"{"panels": {"$": "security=openai:m"}}"#,
        r#"{"parameters": {"openai": {"x": {"$": 1}}}}"#,
        r#"{"$": 1, "$": 2}"#,
    ] {
        let output = Conclave::new()
            .config(&text.replace('$', key))
            .run(&["consult", "q"])
            .ends_with(2);
        assert!(!output.stderr.contains(key), "{}", output.stderr);
    }
    let conclave = Conclave::new().config(&format!(r#"{{"{key}": 1}}"#));
    let output = config(&conclave, &["unset", key]).ends_with(0);
    assert!(!output.stderr.contains(key), "{}", output.stderr);
    assert_eq!(file(&conclave), "{}");
}
