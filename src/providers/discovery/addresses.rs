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
pub struct AddressError(pub String);

/// The other port that llama.cpp's server listens on by default: newer builds have changed it.
const LLAMACPP_PORTS: (&str, &str) = ("127.0.0.1:8080", "127.0.0.1:9931");

/// Where kinds of servers are looked for, by the addresses that are known of them, in that order.
pub fn usual<'a>(
    known: impl IntoIterator<Item = (Kind, &'a str)>,
) -> Result<Vec<Address>, AddressError> {
    let mut addresses = Vec::new();
    for (kind, base_url) in known {
        let address = Address {
            expected: Some(kind),
            ..Address::parse(base_url)?
        };
        let other = Address {
            root: format!("http://{}", LLAMACPP_PORTS.1),
            ..address.clone()
        };
        let has_other = kind == Kind::LlamaCpp && address.authority() == LLAMACPP_PORTS.0;
        addresses.push(address);
        addresses.extend(has_other.then_some(other));
    }
    Ok(addresses)
}

impl Address {
    /// Reads what a user writes: `host:port`, `http://host:port`, also with `/v1` at the end.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let bad = || AddressError(text.to_owned());
        let url = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url = url.trim_end_matches('/');
        let root = url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/');
        let parsed = reqwest::Url::parse(root).map_err(|_| bad())?;
        let usable = matches!(parsed.scheme(), "http" | "https")
            && parsed.has_host()
            && parsed.query().is_none()
            && parsed.username().is_empty()
            && parsed.password().is_none();
        if usable {
            Ok(Self {
                root: to_this_machine(root),
                expected: None,
            })
        } else {
            Err(bad())
        }
    }

    /// Host and port as they are shown: `127.0.0.1:8080`.
    pub fn authority(&self) -> &str {
        self.root
            .split_once("://")
            .map_or(self.root.as_str(), |(_, rest)| rest)
    }

    pub(super) fn host(&self) -> &str {
        let authority = self.authority().split('/').next().unwrap_or_default();
        match authority.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
            Some(_) | None => authority,
        }
    }
}

/// A server may listen on every address; a client has to name one.
fn to_this_machine(root: &str) -> String {
    root.replacen("://0.0.0.0", "://127.0.0.1", 1)
        .replacen("://[::]", "://127.0.0.1", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llamacpp_is_looked_for_at_both_of_its_ports_unless_another_is_named() {
        let told = |llamacpp: &str| {
            let known = [
                (Kind::Ollama, "http://127.0.0.1:11434"),
                (Kind::LlamaCpp, llamacpp),
                (Kind::LmStudio, "http://box:1234/v1"),
            ];
            let usual = usual(known).unwrap();
            usual
                .iter()
                .map(|address| format!("{:?} {}", address.expected.unwrap(), address.authority()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told("http://127.0.0.1:8080/v1"),
            [
                "Ollama 127.0.0.1:11434",
                "LlamaCpp 127.0.0.1:8080",
                "LlamaCpp 127.0.0.1:9931",
                "LmStudio box:1234"
            ]
        );
        assert_eq!(told("http://box:8080/v1").len(), 3);
    }

    #[test]
    fn an_address_of_the_users_is_read_in_each_of_its_forms() {
        for text in [
            "127.0.0.1:81",
            " http://127.0.0.1:81/ ",
            "http://127.0.0.1:81/v1",
            "http://127.0.0.1:81/v1/",
            "0.0.0.0:81",
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(
                (address.root.as_str(), address.host(), address.expected),
                ("http://127.0.0.1:81", "127.0.0.1", None),
                "{text}"
            );
        }
        for text in ["", "ftp://h", "http://", "http://u:p@h", "h?x=1"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
