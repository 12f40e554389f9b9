//! The providers that can be asked: who has a key or needs none, where each is reached, and how it
//! is spoken to.
//!
//! A key that a command prints is got only for the providers of the panel that was chosen, in
//! [`providers`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::endpoints::EndpointEntry;
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::providers as configured;
use crate::config::providers::{ConfiguredProvider, KeyError, KeyForm, KeySource};
use crate::config::settings::Settings;
use crate::domain::dialect::{Dialect, Quirks, WireFormat};
use crate::domain::ids::ProviderId;
use crate::domain::vendors::{self, Concurrency, Hosting};
use crate::engine::driver::Providers;
use crate::engine::ports::Provider;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::discovery::is_ollamas_cloud;
use crate::providers::form::Parameters;
use crate::providers::http::Http;
use crate::providers::remote::Remote;
use crate::providers::wire::{Account, Endpoint, Scheme};

/// A provider, and how it would be asked.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub id: ProviderId,
    pub dialect: Dialect,
    /// Calls under way at once, where it is not the usual number.
    pub in_flight: Option<u32>,
    free: bool,
    /// Where the models of a provider that this program knows run.
    hosting: Option<Hosting>,
    server: ConfiguredProvider,
}

/// All providers but the embedded model's: the known ones in the order in which they fill a panel,
/// then the user's own.
pub(crate) fn all(settings: &Settings, environment: &Environment) -> Vec<Reach> {
    configured::all(&settings.endpoints, environment)
        .into_iter()
        .map(Reach::of)
        .collect()
}

/// Makes those that are asked ready for it.
pub(crate) fn providers(
    reached: &[Reach],
    asked: &BTreeSet<ProviderId>,
    settings: &Settings,
    keys: &KeyCommands,
    catalog: ModelCatalog,
    http: Http,
) -> Result<Providers, Error> {
    let (catalog, http) = (Arc::new(catalog), Arc::new(http));
    let provider = |reach: &Reach| {
        let endpoint = reach.endpoint(keys)?;
        let (for_all, by_model) = settings.parameters.of(reach.id.as_str());
        let remote = Remote::new(
            reach.dialect,
            endpoint,
            Arc::clone(&catalog),
            Arc::clone(&http),
        );
        let remote: Arc<dyn Provider> =
            Arc::new(remote.with_parameters(Parameters { for_all, by_model }));
        Ok((reach.id.clone(), remote))
    };
    reached
        .iter()
        .filter(|reach| asked.contains(&reach.id))
        .map(provider)
        .collect()
}

impl Reach {
    fn of(server: ConfiguredProvider) -> Self {
        let known = vendors::find(server.provider.as_str());
        let hosting = known.map(|vendor| vendor.hosting);
        let entry = server.entry.as_ref();
        let takes_turns = matches!(
            hosting,
            Some(Hosting::OwnMachine {
                concurrency: Concurrency::OneCall,
                ..
            })
        );
        Self {
            id: server.provider.clone(),
            dialect: dialect(known.map(|vendor| vendor.dialect), entry),
            in_flight: entry
                .and_then(|entry| entry.max_in_flight)
                .or(takes_turns.then_some(1)),
            free: entry
                .and_then(|entry| entry.free)
                .unwrap_or(matches!(hosting, Some(Hosting::OwnMachine { .. }))),
            hosting,
            server,
        }
    }

    /// The same provider at another address, where the user has not said one.
    #[must_use]
    pub(crate) fn found_at(mut self, base_url: &str) -> Self {
        if !self.has_own_address() {
            base_url.clone_into(&mut self.server.base_url);
        }
        self
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.server.base_url
    }

    /// The user has said in the settings where it is.
    pub(crate) fn has_own_address(&self) -> bool {
        self.server
            .entry
            .as_ref()
            .is_some_and(|entry| entry.base_url.is_some())
    }

    /// It is reached where the vendor has it, not at a gateway.
    pub(crate) fn is_at_home(&self) -> bool {
        vendors::find(self.id.as_str())
            .is_some_and(|known| known.default_base_url == self.server.base_url)
    }

    /// A model that costs nothing. What only passes through a server of the user's own is billed
    /// elsewhere.
    pub(crate) fn is_free(&self, model: &str) -> bool {
        self.free && !(self.dialect == Dialect::Ollama && is_ollamas_cloud(model))
    }

    /// A key goes with every request.
    pub(crate) fn has_key(&self) -> bool {
        matches!(
            self.server.key,
            KeySource::Variable { .. } | KeySource::Command(_)
        )
    }

    /// It is a vendor's service, and no server of the user's own.
    pub(crate) fn is_cloud(&self) -> bool {
        self.hosting == Some(Hosting::Cloud)
    }

    /// It is one of the servers that are known to run on the user's own machine or network.
    pub(crate) fn is_on_own_machine(&self) -> bool {
        matches!(self.hosting, Some(Hosting::OwnMachine { .. }))
    }

    /// It has a key or needs none.
    pub(crate) fn is_usable(&self) -> bool {
        self.server.is_usable()
    }

    /// Its models may be chosen without being named: it can be asked, and is no server that may not
    /// be running.
    pub(crate) fn is_chosen_unasked(&self) -> bool {
        self.is_usable() && !self.is_on_own_machine()
    }

