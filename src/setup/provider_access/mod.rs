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
use crate::config::keys::commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::domain::ids::ProviderId;
use crate::domain::model::address::{self, authority};
use crate::domain::model::billing::Billing;
use crate::domain::model::dialect::{Dialect, Quirks, WireFormat};
use crate::domain::model::vendors::{self, Concurrency, Hosting, VENDORS, Vendor};
use crate::error::Error;
use crate::providers::chatgpt;
use crate::providers::chatgpt::sign_in::{COMMAND, SignIn};
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
    /// The token of a sign-in, which each call asks for.
    SignIn(SignIn),
    /// A key is needed, and none of these variables is set.
    Missing {
        variables: Vec<String>,
    },
}

/// The known ones in the order in which they fill a panel, then those that the settings add.
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

/// `None` for the embedded model and for unknown ones.
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
        let base_url = match (url, entry.and_then(|entry| entry.dialect), vendor) {
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
        };
        Self {
            id: ProviderId::new(id),
            dialect: dialect(vendor.map(|vendor| vendor.dialect), entry),
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
                (None, Some(vendor)) if vendor.signs_in() => sign_in(&base_url, environment),
                (None, Some(vendor)) if entry_url.is_none() => {
                    match KeySource::in_variables(vendor.key_variables, environment) {
                        KeySource::Missing { .. } if own_machine.is_some() => KeySource::Unneeded,
                        source => source,
                    }
                }
                (None, _) => KeySource::Unneeded,
            },
            base_url,
        }
    }

    /// A key for another address is not sent there.
    #[must_use]
    pub fn at_address(mut self, base_url: &str) -> Self {
        if !self.has_configured_address && base_url != self.base_url {
            base_url.clone_into(&mut self.base_url);
            self.key = KeySource::Unneeded;
        }
        self
    }

    /// Plans with it need no key here: the process that asks it has one.
    pub fn need_no_key(&mut self) {
        if self.missing_key().is_some() {
            self.key = KeySource::Unneeded;
        }
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

    pub fn uses_default_endpoint(&self) -> bool {
        self.vendor
            .is_some_and(|vendor| vendor.default_base_url == self.base_url)
    }

    /// A model that a local server only forwards to its cloud is billed there.
    pub fn billing(&self, model: &str) -> Billing {
        let forwards = self.dialect == Dialect::Ollama && is_ollamas_cloud(model);
        if self.free && !forwards {
            Billing::Free
        } else if self.vendor.is_some_and(Vendor::signs_in) {
            Billing::Plan
        } else {
            Billing::Metered
        }
    }

    pub fn has_key(&self) -> bool {
        matches!(self.key, KeySource::Variable { .. } | KeySource::Command(_))
    }

    /// Returns the sign-in whose tokens are sent in place of a key.
    pub fn sign_in(&self) -> Option<&SignIn> {
        let KeySource::SignIn(sign_in) = &self.key else {
            return None;
        };
        Some(sign_in)
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

    /// True on the user's own machine, and at an address that the user has set.
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

    /// True for configured providers, except servers that may not be running.
    pub fn is_selectable(&self) -> bool {
        self.is_configured() && !self.is_on_own_machine()
    }

    pub fn missing_key(&self) -> Option<&str> {
        match &self.key {
            KeySource::Missing { variables } => variables.first().map(String::as_str),
            KeySource::SignIn(sign_in) => (!sign_in.is_usable()).then_some(COMMAND),
            KeySource::Unneeded | KeySource::Variable { .. } | KeySource::Command(_) => None,
        }
    }

    /// Runs the command that prints the key.
    pub fn endpoint(&self, keys: &KeyCommands) -> Result<Endpoint, Error> {
        let key = self.key(keys)?;
        let scheme = match &self.key {
            // A token goes out as one also where the vendor's keys go into a header of their own.
            KeySource::Variable { name, .. } if vendors::holds_token(name) => Scheme::Bearer,
            KeySource::Variable { .. }
            | KeySource::Unneeded
            | KeySource::SignIn(_)
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

    /// Runs its command unless it has run.
    fn key(&self, commands: &KeyCommands) -> Result<Option<SecretString>, Error> {
        let key = match &self.key {
            KeySource::Unneeded | KeySource::SignIn(_) => return Ok(None),
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
            KeySource::Unneeded | KeySource::SignIn(_) => format!(
                "`endpoints.{id}`: no key is sent, because it does not name both the address, with \
                 `base_url`, and the key, with `api_key_env` or `api_key_cmd`"
            ),
        }
    }
}

impl KeySource {
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

/// No token goes to an address that is not the service's.
fn sign_in(base_url: &str, environment: &Environment) -> KeySource {
    let file = Home::find(environment).map(|home| home.sign_in_file());
    let file = file.unwrap_or_default();
    let issuer = chatgpt::issuer_for(base_url);
    issuer.map_or(KeySource::Unneeded, |issuer| {
        KeySource::SignIn(SignIn { issuer, file })
    })
}

/// The entry's format, else the provider's own, else Chat Completions.
fn dialect(known: Option<Dialect>, entry: Option<&EndpointEntry>) -> Dialect {
    let usual = known.unwrap_or(Dialect::OpenAi(Quirks::COMPATIBLE));
    let said = match entry.and_then(|entry| entry.dialect) {
        None => usual,
        Some(format) if format == usual.format() => usual,
        Some(WireFormat::OpenAi) => Dialect::OpenAi(Quirks::COMPATIBLE),
        Some(WireFormat::Responses) => Dialect::Responses,
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
mod tests;
