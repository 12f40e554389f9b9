//! The environment, which is read only here. Everything else takes an [`Environment`], which tests
//! build by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use crate::domain::vendors::{VENDORS, Vendor};

/// The environment. An empty variable counts as unset, and text is trimmed.
///
/// Only known variables are read by name; any other is read only when the settings name it as the
/// source of a key.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

/// The variables that are read besides conclave's own and those of the vendors.
const OTHERS: [&str; 17] = [
    "CI",
    "LLM_CONCLAVE_HOME",
    "HOME",
    "USERPROFILE",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "SSL_CERT_FILE",
    "PAGER",
    "LESS",
    "BROWSER",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
];

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

fn is_known(name: &str) -> bool {
    let is_vendors = |vendor: &Vendor| {
        vendor.key_variables.contains(&name) || vendor.base_url_variables.contains(&name)
    };
    name.starts_with("CONCLAVE_")
        || OTHERS.contains(&name)
        || PROXIES.contains(&name)
        || VENDORS.iter().any(is_vendors)
}

impl Environment {
    /// Reads the process's environment. Nothing else does.
    pub fn read() -> Self {
        Self::of(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))),
        )
    }

    /// Returns an environment of these variables alone.
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

    /// Returns a known variable's text without surrounding white space. `None` when unset, empty or
    /// not Unicode.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.known(name)?
            .to_str()
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    /// Returns the path that a known variable holds, unchanged.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.known(name).map(PathBuf::from)
    }

    /// Returns the secret in a variable, known or not: the settings may name any variable for a
    /// key.
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        let text = self.variables.get(name)?.to_str()?.trim();
        (!text.is_empty()).then(|| SecretString::from(text))
    }

    /// Returns the pager's command; empty if paging is switched off.
    pub fn pager(&self) -> Option<&str> {
        self.known(EMPTY_MEANS_OFF)?.to_str()
    }

    fn known(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|_| is_known(name))
    }

    /// Returns the user's own file of the embedded model.
    pub fn model_file(&self) -> Option<PathBuf> {
        self.path("CONCLAVE_MODEL")
    }
}

/// Shows the names of known variables only: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.variables.keys().filter(|name| is_known(name)))
            .finish()
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
            ("TERM", "dumb"),
            ("SHELL", "x"),
        ]);
        assert_eq!(environment.text("OPENAI_API_KEY"), Some("k"));
        assert_eq!(environment.text("GOOGLE_API_KEY"), None);
        assert_eq!(environment.text("SHELL"), None);
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY", "TERM"}"#);
    }

    #[test]
    fn an_unknown_variable_is_read_only_as_a_named_secret() {
        let environment = Environment::of([("WORK_KEY", " k\n"), ("EMPTY_KEY", " ")]);
        assert_eq!(environment.text("WORK_KEY"), None);
        assert_eq!(environment.path("WORK_KEY"), None);
        assert_eq!(environment.secret("WORK_KEY").unwrap().expose_secret(), "k");
        assert!(
            environment.secret("EMPTY_KEY").is_none() && environment.secret("OTHER_KEY").is_none()
        );
        assert_eq!(format!("{environment:?}"), "{}");
    }
}
