//! The line from a request to a [`Plan`].
//!
//! [`prepare`] reads top to bottom: home, settings, catalog, templates, personas, provider access,
//! panel, local servers, the embedded model, debate, helper, fallbacks; [`PlanDraft::complete`] adds
//! terms, prices, keys and limits. A rejudgement takes its panel from a stored record, and shares the
//! beginning ([`Sources`]) and the end.

mod terms;

use std::collections::{BTreeMap, BTreeSet};

use super::embedded_model::{self, EmbeddedModels, ModelFile};
use super::local_servers::{LocalServerSet, ServerSearch};
use super::panel::context::SelectionContext;
use super::panel::spec::PanelSpec;
use super::personas::PersonaRegistry;
use super::provider_access::ProviderAccess;
use super::request::{ConsultationRequest, ControlRequest, Purpose};
use super::{
    catalog, debate, fallbacks, helper, limits, panel, personas, provider_access, settings,
};
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::prompt::{Size, Templates};
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::http::{Http, Timeouts};
use crate::records::experience::Experience;
use crate::records::index::{Index, WaitLimit};
use crate::terminal::output::printer::Printer;

/// A plan, and the providers that it needs.
#[derive(Debug)]
pub(crate) struct PreparedPlan {
    pub(crate) home: Home,
    pub(crate) plan: Plan,
    /// The address of each provider of the plan.
    pub(crate) addresses: BTreeMap<ProviderId, String>,
    /// Empty in a dry run.
    pub(crate) providers: Providers,
}

/// Makes a plan of a request.
pub(crate) async fn prepare(
    request: ConsultationRequest,
    environment: &Environment,
    printer: &Printer,
    now: Timestamp,
) -> Result<PreparedPlan, Error> {
    let sources = Sources::load(environment, now)?;
    let spec = PanelSpec::new(&request.panel, &sources.settings, &sources.personas)?;
    let embedded_models = sources.embedded_models(environment, printer);
    let search = ServerSearch::new(&sources.settings, &sources.access_list)?;
    let servers = LocalServerSet::for_panel(&spec, &sources.access_list, search).await;
    let context = sources.selection_context(embedded_models.default_model()?, &servers);
    let mut selected = panel::select(&spec, &context)?;
    let consent_mode = request.control.consent_mode;
    let readiness = match request.purpose {
        Purpose::Preview => Readiness::Preview,
        Purpose::Run => Readiness::Run(
            obtain_embedded(&mut selected.panel, &embedded_models, consent_mode).await?,
        ),
    };
    let mut debate = debate::options(request.debate, &sources.settings)?;
    debate.selectable_personas = selected.selectable_personas;
    helper::assign(&mut debate, &selected.panel, &context);
    let fallbacks = fallbacks::fallbacks(
        &selected.panel,
        &spec,
        &sources.catalog,
        &sources.access_list,
        now,
    );
    let draft = PlanDraft {
        question: request.question,
        panel: selected.panel,
        debate,
        fallbacks,
        material: request.material,
        notices: selected.notices,
    };
    draft.complete(sources, &servers, readiness, &request.control)
}

/// What every plan is made from.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) home: Home,
    pub(crate) settings: Settings,
    pub(crate) catalog: ModelCatalog,
    pub(crate) templates: Templates,
    pub(crate) personas: PersonaRegistry,
    /// All providers but the embedded model's.
    pub(crate) access_list: Vec<ProviderAccess>,
    pub(crate) now: Timestamp,
}

impl Sources {
    /// Loads what the home and the environment hold.
    pub(crate) fn load(environment: &Environment, now: Timestamp) -> Result<Self, Error> {
        let home = Home::find(environment).map_err(Error::usage)?;
        let settings = settings::load(&home, environment)?;
        let catalog = catalog::load(&home)?;
        let templates = personas::templates(&home)?;
        let personas = PersonaRegistry::new(&templates, &settings)?;
        let access_list = provider_access::all(&settings, environment);
        Ok(Self {
            home,
            settings,
            catalog,
            templates,
            personas,
            access_list,
            now,
        })
    }

    /// Returns what finds and downloads the embedded model.
    pub(crate) fn embedded_models<'a>(
        &self,
        environment: &Environment,
        printer: &'a Printer,
    ) -> EmbeddedModels<'a> {
        EmbeddedModels::new(environment, &self.settings, &self.home, printer)
    }

    /// Returns what panels are selected from.
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

/// What is decided about one consultation before its models are looked up.
#[derive(Debug)]
pub(crate) struct PlanDraft {
    pub(crate) question: String,
    pub(crate) panel: Panel,
    pub(crate) debate: DebateOptions,
    pub(crate) fallbacks: BTreeMap<SeatId, Vec<ModelRef>>,
    pub(crate) material: PromptMaterial,
    pub(crate) notices: Vec<String>,
}

/// Whether the providers of a plan are connected.
#[derive(Debug)]
pub(crate) enum Readiness {
    /// They are, with the embedded model's file if the panel has one.
    Run(Option<ModelFile>),
    /// They are not: no key is read.
    Preview,
}

