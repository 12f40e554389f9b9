//! Keys, addresses and dialects of providers.

use crate::domain::model::billing::Billing;
use crate::domain::model::dialect::{Structure, TokensField};
use crate::setup::samples::{access, access_list};

use super::*;

#[test]
fn every_known_provider_has_an_address_and_its_own_dialect() {
    let access_list = access_list("{}", &[]);
    assert_eq!(access_list.len(), vendors::VENDORS.len());
    for (access, vendor) in access_list.iter().zip(vendors::VENDORS) {
        assert_eq!(access.id.as_str(), vendor.id);
        assert_eq!(access.dialect, vendor.dialect);
    }
}

#[test]
fn local_servers_are_free_and_take_one_call_unless_they_serve_many() {
    let terms = |provider| {
        let access = access("{}", provider);
        (access.free, access.in_flight, access.is_configured())
    };
    assert_eq!(terms("ollama"), (true, Some(1), true));
    assert_eq!(terms("vllm"), (true, None, true));
    assert_eq!(terms("openai"), (false, None, false));
}

#[test]
fn an_entry_says_how_a_server_is_asked() {
    let config = r#"{"endpoints": {
        "work": {"base_url": "h", "max_tokens_field": "max_completion_tokens", "structured_output": "json_object", "max_in_flight": 7, "free": true},
        "claude": {"base_url": "h", "dialect": "anthropic"},
        "ollama": {"max_in_flight": 3, "free": false},
        "openai": {"max_tokens_field": "max_tokens"}}}"#;
    let quirks = |provider| match access(config, provider).dialect {
        Dialect::OpenAi(quirks) => quirks,
        other => panic!("{other:?}"),
    };
    let work = access(config, "work");
    assert_eq!(work.in_flight, Some(7));
    assert_eq!(work.billing("m"), Billing::Free);
    assert_eq!(
        quirks("work").tokens_field,
        TokensField::MaxCompletionTokens
    );
    assert_eq!(quirks("work").best_structure, Structure::JsonObject);
    assert_eq!(access(config, "claude").dialect, Dialect::Anthropic);
    assert_eq!(access(config, "ollama").in_flight, Some(3));
    assert!(!access(config, "ollama").free);
    assert_eq!(quirks("openai").tokens_field, TokensField::MaxTokens);
}

/// Each provider that is not missing its key, with its address and the key that would go there.
fn usable(config: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let found = access_list(config, variables);
    assert!(!format!("{found:?}").contains("secret-"), "{found:?}");
    let line = |access: &ProviderAccess| {
        let key = sent(access);
        let key = key.as_deref().unwrap_or("-");
        format!("{} {} {key}", access.id, access.base_url)
    };
    found
        .iter()
        .filter(|access| access.is_configured() && access.id.as_str() != "vllm")
        .map(line)
        .collect()
}

fn sent(access: &ProviderAccess) -> Option<String> {
    let key = access.key(&KeyCommands::default()).unwrap();
    key.map(|key| key.expose_secret().to_owned())
}

fn with_variables(config: &str, provider: &str, variables: &[(&str, &str)]) -> ProviderAccess {
    let access_list = access_list(config, variables);
    find(&access_list, &ProviderId::new(provider))
        .unwrap()
        .clone()
}

const OWN_MACHINE: [&str; 3] = [
    "ollama http://127.0.0.1:11434 -",
    "llamacpp http://127.0.0.1:8080/v1 -",
    "lmstudio http://127.0.0.1:1234/v1 -",
];

#[test]
fn a_vendor_with_a_key_can_be_asked_and_the_first_variable_wins() {
    let variables = [
        ("GEMINI_API_KEY", "secret-gemini"),
        ("GOOGLE_API_KEY", "secret-google\n"),
        ("ANTHROPIC_API_KEY", " "),
        ("ANTHROPIC_AUTH_TOKEN", "secret-token"),
        ("OPENAI_API_KEY", ""),
    ];
    let vendors = [
        "anthropic https://api.anthropic.com secret-token",
        "google https://generativelanguage.googleapis.com secret-google",
    ];
    assert_eq!(
        usable("{}", &variables),
        [&vendors[..], &OWN_MACHINE].concat()
    );
    let anthropic = with_variables("{}", "anthropic", &variables);
    let endpoint = anthropic.endpoint(&KeyCommands::default()).unwrap();
    assert_eq!(endpoint.account.scheme, Scheme::Bearer);
}

