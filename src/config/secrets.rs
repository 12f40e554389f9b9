//! Providers as the user has set them up: the address of each, and where its key is. From the
//! variables that the vendors' own tools read, and from the setting `endpoints`. No key is ever in
//! a file.
//!
//! Invariant: a vendor's key goes to the vendor's address, or to the one that the vendor's own
//! variable names. A server that the settings give an address gets the key that its entry names, or
//! none.

use secrecy::{ExposeSecret, SecretString};

use crate::domain::ids::ProviderId;

use super::addresses::Shape;
use super::endpoints::{DialectName, EndpointEntry, KeyPlace};
use super::env::Environment;
use super::key_commands::{KeyCommandError, KeyCommands};

/// A provider that can be asked, if its key is there.
#[derive(Clone, Debug)]
pub struct Server {
    pub provider: ProviderId,
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    pub key: KeySource,
    /// What the user says about it in `endpoints`.
    pub entry: Option<EndpointEntry>,
}

/// Where a provider's key is.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// None is sent.
    Unneeded,
    Variable {
        name: String,
        key: SecretString,
        form: KeyForm,
    },
    /// What a command prints; it is not run before the key is needed.
    Command(String),
    /// It is needed, and none of these variables is set.
    Missing { variables: Vec<String> },
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    Key,
    /// A token, which goes out as one also where the vendor's keys go into a header of their own.
    Token,
}

/// How one known provider is configured.
#[derive(Clone, Copy, Debug)]
pub struct VendorVariables {
    pub provider: &'static str,
    /// The first that is set wins.
    pub keys: &'static [&'static str],
    pub need: Need,
    pub base_urls: &'static [&'static str],
    pub default_base_url: &'static str,
    shape: Shape,
}

/// Whether a provider answers without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Key,
    Nothing,
}

/// The variable whose value is a token.
const TOKEN_VARIABLE: &str = "ANTHROPIC_AUTH_TOKEN";

const fn vendor(
    provider: &'static str,
    keys: &'static [&'static str],
    base_urls: &'static [&'static str],
    default_base_url: &'static str,
    shape: Shape,
) -> VendorVariables {
    VendorVariables {
        provider,
        keys,
        need: Need::Key,
        base_urls,
        default_base_url,
        shape,
    }
}

const fn own_machine(
    provider: &'static str,
    keys: &'static [&'static str],
    base_urls: &'static [&'static str],
    default_base_url: &'static str,
    shape: Shape,
) -> VendorVariables {
    VendorVariables {
        provider,
        keys,
        need: Need::Nothing,
        base_urls,
        default_base_url,
        shape,
    }
}

/// The known providers; those that need a key in the order in which they fill a mixed panel.
///
/// Of those on the user's own machine, the addresses are where they listen by default, written as
/// numbers because they listen there alone while `localhost` may mean another family of addresses.
pub const VENDORS: [VendorVariables; 10] = [
    vendor(
        "anthropic",
        &["ANTHROPIC_API_KEY", TOKEN_VARIABLE],
        &["ANTHROPIC_BASE_URL"],
        "https://api.anthropic.com",
        Shape::ANTHROPIC,
    ),
    vendor(
        "openai",
        &["OPENAI_API_KEY"],
        &["OPENAI_BASE_URL"],
        "https://api.openai.com/v1",
        Shape::CHAT_COMPLETIONS,
    ),
    vendor(
        "google",
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
        "https://generativelanguage.googleapis.com",
        Shape::GEMINI,
    ),
    vendor(
        "xai",
        &["XAI_API_KEY"],
        &["XAI_BASE_URL"],
        "https://api.x.ai/v1",
        Shape::CHAT_COMPLETIONS,
    ),
    vendor(
        "mistral",
        &["MISTRAL_API_KEY"],
        &["MISTRAL_BASE_URL"],
        "https://api.mistral.ai/v1",
        Shape::CHAT_COMPLETIONS,
    ),
    vendor(
        "openrouter",
        &["OPENROUTER_API_KEY"],
        &["OPENROUTER_BASE_URL"],
        "https://openrouter.ai/api/v1",
        Shape::OPENROUTER,
    ),
    own_machine(
        "ollama",
        &[],
        &["OLLAMA_HOST"],
        "http://127.0.0.1:11434",
        Shape::OLLAMA,
    ),
    own_machine(
        "llamacpp",
        &["LLAMA_API_KEY"],
        &[],
        "http://127.0.0.1:8080/v1",
        Shape::CHAT_COMPLETIONS,
    ),
    own_machine(
        "lmstudio",
        &["LM_STUDIO_API_KEY"],
        &["LM_STUDIO_API_BASE"],
        "http://127.0.0.1:1234/v1",
        Shape::CHAT_COMPLETIONS,
    ),
    own_machine(
        "vllm",
        &["VLLM_API_KEY"],
        &[],
        "http://127.0.0.1:8000/v1",
        Shape::CHAT_COMPLETIONS,
    ),
];

