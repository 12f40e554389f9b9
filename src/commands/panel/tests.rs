//! Tests of who sits on a panel and judges.

use std::path::Path;

use super::*;
use crate::commands::reach;
use crate::config::env::Environment;

const THREE: [&str; 3] = ["anthropic", "openai", "google"];
const NOW: Timestamp = Timestamp(1_795_252_598_000);

fn settings(config: &str) -> Settings {
    Settings::default().with_file(Path::new("config.json"), config).unwrap()
}

fn chosen(keyed: &[&str], wanted: &Wanted) -> Result<Chosen, Error> {
    chosen_with(keyed, wanted, "{}")
}

fn chosen_with(keyed: &[&str], wanted: &Wanted, config: &str) -> Result<Chosen, Error> {
    let (catalog, personas) = (Catalog::builtin(), Catalogue::builtin());
    let environment = Environment::of(keyed.iter().map(|vendor| (key_variable(vendor), "k")));
    let reached = reach::all(&settings(config), &environment);
    let (local, servers) = (Some(ModelRef::new("local", "small")), Servers::none());
    choose(wanted, &Choices { catalog: &catalog, personas: &personas, reached: &reached, local, servers: &servers, now: NOW })
}

const WORK: &str = r#"{"endpoints": {"work": {"base_url": "h"}, "safe": {"base_url": "h", "api_key_env": "SAFE_KEY"}}}"#;

#[test]
fn models_of_the_users_own_servers_and_of_servers_that_need_no_key_can_sit_and_judge() {
    let wanted = Wanted {
        panel: Some("security=work:any/model:8b,architect=ollama:gemma4:31b,pragmatic=openai:new".into()),
        judge: Some("work:judge".into()),
        ..Wanted::default()
    };
    let chosen = chosen_with(&["openai"], &wanted, WORK).unwrap();
    assert_eq!(seats(&chosen), ["security=work:any/model:8b", "architecture=ollama:gemma4:31b", "pragmatic=openai:new"]);
    assert_eq!(judges(&chosen), ["work:judge"]);
    let wanted = Wanted { models: vec!["safe:m".into()], ..Wanted::default() };
    let error = chosen_with(&[], &wanted, WORK).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.hints()), ("there is no key for safe", &["set SAFE_KEY".to_owned()][..]));
}

#[test]
fn a_server_without_usual_models_is_not_guessed_at() {
    let error = chosen_with(&[], &Wanted::default(), WORK).unwrap_err();
    assert_eq!(error.to_string(), "work has no usual models to ask");
    assert_eq!(error.hints()[0], "name one: --model work:MODEL");
    assert_eq!(seats(&chosen_with(&["anthropic", "openai", "google"], &Wanted::default(), WORK).unwrap()).len(), 3);
}

#[test]
fn a_key_that_has_to_be_unlocked_is_not_wanted_for_a_judge_that_only_stands_in() {
    let config = r#"{"endpoints": {"google": {"api_key_cmd": "pass show google"}}}"#;
    let judges_of = |keyed: &[&str], models: &[&str]| {
        let wanted = Wanted { models: models.iter().map(|model| (*model).to_owned()).collect(), ..Wanted::default() };
        judges(&chosen_with(keyed, &wanted, config).unwrap())
    };
    let of_google = |judges: &[String]| judges.iter().position(|judge| judge.starts_with("google:"));
    assert_eq!(of_google(&judges_of(&["anthropic", "openai"], &["gpt-6.1-sol", "openai:b"])), None);
    assert!(of_google(&judges_of(&["anthropic", "openai"], &["gpt-6.1-sol", "gemini-4-argon"])).is_some(), "it is seated anyway");
    assert_eq!(of_google(&judges_of(&["openai"], &["gpt-6.1-sol", "openai:b"])), Some(0), "it is the only one outside the panel");
}

