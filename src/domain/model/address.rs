//! Addresses of servers. People write one address in many ways: with and without a scheme, a path
//! or a trailing slash, or as the address to listen on.

use url::{Host, ParseError, Position, Url};

use super::dialect::WireFormat;

/// The meaning of an address without a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// TLS, except on the user's own machine.
    Https,
    Http,
    /// HTTP, at this port if the address has none: the form in which Ollama takes the address to
    /// listen on.
    HttpAtPort(u16),
}

/// Reads an address. The error completes a sentence that begins with the setting's name; it does
/// not repeat the address, which may hold a secret.
pub fn parse(text: &str, bare: Bare) -> Result<Url, &'static str> {
    const FORM: &str = "must be an address of the form https://host/path";
    const PORT: &str = "must have a port from 1 to 65535, or none";
    let text = text.trim();
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(FORM);
    }
    let parsed = |url: &str| {
        Url::parse(url).map_err(|error| match error {
            ParseError::InvalidPort => PORT,
            _ => FORM,
        })
    };
    let mut url = match text.split_once("://") {
        Some(("http" | "https", rest)) if rest.is_empty() || rest.starts_with('/') => {
            return Err(FORM);
        }
        Some(("http" | "https", _)) => parsed(text)?,
        Some(_) => return Err("must begin with http:// or https://"),
        None if text.is_empty() || text.starts_with('/') => return Err(FORM),
        None => {
            // `:8080` is a port of this machine.
            let this_machine = if text.starts_with(':') {
                "127.0.0.1"
            } else {
                ""
            };
            let text = format!("{this_machine}{text}");
            let mut url = parsed(&format!("http://{text}"))?;
            match bare {
                Bare::Https if !is_own_machine(&url) => parsed(&format!("https://{text}"))?,
                Bare::HttpAtPort(port) if !has_port(&text) => {
                    // Only an address without a host has no port to set.
                    url.set_port(Some(port)).map_err(|()| FORM)?;
                    url
                }
                Bare::Https | Bare::Http | Bare::HttpAtPort(_) => url,
            }
        }
    };
    match () {
        () if !url.username().is_empty() || url.password().is_some() => {
            return Err("must not hold a user name or a password");
        }
        () if url.port() == Some(0) => return Err(PORT),
        () if url.query().is_some() || url.fragment().is_some() => {
            return Err("must not have anything after a `?` or a `#`");
        }
        () => {}
    }
    // An address to listen on everywhere is reached on this machine.
    let this_machine = match url.host() {
        Some(Host::Ipv4(ip)) if ip.is_unspecified() => Some("127.0.0.1"),
        Some(Host::Ipv6(ip)) if ip.is_unspecified() => Some("[::1]"),
        Some(Host::Ipv4(_) | Host::Ipv6(_) | Host::Domain(_)) | None => None,
    };
    if let Some(host) = this_machine {
        url.set_host(Some(host)).map_err(|_| FORM)?;
    }
    Ok(url)
}

/// Returns the base URL for an address: without the parts that belong to a request's path, and with
/// `version_path` if it has no path. Text that is not an address is returned unchanged: the request
/// to it fails and shows it.
pub fn base_url(text: &str, format: WireFormat, version_path: &str) -> String {
    let bare = format.default_port().map_or(Bare::Https, Bare::HttpAtPort);
    match parse(text, bare) {
        Ok(url) => with_path(&url, format.request_suffixes(), version_path),
        Err(_) => text.trim().trim_end_matches('/').to_owned(),
    }
}

/// Returns the address without the first of these suffixes that its path ends with, and with
/// `version_path` if nothing is left. Never ends with a slash.
pub fn with_path(url: &Url, suffixes: &[&str], version_path: &str) -> String {
    let path = url.path().trim_end_matches('/');
    let own = suffixes
        .iter()
        .find_map(|suffix| path.strip_suffix(suffix))
        .unwrap_or(path)
        .trim_end_matches('/');
    let path = if own.is_empty() { version_path } else { own };
    format!("{}{path}", &url[..Position::BeforePath])
}

/// Returns an address's host and port for display: `127.0.0.1:8080`. A scheme may be missing. Text
/// that is not an address is returned unchanged, except for user name and password.
pub fn authority(address: &str) -> String {
    let url = if address.contains("://") {
        Url::parse(address)
    } else {
        Url::parse(&format!("http://{address}"))
    };
    match url {
        Ok(url) => url[Position::BeforeHost..Position::AfterPort].to_owned(),
        Err(_) => address
            .rsplit_once('@')
            .map_or(address, |(_, host)| host)
            .to_owned(),
    }
}

/// Returns an address for display without user name and password. It need not be a valid one.
pub fn without_credentials(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    scheme + host
}

