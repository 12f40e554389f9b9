//! Tests of the choice of judges.

use super::*;

#[test]
fn a_fallback_judge_needs_no_key_command() {
    let config = r#"{"endpoints": {"google": {"api_key_cmd": "pass show google"}}}"#;
    let judges_of = |keyed: &[&str], models: &[&str]| {
        judges(&selected_with(keyed, &of_models(models), config).unwrap())
    };
    let of_google =
        |judges: &[String]| judges.iter().position(|judge| judge.starts_with("google:"));
    let unseated = judges_of(&["anthropic", "openai"], &["gpt-6.1-sol", "openai:b"]);
    assert_eq!(of_google(&unseated), None);
    let is_seated = judges_of(&["anthropic", "openai"], &["gpt-6.1-sol", "gemini-4-argon"]);
    assert!(of_google(&is_seated).is_some(), "it is seated anyway");
    assert_eq!(
        of_google(&judges_of(&["openai"], &["gpt-6.1-sol", "openai:b"])),
        Some(0),
        "it is the only one outside the panel"
    );
}

#[test]
fn a_vendor_with_a_key_and_no_seat_judges() {
    let spec = of_models(&["claude-sonnet-5-5", "claude-opus-5-5", "gpt-6.1-sol"]);
    let judges = judges_of(&THREE, &spec);
    assert_eq!(judges[0], "google:gemini-4-argon");
}

#[test]
fn a_panel_on_the_users_own_servers_is_judged_there() {
    let own = seated("security=work:a,architect=ollama:b,pragmatic=work:a", None);
    let own = selected_with(&THREE, &own, WORK).unwrap();
    assert_eq!(judges(&own), ["work:a", "ollama:b"]);
    let mixed = seated("security=work:a,architect=gpt-6.1-sol", None);
    let mixed = selected_with(&THREE, &mixed, WORK).unwrap();
    assert_eq!(judges(&mixed)[0], "anthropic:claude-sonnet-5-5");
}

#[test]
fn a_resellers_key_beside_the_vendors_own_moves_no_judge() {
    let keys = [&THREE[..], &["openrouter"]].concat();
    let with_reseller = judges_of(&keys, &PanelSpec::default());
    let without = judges_of(&THREE, &PanelSpec::default());
    assert_eq!(with_reseller[..3], without);
    assert_eq!(
        with_reseller[3..],
        ["openrouter:anthropic/claude-sonnet-5.5"],
        "the last resort"
    );
}

#[test]
fn a_reseller_judges_a_panel_of_one_family_if_no_vendor_can() {
    let keys = ["anthropic", "openrouter"];
    let claudes = of_models(&["claude-sonnet-5-5", "claude-opus-5-5"]);
    let alone = judges_of(&keys, &claudes);
    assert_eq!(alone[0], "openrouter:openai/gpt-6.1-sol");
    let keys = ["anthropic", "xai", "openrouter"];
    let beside_a_vendor = judges_of(&keys, &claudes);
    assert_eq!(beside_a_vendor[0], "xai:grok-4.7");
}

#[test]
fn the_judge_is_of_another_maker_than_the_seats() {
    let spec = of_models(&["openrouter:anthropic/claude-sonnet-5.5"]);
    let judges = judges_of(&["anthropic", "google", "openrouter"], &spec);
    assert_eq!(judges[0], "google:gemini-4-argon");
}

#[test]
fn openais_model_judges_whichever_provider_serves_it() {
    let resold = judges_of(&["openrouter"], &PanelSpec::default());
    assert_eq!(resold[0], "openrouter:openai/gpt-6.1-sol");
    let spec = seated(
        "security=ollama:gpt-oss:20b,architect=claude-opus-5-5",
        None,
    );
    let beside_own_server = judges_of(&["anthropic"], &spec);
    assert_eq!(beside_own_server[0], "anthropic:claude-opus-5-5");
}
