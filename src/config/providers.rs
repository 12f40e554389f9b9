//! Configured providers: the address of each, and the source of its key, from the variables that
//! the vendors' own tools read and from the setting `endpoints`. No key is ever in a file.
//!
//! Invariant: a vendor's key goes to the vendor's address, or to the one that the vendor's own
//! variable names. A server that the settings give an address gets the key that its entry names, or
//! none. A server on the user's own machine gets a key only at an address that the user names for
//! it: anything may answer at a usual port.

use secrecy::{ExposeSecret, SecretString};

use crate::domain::address::base_url;
use crate::domain::dialect::WireFormat;
use crate::domain::ids::ProviderId;
use crate::domain::vendors::{self, VENDORS, Vendor};

use super::endpoints::{EndpointEntry, KeyLocation};
use super::env::Environment;
use super::key_commands::{KeyCommandError, KeyCommands};

/// A provider that can be asked, if its key is there.
#[derive(Clone, Debug)]
pub struct ConfiguredProvider {
    pub provider: ProviderId,
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    pub key: KeySource,
    /// The user's entry in `endpoints`.
    pub entry: Option<EndpointEntry>,
}

/// The source of a provider's key.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// None is sent.
    Unneeded,
    Variable {
        name: String,
        key: SecretString,
        form: KeyForm,
    },
    /// The output of a command, which runs only when the key is needed.
    Command(String),
    /// A key is needed, and none of these variables is set.
    Missing { variables: Vec<String> },
}

/// The form of a key in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    Key,
    /// A token, which goes out as one also where the vendor's keys go into a header of their own.
    Token,
}

/// Returns all providers: the known ones in their order, with the changes of their entries, then
/// the user's own in theirs.
pub fn all(entries: &[EndpointEntry], environment: &Environment) -> Vec<ConfiguredProvider> {
    let entry = |provider: &str| entries.iter().find(|entry| entry.name == provider);
    let known = VENDORS
        .iter()
        .map(|vendor| configured(vendor, entry(vendor.id), environment));
    let own = entries
        .iter()
        .filter(|entry| vendors::find(&entry.name).is_none())
        .map(|entry| users_own(entry, environment));
    known.chain(own).collect()
}

fn users_own(entry: &EndpointEntry, environment: &Environment) -> ConfiguredProvider {
    let url = entry.base_url.as_deref().unwrap_or_default();
    let format = entry.dialect.unwrap_or(WireFormat::OpenAi);
    ConfiguredProvider {
        provider: ProviderId::new(&entry.name),
        base_url: base_url(url, format, format.version_path()),
        key: entry.key.as_ref().map_or(KeySource::Unneeded, |place| {
            KeySource::of(place, environment)
        }),
        entry: Some(entry.clone()),
    }
}

/// Returns a known provider with the changes of the user's entry.
pub fn configured(
    vendor: &Vendor,
    entry: Option<&EndpointEntry>,
    environment: &Environment,
) -> ConfiguredProvider {
    let entry_url = entry.and_then(|entry| entry.base_url.as_deref());
    let url = entry_url.or_else(|| {
        vendor
            .base_url_variables
            .iter()
            .find_map(|name| environment.text(name))
    });
    let key = match entry.and_then(|entry| entry.key.as_ref()) {
        _ if url.is_none() && !vendor.is_cloud() => KeySource::Unneeded,
        Some(location) => KeySource::of(location, environment),
        None if entry_url.is_some() => KeySource::Unneeded,
        None => vendor_key(vendor, environment),
    };
    let base_url = match (url, entry.and_then(|entry| entry.dialect)) {
        (None, _) => vendor.default_base_url.to_owned(),
        (Some(url), Some(format)) => base_url(url, format, format.version_path()),
        (Some(url), None) => base_url(url, vendor.dialect.format(), vendor.version_path()),
    };
    ConfiguredProvider {
        provider: ProviderId::new(vendor.id),
        base_url,
        key,
        entry: entry.cloned(),
    }
}

fn vendor_key(vendor: &Vendor, environment: &Environment) -> KeySource {
    match KeySource::in_variables(vendor.key_variables, environment) {
        KeySource::Missing { .. } if !vendor.is_cloud() => KeySource::Unneeded,
        source => source,
    }
}

/// The reason why there is no key, or why it cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("no key: `{}` is not set", variables.join("` or `"))]
    Missing { variables: Vec<String> },
    #[error("the key in {origin} cannot be sent: it contains whitespace or non-ASCII characters")]
    Unsendable { origin: String },
    #[error("cannot get the key of `{provider}`")]
    Command {
        provider: ProviderId,
        source: KeyCommandError,
    },
}

