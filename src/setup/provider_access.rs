//! Access to providers: the address and the wire format of each, and the source of its key, from
//! the variables that the vendors' own tools read and from the setting `endpoints`. No key is ever
//! in a file, and a command that prints one runs only for the providers that a plan needs.
//!
//! Invariant: a vendor's key goes to the vendor's address, or to the one that the vendor's own
//! variable names. A server that the settings give an address gets the key that its entry names, or
//! none. A server on the user's own machine gets a key only at an address that the user names for
//! it: anything may answer at a usual port.

use secrecy::{ExposeSecret, SecretString};

use crate::config::endpoints::is_secret;
use crate::config::endpoints::{EndpointEntry, KeyLocation};
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::settings::Settings;
use crate::domain::address::{self, authority};
use crate::domain::dialect::{Dialect, Quirks, WireFormat};
use crate::domain::ids::ProviderId;
use crate::domain::vendors::{self, Concurrency, Hosting, VENDORS, Vendor};
use crate::error::Error;
use crate::providers::discovery::is_ollamas_cloud;
use crate::providers::http;
use crate::providers::wire::{Account, Endpoint, Scheme};

/// Access to one provider.
#[derive(Clone, Debug)]
pub struct ProviderAccess {
    pub id: ProviderId,
    pub dialect: Dialect,
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    /// The settings give its address.
    pub has_configured_address: bool,
    /// Most calls in flight, where the provider has its own limit.
    pub in_flight: Option<u32>,
    free: bool,
    /// `None` for a provider that the settings add.
    vendor: Option<&'static Vendor>,
    key: KeySource,
}

/// The source of a provider's key.
#[derive(Clone, Debug)]
enum KeySource {
    /// None is sent.
    Unneeded,
    Variable {
        name: String,
        key: SecretString,
    },
    /// The output of a command, which runs only when the key is needed.
    Command(String),
    /// A key is needed, and none of these variables is set.
    Missing {
        variables: Vec<String>,
    },
}

/// Returns every provider but the embedded model's: the known ones in the order in which they fill
/// a panel, then those that the settings add.
pub fn all(settings: &Settings, environment: &Environment) -> Vec<ProviderAccess> {
    let entries = settings.endpoints.iter();
    let entry = |vendor: &Vendor| entries.clone().find(|entry| entry.name == vendor.id);
    let known = VENDORS
        .iter()
        .map(|vendor| ProviderAccess::new(vendor.id, entry(vendor), environment));
    let added = entries
        .clone()
        .filter(|entry| vendors::find(&entry.name).is_none())
        .map(|entry| ProviderAccess::new(&entry.name, Some(entry), environment));
    known.chain(added).collect()
}

/// Returns the access to one provider; `None` for the embedded model and for unknown ones.
pub fn find<'a>(
    access_list: &'a [ProviderAccess],
    provider: &ProviderId,
) -> Option<&'a ProviderAccess> {
    access_list.iter().find(|access| access.id == *provider)
}