fn is_own_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        None => false,
    }
}

/// If `http` were put before it, port 80 would count as none.
fn has_port(text: &str) -> bool {
    Url::parse(&format!("any://{text}")).is_ok_and(|url| url.port().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Option<&'static str> {
        parse(text, Bare::Https).err()
    }

    #[test]
    fn an_invalid_port_is_refused() {
        for text in ["h:99999", "http://h:x/v1", "h:0", "[::1]:70000"] {
            assert_eq!(
                problem(text),
                Some("must have a port from 1 to 65535, or none"),
                "{text}"
            );
        }
        for text in [
            "h:1",
            "http://h:65535/v1",
            "[::1]",
            "[::1]:8080",
            ":8000",
            "h",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn an_invalid_address_is_refused_without_repeating_it() {
        let form = "must be an address of the form https://host/path";
        for text in ["", "a b", "http://", "http:///x", "/v1", "http://h\n/v1"] {
            assert_eq!(problem(text), Some(form), "{text}");
        }
        assert_eq!(
            problem("ftp://h"),
            Some("must begin with http:// or https://")
        );
        assert_eq!(
            problem("https://u:secret@h"),
            Some("must not hold a user name or a password")
        );
        assert_eq!(
            problem("https://h/v1?key=secret"),
            Some("must not have anything after a `?` or a `#`")
        );
    }

    #[test]
    fn every_notation_of_a_base_url_is_equivalent() {
        let base = |text, format: WireFormat| base_url(text, format, format.version_path());
        for text in [
            "https://h:1",
            "https://h:1/",
            "https://h:1/v1",
            "https://h:1/v1/",
            "https://h:1/v1/messages",
            "h:1",
        ] {
            assert_eq!(base(text, WireFormat::Anthropic), "https://h:1", "{text}");
        }
        for text in [
            "http://127.0.0.1:1",
            "http://127.0.0.1:1/v1/",
            "http://127.0.0.1:1/v1/chat/completions",
            "127.0.0.1:1",
            "0.0.0.0:1",
        ] {
            assert_eq!(
                base(text, WireFormat::OpenAi),
                "http://127.0.0.1:1/v1",
                "{text}"
            );
        }
        for text in ["https://h", "https://h/v1beta/", "https://h/v1beta/models"] {
            assert_eq!(base(text, WireFormat::Gemini), "https://h", "{text}");
        }
        let gateway = base("https://gateway/openai/", WireFormat::OpenAi);
        assert_eq!(gateway, "https://gateway/openai");
        let openrouter = base_url("https://h", WireFormat::OpenAi, "/api/v1");
        assert_eq!(openrouter, "https://h/api/v1");
    }

    #[test]
    fn a_listening_address_becomes_a_request_address() {
        for (text, meant) in [
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            (":8000", "http://127.0.0.1:8000"),
            ("[::]:8000", "http://[::1]:8000"),
            ("[::1]", "http://[::1]:11434"),
            ("box", "http://box:11434"),
            ("box:80", "http://box"),
            ("box/ollama/", "http://box:11434/ollama"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
            ("http://0.0.0.0:1", "http://127.0.0.1:1"),
            // As in Ollama itself, a scheme implies its usual port.
            ("https://ollama.example", "https://ollama.example"),
        ] {
            assert_eq!(base_url(text, WireFormat::Ollama, ""), meant, "{text}");
        }
    }

    #[test]
    fn an_address_is_shown_by_host_and_port() {
        assert_eq!(authority("http://127.0.0.1:8080/v1"), "127.0.0.1:8080");
        assert_eq!(authority("https://api.openai.com/v1"), "api.openai.com");
        assert_eq!(authority("gateway:8443/v1"), "gateway:8443");
        assert_eq!(authority("no address"), "no address");
    }

    #[test]
    fn credentials_are_removed_whatever_characters_they_have() {
        for (address, shown) in [
            ("http://user:pa@ss@proxy:8080", "http://proxy:8080"),
            ("http://user:pa,ss/w@proxy", "http://proxy"),
            ("user:p://x@proxy:1", "user:p://proxy:1"),
            ("proxy:8080", "proxy:8080"),
        ] {
            assert_eq!(without_credentials(address), shown, "{address}");
        }
    }

    #[test]
    fn a_shown_address_has_no_credentials() {
        for (address, shown) in [
            ("https://user:secret@gateway:8443/v1?key=x", "gateway:8443"),
            ("user:secret@gateway:8443", "gateway:8443"),
            ("gateway/v1?key=secret", "gateway"),
            ("https://user:sec/ret@gateway", "gateway"),
        ] {
            assert_eq!(authority(address), shown, "{address}");
        }
    }
}
