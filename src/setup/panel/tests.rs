//! Tests of the selection of seats and judges.

use std::path::Path;

use super::*;
use crate::config::env::Environment;
use crate::config::settings::Settings;
use crate::domain::time::Timestamp;
use crate::providers::catalog::ModelCatalog;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::personas::PersonaRegistry;
use crate::setup::provider_access;
use crate::setup::request::PanelRequest;

const THREE: [&str; 3] = ["anthropic", "openai", "google"];
const NOW: Timestamp = Timestamp(1_795_252_598_000);

fn settings(config: &str) -> Settings {
    Settings::default()
        .with_file(Path::new("config.json"), config)
        .unwrap()
}

fn selected(keyed: &[&str], spec: &PanelSpec) -> Result<SelectedPanel, Error> {
    selected_with(keyed, spec, "{}")
}

fn selected_with(keyed: &[&str], spec: &PanelSpec, config: &str) -> Result<SelectedPanel, Error> {
    let (catalog, personas) = (ModelCatalog::builtin(), PersonaRegistry::builtin());
    let environment = Environment::of(
        keyed
            .iter()
            .map(|id| (key_variable(vendors::find(id).unwrap()), "k")),
    );
    let access_list = provider_access::all(&settings(config), &environment);
    let (embedded, servers) = (
        Some(ModelRef::new("local", "small")),
        LocalServerSet::none(),
    );
    select(
        spec,
        &SelectionContext {
            catalog: &catalog,
            personas: &personas,
            access_list: &access_list,
            embedded,
            servers: &servers,
            now: NOW,
        },
    )
}

const WORK: &str = r#"{"endpoints": {"work": {"base_url": "h"}, "safe": {"base_url": "h", "api_key_env": "SAFE_KEY"}}}"#;

#[test]
fn models_of_the_users_own_servers_and_of_servers_that_need_no_key_can_sit_and_judge() {
    let spec = PanelSpec {
        panel: Some(
            "security=work:any/model:8b,architect=ollama:gemma4:31b,pragmatic=openai:new".into(),
        ),
        judge: Some("work:judge".into()),
        ..PanelSpec::default()
    };
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
    let spec = PanelSpec {
        models: vec!["safe:m".into()],
        ..PanelSpec::default()
    };
    let error = selected_with(&[], &spec, WORK).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hints()),
        ("there is no key for safe", &["set SAFE_KEY".to_owned()][..])
    );
}

#[test]
fn a_server_without_default_models_needs_a_named_model() {
    let error = selected_with(&[], &PanelSpec::default(), WORK).unwrap_err();
    assert_eq!(error.to_string(), "work has no usual models to ask");
    assert_eq!(error.hints()[0], "name one: `--model work:MODEL`");
    assert_eq!(
        seats(
            &selected_with(
                &["anthropic", "openai", "google"],
                &PanelSpec::default(),
                WORK
            )
            .unwrap()
        )
        .len(),
        3
    );
}

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
fn a_panel_with_a_name_has_its_seats_and_its_judge() {
    let config = r#"{"panels": {"fast": {"seats": ["security=a:m"], "judge": "a:j"}, "slow": "security=b:m"}, "panel": "fast", "judge": "c:j"}"#;
    let spec = |panel: Option<&str>, judge: Option<&str>| {
        let spec = PanelSpec::new(
            &PanelRequest {
                panel: panel.map(ToOwned::to_owned),
                judge: judge.map(ToOwned::to_owned),
                ..PanelRequest::default()
            },
            &settings(config),
            &PersonaRegistry::builtin(),
        )
        .unwrap();
        (spec.panel.unwrap(), spec.judge.unwrap())
    };
    let shown = |panel: &str, judge: &str| (panel.to_owned(), judge.to_owned());
    assert_eq!(spec(None, None), shown("security=a:m", "a:j"));
    assert_eq!(spec(None, Some("d:j")), shown("security=a:m", "d:j"));
    assert_eq!(spec(Some(" slow "), None), shown("security=b:m", "c:j"));
    assert_eq!(
        spec(Some("security=x:m"), None),
        shown("security=x:m", "c:j")
    );
    let models = ["x:m".to_owned()];
    let flags = PanelRequest {
        models: models.to_vec(),
        ..PanelRequest::default()
    };
    assert_eq!(
        PanelSpec::new(&flags, &settings(config), &PersonaRegistry::builtin())
            .unwrap()
            .panel,
        None,
        "models that are named outweigh the settings"
    );
}

#[test]
fn an_unknown_panel_name_is_refused_with_the_known_ones() {
    let hints = |config: &str, name: &str| {
        let error = PanelSpec::new(
            &PanelRequest {
                panel: Some(name.to_owned()),
                ..PanelRequest::default()
            },
            &settings(config),
            &PersonaRegistry::builtin(),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), format!("no panel is called `{name}`"));
        error.hints()[0].clone()
    };
    let config = r#"{"panels": {"fast": "security=a:m", "slow": "security=b:m"}}"#;
    assert_eq!(hints(config, "fats"), "did you mean `fast`?");
    assert_eq!(hints(config, "xyz"), "one of: fast, slow");
    assert!(hints("{}", "xyz").starts_with("define it with `conclave config set panels.xyz "));
}

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
fn with_one_key_the_seats_are_models_of_that_vendor_and_a_notice_suggests_more_keys() {
    let selected = selected(&["anthropic"], &PanelSpec::default()).unwrap();
    let models: BTreeSet<_> = selected
        .panel
        .seats
        .iter()
        .map(|seat| seat.model.clone())
        .collect();
    assert_eq!(models.len(), 3);
    assert!(selected.panel.is_one_family());
    assert!(
        selected
            .notices
            .iter()
            .any(|notice| notice.contains("OPENAI_API_KEY")),
        "{:?}",
        selected.notices
    );
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
        assert_eq!(judges(&selected)[0], expected[0]);
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
    let spec = PanelSpec {
        panel: Some(
            "security=anthropic:claude-x, architect=openai:gpt-y,security=gpt-6.1-sol".into(),
        ),
        judge: Some("gpt-6.1-sol,claude-opus-5-5".into()),
        ..PanelSpec::default()
    };
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
        let error = selected(
            &["anthropic"],
            &PanelSpec {
                panel: Some(panel.into()),
                ..PanelSpec::default()
            },
        )
        .unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hints()[0].contains(hint), "{:?}", error.hints());
    }
}

