//! The one place that reads the environment. Everything else takes an [`Environment`], which tests build by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use super::keys::Key;

/// The variables this program knows. An empty one counts as unset, and text is trimmed.
#[derive(Clone, Default)]
pub struct Environment {
    known: BTreeMap<&'static str, OsString>,
}

/// Every variable that is ever read, besides those of the settings.
const KNOWN: [&str; 37] = [
    "CONCLAVE_HOME",
    "LLM_CONCLAVE_HOME",
    "HOME",
    "USERPROFILE",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "OPENROUTER_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
    "GEMINI_BASE_URL",
    "XAI_BASE_URL",
    "MISTRAL_BASE_URL",
    "OPENROUTER_BASE_URL",
    "CONCLAVE_MODEL",
    "CONCLAVE_HUB_URL",
    "CONCLAVE_LOCAL_SERVERS",
    "OLLAMA_HOST",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.into_iter().chain(Key::ALL.into_iter().map(Key::variable))
}

impl Environment {
    /// Reads the process's environment.
    #[expect(clippy::disallowed_methods, reason = "this is the place where the environment is read")]
    pub fn read() -> Self {
        Self::of(names().filter_map(|name| Some((name, std::env::var_os(name)?))))
    }

    /// An environment of these variables alone; names that are never read are left out.
    pub fn of<V: Into<OsString>>(variables: impl IntoIterator<Item = (&'static str, V)>) -> Self {
        let known = variables.into_iter().filter(|(name, _)| names().any(|known| known == *name)).map(|(name, value)| (name, value.into()));
        Self { known: known.filter(|(_, value)| !value.is_empty()).collect() }
    }

    /// A variable's text without surrounding white space. `None` when unset, empty or not Unicode.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.known.get(name)?.to_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// A variable that holds a path, taken as it is.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.known.get(name).map(PathBuf::from)
    }

    /// A variable that holds a secret.
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }

    /// A file that stands for the embedded model.
    pub fn model_file(&self) -> Option<PathBuf> {
        self.path("CONCLAVE_MODEL")
    }

    /// Where embedded models are downloaded from, instead of the usual place.
    pub fn hub_url(&self) -> Option<&str> {
        self.text("CONCLAVE_HUB_URL")
    }
}

/// Shows names only: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.known.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_unset_and_text_is_trimmed() {
        let environment = Environment::of([("OPENAI_API_KEY", " k\n"), ("GOOGLE_API_KEY", ""), ("TERM", "dumb"), ("SHELL", "x")]);
        assert_eq!(
            (environment.text("OPENAI_API_KEY"), environment.text("GOOGLE_API_KEY"), environment.text("SHELL")),
            (Some("k"), None, None)
        );
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY", "TERM"}"#);
    }
}
