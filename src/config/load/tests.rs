//! Tests of the layers of settings.

use std::time::Duration;

use serde_json::Map;

use crate::config::endpoints::LocalServers;
use crate::consultation::policy::hedging::HedgeAfter;
use crate::consultation::policy::mode::Mode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;
use crate::stopping::early_termination::Policy;

use super::*;

fn read(text: &str) -> Result<Settings, String> {
    Settings::default()
        .with_file(Path::new("config.json"), text)
        .map_err(|error| error.to_string())
}

#[test]
fn every_key_is_read_and_its_origin_is_kept() {
    let settings = read(
        r#"{"alwaysAllowUnder": 1.25, "max_output_tokens": 9000, "connect_timeout_seconds": 2.5, "first_byte_timeout_seconds": 300, "idle_timeout_seconds": 60,
            "local_threads": 4, "local_context": 4096, "local_model": "small", "context": "a.md", "panel": "a, b", "judge": "openai:x",
            "panels": {"fast": "security=m"}, "endpoints": {"work": {"base_url": "https://h"}}, "maxInFlight": 2,
            "parameters": {"openai": {"seed": 0}}, "local_servers": "none", "programs": {"own": {"argv": ["own"]}}, "maxCost": 2, "maxCalls": 25, "monthlyBudget": 20.5,
            "on_failure": "skip", "hedge_after": "off", "pulse_seconds": 0, "max_wait_seconds": 90,
            "targetRuns": 10, "targetMedianSeconds": 7.5, "target_monthly_cost": 0.25, "mode": "explore", "rounds": 3,
            "early_stop": "auto", "confidenceThreshold": 0.85, "debate_analysis": "off", "judge_passes": 2, "notify": "on", "otlp": "on", "otlp_content": "on", "log_context": false, "stdin_wait_seconds": 5,
            "personas": {"linguist": {"name": "Linguist", "prompt": "You weigh words."}}, "persona_sets": {"words": ["linguist", "skeptic"]},
            "default_personas": "skeptic, linguist"}"#,
    )
    .unwrap();
    assert_eq!(settings.always_allow_under, MicroUsd(1_250_000));
    assert_eq!(settings.connect_timeout, Duration::from_millis(2_500));
    assert_eq!(settings.first_byte_timeout, Duration::from_secs(300));
    assert_eq!(settings.idle_timeout, Duration::from_secs(60));
    assert_eq!(settings.max_output_tokens, 9_000);
    assert_eq!(settings.local_threads, Some(4));
    assert_eq!(settings.local_context, 4_096);
    assert_eq!(settings.panel.as_deref().unwrap(), ["a", "b"]);
    assert_eq!(settings.panels["fast"].seats, ["security=m"]);
    assert_eq!(settings.endpoints[0].name, "work");
    assert_eq!(settings.max_in_flight, 2);
    assert_eq!(settings.local_servers, LocalServers::None);
    assert_eq!(settings.parameters.of("openai").0["seed"], 0);
    assert_eq!(settings.programs.all().len(), 3);
    assert_eq!(settings.local_model.as_deref(), Some("small"));
    assert_eq!(settings.judge.as_deref(), Some("openai:x"));
    assert_eq!(settings.max_cost, Some(MicroUsd(2_000_000)));
    assert_eq!(settings.max_calls, 25);
    assert_eq!(settings.monthly_budget, Some(MicroUsd(20_500_000)));
    assert_eq!(settings.on_failure, OnFailure::Skip);
    assert_eq!(settings.hedge_after, HedgeAfter::Off);
    assert_eq!(settings.pulse, Duration::ZERO);
    assert_eq!(settings.max_wait, Some(Duration::from_secs(90)));
    assert_eq!(settings.target_runs, 10);
    assert_eq!(settings.target_median, Duration::from_millis(7_500));
    assert_eq!(settings.target_monthly_cost, MicroUsd(250_000));
    assert_eq!(settings.mode, Mode::Explore);
    assert_eq!(settings.rounds.number(), 3);
    assert_eq!(settings.early_termination, Policy::Auto);
    assert_eq!(
        settings.confidence_threshold,
        Confidence::new(0.85).unwrap()
    );
    assert!(!settings.log_context);
    assert_eq!(settings.stdin_wait, Duration::from_secs(5));
    assert_eq!(settings.origins.len(), SETTINGS.len());
    assert_eq!(settings.origins["judge"].to_string(), "config.json");
    // What is shown can be written again.
    let shown = SETTINGS.iter();
    let written: Map<_, _> = shown
        .map(|setting| (setting.name.to_owned(), setting.value(&settings)))
        .collect();
    let again = read(&Value::Object(written).to_string()).unwrap();
    assert_eq!(again, settings);
}

#[test]
fn figures_are_shown_as_people_write_them() {
    let shown = |name| {
        let setting = setting::find(name).unwrap();
        setting.value(&Settings::default()).to_string()
    };
    assert_eq!(shown("always_allow_under"), "0.5");
    assert_eq!(shown("connect_timeout_seconds"), "10");
    assert_eq!(shown("judge"), "null");
}

