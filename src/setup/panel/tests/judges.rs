//! Tests of the choice of judges.

use super::*;

#[test]
fn a_fallback_judge_needs_no_key_command() {
    let config = r#"{"endpoints": {"google": {"api_key_cmd": "pass show google"}}}"#;
    let judges_of = |keyed: &[&str], models: &[&str]| {
        let spec = PanelSpec {
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            ..PanelSpec::default()
        };
        judges(&selected_with(keyed, &spec, config).unwrap())
    };
    let of_google =
        |judges: &[String]| judges.iter().position(|judge| judge.starts_with("google:"));
    assert_eq!(
        of_google(&judges_of(
            &["anthropic", "openai"],
            &["gpt-6.1-sol", "openai:b"]
        )),
        None
    );
    assert!(
        of_google(&judges_of(
            &["anthropic", "openai"],
            &["gpt-6.1-sol", "gemini-4-argon"]
        ))
        .is_some(),
        "it is seated anyway"
    );
    assert_eq!(
        of_google(&judges_of(&["openai"], &["gpt-6.1-sol", "openai:b"])),
        Some(0),
        "it is the only one outside the panel"
    );
}

#[test]
fn a_vendor_with_a_key_and_no_seat_judges() {
    let spec = PanelSpec {
        models: vec![
            "claude-sonnet-5-5".into(),
            "claude-opus-5-5".into(),
            "gpt-6.1-sol".into(),
        ],
        ..PanelSpec::default()
    };
    assert_eq!(
        judges(&selected(&THREE, &spec).unwrap())[0],
        "google:gemini-4-argon"
    );
}

#[test]
fn a_panel_on_the_users_own_servers_is_judged_there() {
    let panel = |seats: &str| PanelSpec {
        panel: Some(seats.into()),
        ..PanelSpec::default()
    };
    let own = selected_with(
        &THREE,
        &panel("security=work:a,architect=ollama:b,pragmatic=work:a"),
        WORK,
    )
    .unwrap();
    assert_eq!(judges(&own), ["work:a", "ollama:b"]);
    let mixed = selected_with(
        &THREE,
        &panel("security=work:a,architect=gpt-6.1-sol"),
        WORK,
    )
    .unwrap();
    assert_eq!(judges(&mixed)[0], "anthropic:claude-sonnet-5-5");
}
