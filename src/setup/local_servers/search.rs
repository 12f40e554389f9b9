//! The search for local servers: where they are looked for, and which of them answer.

use std::collections::BTreeSet;

use crate::config::local_servers::LocalServers;
use crate::config::settings::Settings;
use crate::domain::vendors::LocalServerKind;
use crate::error::Error;
use crate::providers::discovery::{self, Address, Server};
use crate::setup::provider_access::ProviderAccess;

/// The addresses to look for local servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerSearch {
    /// At these addresses and no others.
    At(Vec<Address>),
    Off,
}

impl ServerSearch {
    /// Returns the search of the settings. The usual ports are those of the providers' addresses.
    pub(crate) fn new(settings: &Settings, access_list: &[ProviderAccess]) -> Result<Self, Error> {
        let bad = |error| {
            Error::usage(error).hint("`local_servers` is `auto`, `none`, or a list of addresses")
        };
        match &settings.local_servers {
            LocalServers::Auto => {
                let known = access_list.iter();
                let known = known.filter_map(|access| {
                    Some((LocalServerKind::of(&access.id)?, access.base_url()))
                });
                discovery::usual(known).map(Self::At).map_err(bad)
            }
            LocalServers::None => Ok(Self::Off),
            LocalServers::At(addresses) => {
                let addresses = addresses.iter().map(|text| Address::parse(text));
                let addresses: Result<_, _> = addresses.collect();
                addresses.map(Self::At).map_err(bad)
            }
        }
    }

    fn addresses(&self, kinds: &BTreeSet<LocalServerKind>) -> Vec<Address> {
        let Self::At(addresses) = self else {
            return Vec::new();
        };
        let is_of = |address: &&Address| address.expected.is_none_or(|kind| kinds.contains(&kind));
        addresses.iter().filter(is_of).cloned().collect()
    }

    /// Returns the addresses for people: `127.0.0.1:8080, 127.0.0.1:9931`.
    pub(crate) fn shown(&self, kinds: &BTreeSet<LocalServerKind>) -> String {
        let addresses = self.addresses(kinds);
        let authorities: Vec<_> = addresses.iter().map(Address::authority).collect();
        authorities.join(", ")
    }
}

/// Returns all kinds of servers.
pub(crate) fn all_kinds() -> BTreeSet<LocalServerKind> {
    LocalServerKind::ALL.into_iter().collect()
}

/// Returns the servers of these kinds that answer, in the order in which they are looked for.
pub(crate) async fn find(search: &ServerSearch, kinds: &BTreeSet<LocalServerKind>) -> Vec<Server> {
    let mut found = discovery::look(&search.addresses(kinds)).await;
    found.retain(|server| kinds.contains(&server.kind));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::samples::{access_list, settings};

    #[test]
    fn the_usual_ports_are_shown_by_kind_of_server() {
        let search = ServerSearch::new(&Settings::default(), &access_list("{}", &[])).unwrap();
        assert_eq!(
            search.shown(&BTreeSet::from([LocalServerKind::LlamaCpp])),
            "127.0.0.1:8080, 127.0.0.1:9931"
        );
    }

    #[test]
    fn addresses_are_a_list_or_a_word() {
        let read = |config: &str| ServerSearch::new(&settings(config), &[]).unwrap();
        assert_eq!(read(r#"{"local_servers": "none"}"#), ServerSearch::Off);
        let listed = read(r#"{"local_servers": "127.0.0.1:81, box:82"}"#);
        assert_eq!(listed.shown(&all_kinds()), "127.0.0.1:81, box:82");
    }
}
