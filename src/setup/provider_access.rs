//! Access to providers: address, key and wire format of each.
//!
//! A command that prints a key runs only for the providers that a plan needs, in [`provider`].

use std::sync::Arc;

use crate::config::endpoints::EndpointEntry;
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::own_keys::is_secret;
use crate::config::providers as configured;
use crate::config::providers::{ConfiguredProvider, KeyError, KeyForm, KeySource};
use crate::config::settings::Settings;
use crate::domain::address::authority;
use crate::domain::dialect::{Dialect, Quirks, WireFormat};
use crate::domain::ids::ProviderId;
use crate::domain::vendors::{self, Concurrency, Hosting};
use crate::engine::ports::Provider;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::discovery::is_ollamas_cloud;
use crate::providers::form::Parameters;
use crate::providers::http::{self, Http};
use crate::providers::remote::Remote;
use crate::providers::wire::{Account, Endpoint, Scheme};

/// Access to one provider.
#[derive(Clone, Debug)]
pub struct ProviderAccess {
    pub id: ProviderId,
    pub dialect: Dialect,
    /// Most calls in flight, where the provider has its own limit.
    pub in_flight: Option<u32>,
    free: bool,
    /// The hosting of a known provider.
    hosting: Option<Hosting>,
    server: ConfiguredProvider,
}

/// Returns every provider but the embedded model's: the known ones in the order in which they fill
/// a panel, then those that the settings add.
pub fn all(settings: &Settings, environment: &Environment) -> Vec<ProviderAccess> {
    let all = configured::all(&settings.endpoints, environment);
    all.into_iter().map(ProviderAccess::of).collect()
}

/// Returns the access to one provider; `None` for the embedded model and for unknown ones.
pub fn find<'a>(
    access_list: &'a [ProviderAccess],
    provider: &ProviderId,
) -> Option<&'a ProviderAccess> {
    access_list.iter().find(|access| access.id == *provider)
}

/// Returns whether a question to the provider stays with the user: it runs on the user's machine,
/// or is reached at an address that the user has set. Providers that are no longer configured count
/// as private.
pub fn is_private(access_list: &[ProviderAccess], provider: &ProviderId) -> bool {
    find(access_list, provider).is_none_or(ProviderAccess::is_private)
}

/// Connects a provider. Runs the command that prints its key.
pub fn provider(
    access: &ProviderAccess,
    settings: &Settings,
    catalog: Arc<ModelCatalog>,
    http: Arc<Http>,
    keys: &KeyCommands,
) -> Result<Arc<dyn Provider>, Error> {
    let endpoint = access.endpoint(keys)?;
    let (for_all, by_model) = settings.parameters.of(access.id.as_str());
    let remote = Remote::new(access.dialect, endpoint, catalog, http);
    Ok(Arc::new(
        remote.with_parameters(Parameters { for_all, by_model }),
    ))
}

impl ProviderAccess {
    fn of(server: ConfiguredProvider) -> Self {
        let known = vendors::find(server.provider.as_str());
        let hosting = known.map(|vendor| vendor.hosting);
        let entry = server.entry.as_ref();
        let own_machine = match hosting {
            Some(Hosting::OwnMachine { concurrency, .. }) => Some(concurrency),
            Some(_) | None => None,
        };
        let one_call = (own_machine == Some(Concurrency::OneCall)).then_some(1);
        let own_limit = entry.and_then(|entry| entry.max_in_flight);
        let own_price = entry.and_then(|entry| entry.free);
        Self {
            id: server.provider.clone(),
            dialect: dialect(known.map(|vendor| vendor.dialect), entry),
            in_flight: own_limit.or(one_call),
            free: own_price.unwrap_or(own_machine.is_some()),
            hosting,
            server,
        }
    }

    /// Returns the same provider at another address, unless the settings give one.
    #[must_use]
    pub fn at_address(mut self, base_url: &str) -> Self {
        if !self.has_configured_address() {
            self.server.move_to(base_url);
        }
        self
    }

    pub fn base_url(&self) -> &str {
        &self.server.base_url
    }

    /// Returns whether the settings give its address.
    pub fn has_configured_address(&self) -> bool {
        self.server.has_entry_address()
    }

    /// Returns a warning if its key goes out unencrypted, beyond the user's own machine and
    /// network.
    pub fn unencrypted_key(&self) -> Option<String> {
        let exposed = self.has_key() && http::is_readable_on_the_way(self.base_url());
        let (id, address) = (&self.id, authority(self.base_url()));
        exposed.then(|| {
            format!(
                "the key of {id} goes unencrypted to {address}: others on the way can read it; \
                 use an address that begins with https://"
            )
        })
    }