#[test]
fn local_servers_need_no_key_and_follow_their_variables() {
    let variables = [
        ("OLLAMA_HOST", "0.0.0.0:9"),
        ("LM_STUDIO_API_BASE", "http://box:1/v1/"),
        ("LM_STUDIO_API_KEY", "secret-studio"),
        ("LLAMA_API_KEY", "secret-llama"),
    ];
    let found = [
        "ollama http://127.0.0.1:9 -",
        "llamacpp http://127.0.0.1:8080/v1 -",
        "lmstudio http://box:1/v1 secret-studio",
    ];
    assert_eq!(usable("{}", &variables), found);
}

#[test]
fn a_local_servers_key_goes_only_to_an_address_named_for_it() {
    let variables = [
        ("LLAMA_API_KEY", "secret-llama"),
        ("LM_STUDIO_API_BASE", "http://box:1/v1"),
        ("LM_STUDIO_API_KEY", "secret-studio"),
    ];
    let unnamed = r#"{"endpoints": {"llamacpp": {"api_key_env": "LLAMA_API_KEY"}}}"#;
    let unnamed = with_variables(unnamed, "llamacpp", &variables);
    assert_eq!(sent(&unnamed), None);
    let named = r#"{"endpoints": {"llamacpp": {"base_url": "127.0.0.1:8080", "api_key_env": "LLAMA_API_KEY"}}}"#;
    let named = with_variables(named, "llamacpp", &variables);
    assert_eq!(sent(&named).as_deref(), Some("secret-llama"));
    let studio = with_variables("{}", "lmstudio", &variables);
    let same = studio.clone().at_address("http://box:1/v1");
    assert_eq!(sent(&same).as_deref(), Some("secret-studio"));
    assert_eq!(sent(&studio.at_address("http://box:2/v1")), None);
}

#[test]
fn a_vendors_key_goes_to_another_address_only_when_named() {
    let variables = [("OPENAI_API_KEY", "secret-openai")];
    let elsewhere = r#"{"endpoints": {"openai": {"base_url": "https://gateway"}}}"#;
    assert_eq!(
        usable(elsewhere, &variables)[0],
        "openai https://gateway/v1 -"
    );
    let named = r#"{"endpoints": {"openai": {"base_url": "https://gateway", "api_key_env": "OPENAI_API_KEY"}}}"#;
    assert_eq!(
        usable(named, &variables)[0],
        "openai https://gateway/v1 secret-openai"
    );
    let own = r#"{"endpoints": {"work": {"base_url": "gateway:8000"}}}"#;
    assert_eq!(
        usable(own, &variables).last().unwrap(),
        "work https://gateway:8000/v1 -"
    );
}

#[test]
fn an_entry_says_where_a_known_providers_key_is() {
    let command =
        r#"{"endpoints": {"anthropic": {"api_key_cmd": "printf secret; echo -command"}}}"#;
    assert_eq!(
        usable(command, &[])[0],
        "anthropic https://api.anthropic.com secret-command"
    );
    let variable = r#"{"endpoints": {"anthropic": {"api_key_env": "WORK_KEY"}}}"#;
    let variables = [("ANTHROPIC_API_KEY", "secret-a")];
    let anthropic = with_variables(variable, "anthropic", &variables);
    assert_eq!(anthropic.missing_key(), Some("WORK_KEY"));
    let error = anthropic.key(&KeyCommands::default()).unwrap_err();
    assert_eq!(error.to_string(), "no key: `WORK_KEY` is not set");
}

#[test]
fn a_refusal_for_want_of_a_key_leads_to_where_one_can_be_named() {
    for provider in ["lmstudio", "ollama"] {
        let words = format!("`endpoints.{provider}`: no key is sent, because it does not name");
        let origin = access("{}", provider).key_origin();
        assert!(origin.starts_with(&words), "{origin}");
    }
    let elsewhere = r#"{"endpoints": {"lmstudio": {"base_url": "h"}}}"#;
    let origin = access(elsewhere, "lmstudio").key_origin();
    assert!(origin.starts_with("`endpoints.lmstudio`: no key is sent"));
}

#[test]
fn a_key_that_cannot_be_a_header_is_named_by_its_origin_alone() {
    for key in [
        "secret with space",
        "secret\u{7f}",
        "secret\nsecond",
        "“secret”",
    ] {
        let openai = with_variables("{}", "openai", &[("OPENAI_API_KEY", key)]);
        let error = openai.key(&KeyCommands::default()).unwrap_err().to_string();
        assert_eq!(
            error,
            "the key in `OPENAI_API_KEY` cannot be sent: it contains whitespace or non-ASCII \
             characters"
        );
    }
}
