//! Tests of panels that are named by their personas.

use super::*;

fn known(ids: &[&str]) -> Vec<PersonaEntry> {
    let names: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    PersonaRegistry::builtin().seats(&names).unwrap()
}

fn named(ids: &[&str], models: &[&str]) -> PanelSpec {
    PanelSpec {
        personas: PersonaChoice::Named(known(ids)),
        ..of_models(models)
    }
}

#[test]
fn default_personas_keep_their_vendors_and_the_rest_get_new_families() {
    let keys = ["anthropic", "openai", "google", "xai", "mistral"];
    let five = named(
        &["skeptic", "pragmatic", "testing", "security", "devops"],
        &[],
    );
    assert_eq!(
        seats_of(&keys, &five),
        [
            "skeptic=openai:gpt-6.1-sol",
            "pragmatic=google:gemini-4-argon",
            "testing=xai:grok-4.7",
            "security=anthropic:claude-sonnet-5-5",
            "devops=mistral:mistral-large-4"
        ]
    );
    // A reseller's model of a family that sits is of that family.
    let resold = selected(
        &["anthropic", "openrouter"],
        &named(&["security", "skeptic"], &[]),
    )
    .unwrap();
    assert_eq!(
        seats(&resold),
        [
            "security=anthropic:claude-sonnet-5-5",
            "skeptic=openrouter:openai/gpt-6.1-sol"
        ]
    );
}

#[test]
fn a_persona_that_sits_twice_is_played_by_two_families() {
    let twice = selected(&THREE, &named(&["security", "security"], &[])).unwrap();
    assert_eq!(
        seats(&twice),
        [
            "security=anthropic:claude-sonnet-5-5",
            "security-2=openai:gpt-6.1-sol"
        ]
    );
    let many = ["security", "skeptic", "testing", "devops", "creative"];
    let alone = selected(&["mistral"], &named(&many, &[])).unwrap();
    let models: Vec<String> = alone
        .panel
        .seats
        .iter()
        .map(|seat| seat.model.model.clone())
        .collect();
    let [large, medium, small] = [
        "mistral-large-4",
        "mistral-medium-latest",
        "mistral-small-latest",
    ];
    assert_eq!(models, [large, medium, small, large, medium]);
}

#[test]
fn a_personas_own_model_comes_before_the_named_ones() {
    let with_own_model = |ids: &[&str], models: &[&str]| {
        let mut personas = known(ids);
        personas[0].model = Some("google:own".to_owned());
        PanelSpec {
            personas: PersonaChoice::Named(personas),
            ..of_models(models)
        }
    };
    let own = |ids: &[&str], models: &[&str]| seats_of(&THREE, &with_own_model(ids, models));
    assert_eq!(
        own(&["skeptic", "testing"], &["gpt-6.1-sol"]),
        ["skeptic=google:own", "testing=openai:gpt-6.1-sol"]
    );
    let two = own(&["skeptic", "testing"], &["gpt-6.1-sol", "claude-opus-5-5"]);
    assert_eq!(
        two,
        ["skeptic=google:own", "testing=anthropic:claude-opus-5-5"]
    );
    assert_eq!(
        own(&["skeptic", "testing"], &[]),
        ["skeptic=google:own", "testing=anthropic:claude-sonnet-5-5"]
    );
    // Nothing is left to be selected, so that no key but its own is spec.
    let alone = with_own_model(&["skeptic"], &[]);
    assert_eq!(seats_of(&["google"], &alone), ["skeptic=google:own"]);
    let error = selected(&["openai"], &alone).unwrap_err();
    assert_eq!(error.to_string(), "there is no key for Google");
    assert_eq!(error.hints[1], "or change it for `skeptic`");
}

#[test]
fn default_personas_repeat_for_more_models_and_named_ones_do_not() {
    let by_default = |models: &[&str]| {
        let spec = PanelSpec {
            personas: PersonaChoice::ByDefault(known(&["skeptic", "testing"])),
            ..named(&[], models)
        };
        seats_of(&THREE, &spec)
    };
    assert_eq!(
        by_default(&["openai:a"]),
        ["skeptic=openai:a", "testing=openai:a"]
    );
    assert_eq!(
        by_default(&["openai:a", "openai:b", "openai:c"]),
        ["skeptic=openai:a", "testing=openai:b", "skeptic-2=openai:c"]
    );
    assert_eq!(
        selected(&THREE, &named(&["skeptic"], &["openai:a", "openai:b"]))
            .unwrap_err()
            .to_string(),
        "`--personas` names 1 seat, and `--model` 2"
    );
}

#[test]
fn until_persona_selection_the_usual_personas_hold_the_seats() {
    let auto = |personas| PanelSpec {
        personas: PersonaChoice::Auto(personas),
        ..PanelSpec::default()
    };
    let open = selected(&THREE, &auto(Vec::new())).unwrap();
    let usual = selected(&THREE, &PanelSpec::default()).unwrap();
    assert_eq!(seats(&open), seats(&usual));
    assert_eq!(open.selectable_personas.len(), 10);
    let mut own = known(&["skeptic", "testing"]);
    own[0].model = Some("google:own".to_owned());
    let held = selected(&THREE, &auto(own)).unwrap();
    assert_eq!(
        seats(&held),
        [
            "skeptic=anthropic:claude-sonnet-5-5",
            "testing=openai:gpt-6.1-sol"
        ],
        "no vendor is moved by who might sit"
    );
}
