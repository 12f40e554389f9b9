//! The providers that can be asked: who has a key or needs none, where each is reached, and how it is spoken to.
//!
//! A key that a command prints is got only for the providers of the panel that was chosen, in [`providers`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::endpoints::{DialectName, EndpointEntry, MaxTokensField, StructuredOutput};
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::secrets::{self, BadKey, KeyForm, KeySource, Server};
use crate::config::settings::Settings;
use crate::domain::ids::ProviderId;
use crate::engine::driver::Providers;
use crate::engine::ports::Provider;
use crate::error::Error;
use crate::providers::catalog::Catalog;
use crate::providers::dialect::{Dialect, Quirks, TokensField};
use crate::providers::form::Structure;
use crate::providers::http::Http;
use crate::providers::remote::Remote;
use crate::providers::vendors::{self, Place};
use crate::providers::wire::{Account, Endpoint, Scheme};

/// Servers on the user's own machine that answer many at once; the others take one call after another.
const SERVE_MANY: [&str; 1] = ["vllm"];

/// A provider, and how it would be asked.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub id: ProviderId,
    pub dialect: Dialect,
    /// How the shape of an answer is to be asked for, where the user says it.
    #[expect(dead_code, reason = "the codecs do not take a preference yet")]
    pub structure: Option<Structure>,
    /// Calls under way at once, where it is not the usual number.
    pub in_flight: Option<u32>,
    /// Its models cost nothing.
    pub free: bool,
    /// Where the models of a provider that this program knows run.
    pub place: Option<Place>,
    server: Server,
}

/// All providers but the embedded model's: the known ones in the order in which they fill a panel, then the user's own.
pub(crate) fn all(settings: &Settings, environment: &Environment) -> Vec<Reach> {
    secrets::servers(&settings.endpoints, environment).into_iter().map(Reach::of).collect()
}

/// Makes those that are asked ready for it.
pub(crate) fn providers(
    reached: &[Reach],
    asked: &BTreeSet<ProviderId>,
    keys: &KeyCommands,
    catalog: Catalog,
    http: Http,
) -> Result<Providers, Error> {
    let (catalog, http) = (Arc::new(catalog), Arc::new(http));
    let provider = |reach: &Reach| {
        let endpoint = reach.endpoint(keys)?;
        let remote: Arc<dyn Provider> = Arc::new(Remote::new(reach.dialect, endpoint, Arc::clone(&catalog), Arc::clone(&http)));
        Ok((reach.id.clone(), remote))
    };
    reached.iter().filter(|reach| asked.contains(&reach.id)).map(provider).collect()
}

impl Reach {
    fn of(server: Server) -> Self {
        let known = vendors::find(&server.provider);
        let place = known.map(|vendor| vendor.place);
        let entry = server.entry.as_ref();
        let takes_turns = place == Some(Place::OwnMachine) && !SERVE_MANY.contains(&server.provider.as_str());
        Self {
            id: server.provider.clone(),
            dialect: dialect(known.map(|vendor| vendor.dialect), entry),
            structure: entry.and_then(|entry| entry.structured_output).map(|said| match said {
                StructuredOutput::JsonSchema => Structure::Schema,
                StructuredOutput::JsonObject => Structure::JsonObject,
                StructuredOutput::None => Structure::Prompt,
            }),
            in_flight: entry.and_then(|entry| entry.max_in_flight).or(takes_turns.then_some(1)),
            free: entry.and_then(|entry| entry.free).unwrap_or(place == Some(Place::OwnMachine)),
            place,
            server,
        }
    }

    /// It has a key or needs none.
    pub(crate) fn is_usable(&self) -> bool {
        self.server.is_usable()
    }

    /// Its key costs something to get: a command has to be run, and a person may have to unlock something.
    pub(crate) fn has_costly_key(&self) -> bool {
        matches!(self.server.key, KeySource::Command(_))
    }

    /// Where its key was looked for, when there is none.
    pub(crate) fn missing_key(&self) -> Option<&str> {
        match &self.server.key {
            KeySource::Missing { variables } => variables.first().map(String::as_str),
            KeySource::Unneeded | KeySource::Variable { .. } | KeySource::Command(_) => None,
        }
    }

    /// Where it is reached, with its key; runs the command that gives it.
    pub(crate) fn endpoint(&self, keys: &KeyCommands) -> Result<Endpoint, Error> {
        let key = self.server.key(keys).map_err(|bad| {
            let hint = match &bad {
                BadKey::Missing { variables } => format!("set {}", variables.join(" or ")),
                BadKey::Unsendable { .. } => "copy it again, without anything around it".to_owned(),
                BadKey::Command { provider, .. } => format!("try it in a shell: conclave config get endpoints.{provider}.api_key_cmd"),
            };
            Error::usage(bad).hint(hint)
        })?;
        let scheme = match &self.server.key {
            KeySource::Variable { form: KeyForm::Token, .. } => Scheme::Bearer,
            KeySource::Variable { form: KeyForm::Key, .. } | KeySource::Unneeded | KeySource::Command(_) | KeySource::Missing { .. } => {
                Scheme::Usual
            }
        };
        let account = Account { key, origin: self.server.key_origin(), scheme };
        Ok(Endpoint { base_url: self.server.base_url.clone(), account })
    }
}