    /// Its key costs something to get: a command has to be run, and a person may have to unlock
    /// something.
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
                KeyError::Missing { variables } => format!("set {}", variables.join(" or ")),
                KeyError::Unsendable { .. } => "copy it again, without anything around it".to_owned(),
                KeyError::Command { provider, .. } => {
                    format!("try it in a shell: eval \"$(conclave config get endpoints.{provider}.api_key_cmd)\"")
                }
            };
            Error::usage(bad).hint(hint)
        })?;
        let scheme = match &self.server.key {
            KeySource::Variable {
                form: KeyForm::Token,
                ..
            } => Scheme::Bearer,
            KeySource::Variable {
                form: KeyForm::Key, ..
            }
            | KeySource::Unneeded
            | KeySource::Command(_)
            | KeySource::Missing { .. } => Scheme::Usual,
        };
        let account = Account {
            key,
            origin: self.server.key_origin(),
            scheme,
        };
        Ok(Endpoint {
            base_url: self.server.base_url.clone(),
            account,
        })
    }
}

/// The wire format: what the user says, else what is known of the provider, else what most servers
/// speak.
fn dialect(known: Option<Dialect>, entry: Option<&EndpointEntry>) -> Dialect {
    let usual = known.unwrap_or(Dialect::OpenAi(Quirks::COMPATIBLE));
    let said = match (entry.and_then(|entry| entry.dialect), usual) {
        (None, usual) => usual,
        (Some(WireFormat::OpenAi), Dialect::OpenAi(quirks)) => Dialect::OpenAi(quirks),
        (Some(WireFormat::OpenAi), Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama) => {
            Dialect::OpenAi(Quirks::COMPATIBLE)
        }
        (Some(WireFormat::Anthropic), _) => Dialect::Anthropic,
        (Some(WireFormat::Gemini), _) => Dialect::Gemini,
        (Some(WireFormat::Ollama), _) => Dialect::Ollama,
    };
    let Dialect::OpenAi(mut quirks) = said else {
        return said;
    };
    if let Some(field) = entry.and_then(|entry| entry.max_tokens_field) {
        quirks.tokens_field = field;
        // What the user says holds wherever the provider is reached.
        quirks.own_host = None;
    }
    if let Some(structure) = entry.and_then(|entry| entry.structured_output) {
        quirks.best_structure = structure;
    }
    Dialect::OpenAi(quirks)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::domain::dialect::{Structure, TokensField};

    use super::*;

    fn reached(config: &str, variables: &[(&str, &str)]) -> Vec<Reach> {
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap();
        all(&settings, &Environment::of(variables.iter().copied()))
    }

    fn reach(config: &str, provider: &str) -> Reach {
        reached(config, &[])
            .into_iter()
            .find(|reach| reach.id.as_str() == provider)
            .unwrap()
    }

    #[test]
    fn every_known_provider_has_an_address_and_its_own_dialect() {
        let reached = reached("{}", &[]);
        let ids: Vec<&str> = reached.iter().map(|reach| reach.id.as_str()).collect();
        assert_eq!(ids, vendors::VENDORS.map(|vendor| vendor.id));
        assert!(
            reached
                .iter()
                .zip(vendors::VENDORS)
                .all(|(reach, vendor)| reach.dialect == vendor.dialect)
        );
    }

    #[test]
    fn servers_on_the_own_machine_are_free_and_take_turns_unless_they_serve_many() {
        let terms = |provider| {
            let reach = reach("{}", provider);
            (reach.free, reach.in_flight, reach.is_usable())
        };
        assert_eq!(
            (terms("ollama"), terms("vllm")),
            ((true, Some(1), true), (true, None, true))
        );
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
        let Dialect::OpenAi(quirks) = work.dialect else {
            panic!("{:?}", work.dialect)
        };
        assert_eq!(
            (
                quirks.tokens_field,
                quirks.best_structure,
                work.in_flight,
                work.is_free("m")
            ),
            (
                TokensField::MaxCompletionTokens,
                Structure::JsonObject,
                Some(7),
                true
            )
        );
        assert_eq!(reach(config, "claude").dialect, Dialect::Anthropic);
        assert_eq!(
            (
                reach(config, "ollama").in_flight,
                reach(config, "ollama").free
            ),
            (Some(3), false)
        );
        let Dialect::OpenAi(quirks) = reach(config, "openai").dialect else {
            panic!()
        };
        assert_eq!(quirks.tokens_field, TokensField::MaxTokens);
    }

    #[test]
    fn only_the_providers_that_are_asked_need_their_keys() {
        let config = r#"{"endpoints": {"a": {"base_url": "h", "api_key_cmd": "exit 1"}, "b": {"base_url": "h"}}}"#;
        let make = |asked: &str| {
            let asked = BTreeSet::from([ProviderId::new(asked)]);
            providers(
                &reached(config, &[]),
                &asked,
                &Settings::default(),
                &KeyCommands::default(),
                ModelCatalog::builtin(),
                Http::default(),
            )
            .map(|made| made.len())
        };
        assert_eq!(make("b").unwrap(), 1);
        let error = make("a").unwrap_err();
        assert_eq!(error.to_string(), "cannot get the key of `a`");
        assert_eq!(
            error.hints(),
            ["try it in a shell: eval \"$(conclave config get endpoints.a.api_key_cmd)\""]
        );
    }
}