fn known(ids: &[&str]) -> Vec<PersonaEntry> {
    let names: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    PersonaRegistry::builtin().seats(&names).unwrap()
}

fn named(ids: &[&str], models: &[&str]) -> PanelSpec {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    PanelSpec {
        personas: PersonaChoice::Named(known(ids)),
        models,
        ..PanelSpec::default()
    }
}

#[test]
fn personas_that_are_named_keep_the_vendors_of_the_default_seats_and_the_others_get_families_that_do_not_sit_yet()
 {
    let keys = ["anthropic", "openai", "google", "xai", "mistral"];
    assert_eq!(
        seats(
            &selected(
                &keys,
                &named(
                    &["skeptic", "pragmatic", "testing", "security", "devops"],
                    &[]
                )
            )
            .unwrap()
        ),
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
    let own = |ids: &[&str], models: &[&str]| {
        let mut spec = named(ids, models);
        if let PersonaChoice::Named(known) = &mut spec.personas {
            known[0].model = Some("google:own".to_owned());
        }
        seats(&selected(&THREE, &spec).unwrap())
    };
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
    let mut alone = named(&["skeptic"], &[]);
    if let PersonaChoice::Named(known) = &mut alone.personas {
        known[0].model = Some("google:own".to_owned());
    }
    assert_eq!(
        seats(&selected(&["google"], &alone).unwrap()),
        ["skeptic=google:own"]
    );
    let error = selected(&["openai"], &alone).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hints()[1].as_str()),
        ("there is no key for Google", "it is the model of `skeptic`")
    );
}

#[test]
fn personas_by_default_make_as_many_seats_as_there_are_models_and_named_ones_want_as_many_models() {
    let by_default = |models: &[&str]| {
        let spec = PanelSpec {
            personas: PersonaChoice::ByDefault(known(&["skeptic", "testing"])),
            ..named(&[], models)
        };
        seats(&selected(&THREE, &spec).unwrap())
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
fn before_persona_selection_the_usual_personas_hold_the_seats() {
    let auto = PanelSpec {
        personas: PersonaChoice::Auto(Vec::new()),
        ..PanelSpec::default()
    };
    let open = selected(&THREE, &auto).unwrap();
    assert_eq!(
        (seats(&open), open.selectable_personas.len()),
        (seats(&selected(&THREE, &PanelSpec::default()).unwrap()), 10)
    );
    let mut own = known(&["skeptic", "testing"]);
    own[0].model = Some("google:own".to_owned());
    let held = selected(
        &THREE,
        &PanelSpec {
            personas: PersonaChoice::Auto(own),
            ..PanelSpec::default()
        },
    )
    .unwrap();
    assert_eq!(
        seats(&held),
        [
            "skeptic=anthropic:claude-sonnet-5-5",
            "testing=openai:gpt-6.1-sol"
        ],
        "no vendor is moved by who might sit"
    );
}

#[test]
fn flags_come_before_the_settings_and_a_panel_before_personas() {
    let of = |flags: PanelRequest, config: &str| {
        PanelSpec::new(&flags, &settings(config), &PersonaRegistry::builtin()).unwrap()
    };
    let ids = |personas: &PersonaChoice| match personas {
        PersonaChoice::Usual => "usual".to_owned(),
        PersonaChoice::Named(known) => format!("named {}", known.len()),
        PersonaChoice::ByDefault(known) => format!("default {}", known.len()),
        PersonaChoice::Auto(known) => format!("auto {}", known.len()),
    };
    let set = r#"{"default_personas": "skeptic,testing", "panel": "security=openai:x"}"#;
    let personas = |names: Option<&str>| PanelRequest {
        personas: names.map(ToOwned::to_owned),
        ..PanelRequest::default()
    };
    let shown = |spec: &PanelSpec| (spec.panel.clone(), ids(&spec.personas));
    assert_eq!(
        shown(&of(personas(None), set)),
        (Some("security=openai:x".to_owned()), "usual".to_owned())
    );
    assert_eq!(
        shown(&of(personas(Some("devops")), set)),
        (None, "named 1".to_owned())
    );
    assert_eq!(
        shown(&of(personas(Some("auto")), set)),
        (None, "auto 2".to_owned())
    );
    assert_eq!(
        shown(&of(
            personas(None),
            r#"{"default_personas": "skeptic,testing"}"#
        )),
        (None, "default 2".to_owned())
    );
    assert_eq!(
        shown(&of(personas(None), r#"{"default_personas": "auto"}"#)),
        (None, "auto 0".to_owned())
    );
}
