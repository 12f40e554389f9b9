//! The environment, which is read only here. Everything else takes an [`Environment`], which tests
//! build by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

/// The environment. An empty variable counts as unset, and text is trimmed.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

/// The variable whose empty value switches something off.
const EMPTY_MEANS_OFF: &str = "PAGER";

/// The variables that name proxies.
pub const PROXIES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

impl Environment {
    /// Only this function reads the environment.
    pub fn read() -> Self {
        Self::of(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))),
        )
    }

    pub fn of<N: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        Self {
            variables: variables
                .filter(|(name, value)| !value.is_empty() || name == EMPTY_MEANS_OFF)
                .collect(),
        }
    }

    /// `None` when unset, empty or not Unicode.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)?
            .to_str()
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from)
    }

    /// All variables that are Unicode. Their values may be keys.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let variables = self.variables.iter();
        variables
            .filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_owned())))
            .collect()
    }

    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }

    /// Empty if paging is switched off.
    pub fn pager(&self) -> Option<&str> {
        self.variables.get(EMPTY_MEANS_OFF)?.to_str()
    }

    pub fn model_file(&self) -> Option<PathBuf> {
        self.path("CONCLAVE_MODEL")
    }
}

/// Shows names only: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn an_empty_variable_is_unset_and_text_is_trimmed() {
        let environment = Environment::of([
            ("OPENAI_API_KEY", " k\n"),
            ("GOOGLE_API_KEY", ""),
            ("TERM", " "),
        ]);
        assert_eq!(environment.text("OPENAI_API_KEY"), Some("k"));
        assert_eq!(environment.text("GOOGLE_API_KEY"), None);
        assert_eq!(environment.text("TERM"), None);
        let key = environment.secret("OPENAI_API_KEY").unwrap();
        assert_eq!(key.expose_secret(), "k");
        assert!(environment.secret("TERM").is_none());
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY", "TERM"}"#);
    }
}