/// The wire format: what the user says, else what is known of the provider, else what most servers speak.
fn dialect(known: Option<Dialect>, entry: Option<&EndpointEntry>) -> Dialect {
    let usual = known.unwrap_or(Dialect::OpenAi(Quirks::COMPATIBLE));
    let said = match (entry.and_then(|entry| entry.dialect), usual) {
        (None, usual) => usual,
        (Some(DialectName::OpenAi), Dialect::OpenAi(quirks)) => Dialect::OpenAi(quirks),
        (Some(DialectName::OpenAi), Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama) => Dialect::OpenAi(Quirks::COMPATIBLE),
        (Some(DialectName::Anthropic), _) => Dialect::Anthropic,
        (Some(DialectName::Gemini), _) => Dialect::Gemini,
        (Some(DialectName::Ollama), _) => Dialect::Ollama,
    };
    let tokens_field = entry.and_then(|entry| entry.max_tokens_field).map(|field| match field {
        MaxTokensField::MaxTokens => TokensField::MaxTokens,
        MaxTokensField::MaxCompletionTokens => TokensField::MaxCompletionTokens,
    });
    match (said, tokens_field) {
        (Dialect::OpenAi(mut quirks), Some(field)) => {
            quirks.tokens_field = field;
            Dialect::OpenAi(quirks)
        }
        (said, _) => said,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn reached(config: &str, variables: &[(&str, &str)]) -> Vec<Reach> {
        let settings = Settings::default().with_file(Path::new("config.json"), config).unwrap();
        all(&settings, &Environment::of(variables.iter().copied()))
    }

    fn reach(config: &str, provider: &str) -> Reach {
        reached(config, &[]).into_iter().find(|reach| reach.id.as_str() == provider).unwrap()
    }

    #[test]
    fn every_known_provider_has_an_address_and_its_own_dialect() {
        let reached = reached("{}", &[]);
        let ids: Vec<&str> = reached.iter().map(|reach| reach.id.as_str()).collect();
        assert_eq!(ids, vendors::VENDORS.map(|vendor| vendor.id));
        assert!(reached.iter().zip(vendors::VENDORS).all(|(reach, vendor)| reach.dialect == vendor.dialect));
    }

    #[test]
    fn servers_on_the_own_machine_are_free_and_take_turns_unless_they_serve_many() {
        let terms = |provider| {
            let reach = reach("{}", provider);
            (reach.free, reach.in_flight, reach.is_usable())
        };
        assert_eq!((terms("ollama"), terms("vllm")), ((true, Some(1), true), (true, None, true)));
        assert_eq!(terms("openai"), (false, None, false));
    }

    #[test]
    fn an_entry_says_how_a_server_is_asked() {
        let config = r#"{"endpoints": {
            "work": {"base_url": "h", "max_tokens_field": "max_completion_tokens", "structured_output": "json_object", "max_in_flight": 7, "free": true},
            "claude": {"base_url": "h", "dialect": "anthropic"},
            "ollama": {"max_in_flight": 3, "free": false},
            "openai": {"max_tokens_field": "max_tokens"}}}"#;
        let work = reach(config, "work");
        let Dialect::OpenAi(quirks) = work.dialect else { panic!("{:?}", work.dialect) };
        assert_eq!((quirks.tokens_field, work.in_flight, work.free), (TokensField::MaxCompletionTokens, Some(7), true));
        assert_eq!(reach(config, "claude").dialect, Dialect::Anthropic);
        assert_eq!((reach(config, "ollama").in_flight, reach(config, "ollama").free), (Some(3), false));
        let Dialect::OpenAi(quirks) = reach(config, "openai").dialect else { panic!() };
        assert_eq!(quirks.tokens_field, TokensField::MaxTokens);
    }

    #[test]
    fn only_the_providers_that_are_asked_need_their_keys() {
        let config = r#"{"endpoints": {"a": {"base_url": "h", "api_key_cmd": "exit 1"}, "b": {"base_url": "h"}}}"#;
        let make = |asked: &str| {
            let asked = BTreeSet::from([ProviderId::new(asked)]);
            providers(&reached(config, &[]), &asked, &KeyCommands::default(), Catalog::builtin(), Http::default()).map(|made| made.len())
        };
        assert_eq!(make("b").unwrap(), 1);
        let error = make("a").unwrap_err();
        assert_eq!(error.to_string(), "cannot get the key of `a`");
        assert_eq!(error.hints(), ["try it in a shell: conclave config get endpoints.a.api_key_cmd"]);
    }
}
