//! Addresses of local servers: the usual ports, and those that a user gives.

use crate::domain::model::address::{self, Bare};
use crate::domain::model::vendors::{Hosting, LocalServerKind};

/// An address to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `http://127.0.0.1:11434`, with the path if the user gave one; no trailing slash.
    pub(super) root: String,
    pub(super) host: String,
    /// The expected kind; `None` tries all kinds.
    pub expected: Option<LocalServerKind>,
}

/// The error for a text that is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the address of a server, such as `127.0.0.1:8080`")]
pub struct AddressError(pub String);

/// In order.
pub fn usual<'a>(
    known: impl IntoIterator<Item = (LocalServerKind, &'a str)>,
) -> Result<Vec<Address>, AddressError> {
    let mut addresses = Vec::new();
    for (kind, base_url) in known {
        let address = Address {
            expected: Some(kind),
            ..Address::parse(base_url)?
        };
        // Newer builds of a server may have another usual address than older ones.
        let vendor = kind.vendor();
        if let Hosting::OwnMachine {
            other_base_url: Some(other),
            ..
        } = vendor.hosting
            && address.root == Address::parse(vendor.default_base_url)?.root
        {
            let expected = Some(kind);
            let other = Address::parse(other)?;
            addresses.extend([address, Address { expected, ..other }]);
        } else {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

impl Address {
    /// `host:port`, `http://host:port`, also with `/v1` at the end.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let url = address::parse(text, Bare::Http)
            .map_err(|_| AddressError(address::without_credentials(text.trim())))?;
        Ok(Self {
            root: address::with_path(&url, &["/v1"], ""),
            host: url.host_str().unwrap_or_default().to_owned(),
            expected: None,
        })
    }

    /// `127.0.0.1:8080`, with the path if the user gave one.
    pub fn authority(&self) -> &str {
        self.root
            .split_once("://")
            .map_or(self.root.as_str(), |(_, rest)| rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llamacpp_is_looked_for_at_both_of_its_ports_unless_another_is_named() {
        let addresses = |llamacpp: &str| {
            let known = [
                (LocalServerKind::Ollama, "http://127.0.0.1:11434"),
                (LocalServerKind::LlamaCpp, llamacpp),
                (LocalServerKind::LmStudio, "http://box:1234/v1"),
            ];
            let usual = usual(known).unwrap();
            usual
                .iter()
                .map(|address| format!("{:?} {}", address.expected.unwrap(), address.authority()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            addresses("http://127.0.0.1:8080/v1"),
            [
                "Ollama 127.0.0.1:11434",
                "LlamaCpp 127.0.0.1:8080",
                "LlamaCpp 127.0.0.1:9931",
                "LmStudio box:1234"
            ]
        );
        assert_eq!(addresses("http://box:8080/v1").len(), 3);
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
                (
                    address.root.as_str(),
                    address.host.as_str(),
                    address.expected
                ),
                ("http://127.0.0.1:81", "127.0.0.1", None),
                "{text}"
            );
        }
        for text in ["", "ftp://h", "http://", "http://u:p@h", "h?x=1"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
