//! Addresses of servers: users write them in many ways, and each way means one.

/// What belongs to the end of a base URL, by the requests that are added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What users leave at the end although it belongs to the request's path, the longest first.
    surplus: &'static [&'static str],
    /// What the base URL must end with where it has no path of its own.
    version: &'static str,
    default_port: Option<u16>,
}

impl Shape {
    pub const ANTHROPIC: Self = Self {
        surplus: &["/v1/messages", "/v1"],
        version: "",
        default_port: None,
    };
    pub const GEMINI: Self = Self {
        surplus: &["/v1beta/models", "/v1beta", "/v1"],
        version: "",
        default_port: None,
    };
    pub const CHAT_COMPLETIONS: Self = Self {
        surplus: &["/chat/completions"],
        version: "/v1",
        default_port: None,
    };
    pub const OPENROUTER: Self = Self {
        version: "/api/v1",
        ..Self::CHAT_COMPLETIONS
    };
    pub const OLLAMA: Self = Self {
        surplus: &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
        version: "",
        default_port: Some(11_434),
    };

    /// Users give `https://host`, `https://host/v1/`, or the whole address of a request: all mean
    /// the same.
    pub fn normalised(self, url: &str) -> String {
        let url = url.trim().trim_end_matches('/');
        let url = match (url.contains("://"), self.default_port) {
            (true, _) => url.to_owned(),
            (false, None) => format!("{}://{url}", scheme_of(url)),
            // A server that is told where to listen in the same words: its own port, and without
            // TLS.
            (false, Some(port)) => format!("http://{}", with_port(url, port)),
        };
        let url = reachable(&url);
        let base = self
            .surplus
            .iter()
            .find_map(|surplus| url.strip_suffix(surplus))
            .unwrap_or(&url)
            .trim_end_matches('/');
        let has_path = base
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains('/'));
        if has_path {
            base.to_owned()
        } else {
            format!("{base}{}", self.version)
        }
    }
}

/// Without a scheme, the user's own machine is meant to be plain, everything else to be TLS.
fn scheme_of(address: &str) -> &'static str {
    let own_machine = ["localhost", "127.", "0.0.0.0", "[::1]", "[::]"]
        .iter()
        .any(|host| address.starts_with(host));
    if own_machine { "http" } else { "https" }
}

/// An address without a scheme, with a port where it has none.
fn with_port(address: &str, port: u16) -> String {
    let (host, path) = address
        .split_once('/')
        .map_or((address, String::new()), |(host, path)| {
            (host, format!("/{path}"))
        });
    // Only the last colon after a bracket begins a port: the others are part of an address of IPv6.
    let after_bracket = host.rsplit(']').next().unwrap_or(host);
    match after_bracket.split_once(':') {
        _ if host.is_empty() => format!("127.0.0.1:{port}{path}"),
        Some(("", _)) if host.starts_with(':') => format!("127.0.0.1{host}{path}"),
        Some(_) => format!("{host}{path}"),
        None => format!("{host}:{port}{path}"),
    }
}

/// An address to listen on everywhere is reached on this machine.
fn reachable(url: &str) -> String {
    for (everywhere, here) in [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]")] {
        if let Some((scheme, rest)) = url
            .split_once("://")
            .and_then(|(scheme, rest)| Some((scheme, rest.strip_prefix(everywhere)?)))
            && (rest.is_empty() || rest.starts_with([':', '/']))
        {
            return format!("{scheme}://{here}{rest}");
        }
    }
    url.to_owned()
}

/// Says what keeps a text from being an address, as the rest of a sentence. It does not repeat it:
/// a secret may be in it.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    let rest = match text.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some(_) => return Err("must begin with http:// or https://"),
        None => text,
    };
    let host = rest.split('/').next().unwrap_or_default();
    match () {
        () if host.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            Err("must be an address of the form https://host/path")
        }
        () if host.contains('@') => Err("must not hold a user name or a password"),
        () if has_no_port(host) => Err("must have a port from 1 to 65535, or none"),
        () if rest.contains(['?', '#']) => Err("must not have anything after a `?` or a `#`"),
        () => Ok(()),
    }
}

/// What stands after the last colon is no port.
fn has_no_port(host: &str) -> bool {
    // The colons within brackets are part of an address of IPv6.
    let after_bracket = host.rsplit(']').next().unwrap_or(host);
    let port = after_bracket.rsplit_once(':').map_or("", |(_, port)| port);
    !port.is_empty() && port.parse().map_or(true, |port: u16| port == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_none_is_refused() {
        for address in ["h:99999", "http://h:x/v1", "h:0", "[::1]:70000"] {
            assert_eq!(
                check(address),
                Err("must have a port from 1 to 65535, or none"),
                "{address}"
            );
        }
        for address in [
            "h:1",
            "http://h:65535/v1",
            "[::1]",
            "[::1]:8080",
            ":8000",
            "h",
        ] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
    }

    #[test]
    fn every_way_to_write_a_base_url_means_the_same() {
        for url in [
            "https://h:1",
            "https://h:1/",
            "https://h:1/v1",
            "https://h:1/v1/",
            "https://h:1/v1/messages",
            "h:1",
        ] {
            assert_eq!(Shape::ANTHROPIC.normalised(url), "https://h:1", "{url}");
        }
        for url in [
            "http://127.0.0.1:1",
            "http://127.0.0.1:1/v1/",
            "http://127.0.0.1:1/v1/chat/completions",
            "127.0.0.1:1",
            "0.0.0.0:1",
        ] {
            assert_eq!(
                Shape::CHAT_COMPLETIONS.normalised(url),
                "http://127.0.0.1:1/v1",
                "{url}"
            );
        }
        assert_eq!(
            Shape::CHAT_COMPLETIONS.normalised("https://gateway/openai/"),
            "https://gateway/openai"
        );
        assert_eq!(
            Shape::OPENROUTER.normalised("https://h"),
            "https://h/api/v1"
        );
        for url in ["https://h", "https://h/v1beta/", "https://h/v1beta/models"] {
            assert_eq!(Shape::GEMINI.normalised(url), "https://h", "{url}");
        }
    }

    #[test]
    fn the_address_that_ollama_listens_on_becomes_one_to_ask() {
        for (said, meant) in [
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            (":8000", "http://127.0.0.1:8000"),
            ("[::]:8000", "http://[::1]:8000"),
            ("[::1]", "http://[::1]:11434"),
            ("box", "http://box:11434"),
            ("box/ollama/", "http://box:11434/ollama"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
            ("http://0.0.0.0:1", "http://127.0.0.1:1"),
            // With a scheme, its usual port is meant, as Ollama itself has it.
            ("https://ollama.example", "https://ollama.example"),
        ] {
            assert_eq!(Shape::OLLAMA.normalised(said), meant, "{said}");
        }
    }
}
