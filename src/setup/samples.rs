//! Sample sources for the tests of this folder.

use std::path::Path;

use super::local_servers::LocalServerSet;
use super::panel::context::SelectionContext;
use super::panel::spec::PanelSpec;
use super::personas::PersonaRegistry;
use super::programs::ProgramList;
use super::provider_access::{self, ProviderAccess};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::time::Timestamp;
use crate::providers::catalog::ModelCatalog;

pub(super) const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "k");
pub(super) const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
pub(super) const GOOGLE: (&str, &str) = ("GEMINI_API_KEY", "k");
pub(super) const OPENROUTER: (&str, &str) = ("OPENROUTER_API_KEY", "k");
pub(super) const XAI: (&str, &str) = ("XAI_API_KEY", "k");
pub(super) const MISTRAL: (&str, &str) = ("MISTRAL_API_KEY", "k");

/// What a panel is selected from: the built-in models and personas, and no local server.
pub(super) struct SampleSources {
    catalog: ModelCatalog,
    personas: PersonaRegistry,
    access_list: Vec<ProviderAccess>,
    servers: LocalServerSet,
    programs: ProgramList,
}

impl SampleSources {
    pub(super) fn new(config: &str, variables: &[(&str, &str)]) -> Self {
        Self {
            catalog: ModelCatalog::builtin(),
            personas: PersonaRegistry::builtin(),
            access_list: access_list(config, variables),
            servers: LocalServerSet::none(),
            programs: programs(config, variables),
        }
    }

    pub(super) fn context(&self) -> SelectionContext<'_> {
        SelectionContext {
            catalog: &self.catalog,
            personas: &self.personas,
            access_list: &self.access_list,
            programs: &self.programs,
            usual_programs: &[],
            embedded: Some(ModelRef::new("local", "small")),
            servers: &self.servers,
            now: Timestamp(1_795_252_598_000),
        }
    }
}

pub(super) fn settings(config: &str) -> Settings {
    Settings::default()
        .with_file(Path::new("config.json"), config)
        .unwrap()
}

pub(super) fn programs(config: &str, variables: &[(&str, &str)]) -> ProgramList {
    let environment = Environment::of(variables.iter().copied());
    let home = Home::at("/nowhere");
    ProgramList::load(&settings(config), &environment, &home)
}

pub(super) fn access_list(config: &str, variables: &[(&str, &str)]) -> Vec<ProviderAccess> {
    let environment = Environment::of(variables.iter().copied());
    provider_access::all(&settings(config), &environment)
}

pub(super) fn access(config: &str, provider: &str) -> ProviderAccess {
    let mut access_list = access_list(config, &[]).into_iter();
    access_list
        .find(|access| access.id.as_str() == provider)
        .unwrap()
}

pub(super) fn seated(panel: &str, judge: Option<&str>) -> PanelSpec {
    PanelSpec {
        panel: Some(panel.to_owned()),
        judge: judge.map(ToOwned::to_owned),
        ..PanelSpec::default()
    }
}

pub(super) fn of_models(models: &[&str]) -> PanelSpec {
    PanelSpec {
        models: models.iter().map(|name| (*name).to_owned()).collect(),
        ..PanelSpec::default()
    }
}
