//! Where local servers are looked for: the usual ports, and what a user writes for an address.

use super::Kind;

/// An address to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `http://127.0.0.1:11434`, with a path where the user gave one; no slash at the end.
    pub(super) root: String,
    /// The kind that is expected there; `None` asks in the words of all kinds.
    pub expected: Option<Kind>,
}

/// A text that is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the address of a server, such as `127.0.0.1:8080`")]
pub struct BadAddress(pub String);

/// Where the kinds are looked for when nothing else is said, in their order: their usual ports on this machine (llama.cpp's has changed), and
/// for Ollama what `OLLAMA_HOST` says.
pub fn usual(ollama_host: Option<&str>) -> Vec<Address> {
    let here = |kind, port: u16| Address { root: format!("http://127.0.0.1:{port}"), expected: Some(kind) };
    let ollama = Address { root: ollama_root(ollama_host.unwrap_or_default()), expected: Some(Kind::Ollama) };
    let others = [(Kind::LlamaCpp, 8080), (Kind::LlamaCpp, 9931), (Kind::LmStudio, 1234), (Kind::Vllm, 8000)];
    std::iter::once(ollama).chain(others.map(|(kind, port)| here(kind, port))).collect()
}

impl Address {
    /// Reads what a user writes: `host:port`, `http://host:port`, also with `/v1` at the end.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        let text = text.trim();
        let bad = || BadAddress(text.to_owned());
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = url.trim_end_matches('/');
        let root = url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/');
        let parsed = reqwest::Url::parse(root).map_err(|_| bad())?;
        let usable = matches!(parsed.scheme(), "http" | "https")
            && parsed.has_host()
            && parsed.query().is_none()
            && parsed.username().is_empty()
            && parsed.password().is_none();
        if usable { Ok(Self { root: to_this_machine(root), expected: None }) } else { Err(bad()) }
    }

    /// Host and port as they are shown: `127.0.0.1:8080`.
    pub fn authority(&self) -> &str {
        self.root.split_once("://").map_or(self.root.as_str(), |(_, rest)| rest)
    }

    pub(super) fn host(&self) -> &str {
        let authority = self.authority().split('/').next().unwrap_or_default();
        match authority.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
            Some(_) | None => authority,
        }
    }
}

/// Ollama's own rules for `OLLAMA_HOST`: scheme, port and even the host may be left out; a scheme brings its own usual port.
fn ollama_root(text: &str) -> String {
    let text = text.trim().trim_end_matches('/');
    let (scheme, rest, port) = match text.split_once("://") {
        Some(("https", rest)) => ("https", rest, "443"),
        Some((_, rest)) => ("http", rest, "80"),
        None => ("http", text, "11434"),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // An IPv6 address without brackets has more than one colon and no port.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, given)) if given.parse::<u16>().is_ok() && (host.ends_with(']') || !host.contains(':')) => (host, given),
        Some(_) | None => (authority, port),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = match host {
        "" => "127.0.0.1".to_owned(),
        host if host.contains(':') => format!("[{host}]"),
        host => host.to_owned(),
    };
    to_this_machine(&format!("{scheme}://{host}:{port}{path}"))
}

/// A server may listen on every address; a client has to name one.
fn to_this_machine(root: &str) -> String {
    root.replacen("://0.0.0.0", "://127.0.0.1", 1).replacen("://[::]", "://127.0.0.1", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_are_on_this_machine() {
        let told: Vec<_> = usual(None).iter().map(|address| (address.expected.unwrap(), address.authority().to_owned())).collect();
        let expected = [
            (Kind::Ollama, "127.0.0.1:11434"),
            (Kind::LlamaCpp, "127.0.0.1:8080"),
            (Kind::LlamaCpp, "127.0.0.1:9931"),
            (Kind::LmStudio, "127.0.0.1:1234"),
            (Kind::Vllm, "127.0.0.1:8000"),
        ];
        assert_eq!(told, expected.map(|(kind, authority)| (kind, authority.to_owned())));
    }

    #[test]
    fn ollamas_variable_is_read_as_ollama_reads_it() {
        for (text, root) in [
            ("", "http://127.0.0.1:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            (":5000", "http://127.0.0.1:5000"),
            ("box:5000", "http://box:5000"),
            ("192.168.1.5", "http://192.168.1.5:11434"),
            ("http://box", "http://box:80"),
            ("https://box/ollama/", "https://box:443/ollama"),
            ("[::1]:5000", "http://[::1]:5000"),
            ("::1", "http://[::1]:11434"),
            ("http://0.0.0.0:5000/", "http://127.0.0.1:5000"),
        ] {
            assert_eq!(ollama_root(text), root, "{text}");
        }
    }

    #[test]
    fn an_address_of_the_users_is_read_in_each_of_its_forms() {
        for text in ["127.0.0.1:81", " http://127.0.0.1:81/ ", "http://127.0.0.1:81/v1", "http://127.0.0.1:81/v1/", "0.0.0.0:81"] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.root.as_str(), address.host(), address.expected), ("http://127.0.0.1:81", "127.0.0.1", None), "{text}");
        }
        for text in ["", "ftp://h", "http://", "http://u:p@h", "h?x=1"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
