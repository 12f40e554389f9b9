//! The connection of a plan's providers, with their keys.

use std::collections::BTreeSet;

use crate::config::key_commands::KeyCommands;
use crate::config::settings::Settings;
use crate::domain::ids::ProviderId;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::local::choice::ModelFile;
use crate::setup::embedded_model;
use crate::setup::provider_access::{self, ProviderAccess};

/// Connects the providers of a plan, the embedded model's among them if its file is given.
pub(crate) fn connect(
    access_list: &[ProviderAccess],
    provider_ids: &BTreeSet<ProviderId>,
    settings: &Settings,
    catalog: ModelCatalog,
    embedded: Option<ModelFile>,
    keys: &KeyCommands,
) -> Result<Providers, Error> {
    let mut providers =
        provider_access::providers(access_list, provider_ids, settings, catalog, keys)?;
    if let Some(file) = embedded {
        providers.insert(
            ProviderId::new(ProviderId::LOCAL),
            embedded_model::provider(file, settings)?,
        );
    }
    Ok(providers)
}