impl ProviderAccess {
    fn new(id: &str, entry: Option<&EndpointEntry>, environment: &Environment) -> Self {
        let vendor = vendors::find(id);
        let own_machine = match vendor.map(|vendor| vendor.hosting) {
            Some(Hosting::OwnMachine { concurrency, .. }) => Some(concurrency),
            Some(Hosting::Cloud) | None => None,
        };
        let one_call = (own_machine == Some(Concurrency::OneCall)).then_some(1);
        let own_limit = entry.and_then(|entry| entry.max_in_flight);
        let own_price = entry.and_then(|entry| entry.free);
        let entry_url = entry.and_then(|entry| entry.base_url.as_deref());
        let variables = vendor.map_or(&[][..], |vendor| vendor.base_url_variables);
        let mut named = variables.iter().filter_map(|name| environment.text(name));
        let url = entry_url.or_else(|| named.next());
        Self {
            id: ProviderId::new(id),
            dialect: dialect(vendor.map(|vendor| vendor.dialect), entry),
            base_url: match (url, entry.and_then(|entry| entry.dialect), vendor) {
                (None, _, vendor) => vendor
                    .map_or("", |vendor| vendor.default_base_url)
                    .to_owned(),
                (Some(url), None, Some(vendor)) => {
                    address::base_url(url, vendor.dialect.format(), vendor.version_path())
                }
                (Some(url), format, _) => {
                    let format = format.unwrap_or(WireFormat::OpenAi);
                    address::base_url(url, format, format.version_path())
                }
            },
            has_configured_address: entry_url.is_some(),
            in_flight: own_limit.or(one_call),
            free: own_price.unwrap_or(own_machine.is_some()),
            vendor,
            key: match (entry.and_then(|entry| entry.key.as_ref()), vendor) {
                _ if url.is_none() && own_machine.is_some() => KeySource::Unneeded,
                (Some(KeyLocation::Command(command)), _) => KeySource::Command(command.clone()),
                (Some(KeyLocation::Variable(name)), _) => {
                    KeySource::in_variables(&[name], environment)
                }
                (None, Some(vendor)) if entry_url.is_none() => {
                    match KeySource::in_variables(vendor.key_variables, environment) {
                        KeySource::Missing { .. } if own_machine.is_some() => KeySource::Unneeded,
                        source => source,
                    }
                }
                (None, _) => KeySource::Unneeded,
            },
        }
    }

    /// Returns the same provider at the address where it was found, unless the settings give one.
    /// A key for another address is not sent there.
    #[must_use]
    pub fn at_address(mut self, base_url: &str) -> Self {
        if !self.has_configured_address && base_url != self.base_url {
            base_url.clone_into(&mut self.base_url);
            self.key = KeySource::Unneeded;
        }
        self
    }

    /// Returns a warning if its key goes out unencrypted, beyond the user's own machine and
    /// network.
    pub fn unencrypted_key(&self) -> Option<String> {
        let exposed = self.has_key() && http::is_readable_on_the_way(&self.base_url);
        let (id, address) = (&self.id, authority(&self.base_url));
        exposed.then(|| {
            format!(
                "the key of {id} goes unencrypted to {address}: others on the way can read it; \
                 use an address that begins with https://"
            )
        })
    }

    /// Returns whether it is reached at the vendor's own address, not at a gateway.
    pub fn uses_default_endpoint(&self) -> bool {
        self.vendor
            .is_some_and(|vendor| vendor.default_base_url == self.base_url)
    }

    /// Returns whether a model costs nothing. A model that a local server only forwards to its
    /// cloud is billed there.
    pub fn is_free(&self, model: &str) -> bool {
        self.free && !(self.dialect == Dialect::Ollama && is_ollamas_cloud(model))
    }

    /// Returns whether a key goes out with every request.
    pub fn has_key(&self) -> bool {
        matches!(self.key, KeySource::Variable { .. } | KeySource::Command(_))
    }

    /// Returns whether it is a vendor's service, not the user's own server.
    pub fn is_cloud(&self) -> bool {
        self.vendor.is_some_and(Vendor::is_cloud)
    }

    /// Returns whether it is one of the servers that are known to run on the user's own machine or
    /// network.
    pub fn is_on_own_machine(&self) -> bool {
        self.vendor.is_some_and(|vendor| !vendor.is_cloud())
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
        !matches!(self.key, KeySource::Command(_)) && self.key(&KeyCommands::default()).is_ok()
    }

    /// Returns whether its models may be chosen without being named: it is configured, and no
    /// server that may not be running.
    pub fn is_selectable(&self) -> bool {
        self.is_configured() && !self.is_on_own_machine()
    }

    /// Returns the variable that holds its key, when a key is needed and none is set.
    pub fn missing_key(&self) -> Option<&str> {
        match &self.key {
            KeySource::Missing { variables } => variables.first().map(String::as_str),
            KeySource::Unneeded | KeySource::Variable { .. } | KeySource::Command(_) => None,
        }
    }

