//! The search for local servers: where they are looked for, and which of them answer.

use std::collections::BTreeSet;

use crate::config::endpoints::LocalServers;
use crate::config::settings::Settings;
use crate::consultation::plan::ModelTerms;
use crate::consultation::prompt::Size;
use crate::domain::model::billing::Billing;
use crate::domain::model::vendors::LocalServerKind;
use crate::error::Error;
use crate::providers::discovery::{self, Address, ServedModel, Server};
use crate::setup::embedded_model;
use crate::setup::provider_access::ProviderAccess;

/// The addresses at which local servers are looked for; none if the search is off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSearch(Vec<Address>);

impl ServerSearch {
    /// With `auto`, each kind of server is searched at the address of its provider.
    pub fn new(settings: &Settings, access_list: &[ProviderAccess]) -> Result<Self, Error> {
        let addresses = match &settings.local_servers {
            LocalServers::Auto => {
                let known = access_list.iter();
                let known = known.filter_map(|access| {
                    Some((LocalServerKind::of(&access.id)?, access.base_url.as_str()))
                });
                discovery::usual(known)
            }
            LocalServers::None => Ok(Vec::new()),
            LocalServers::At(addresses) => {
                addresses.iter().map(|text| Address::parse(text)).collect()
            }
        };
        addresses.map(Self).map_err(|error| {
            Error::usage(error).hint("`local_servers` is `auto`, `none`, or a list of addresses")
        })
    }

    pub fn is_off(&self) -> bool {
        self.0.is_empty()
    }

    fn addresses(&self, kinds: &BTreeSet<LocalServerKind>) -> Vec<Address> {
        let is_of = |address: &&Address| address.expected.is_none_or(|kind| kinds.contains(&kind));
        self.0.iter().filter(is_of).cloned().collect()
    }

    /// `127.0.0.1:8080, 127.0.0.1:9931`.
    pub fn shown(&self, kinds: &BTreeSet<LocalServerKind>) -> String {
        let addresses = self.addresses(kinds);
        let authorities: Vec<_> = addresses.iter().map(Address::authority).collect();
        authorities.join(", ")
    }
}

pub fn all_kinds() -> BTreeSet<LocalServerKind> {
    LocalServerKind::ALL.into_iter().collect()
}

/// In the order in which they are looked for.
pub async fn find(search: &ServerSearch, kinds: &BTreeSet<LocalServerKind>) -> Vec<Server> {
    let mut found = discovery::look(&search.addresses(kinds)).await;
    found.retain(|server| kinds.contains(&server.kind));
    found
}

/// Models with fewer parameters get the short prompts: they repeat longer ones instead of following
/// them.
const SMALL_BELOW: u64 = 4_000_000_000;

pub fn is_small(model: &ServedModel) -> bool {
    model.parameters.is_some_and(|count| count < SMALL_BELOW)
}

/// A model that the server does not list may still be there, and is asked like a large one.
pub(super) fn terms(server: &Server, id: &str, settings: &Settings) -> ModelTerms {
    let listed = server.serves(id);
    let terms = if listed.is_some_and(is_small) {
        embedded_model::TERMS
    } else {
        ModelTerms {
            max_output_tokens: settings.max_output_tokens,
            output_limit: settings.max_output_tokens.saturating_mul(2),
            size: Size::Full,
            ..ModelTerms::default()
        }
    };
    // The other half is for the prompt.
    let half = listed
        .and_then(|model| model.context)
        .map_or(u64::MAX, |context| (context / 2).max(1));
    ModelTerms {
        max_output_tokens: terms.max_output_tokens.min(half),
        output_limit: terms.output_limit.min(half),
        billing: if server.runs_here(id) {
            Billing::Free
        } else {
            Billing::Metered
        },
        ..terms
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ready, served};
    use super::*;
    use crate::domain::model::vendors::LocalServerKind;
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
        assert_eq!(
            read(r#"{"local_servers": "none"}"#),
            ServerSearch::default()
        );
        let listed = read(r#"{"local_servers": "127.0.0.1:81, box:82"}"#);
        assert_eq!(listed.shown(&all_kinds()), "127.0.0.1:81, box:82");
    }

    #[test]
    fn small_models_get_small_prompts_and_half_of_a_known_context() {
        let model = |context, parameters| ServedModel {
            parameters,
            context,
            ..served("m", true)
        };
        let settings = Settings::default();
        let shown = |context, parameters| {
            let server = ready(LocalServerKind::Ollama, 1, &[model(context, parameters)]);
            let terms = terms(&server, "m", &settings);
            (
                terms.size,
                terms.max_output_tokens,
                terms.output_limit,
                terms.billing == Billing::Free,
            )
        };
        assert_eq!(
            shown(Some(2_048), Some(3_999_999_999)),
            (Size::Small, 1_024, 1_024, true)
        );
        assert_eq!(
            shown(None, Some(4_000_000_000)),
            (Size::Full, 16_384, 32_768, true)
        );
        assert_eq!(shown(Some(8_192), None), (Size::Full, 4_096, 4_096, true));
        for (id, free) in [
            ("unlisted", true),
            ("m-cloud", false),
            ("unlisted:cloud", false),
        ] {
            let server = ready(LocalServerKind::Ollama, 1, &[served("m-cloud", true)]);
            let billing = terms(&server, id, &settings).billing;
            assert_eq!(billing == Billing::Free, free, "{id}");
        }
    }
}
