//! Keys and addresses of the vendors, from the variables that the vendors' own tools read. Never from a file.

use secrecy::SecretString;

use crate::domain::ids::ProviderId;

use super::env::Environment;

/// A vendor that can be asked: where, and with which key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub provider: ProviderId,
    /// Without a trailing slash; for OpenAI it includes the version.
    pub base_url: String,
    pub key: SecretString,
    /// The variable that the key came from, for advice.
    pub variable: &'static str,
    /// The variable holds a token, which goes out as one also where the vendor's keys go into a header of their own.
    pub is_token: bool,
}

/// How one vendor is configured.
#[derive(Clone, Copy, Debug)]
pub struct VendorVariables {
    pub provider: &'static str,
    /// The first that is set wins.
    pub keys: &'static [&'static str],
    pub base_urls: &'static [&'static str],
    pub default_base_url: &'static str,
    /// What users leave at the end of a base URL although it belongs to the request's path, the longest first.
    surplus: &'static [&'static str],
    /// What the base URL must end with where it has no path of its own.
    version: &'static str,
}

const CHAT_COMPLETIONS: &[&str] = &["/chat/completions"];

/// The variable whose value is a token.
const TOKEN_VARIABLE: &str = "ANTHROPIC_AUTH_TOKEN";

/// The vendors in the order in which they fill a mixed panel.
pub const VENDORS: [VendorVariables; 6] = [
    VendorVariables {
        provider: "anthropic",
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        base_urls: &["ANTHROPIC_BASE_URL"],
        default_base_url: "https://api.anthropic.com",
        surplus: &["/v1/messages", "/v1"],
        version: "",
    },
    VendorVariables {
        provider: "openai",
        keys: &["OPENAI_API_KEY"],
        base_urls: &["OPENAI_BASE_URL"],
        default_base_url: "https://api.openai.com/v1",
        surplus: CHAT_COMPLETIONS,
        version: "/v1",
    },
    VendorVariables {
        provider: "google",
        keys: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        base_urls: &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
        default_base_url: "https://generativelanguage.googleapis.com",
        surplus: &["/v1beta/models", "/v1beta", "/v1"],
        version: "",
    },
    VendorVariables {
        provider: "xai",
        keys: &["XAI_API_KEY"],
        base_urls: &["XAI_BASE_URL"],
        default_base_url: "https://api.x.ai/v1",
        surplus: CHAT_COMPLETIONS,
        version: "/v1",
    },
    VendorVariables {
        provider: "mistral",
        keys: &["MISTRAL_API_KEY"],
        base_urls: &["MISTRAL_BASE_URL"],
        default_base_url: "https://api.mistral.ai/v1",
        surplus: CHAT_COMPLETIONS,
        version: "/v1",
    },
    VendorVariables {
        provider: "openrouter",
        keys: &["OPENROUTER_API_KEY"],
        base_urls: &["OPENROUTER_BASE_URL"],
        default_base_url: "https://openrouter.ai/api/v1",
        surplus: CHAT_COMPLETIONS,
        version: "/api/v1",
    },
];

/// The vendors that a key is set for.
pub fn endpoints(environment: &Environment) -> Vec<Endpoint> {
    VENDORS.iter().filter_map(|vendor| vendor.endpoint(environment)).collect()
}

impl VendorVariables {
    /// This vendor, when a key is set for it.
    pub fn endpoint(&self, environment: &Environment) -> Option<Endpoint> {
        let (variable, key) = self.keys.iter().find_map(|name| Some((*name, environment.secret(name)?)))?;
        Some(Endpoint {
            provider: ProviderId::new(self.provider),
            base_url: self.base_url(environment),
            key,
            variable,
            is_token: variable == TOKEN_VARIABLE,
        })
    }

    /// The address in force for this vendor.
    pub fn base_url(&self, environment: &Environment) -> String {
        let set = self.base_urls.iter().find_map(|name| environment.text(name));
        set.map_or_else(|| self.default_base_url.to_owned(), |url| self.normalised(url))
    }

    /// Users give `https://host`, `https://host/v1/`, or the whole address of a request: all mean the same.
    fn normalised(&self, url: &str) -> String {
        let url = url.trim_end_matches('/');
        let url = if url.contains("://") { url.to_owned() } else { format!("{}://{url}", scheme_of(url)) };
        let base = self.surplus.iter().find_map(|surplus| url.strip_suffix(surplus)).unwrap_or(&url).trim_end_matches('/');
        let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        if has_path { base.to_owned() } else { format!("{base}{}", self.version) }
    }
}

/// Without a scheme, the user's own machine is meant to be plain, everything else to be TLS.
fn scheme_of(address: &str) -> &'static str {
    let own_machine = ["localhost", "127.", "[::1]"].iter().any(|host| address.starts_with(host));
    if own_machine { "http" } else { "https" }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_vendor_with_a_key_is_there_and_the_first_variable_wins() {
        let environment = Environment::of([
            ("GEMINI_API_KEY", "gemini"),
            ("GOOGLE_API_KEY", "google\n"),
            ("ANTHROPIC_API_KEY", " "),
            ("ANTHROPIC_AUTH_TOKEN", "token"),
            ("OPENAI_API_KEY", ""),
        ]);
        let found = endpoints(&environment);
        let told: Vec<_> = found.iter().map(|e| (e.provider.as_str(), e.variable, e.key.expose_secret(), e.base_url.as_str())).collect();
        assert_eq!(
            told,
            [
                ("anthropic", "ANTHROPIC_AUTH_TOKEN", "token", "https://api.anthropic.com"),
                ("google", "GOOGLE_API_KEY", "google", "https://generativelanguage.googleapis.com"),
            ]
        );
        assert!(!format!("{found:?}").contains("token\""), "{found:?}");
    }

    #[test]
    fn every_way_to_write_a_base_url_means_the_same() {
        let [anthropic, openai, google, ..] = VENDORS;
        for url in ["https://h:1", "https://h:1/", "https://h:1/v1", "https://h:1/v1/", "https://h:1/v1/messages", "h:1"] {
            assert_eq!(anthropic.normalised(url), "https://h:1", "{url}");
        }
        for url in ["http://127.0.0.1:1", "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/chat/completions", "127.0.0.1:1"] {
            assert_eq!(openai.normalised(url), "http://127.0.0.1:1/v1", "{url}");
        }
        assert_eq!(openai.normalised("https://gateway/openai/"), "https://gateway/openai");
        for url in ["https://h", "https://h/v1beta/", "https://h/v1beta/models"] {
            assert_eq!(google.normalised(url), "https://h", "{url}");
        }
    }

    #[test]
    fn the_aliases_of_a_base_url_are_read() {
        let environment = Environment::of([("GEMINI_API_KEY", "k"), ("GEMINI_BASE_URL", "http://localhost:9")]);
        assert_eq!(endpoints(&environment)[0].base_url, "http://localhost:9");
    }
}