    /// Returns its address and key; runs the command that prints the key.
    pub fn endpoint(&self, keys: &KeyCommands) -> Result<Endpoint, Error> {
        let key = self.key(keys)?;
        let scheme = match &self.key {
            // A token goes out as one also where the vendor's keys go into a header of their own.
            KeySource::Variable { name, .. } if vendors::holds_token(name) => Scheme::Bearer,
            KeySource::Variable { .. }
            | KeySource::Unneeded
            | KeySource::Missing { .. }
            | KeySource::Command(_) => Scheme::Usual,
        };
        let is_word = key.as_ref().is_some_and(|key| !is_secret(key));
        Ok(Endpoint {
            base_url: self.base_url.clone(),
            account: Account {
                key,
                origin: self.key_origin(),
                scheme,
                is_word,
            },
        })
    }

    /// Returns the key, if one is sent; runs its command unless it has run.
    fn key(&self, commands: &KeyCommands) -> Result<Option<SecretString>, Error> {
        let key = match &self.key {
            KeySource::Unneeded => return Ok(None),
            KeySource::Missing { variables } => {
                let error = format!("no key: {} is not set", self.key_origin());
                return Err(Error::usage(error).hint(format!("set {}", variables.join(" or "))));
            }
            KeySource::Variable { key, .. } => key.clone(),
            KeySource::Command(command) => commands.key(command).map_err(|error| {
                let id = &self.id;
                Error::caused(format!("cannot get the key of `{id}`"), error).hint(format!(
                    "try it in a shell with `eval \"$(conclave config get \
                     endpoints.{id}.api_key_cmd)\"`"
                ))
            })?,
        };
        if key.expose_secret().chars().all(|c| c.is_ascii_graphic()) {
            return Ok(Some(key));
        }
        let origin = self.key_origin();
        let error = format!(
            "the key in {origin} cannot be sent: it contains whitespace or non-ASCII characters"
        );
        Err(Error::usage(error).hint("copy the key again, without anything around it"))
    }

    /// Returns the source of the key, for people.
    fn key_origin(&self) -> String {
        let id = &self.id;
        match &self.key {
            KeySource::Variable { name, .. } => format!("`{name}`"),
            KeySource::Command(_) => format!("the `api_key_cmd` of `{id}`"),
            KeySource::Missing { variables } => format!("`{}`", variables.join("` or `")),
            KeySource::Unneeded if self.has_configured_address => format!(
                "`endpoints.{id}`: no key is sent, because neither `api_key_env` nor `api_key_cmd` \
                 names one"
            ),
            KeySource::Unneeded => format!(
                "`endpoints.{id}`: no key is sent, because it does not name both the address, with \
                 `base_url`, and the key, with `api_key_env` or `api_key_cmd`"
            ),
        }
    }
}

impl KeySource {
    /// Takes the first of these variables that is set.
    fn in_variables(names: &[&str], environment: &Environment) -> Self {
        let mut names_and_keys = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), environment.secret(name)?)));
        match names_and_keys.next() {
            Some((name, key)) => Self::Variable { name, key },
            None => Self::Missing {
                variables: names.iter().map(ToString::to_string).collect(),
            },
        }
    }
}

/// Returns the wire format: the one of the entry, else the provider's own, else Chat Completions.
fn dialect(known: Option<Dialect>, entry: Option<&EndpointEntry>) -> Dialect {
    let usual = known.unwrap_or(Dialect::OpenAi(Quirks::COMPATIBLE));
    let said = match entry.and_then(|entry| entry.dialect) {
        None => usual,
        Some(format) if format == usual.format() => usual,
        Some(WireFormat::OpenAi) => Dialect::OpenAi(Quirks::COMPATIBLE),
        Some(WireFormat::Anthropic) => Dialect::Anthropic,
        Some(WireFormat::Gemini) => Dialect::Gemini,
        Some(WireFormat::Ollama) => Dialect::Ollama,
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
}
