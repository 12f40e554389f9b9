//! The providers that can be asked now: who has a key or needs none, where each is reached, and how it is spoken to.

use std::sync::Arc;

use crate::config::env::Environment;
use crate::config::secrets;
use crate::domain::ids::ProviderId;
use crate::engine::driver::Providers;
use crate::engine::ports::Provider;
use crate::providers::catalog::Catalog;
use crate::providers::dialect::Dialect;
use crate::providers::http::Http;
use crate::providers::remote::Remote;
use crate::providers::vendors;
use crate::providers::wire::{Account, Endpoint, Scheme};

/// A provider that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub id: ProviderId,
    pub dialect: Dialect,
    pub endpoint: Endpoint,
}

/// The vendors that a key is set for, in the order in which they fill a panel.
pub(crate) fn keyed(environment: &Environment) -> Vec<Reach> {
    let reach = |found: secrets::Endpoint| {
        let dialect = vendors::find(&found.provider)?.dialect;
        let scheme = if found.is_token { Scheme::Bearer } else { Scheme::Usual };
        let account = Account { key: Some(found.key), origin: format!("`{}`", found.variable), scheme };
        Some(Reach { id: found.provider, dialect, endpoint: Endpoint { base_url: found.base_url, account } })
    };
    secrets::endpoints(environment).into_iter().filter_map(reach).collect()
}

/// Makes them ready to be asked.
pub(crate) fn providers(reached: Vec<Reach>, catalog: Catalog, http: Http) -> Providers {
    let (catalog, http) = (Arc::new(catalog), Arc::new(http));
    let provider = |reach: Reach| {
        let remote: Arc<dyn Provider> = Arc::new(Remote::new(reach.dialect, reach.endpoint, Arc::clone(&catalog), Arc::clone(&http)));
        (reach.id, remote)
    };
    reached.into_iter().map(provider).collect()
}