impl PlanDraft {
    /// Adds what the plan needs to know of its models, reads their keys, and sets the limits.
    pub(crate) fn complete(
        mut self,
        sources: Sources,
        servers: &LocalServerSet,
        readiness: Readiness,
        request: &ControlRequest,
    ) -> Result<PreparedPlan, Error> {
        let Sources {
            home,
            settings,
            catalog,
            templates,
            personas: _,
            access_list,
            now,
        } = sources;
        let used = terms::models(&self);
        let prices = catalog.prices_with(&used, now);
        let models = terms::terms(&used, &catalog, &settings, &access_list, servers);
        let provider_ids: BTreeSet<ProviderId> =
            used.iter().map(|model| model.provider.clone()).collect();
        let in_flight = terms::in_flight(&provider_ids, &settings, &access_list);
        let is_free = models.values().all(|terms| terms.free);
        if !is_free {
            self.notices.extend(catalog.age_warnings(now));
        }
        self.notices.splice(..0, servers.notice());

        let access_list = servers.with_addresses(access_list);
        let addresses = access_list
            .iter()
            .filter(|access| provider_ids.contains(&access.id))
            .map(|access| (access.id.clone(), access.base_url().to_owned()))
            .collect();
        let providers = match readiness {
            Readiness::Preview => Providers::new(),
            Readiness::Run(file) => {
                let catalog = servers.extend_catalog(catalog);
                connect(&access_list, &provider_ids, &settings, catalog, file)?
            }
        };

        let experience = experience(&home, &models.keys().collect());
        let month = if is_free {
            None
        } else {
            limits::month(&settings, &home.logs_folder(), now)
        };
        self.notices.extend(month.and_then(limits::month_notice));
        let control = limits::control(request, &settings, month, &experience);

        let sizes: BTreeSet<Size> = models.values().map(|terms| terms.size).collect();
        let templates =
            templates.only(|name, persona| terms::needs_template(&self, &sizes, name, persona));
        let unique = ulid::Ulid::generate();
        let plan = Plan {
            id: ConsultationId::from_unique(&unique.to_string()),
            question: self.question,
            panel: self.panel,
            debate: self.debate,
            models,
            prices,
            templates,
            seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
            control,
            fallbacks: self.fallbacks,
            material: self.material,
            learnt_output: experience.learnt_output(),
            retry: RetryRule::default(),
            in_flight,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            notices: self.notices,
        };
        Ok(PreparedPlan {
            home,
            plan,
            addresses,
            providers,
        })
    }
}

/// Connects the providers of a plan, the embedded model's among them if its file is given.
pub(crate) fn connect(
    access_list: &[ProviderAccess],
    provider_ids: &BTreeSet<ProviderId>,
    settings: &Settings,
    catalog: ModelCatalog,
    embedded: Option<ModelFile>,
) -> Result<Providers, Error> {
    let http = Http::new(Timeouts {
        connect: settings.connect_timeout,
        idle: settings.idle_timeout,
    });
    let keys = KeyCommands::default();
    let mut providers =
        provider_access::providers(access_list, provider_ids, settings, &keys, catalog, http)?;
    if let Some(file) = embedded {
        providers.insert(
            ProviderId::new(ProviderId::LOCAL),
            embedded_model::provider(file, settings)?,
        );
    }
    Ok(providers)
}

/// Reads what earlier consultations say of these models. A start does not wait for an index that has
/// to be rebuilt: the end of the run rebuilds it.
fn experience(home: &Home, models: &BTreeSet<&ModelRef>) -> Experience {
    let index = Index::open_with(&home.index_file(), WaitLimit::Moment).ok();
    index
        .and_then(|index| Experience::read(index.connection(), models).ok())
        .unwrap_or_default()
}

/// Obtains the embedded model that the panel names, if any, and puts the name of its file in its
/// seats.
pub(crate) async fn obtain_embedded(
    panel: &mut Panel,
    embedded_models: &EmbeddedModels<'_>,
    consent_mode: ConsentMode,
) -> Result<Option<ModelFile>, Error> {
    let mut embedded: Vec<&mut ModelRef> = panel
        .seats
        .iter_mut()
        .map(|seat| &mut seat.model)
        .chain(&mut panel.judges)
        .filter(|model| model.provider.is_local())
        .collect();
    let names: BTreeSet<String> = embedded.iter().map(|model| model.model.clone()).collect();
    let name = match names.iter().collect::<Vec<_>>().as_slice() {
        [] => return Ok(None),
        [name] => (*name).clone(),
        [_, _, ..] => {
            return Err(Error::usage(
                "a panel can have one local model, for all of its local seats",
            )
            .hint("see the models with `conclave model list`"));
        }
    };
    let file = embedded_models.obtain(&name, consent_mode).await?;
    for model in &mut embedded {
        model.model.clone_from(&file.name);
    }
    Ok(Some(file))
}