#[test]
fn a_panel_with_a_name_has_its_seats_and_its_judge() {
    let config =
        r#"{"panels": {"fast": {"seats": ["security=a:m"], "judge": "a:j"}, "slow": "security=b:m"}, "panel": "fast", "judge": "c:j"}"#;
    let wanted = |panel, judge| {
        let wanted = Wanted::of(Flags { panel, judge, ..Flags::default() }, &settings(config), &Catalogue::builtin()).unwrap();
        (wanted.panel.unwrap(), wanted.judge.unwrap())
    };
    let told = |panel: &str, judge: &str| (panel.to_owned(), judge.to_owned());
    assert_eq!(wanted(None, None), told("security=a:m", "a:j"));
    assert_eq!(wanted(None, Some("d:j")), told("security=a:m", "d:j"));
    assert_eq!(wanted(Some(" slow "), None), told("security=b:m", "c:j"));
    assert_eq!(wanted(Some("security=x:m"), None), told("security=x:m", "c:j"));
    let models = ["x:m".to_owned()];
    let flags = Flags { models: &models, ..Flags::default() };
    assert_eq!(
        Wanted::of(flags, &settings(config), &Catalogue::builtin()).unwrap().panel,
        None,
        "models that are named outweigh the settings"
    );
}

#[test]
fn a_panel_that_has_no_such_name_is_met_with_the_names_that_there_are() {
    let hints = |config: &str, name: &str| {
        let error = Wanted::of(Flags { panel: Some(name), ..Flags::default() }, &settings(config), &Catalogue::builtin()).unwrap_err();
        assert_eq!(error.to_string(), format!("no panel is called `{name}`"));
        error.hints()[0].clone()
    };
    let config = r#"{"panels": {"fast": "security=a:m", "slow": "security=b:m"}}"#;
    assert_eq!(hints(config, "fats"), "did you mean `fast`?");
    assert_eq!(hints(config, "xyz"), "one of: fast, slow");
    assert!(hints("{}", "xyz").starts_with("give it seats: conclave config set panels.xyz "));
}

fn seats(chosen: &Chosen) -> Vec<String> {
    chosen.panel.seats.iter().map(|seat| format!("{}={}", seat.id, seat.model)).collect()
}

fn judges(chosen: &Chosen) -> Vec<String> {
    chosen.panel.judges.iter().map(ToString::to_string).collect()
}

#[test]
fn with_three_keys_each_seat_has_its_own_vendor_and_openai_judges() {
    let chosen = chosen(&THREE, &Wanted::default()).unwrap();
    assert_eq!(
        seats(&chosen),
        ["security=anthropic:claude-sonnet-5-5", "architecture=openai:gpt-6.1-sol", "pragmatic=google:gemini-4-argon"]
    );
    assert_eq!(judges(&chosen)[0], "openai:gpt-6.1-sol");
    assert_eq!(chosen.panel.judges.len(), 3);
    assert!(!chosen.panel.is_one_family());
}

#[test]
fn with_one_key_the_seats_are_different_models_of_that_vendor_and_the_user_is_told_what_more_would_add() {
    let chosen = chosen(&["anthropic"], &Wanted::default()).unwrap();
    let models: BTreeSet<_> = chosen.panel.seats.iter().map(|seat| seat.model.clone()).collect();
    assert_eq!(models.len(), 3);
    assert!(chosen.panel.is_one_family());
    assert!(chosen.notices.iter().any(|notice| notice.contains("OPENAI_API_KEY")), "{:?}", chosen.notices);
}