impl ConfiguredProvider {
    /// Returns the source of the key, for people.
    pub fn key_origin(&self) -> String {
        match &self.key {
            KeySource::Variable { name, .. } => format!("`{name}`"),
            KeySource::Command(_) => format!("the `api_key_cmd` of `{}`", self.provider),
            KeySource::Missing { variables } => format!("`{}`", variables.join("` or `")),
            KeySource::Unneeded if self.has_entry_address() => format!(
                "`endpoints.{}`: no key is sent, because neither `api_key_env` nor `api_key_cmd` \
                 names one",
                self.provider
            ),
            KeySource::Unneeded => format!(
                "`endpoints.{}`: no key is sent, because it does not name both the address, with \
                 `base_url`, and the key, with `api_key_env` or `api_key_cmd`",
                self.provider
            ),
        }
    }

    /// Returns whether the user's entry gives its address.
    pub fn has_entry_address(&self) -> bool {
        let entry = self.entry.as_ref();
        entry.is_some_and(|entry| entry.base_url.is_some())
    }

    /// Moves a server of the user's own machine to the address where it was found. A key for
    /// another address is not sent there.
    pub fn move_to(&mut self, base_url: &str) {
        if base_url != self.base_url {
            base_url.clone_into(&mut self.base_url);
            self.key = KeySource::Unneeded;
        }
    }

    /// Returns the key, if one is sent; runs its command unless it has run.
    pub fn key(&self, commands: &KeyCommands) -> Result<Option<SecretString>, KeyError> {
        let key = match &self.key {
            KeySource::Unneeded => return Ok(None),
            KeySource::Missing { variables } => {
                let variables = variables.clone();
                return Err(KeyError::Missing { variables });
            }
            KeySource::Variable { key, .. } => key.clone(),
            KeySource::Command(command) => commands.key(command).map_err(|source| {
                let provider = self.provider.clone();
                KeyError::Command { provider, source }
            })?,
        };
        if key.expose_secret().chars().all(|c| c.is_ascii_graphic()) {
            Ok(Some(key))
        } else {
            Err(KeyError::Unsendable {
                origin: self.key_origin(),
            })
        }
    }
}

impl KeySource {
    fn of(place: &KeyLocation, environment: &Environment) -> Self {
        match place {
            KeyLocation::Command(command) => Self::Command(command.clone()),
            KeyLocation::Variable(name) => Self::in_variables(&[name], environment),
        }
    }

