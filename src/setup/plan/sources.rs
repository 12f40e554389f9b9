//! The sources of plans: everything that the home and the environment hold.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;

use crate::config::env::Environment;
use crate::config::keys::commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::Templates;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::time::Timestamp;
use crate::engine::ports::{Face, Provider, Providers};
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::form::Parameters;
use crate::providers::http::{Http, Timeouts};
use crate::providers::local::files::choice::ModelFile;
use crate::providers::programs::seat::ProgramSeat;
use crate::providers::remote::Remote;
use crate::scrub::rules::UserRules;
use crate::setup::context::scrubber;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::panel::context::SelectionContext;
use crate::setup::personas::PersonaRegistry;
use crate::setup::programs::ProgramList;
use crate::setup::programs::consent::ProgramConsent;
use crate::setup::provider_access::ProviderAccess;
use crate::setup::{embedded_model, personas, provider_access, settings};

/// The sources of every plan.
#[derive(Debug)]
pub struct PlanSources {
    pub home: Home,
    pub settings: Settings,
    pub catalog: ModelCatalog,
    pub templates: Templates,
    pub personas: PersonaRegistry,
    /// All providers but programs and the embedded model's.
    pub access_list: Vec<ProviderAccess>,
    /// The user's rules for the masking of secrets.
    pub scrub_rules: UserRules,
    /// The keys in the environment, and the tokens of a sign-in.
    pub own_keys: Vec<SecretString>,
    pub now: Timestamp,
}

impl PlanSources {
    pub fn load(environment: &Environment, now: Timestamp) -> Result<Self, Error> {
        settings::check_certificates(environment)?;
        let home = Home::find(environment).map_err(Error::usage)?;
        let settings = settings::load(&home, environment)?;
        let catalog = settings::catalog(&home)?;
        let templates = personas::templates(&home)?;
        let personas = PersonaRegistry::new(&templates, &settings)?;
        let scrub_rules = scrubber::load_rules(&home)?;
        let access_list = provider_access::all(&settings, environment);
        let own_keys = scrubber::own_keys(&settings.endpoints, environment);
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

    pub fn selection_context<'a>(
        &'a self,
        embedded: Option<ModelRef>,
        servers: &'a LocalServerSet,
        programs: &'a ProgramList,
    ) -> SelectionContext<'a> {
        SelectionContext {
            catalog: &self.catalog,
            personas: &self.personas,
            access_list: &self.access_list,
            programs,
            usual_programs: &[],
            embedded,
            servers,
            now: self.now,
        }
    }
}

/// What the plans of a process share when they connect providers: HTTP connections, the keys that
/// commands have printed, programs, and the embedded model, which is in memory once.
#[derive(Debug)]
pub struct Connections {
    http: Arc<Http>,
    keys: KeyCommands,
    pub programs: ProgramList,
    embedded: Mutex<BTreeMap<PathBuf, Arc<dyn Provider>>>,
}

impl Connections {
    pub fn new(settings: &Settings, environment: &Environment, home: &Home) -> Self {
        Self {
            http: Arc::new(Http::new(Timeouts {
                connect: settings.connect_timeout,
                first_byte: settings.first_byte_timeout,
                idle: settings.idle_timeout,
            })),
            keys: KeyCommands::default(),
            programs: ProgramList::load(settings, environment, home),
            embedded: Mutex::default(),
        }
    }

    pub(super) fn consent<'a>(
        &'a self,
        face: &'a dyn Face,
        mode: ConsentMode,
        dry_run: bool,
    ) -> ProgramConsent<'a> {
        ProgramConsent {
            programs: &self.programs,
            face,
            mode,
            dry_run,
            keeps: true,
        }
    }

    /// Connects the providers of a plan, the embedded model's among them if its file is given, once
    /// the user has agreed to its programs; none in a dry run. Returns them, and the address of
    /// each.
    pub(super) async fn connect(
        &self,
        ids: &BTreeSet<ProviderId>,
        asked: &[ProviderAccess],
        consent: ProgramConsent<'_>,
        settings: &Settings,
        (catalog, embedded): (&ModelCatalog, Option<ModelFile>),
    ) -> Result<(Providers, BTreeMap<ProviderId, String>), Error> {
        let address = |access: &ProviderAccess| (access.id.clone(), access.base_url.clone());
        let addresses = asked.iter().map(address);
        let seats = || self.programs.of(ids);
        let file = |seat: &Arc<ProgramSeat>| {
            let file = seat.program.executable.as_ref()?;
            Some((seat.program.id.clone(), file.display().to_string()))
        };
        let addresses = addresses.chain(seats().filter_map(file)).collect();
        if consent.dry_run {
            return Ok((Providers::new(), addresses));
        }
        consent.agree(ids).await?;
        let catalog = Arc::new(catalog.clone());
        let mut providers = Providers::new();
        for access in asked {
            let (http, catalog) = (Arc::clone(&self.http), Arc::clone(&catalog));
            let endpoint = access.endpoint(&self.keys)?;
            let (for_all, by_model) = settings.parameters.of(access.id.as_str());
            let remote = Remote::new(access.dialect, endpoint, catalog, http)
                .with_parameters(Parameters { for_all, by_model })
                .with_sign_in(access.sign_in().cloned());
            providers.insert(access.id.clone(), Arc::new(remote));
        }
        if let Some(file) = embedded {
            let local = ProviderId::new(ProviderId::LOCAL);
            providers.insert(local, self.embedded(file, settings)?);
        }
        providers.extend(seats().map(|seat| (seat.program.id.clone(), Arc::clone(seat) as _)));
        Ok((providers, addresses))
    }

    pub(super) fn printed_keys(&self) -> Vec<SecretString> {
        self.keys.printed_keys()
    }

    fn embedded(&self, file: ModelFile, settings: &Settings) -> Result<Arc<dyn Provider>, Error> {
        let mut embedded = self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = embedded.get(&file.file) {
            return Ok(Arc::clone(provider));
        }
        let path = file.file.clone();
        let provider = embedded_model::provider(file, settings)?;
        embedded.insert(path, Arc::clone(&provider));
        Ok(provider)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::engine::ports::silent::SilentFace;
    use crate::setup::samples::access;

    #[test]
    fn only_the_providers_that_are_asked_need_their_keys() {
        let config = r#"{"endpoints": {"a": {"base_url": "h", "api_key_cmd": "exit 1"}, "b": {"base_url": "h"}}}"#;
        let settings = Settings::default();
        let (environment, home) = (Environment::default(), Home::at("/nowhere"));
        let connections = Connections::new(&settings, &environment, &home);
        let connect = |asked: &str| {
            let (asked, catalog) = ([access(config, asked)], ModelCatalog::builtin());
            let consent = connections.consent(&SilentFace, ConsentMode::NonInteractive, false);
            let (ids, local) = (BTreeSet::new(), (&catalog, None));
            let connected = connections.connect(&ids, &asked, consent, &settings, local);
            let connected = connected.now_or_never().unwrap();
            connected.map(|(providers, _)| providers.len())
        };
        assert_eq!(connect("b").unwrap(), 1);
        let error = connect("a").unwrap_err();
        assert_eq!(error.to_string(), "cannot get the key of `a`");
        assert_eq!(
            error.hints,
            ["try it in a shell with `eval \"$(conclave config get endpoints.a.api_key_cmd)\"`"]
        );
    }
}