/// What is known of a provider by its name.
pub fn find(provider: &str) -> Option<&'static VendorVariables> {
    VENDORS.iter().find(|vendor| vendor.provider == provider)
}

/// All providers: the known ones in their order, with what the entries change about them, then the
/// user's own in theirs.
pub fn servers(entries: &[EndpointEntry], environment: &Environment) -> Vec<Server> {
    let entry = |provider: &str| entries.iter().find(|entry| entry.name == provider);
    let known = VENDORS
        .iter()
        .map(|vendor| vendor.server(entry(vendor.provider), environment));
    let own = entries
        .iter()
        .filter(|entry| find(&entry.name).is_none())
        .map(|entry| own_server(entry, environment));
    known.chain(own).collect()
}

fn own_server(entry: &EndpointEntry, environment: &Environment) -> Server {
    let url = entry.base_url.as_deref().unwrap_or_default();
    Server {
        provider: ProviderId::new(&entry.name),
        base_url: shape(entry.dialect.unwrap_or(DialectName::OpenAi)).normalised(url),
        key: entry.key.as_ref().map_or(KeySource::Unneeded, |place| {
            KeySource::of(place, environment)
        }),
        entry: Some(entry.clone()),
    }
}

fn shape(dialect: DialectName) -> Shape {
    match dialect {
        DialectName::OpenAi => Shape::CHAT_COMPLETIONS,
        DialectName::Anthropic => Shape::ANTHROPIC,
        DialectName::Gemini => Shape::GEMINI,
        DialectName::Ollama => Shape::OLLAMA,
    }
}

impl VendorVariables {
    /// This provider, with what the user's entry changes about it.
    pub fn server(&self, entry: Option<&EndpointEntry>, environment: &Environment) -> Server {
        let shape = entry
            .and_then(|entry| entry.dialect)
            .map_or(self.shape, shape);
        let own_url = entry.and_then(|entry| entry.base_url.as_deref());
        let key = match entry.and_then(|entry| entry.key.as_ref()) {
            Some(place) => KeySource::of(place, environment),
            None if own_url.is_some() => KeySource::Unneeded,
            None => self.key(environment),
        };
        let url = own_url.or_else(|| {
            self.base_urls
                .iter()
                .find_map(|name| environment.text(name))
        });
        Server {
            provider: ProviderId::new(self.provider),
            base_url: url.map_or_else(
                || self.default_base_url.to_owned(),
                |url| shape.normalised(url),
            ),
            key,
            entry: entry.cloned(),
        }
    }

    fn key(&self, environment: &Environment) -> KeySource {
        match (
            self.keys
                .iter()
                .find_map(|name| Some((*name, environment.secret(name)?))),
            self.need,
        ) {
            (Some((name, key)), _) => KeySource::variable(name, key),
            (None, Need::Nothing) => KeySource::Unneeded,
            (None, Need::Key) => KeySource::Missing {
                variables: self.keys.iter().map(|name| (*name).to_owned()).collect(),
            },
        }
    }
}

/// A key that cannot be had, or cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("no key: `{}` is not set", variables.join("` or `"))]
    Missing { variables: Vec<String> },
    #[error(
        "the key in {origin} cannot be sent: it holds white space, or characters that are not ASCII"
    )]
    Unsendable { origin: String },
    #[error("cannot get the key of `{provider}`")]
    Command {
        provider: ProviderId,
        source: KeyCommandError,
    },
}

impl Server {
    /// Whether it can be asked: it has a key or needs none. A command is taken to give one.
    pub fn is_usable(&self) -> bool {
        match self.key {
            KeySource::Unneeded | KeySource::Variable { .. } | KeySource::Command(_) => true,
            KeySource::Missing { .. } => false,
        }
    }

    /// What the user would look at when the key is refused.
    pub fn key_origin(&self) -> String {
        match &self.key {
            KeySource::Variable { name, .. } => format!("`{name}`"),
            KeySource::Command(_) => format!("the `api_key_cmd` of `{}`", self.provider),
            KeySource::Missing { variables } => format!("`{}`", variables.join("` or `")),
            KeySource::Unneeded => {
                match find(self.provider.as_str())
                    .filter(|_| !self.has_own_url())
                    .and_then(|known| known.keys.first())
                {
                    Some(variable) => format!("`{variable}`, which is not set"),
                    None => {
                        format!(
                            "`endpoints.{}`: no key is sent, because neither `api_key_env` nor `api_key_cmd` names one",
                            self.provider
                        )
                    }
                }
            }
        }
    }

