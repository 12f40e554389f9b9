//! Sample servers for the tests of this folder.

use std::path::Path;

use crate::config::env::Environment;
use crate::config::settings::Settings;
use crate::domain::vendors::LocalServerKind;
use crate::providers::discovery::{Condition, ServedModel, Server};
use crate::setup::provider_access::{self, ProviderAccess};

pub(super) fn served(id: &str, loaded: bool) -> ServedModel {
    ServedModel {
        id: id.to_owned(),
        context: None,
        parameters: None,
        loaded,
        runs_here: !id.ends_with("cloud"),
    }
}

pub(super) fn server(
    kind: LocalServerKind,
    port: u16,
    condition: Condition,
    models: &[ServedModel],
) -> Server {
    let authority = format!("127.0.0.1:{port}");
    Server {
        kind,
        base_url: format!("http://{authority}"),
        authority,
        version: None,
        condition,
        on_own_network: true,
        models: models.to_vec(),
    }
}

pub(super) fn settings(config: &str) -> Settings {
    Settings::default()
        .with_file(Path::new("config.json"), config)
        .unwrap()
}

pub(super) fn access_list(config: &str) -> Vec<ProviderAccess> {
    provider_access::all(
        &settings(config),
        &Environment::of([("OLLAMA_HOST", "box:5000")]),
    )
}