#[test]
fn the_key_of_any_vendor_alone_seats_three_of_its_models_and_a_resellers_three_families() {
    for (vendor, expected) in [
        ("xai", ["xai:grok-4.7", "xai:grok-4.6", "xai:grok-4.3"]),
        ("mistral", ["mistral:mistral-large-4", "mistral:mistral-medium-latest", "mistral:mistral-small-latest"]),
        ("openrouter", ["openrouter:anthropic/claude-sonnet-5.5", "openrouter:openai/gpt-6.1-sol", "openrouter:google/gemini-4-argon"]),
    ] {
        let chosen = chosen(&[vendor], &Wanted::default()).unwrap();
        let models: Vec<String> = chosen.panel.seats.iter().map(|seat| seat.model.to_string()).collect();
        assert_eq!(models, expected);
        assert_eq!(judges(&chosen)[0], expected[0]);
        let is_told = chosen.notices.iter().any(|notice| notice.contains("models of other families would sit"));
        assert_eq!(is_told, vendor != "openrouter", "{:?}", chosen.notices);
    }
}

#[test]
fn with_two_keys_the_judge_comes_from_the_panel_and_every_seat_is_filled() {
    let chosen = chosen(&["anthropic", "google"], &Wanted::default()).unwrap();
    assert_eq!(seats(&chosen)[0], "security=anthropic:claude-sonnet-5-5");
    assert_eq!(seats(&chosen)[2], "pragmatic=google:gemini-4-argon");
    assert_eq!(chosen.panel.seats.len(), 3);
}

#[test]
fn a_vendor_with_a_key_and_no_seat_judges() {
    let wanted = Wanted { models: vec!["claude-sonnet-5-5".into(), "claude-opus-5-5".into(), "gpt-6.1-sol".into()], ..Wanted::default() };
    assert_eq!(judges(&chosen(&THREE, &wanted).unwrap())[0], "google:gemini-4-argon");
}

#[test]
fn a_panel_on_the_users_own_servers_is_judged_there_whatever_keys_there_are() {
    let panel = |seats: &str| Wanted { panel: Some(seats.into()), ..Wanted::default() };
    let own = chosen_with(&THREE, &panel("security=work:a,architect=ollama:b,pragmatic=work:a"), WORK).unwrap();
    assert_eq!(judges(&own), ["work:a", "ollama:b"]);
    let mixed = chosen_with(&THREE, &panel("security=work:a,architect=gpt-6.1-sol"), WORK).unwrap();
    assert_eq!(judges(&mixed)[0], "anthropic:claude-sonnet-5-5");
}

#[test]
fn without_a_key_the_local_model_plays_every_seat_and_judges() {
    let chosen = chosen(&[], &Wanted::default()).unwrap();
    assert_eq!(seats(&chosen), ["security=local:small", "architecture=local:small", "pragmatic=local:small"]);
    assert_eq!(judges(&chosen), ["local:small"]);
}

#[test]
fn a_listed_panel_takes_aliases_and_lets_a_persona_sit_twice() {
    let wanted = Wanted {
        panel: Some("security=anthropic:claude-x, architect=openai:gpt-y,security=gpt-6.1-sol".into()),
        judge: Some("gpt-6.1-sol,claude-opus-5-5".into()),
        ..Wanted::default()
    };
    let chosen = chosen(&THREE, &wanted).unwrap();
    assert_eq!(seats(&chosen), ["security=anthropic:claude-x", "architecture=openai:gpt-y", "security-2=openai:gpt-6.1-sol"]);
    assert_eq!(chosen.panel.seats[2].name(), "Security Expert 2");
    assert_eq!(judges(&chosen), ["openai:gpt-6.1-sol", "anthropic:claude-opus-5-5"]);
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_way_out() {
    for (panel, message, hint) in [
        ("nobody=gpt-6.1-sol", "no persona is called `nobody`", "security"),
        ("security,security=gpt-6.1-sol", "`security` does not name a seat as `persona=provider:model`", "--panel"),
        ("security=acme:x", "no provider is called `acme`", "anthropic"),
        ("security=openai:x", "there is no key for OpenAI", "OPENAI_API_KEY"),
        (" , ", "the panel has no seat", "at least one"),
    ] {
        let error = chosen(&["anthropic"], &Wanted { panel: Some(panel.into()), ..Wanted::default() }).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hints()[0].contains(hint), "{:?}", error.hints());
    }
}
