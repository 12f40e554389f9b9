//! Tests of the selection of seats and judges.

mod judges;
mod personas;
mod programs;

use super::*;
use crate::setup::personas::PersonaRegistry;
use crate::setup::samples::{SampleSources, of_models, seated};

const THREE: [&str; 3] = ["anthropic", "openai", "google"];

fn selected(keyed: &[&str], spec: &PanelSpec) -> Result<SelectedPanel, Error> {
    selected_with(keyed, spec, "{}")
}

fn selected_with(keyed: &[&str], spec: &PanelSpec, config: &str) -> Result<SelectedPanel, Error> {
    let variable = |id: &&str| (vendors::find(id).unwrap().key_variables[0], "k");
    let variables: Vec<_> = keyed.iter().map(variable).collect();
    select(spec, &SampleSources::new(config, &variables).context())
}

const WORK: &str = r#"{"endpoints": {"work": {"base_url": "h"}, "safe": {"base_url": "h", "api_key_env": "SAFE_KEY"}}}"#;

fn seats(selected: &SelectedPanel) -> Vec<String> {
    selected
        .panel
        .seats
        .iter()
        .map(|seat| format!("{}={}", seat.id, seat.model))
        .collect()
}

fn judges(selected: &SelectedPanel) -> Vec<String> {
    selected
        .panel
        .judges
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn seats_of(keyed: &[&str], spec: &PanelSpec) -> Vec<String> {
    seats(&selected(keyed, spec).unwrap())
}

fn judges_of(keyed: &[&str], spec: &PanelSpec) -> Vec<String> {
    judges(&selected(keyed, spec).unwrap())
}

#[test]
fn models_of_own_and_keyless_servers_can_sit_and_judge() {
    let spec = seated(
        "security=work:any/model:8b,architect=ollama:gemma4:31b,pragmatic=openai:new",
        Some("work:judge"),
    );
    let selected = selected_with(&["openai"], &spec, WORK).unwrap();
    assert_eq!(
        seats(&selected),
        [
            "security=work:any/model:8b",
            "architecture=ollama:gemma4:31b",
            "pragmatic=openai:new"
        ]
    );
    assert_eq!(judges(&selected), ["work:judge"]);
    let error = selected_with(&[], &of_models(&["safe:m"]), WORK).unwrap_err();
    assert_eq!(error.to_string(), "there is no key for safe");
    assert_eq!(error.hints, ["set SAFE_KEY"]);
}

#[test]
fn a_server_without_default_models_needs_a_named_model() {
    let error = selected_with(&[], &PanelSpec::default(), WORK).unwrap_err();
    assert_eq!(error.to_string(), "work has no usual models to ask");
    assert_eq!(error.hints[0], "name one: `--model work:MODEL`");
    let keyed = selected_with(&THREE, &PanelSpec::default(), WORK).unwrap();
    assert_eq!(seats(&keyed).len(), 3);
}

#[test]
fn with_three_keys_each_seat_has_its_own_vendor_and_openai_judges() {
    let selected = selected(&THREE, &PanelSpec::default()).unwrap();
    assert_eq!(
        seats(&selected),
        [
            "security=anthropic:claude-sonnet-5-5",
            "architecture=openai:gpt-6.1-sol",
            "pragmatic=google:gemini-4-argon"
        ]
    );
    assert_eq!(judges(&selected)[0], "openai:gpt-6.1-sol");
    assert_eq!(selected.panel.judges.len(), 3);
    assert!(!selected.panel.is_one_family());
}

#[test]
fn one_vendors_key_seats_three_of_its_models() {
    for (vendor, expected) in [
        ("xai", ["xai:grok-4.7", "xai:grok-4.6", "xai:grok-4.3"]),
        (
            "mistral",
            [
                "mistral:mistral-large-4",
                "mistral:mistral-medium-latest",
                "mistral:mistral-small-latest",
            ],
        ),
        (
            "openrouter",
            [
                "openrouter:anthropic/claude-sonnet-5.5",
                "openrouter:openai/gpt-6.1-sol",
                "openrouter:google/gemini-4-argon",
            ],
        ),
    ] {
        let selected = selected(&[vendor], &PanelSpec::default()).unwrap();
        let models: Vec<String> = selected
            .panel
            .seats
            .iter()
            .map(|seat| seat.model.to_string())
            .collect();
        assert_eq!(models, expected);
        let judge = usize::from(vendor == "openrouter");
        assert_eq!(
            judges(&selected)[0],
            expected[judge],
            "OpenAI's, else the best"
        );
        let has_notice = selected
            .notices
            .iter()
            .any(|notice| notice.contains("models of other families would join"));
        assert_eq!(has_notice, vendor != "openrouter", "{:?}", selected.notices);
    }
}

#[test]
fn with_two_keys_the_judge_comes_from_the_panel_and_every_seat_is_filled() {
    let selected = selected(&["anthropic", "google"], &PanelSpec::default()).unwrap();
    assert_eq!(seats(&selected)[0], "security=anthropic:claude-sonnet-5-5");
    assert_eq!(seats(&selected)[2], "pragmatic=google:gemini-4-argon");
    assert_eq!(selected.panel.seats.len(), 3);
}

#[test]
fn without_a_key_the_local_model_plays_every_seat_and_judges() {
    let selected = selected(&[], &PanelSpec::default()).unwrap();
    assert_eq!(
        seats(&selected),
        [
            "security=local:small",
            "architecture=local:small",
            "pragmatic=local:small"
        ]
    );
    assert_eq!(judges(&selected), ["local:small"]);
}

#[test]
fn a_listed_panel_takes_aliases_and_lets_a_persona_sit_twice() {
    let spec = seated(
        "security=anthropic:claude-x, architect=openai:gpt-y,security=gpt-6.1-sol",
        Some("gpt-6.1-sol,claude-opus-5-5"),
    );
    let selected = selected(&THREE, &spec).unwrap();
    assert_eq!(
        seats(&selected),
        [
            "security=anthropic:claude-x",
            "architecture=openai:gpt-y",
            "security-2=openai:gpt-6.1-sol"
        ]
    );
    assert_eq!(selected.panel.seats[2].name(), "Security Expert 2");
    assert_eq!(
        judges(&selected),
        ["openai:gpt-6.1-sol", "anthropic:claude-opus-5-5"]
    );
}

#[test]
fn unavailable_models_are_refused_with_a_hint() {
    for (panel, message, hint) in [
        (
            "stranger=gpt-6.1-sol",
            "no persona is called `stranger`",
            "security",
        ),
        (
            "security,security=gpt-6.1-sol",
            "`security` does not name a seat as `persona=provider:model`",
            "--panel",
        ),
        (
            "security=acme:x",
            "no provider is called `acme`",
            "anthropic",
        ),
        (
            "security=openai:x",
            "there is no key for OpenAI",
            "OPENAI_API_KEY",
        ),
        (" , ", "the panel has no seat", "at least one"),
    ] {
        let error = selected(&["anthropic"], &seated(panel, None)).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hints[0].contains(hint), "{:?}", error.hints);
    }
}