#[test]
fn zero_means_zero_and_an_empty_file_of_settings_changes_nothing() {
    let zeros = read(r#"{"always_allow_under": 0, "max_cost": 0, "monthly_budget": 0, "hedge_after": 0, "pulse_seconds": 0}"#).unwrap();
    assert_eq!(zeros.always_allow_under, MicroUsd::ZERO);
    assert_eq!(zeros.max_cost, Some(MicroUsd::ZERO));
    assert_eq!(zeros.monthly_budget, Some(MicroUsd::ZERO));
    assert_eq!(zeros.hedge_after, HedgeAfter::After(Duration::ZERO));
    assert_eq!(zeros.pulse, Duration::ZERO);
    assert_eq!(read("{}").unwrap(), Settings::default());
    let nowhere = Settings::load(
        Path::new("/nowhere/config.json"),
        None,
        &Environment::default(),
    );
    assert_eq!(nowhere.unwrap(), Settings::default());
}

#[test]
fn unusable_settings_are_named_with_their_file() {
    for (file, message) in [
        (
            r#"{"always_alow_under": 1}"#,
            "unknown setting `always_alow_under` in `config.json`; did you mean `always_allow_under`?",
        ),
        (r#"{"zzz": 1}"#, "unknown setting `zzz` in `config.json`"),
        (
            r#"{"local_context": "big"}"#,
            r#"`local_context` in `config.json` is `"big"`, but must be a whole number from 1 to 1000000000"#,
        ),
        (
            r#"{"always_allow_under": 1, "alwaysAllowUnder": 2}"#,
            "`alwaysAllowUnder` in `config.json` is set twice",
        ),
        ("[]", "`config.json` is not a JSON object"),
        ("{", "`config.json` is not JSON"),
    ] {
        assert_eq!(read(file).unwrap_err(), message);
    }
    for (key, value) in [
        ("always_allow_under", "-1"),
        ("idle_timeout_seconds", "0"),
        ("idle_timeout_seconds", "0.01"),
        ("pulse_seconds", "0.01"),
        ("panel", "[1]"),
        ("panel", "[]"),
        ("judge", "\"\""),
        ("max_in_flight", "0"),
        ("max_calls", "0"),
        ("endpoints", "1"),
        ("panels", "[]"),
        ("parameters", "true"),
        ("local_servers", "1"),
        ("max_cost", "-0.01"),
        ("monthly_budget", "\"20\""),
        ("on_failure", "\"panic\""),
        ("hedge_after", "\"never\""),
        ("hedge_after", "-1"),
        ("pulse_seconds", "-1"),
        ("pulse_seconds", "\"off\""),
        ("max_wait_seconds", "0"),
        ("target_runs", "0"),
        ("target_runs", "1.5"),
        ("target_median_seconds", "0"),
        ("target_monthly_cost", "0"),
    ] {
        let error = read(&format!(r#"{{"{key}": {value}}}"#)).unwrap_err();
        assert!(error.contains("must be"), "{error}");
    }
}

#[test]
fn the_environment_outweighs_the_file() {
    let variable = "CONCLAVE_ALWAYS_ALLOW_UNDER";
    let environment = |value| Environment::of([(variable, value), ("CONCLAVE_PANEL", "a,b")]);
    let settings = read(r#"{"always_allow_under": 1, "judge": "x"}"#)
        .unwrap()
        .with_environment(&environment("0.1"))
        .unwrap();
    assert_eq!(settings.always_allow_under, MicroUsd(100_000));
    assert_eq!(settings.judge.as_deref(), Some("x"));
    assert_eq!(settings.panel.unwrap(), ["a", "b"]);
    let origin = settings.origins["always_allow_under"].to_string();
    assert_eq!(origin, variable);
    let error = Settings::default().with_environment(&environment("much"));
    assert_eq!(
        error.unwrap_err().to_string(),
        "`always_allow_under` in `CONCLAVE_ALWAYS_ALLOW_UNDER` is `much`, but must be an amount in \
         dollars, such as 0.50"
    );
}

#[test]
fn a_json_variable_replaces_the_setting_of_the_file() {
    let load = |variables: &[(&str, &str)]| {
        let environment = Environment::of(variables.iter().copied());
        read(r#"{"endpoints": {"a": {"base_url": "h"}}}"#)
            .unwrap()
            .with_environment(&environment)
            .map_err(|error| error.to_string())
    };
    let settings = load(&[
        ("CONCLAVE_ENDPOINTS", r#"{"b": {"base_url": "h"}}"#),
        ("CONCLAVE_MAX_IN_FLIGHT", "2"),
    ])
    .unwrap();
    assert_eq!(settings.endpoints.len(), 1);
    assert_eq!(settings.endpoints[0].name, "b");
    assert_eq!(settings.max_in_flight, 2);
    let settings = load(&[("CONCLAVE_LOCAL_SERVERS", "127.0.0.1:1, box:2")]).unwrap();
    let addresses = LocalServers::At(vec!["127.0.0.1:1".into(), "box:2".into()]);
    assert_eq!(settings.local_servers, addresses);
    assert_eq!(
        load(&[("CONCLAVE_PANELS", "fast")]).unwrap_err(),
        "`CONCLAVE_PANELS` is not JSON, but must be an object of panels by name"
    );
    assert_eq!(
        load(&[("CONCLAVE_PARAMETERS", r#"{"openai": {"model": "x"}}"#)]).unwrap_err(),
        "`parameters.openai.model` in `CONCLAVE_PARAMETERS` is a field that the consultation \
         itself sets"
    );
}

#[test]
fn a_key_has_no_place_in_the_file() {
    for file in [
        r#"{"openai_api_key": "sk-secret"}"#,
        r#"{"apiKey": "sk-secret"}"#,
        r#"{"endpoints": {"w": {"base_url": "h", "key": "sk-secret"}}}"#,
    ] {
        let error = read(file).unwrap_err();
        assert!(error.contains("`api_key_cmd`"), "{error}");
        assert!(error.contains("config.json"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}