    /// Returns whether it is reached at the vendor's own address, not at a gateway.
    pub fn uses_default_endpoint(&self) -> bool {
        vendors::find(self.id.as_str())
            .is_some_and(|known| known.default_base_url == self.server.base_url)
    }

    /// Returns whether a model costs nothing. A model that a local server only forwards to its
    /// cloud is billed there.
    pub fn is_free(&self, model: &str) -> bool {
        self.free && !(self.dialect == Dialect::Ollama && is_ollamas_cloud(model))
    }

    /// Returns whether a key goes out with every request.
    pub fn has_key(&self) -> bool {
        let key = &self.server.key;
        matches!(key, KeySource::Variable { .. } | KeySource::Command(_))
    }

    /// Returns whether it is a vendor's service, not the user's own server.
    pub fn is_cloud(&self) -> bool {
        self.hosting == Some(Hosting::Cloud)
    }

    /// Returns whether it is one of the servers that are known to run on the user's own machine or
    /// network.
    pub fn is_on_own_machine(&self) -> bool {
        matches!(self.hosting, Some(Hosting::OwnMachine { .. }))
    }

    /// Returns whether a question to it stays with the user: it runs on the user's machine, or is
    /// reached at an address that the user has set.
    pub fn is_private(&self) -> bool {
        self.is_on_own_machine() || !self.uses_default_endpoint()
    }

    /// Returns whether it needs no key, or has a source for one.
    pub fn is_configured(&self) -> bool {
        self.missing_key().is_none()
    }

    /// Returns whether a call could go out at once: it needs no key, or has one that can be sent
    /// without running a command, which a person may have to unlock. Optional providers must be
    /// ready, so that no run fails for a key that may never be used.
    pub fn key_ready(&self) -> bool {
        !matches!(self.server.key, KeySource::Command(_))
            && self.server.key(&KeyCommands::default()).is_ok()
    }

    /// Returns whether its models may be chosen without being named: it is configured, and no
    /// server that may not be running.
    pub fn is_selectable(&self) -> bool {
        self.is_configured() && !self.is_on_own_machine()
    }

    /// Returns the variable that holds its key, when a key is needed and none is set.
    pub fn missing_key(&self) -> Option<&str> {
        match &self.server.key {
            KeySource::Missing { variables } => variables.first().map(String::as_str),
            KeySource::Unneeded | KeySource::Variable { .. } | KeySource::Command(_) => None,
        }
    }

    /// Returns its address and key; runs the command that prints the key.
    pub fn endpoint(&self, keys: &KeyCommands) -> Result<Endpoint, Error> {
        let key = self.server.key(keys).map_err(|bad| {
            let hint = match &bad {
                KeyError::Missing { variables } => format!("set {}", variables.join(" or ")),
                KeyError::Unsendable { .. } => {
                    "copy the key again, without anything around it".to_owned()
                }
                KeyError::Command { provider, .. } => format!(
                    "try it in a shell with `eval \"$(conclave config get \
                     endpoints.{provider}.api_key_cmd)\"`"
                ),
            };
            Error::usage(bad).hint(hint)
        })?;
        let scheme = match &self.server.key {
            KeySource::Variable { form, .. } if *form == KeyForm::Token => Scheme::Bearer,
            KeySource::Variable { .. }
            | KeySource::Unneeded
            | KeySource::Missing { .. }
            | KeySource::Command(_) => Scheme::Usual,
        };
        let origin = self.server.key_origin();
        let is_word = key.as_ref().is_some_and(|key| !is_secret(key));
        Ok(Endpoint {
            base_url: self.server.base_url.clone(),
            account: Account {
                key,
                origin,
                scheme,
                is_word,
            },
        })
    }
}

/// Returns the wire format: the one of the entry, else the provider's own, else Chat Completions.
fn dialect(known: Option<Dialect>, entry: Option<&EndpointEntry>) -> Dialect {
    let usual = known.unwrap_or(Dialect::OpenAi(Quirks::COMPATIBLE));
    let said = match (entry.and_then(|entry| entry.dialect), usual) {
        (None, usual) | (Some(WireFormat::OpenAi), usual @ Dialect::OpenAi(_)) => usual,
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
        // The user's choice holds at every address of the provider.
        quirks.own_host = None;
    }
    if let Some(structure) = entry.and_then(|entry| entry.structured_output) {
        quirks.best_structure = structure;
    }
    Dialect::OpenAi(quirks)
}

#[cfg(test)]
mod tests {
    use crate::domain::dialect::{Structure, TokensField};
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
        assert!(work.is_free("m"));
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
}