    /// Takes the first of these variables that is set.
    fn in_variables(names: &[&str], environment: &Environment) -> Self {
        let mut set = names
            .iter()
            .filter_map(|name| Some((*name, environment.secret(name)?)));
        let Some((name, key)) = set.next() else {
            return Self::Missing {
                variables: names.iter().map(ToString::to_string).collect(),
            };
        };
        let form = if vendors::holds_token(name) {
            KeyForm::Token
        } else {
            KeyForm::Key
        };
        Self::Variable {
            name: name.to_owned(),
            key,
            form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each usable provider with its address and the key that would go there.
    fn usable(entries: &[EndpointEntry], variables: &[(&str, &str)]) -> Vec<String> {
        let found = all(entries, &Environment::of(variables.iter().copied()));
        assert!(!format!("{found:?}").contains("secret-"), "{found:?}");
        let line = |server: &ConfiguredProvider| {
            let key = server.key(&KeyCommands::default()).unwrap();
            format!(
                "{} {} {}",
                server.provider,
                server.base_url,
                key.as_ref().map_or("-", |key| key.expose_secret())
            )
        };
        found
            .iter()
            .filter(|server| !is_key_missing(server) && server.provider.as_str() != "vllm")
            .map(line)
            .collect()
    }

    fn is_key_missing(server: &ConfiguredProvider) -> bool {
        matches!(server.key, KeySource::Missing { .. })
    }

    fn known(
        id: &str,
        entry: Option<&EndpointEntry>,
        environment: &Environment,
    ) -> ConfiguredProvider {
        configured(vendors::find(id).unwrap(), entry, environment)
    }

    fn entry(name: &str) -> EndpointEntry {
        EndpointEntry {
            name: name.to_owned(),
            ..EndpointEntry::default()
        }
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
            usable(&[], &variables),
            [&vendors[..], &OWN_MACHINE].concat()
        );
        let anthropic = known("anthropic", None, &Environment::of(variables));
        assert!(matches!(
            anthropic.key,
            KeySource::Variable {
                form: KeyForm::Token,
                ..
            }
        ));
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
        assert_eq!(usable(&[], &variables), found);
    }

    #[test]
    fn a_local_servers_key_goes_only_to_an_address_named_for_it() {
        let variables = [("LLAMA_API_KEY", "secret-llama")];
        let key = Some(KeyLocation::Variable("LLAMA_API_KEY".into()));
        let llamacpp = |base_url: Option<&str>| {
            let entry = EndpointEntry {
                base_url: base_url.map(ToOwned::to_owned),
                key: key.clone(),
                ..entry("llamacpp")
            };
            known("llamacpp", Some(&entry), &Environment::of(variables))
        };
        let sent = |server: &ConfiguredProvider| {
            let key = server.key(&KeyCommands::default()).unwrap();
            key.map(|key| key.expose_secret().to_owned())
        };
        assert_eq!(sent(&llamacpp(None)), None);
        let mut named = llamacpp(Some("127.0.0.1:8080"));
        assert_eq!(sent(&named).as_deref(), Some("secret-llama"));
        named.move_to("http://127.0.0.1:8080/v1");
        assert_eq!(sent(&named).as_deref(), Some("secret-llama"));
        named.move_to("http://127.0.0.1:9931/v1");
        assert_eq!(sent(&named), None);
    }

    #[test]
    fn a_vendors_key_goes_to_another_address_only_when_named() {
        let variables = [("OPENAI_API_KEY", "secret-openai")];
        let elsewhere = EndpointEntry {
            base_url: Some("https://gateway".into()),
            ..entry("openai")
        };
        assert_eq!(
            usable(std::slice::from_ref(&elsewhere), &variables)[0],
            "openai https://gateway/v1 -"
        );
        let named = EndpointEntry {
            key: Some(KeyLocation::Variable("OPENAI_API_KEY".into())),
            ..elsewhere
        };
        assert_eq!(
            usable(&[named], &variables)[0],
            "openai https://gateway/v1 secret-openai"
        );
        let own = EndpointEntry {
            base_url: Some("gateway:8000".into()),
            ..entry("work")
        };
        assert_eq!(
            usable(&[own], &variables).last().unwrap(),
            "work https://gateway:8000/v1 -"
        );
    }

    #[test]
    fn an_entry_says_where_a_known_providers_key_is() {
        let command = EndpointEntry {
            key: Some(KeyLocation::Command("printf secret; echo -command".into())),
            ..entry("anthropic")
        };
        assert_eq!(
            usable(&[command], &[])[0],
            "anthropic https://api.anthropic.com secret-command"
        );
        let variable = EndpointEntry {
            key: Some(KeyLocation::Variable("WORK_KEY".into())),
            ..entry("anthropic")
        };
        let providers = all(
            &[variable],
            &Environment::of([("ANTHROPIC_API_KEY", "secret-a")]),
        );
        assert!(is_key_missing(&providers[0]), "its own variable is not set");
        assert_eq!(
            providers[0]
                .key(&KeyCommands::default())
                .unwrap_err()
                .to_string(),
            "no key: `WORK_KEY` is not set"
        );
    }

    #[test]
    fn a_refusal_for_want_of_a_key_leads_to_where_one_can_be_named() {
        let origin = |provider: &str, entry: Option<&EndpointEntry>| {
            known(provider, entry, &Environment::default()).key_origin()
        };
        for provider in ["lmstudio", "ollama"] {
            let words = format!("`endpoints.{provider}`: no key is sent, because it does not name");
            assert!(origin(provider, None).starts_with(&words), "{provider}");
        }
        let elsewhere = EndpointEntry {
            base_url: Some("h".into()),
            ..entry("lmstudio")
        };
        assert!(
            origin("lmstudio", Some(&elsewhere))
                .starts_with("`endpoints.lmstudio`: no key is sent")
        );
    }

    #[test]
    fn a_key_that_cannot_be_a_header_is_named_by_its_origin_alone() {
        for key in [
            "secret with space",
            "secret\u{7f}",
            "secret\nsecond",
            "“secret”",
        ] {
            let server = known("openai", None, &Environment::of([("OPENAI_API_KEY", key)]));
            let error = server.key(&KeyCommands::default()).unwrap_err().to_string();
            assert_eq!(
                error,
                "the key in `OPENAI_API_KEY` cannot be sent: it contains whitespace or non-ASCII \
                 characters"
            );
        }
    }
}