    fn has_own_url(&self) -> bool {
        self.entry
            .as_ref()
            .is_some_and(|entry| entry.base_url.is_some())
    }

    /// The key, if one is to be sent; runs the command that gives it, unless it has been run.
    pub fn key(&self, commands: &KeyCommands) -> Result<Option<SecretString>, KeyError> {
        let key = match &self.key {
            KeySource::Unneeded => return Ok(None),
            KeySource::Missing { variables } => {
                return Err(KeyError::Missing {
                    variables: variables.clone(),
                });
            }
            KeySource::Variable { key, .. } => key.clone(),
            KeySource::Command(command) => {
                commands.key(command).map_err(|source| KeyError::Command {
                    provider: self.provider.clone(),
                    source,
                })?
            }
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
    fn of(place: &KeyPlace, environment: &Environment) -> Self {
        match place {
            KeyPlace::Command(command) => Self::Command(command.clone()),
            KeyPlace::Variable(name) => match environment.secret(name) {
                Some(key) => Self::variable(name, key),
                None => Self::Missing {
                    variables: vec![name.clone()],
                },
            },
        }
    }

    fn variable(name: &str, key: SecretString) -> Self {
        let form = if name == TOKEN_VARIABLE {
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
        let found = servers(entries, &Environment::of(variables.iter().copied()));
        assert!(!format!("{found:?}").contains("secret-"), "{found:?}");
        let told = |server: &Server| {
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
            .filter(|server| server.is_usable() && server.provider.as_str() != "vllm")
            .map(told)
            .collect()
    }

    fn entry(name: &str) -> EndpointEntry {
        EndpointEntry {
            name: name.to_owned(),
            base_url: None,
            key: None,
            max_tokens_field: None,
            structured_output: None,
            max_in_flight: None,
            free: None,
            dialect: None,
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
        let anthropic = find("anthropic")
            .unwrap()
            .server(None, &Environment::of(variables));
        assert!(matches!(
            anthropic.key,
            KeySource::Variable {
                form: KeyForm::Token,
                ..
            }
        ));
    }

    #[test]
    fn servers_on_the_own_machine_need_no_key_and_are_found_where_their_variables_say() {
        let variables = [
            ("OLLAMA_HOST", "0.0.0.0:9"),
            ("LM_STUDIO_API_BASE", "http://box:1/v1/"),
            ("LM_STUDIO_API_KEY", "secret-studio"),
            ("LLAMA_API_KEY", "secret-llama"),
        ];
        let found = [
            "ollama http://127.0.0.1:9 -",
            "llamacpp http://127.0.0.1:8080/v1 secret-llama",
            "lmstudio http://box:1/v1 secret-studio",
        ];
        assert_eq!(usable(&[], &variables), found);
    }

    #[test]
    fn a_vendors_key_goes_to_no_address_of_the_settings_unless_the_entry_names_it() {
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
            key: Some(KeyPlace::Variable("OPENAI_API_KEY".into())),
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
            key: Some(KeyPlace::Command("printf secret; echo -command".into())),
            ..entry("anthropic")
        };
        assert_eq!(
            usable(&[command], &[])[0],
            "anthropic https://api.anthropic.com secret-command"
        );
        let variable = EndpointEntry {
            key: Some(KeyPlace::Variable("WORK_KEY".into())),
            ..entry("anthropic")
        };
        let servers = servers(
            &[variable],
            &Environment::of([("ANTHROPIC_API_KEY", "secret-a")]),
        );
        assert!(!servers[0].is_usable(), "its own variable is not set");
        assert_eq!(
            servers[0]
                .key(&KeyCommands::default())
                .unwrap_err()
                .to_string(),
            "no key: `WORK_KEY` is not set"
        );
    }

    #[test]
    fn a_refusal_for_want_of_a_key_leads_to_where_one_can_be_named() {
        let origin = |provider: &str, entry: Option<&EndpointEntry>| {
            find(provider)
                .unwrap()
                .server(entry, &Environment::default())
                .key_origin()
        };
        assert_eq!(
            origin("lmstudio", None),
            "`LM_STUDIO_API_KEY`, which is not set"
        );
        assert!(origin("ollama", None).starts_with("`endpoints.ollama`: no key is sent"));
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
            let server = find("openai")
                .unwrap()
                .server(None, &Environment::of([("OPENAI_API_KEY", key)]));
            let error = server.key(&KeyCommands::default()).unwrap_err().to_string();
            assert_eq!(
                error,
                "the key in `OPENAI_API_KEY` cannot be sent: it holds white space, or characters that are not ASCII"
            );
        }
    }
}
