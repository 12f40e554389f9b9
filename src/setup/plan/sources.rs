//! The sources of plans: everything that the home and the environment hold.

use std::thread;

use secrecy::SecretString;

use crate::config::env::Environment;
use crate::config::own_keys;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::prompt::Templates;
use crate::domain::ids::ModelRef;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::scrub::{self, rules::UserRules};
use crate::setup::context::scrub_rules;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::panel::context::SelectionContext;
use crate::setup::personas::PersonaRegistry;
use crate::setup::provider_access::ProviderAccess;
use crate::setup::{catalog, personas, provider_access, settings};

/// The sources of every plan.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) home: Home,
    pub(crate) settings: Settings,
    pub(crate) catalog: ModelCatalog,
    pub(crate) templates: Templates,
    pub(crate) personas: PersonaRegistry,
    /// All providers but the embedded model's.
    pub(crate) access_list: Vec<ProviderAccess>,
    /// The user's rules for the masking of secrets.
    pub(crate) scrub_rules: UserRules,
    /// The keys in the environment.
    pub(crate) own_keys: Vec<SecretString>,
    pub(crate) now: Timestamp,
}

impl Sources {
    /// Loads home and environment.
    pub(crate) fn load(environment: &Environment, now: Timestamp) -> Result<Self, Error> {
        // What the first note and the first prompt are masked by is compiled while the rest is read.
        drop(thread::Builder::new().spawn(scrub::prepare));
        settings::check_certificates(environment)?;
        let home = Home::find(environment).map_err(Error::usage)?;
        let settings = settings::load(&home, environment)?;
        let catalog = catalog::load(&home)?;
        let templates = personas::templates(&home)?;
        let personas = PersonaRegistry::new(&templates, &settings)?;
        let scrub_rules = scrub_rules::load(&home)?;
        let access_list = provider_access::all(&settings, environment);
        let own_keys = own_keys::in_variables(&settings.endpoints, environment);
        Ok(Self {
            home,
            settings,
            catalog,
            templates,
            personas,
            access_list,
            scrub_rules,
            own_keys,
            now,
        })
    }

    /// Returns the context of panel selection.
    pub(crate) fn selection_context<'a>(
        &'a self,
        embedded: Option<ModelRef>,
        servers: &'a LocalServerSet,
    ) -> SelectionContext<'a> {
        SelectionContext {
            catalog: &self.catalog,
            personas: &self.personas,
            access_list: &self.access_list,
            embedded,
            servers,
            now: self.now,
        }
    }
}
