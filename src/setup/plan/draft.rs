//! The draft of a template, and the end of the line that every template takes: terms, prices, keys,
//! limits and the masking of secrets.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::SecretString;

use crate::config::own_keys::is_secret;
use crate::config::paths::Home;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::prompt::RenderedContexts;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::protocol::answer::AnswerForm;
use crate::context::scrub::Scrubber;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::panel::Panel;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::local::choice::ModelFile;
use crate::records::experience::Experience;
use crate::records::index::{Index, WaitLimit};
use crate::setup::context::request::Scrubbing;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::provider_access::ProviderAccess;
use crate::setup::request::ControlRequest;

use super::Planner;
use super::limits;
use super::sources::Sources;
use super::template::PlanTemplate;
use super::terms::{self, ContextUse};

/// The decisions about consultations before their models are looked up.
#[derive(Debug)]
pub(crate) struct PlanDraft {
    pub(crate) scrubbing: Scrubbing,
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
    /// Adds the terms and prices of the models, reads their keys, sets the limits, and prepares the
    /// masking of secrets, those keys among them.
    pub(crate) fn complete(
        mut self,
        planner: &Planner<'_>,
        servers: &LocalServerSet,
        readiness: Readiness,
        request: &ControlRequest,
    ) -> Result<PlanTemplate, Error> {
        let Sources {
            home,
            settings,
            catalog,
            templates,
            personas: _,
            access_list,
            scrub_rules,
            own_keys,
            now,
        } = &planner.sources;
        let used = terms::models(&self.panel, &self.debate, &self.fallbacks);
        let prices = catalog.prices_with(&used, *now);
        let models = terms::terms(&used, catalog, settings, access_list, servers);
        let provider_ids: BTreeSet<ProviderId> =
            used.iter().map(|model| model.provider.clone()).collect();
        let in_flight = terms::in_flight(&provider_ids, settings, access_list);
        let is_free = models.values().all(|terms| terms.free);
        if !is_free {
            self.notices.extend(catalog.age_warnings(*now));
        }
        self.notices.splice(..0, servers.notice());

        let access_list = servers.with_addresses(access_list.clone());
        let asked = || {
            access_list
                .iter()
                .filter(|access| provider_ids.contains(&access.id))
        };
        self.notices
            .extend(asked().filter_map(ProviderAccess::unencrypted_key));
        let addresses = asked()
            .map(|access| (access.id.clone(), access.base_url().to_owned()))
            .collect();
        let connections = &planner.connections;
        let catalog = servers.extend_catalog(catalog.clone());
        let providers = match readiness {
            Readiness::Preview => Providers::new(),
            Readiness::Run(file) => {
                connections.connect(&access_list, &provider_ids, settings, catalog.clone(), file)?
            }
        };

        let experience = experience(home, &models.keys().collect());
        let month = if is_free {
            None
        } else {
            limits::month(settings, &home.logs_folder(), *now)
        };
        self.notices.extend(month.and_then(limits::month_notice));
        let control = limits::control(request, settings, month, &experience);

        let needed_templates = |context| {
            terms::templates(
                templates.clone(),
                &self.panel,
                &self.debate,
                context,
                &models,
            )
        };
        let templates_with_context = needed_templates(ContextUse::Sent);
        let templates = needed_templates(ContextUse::None);
        let scrubber = match self.scrubbing {
            Scrubbing::Off => None,
            Scrubbing::On => {
                let printed = connections.printed_keys().into_iter().filter(is_secret);
                let keys: Vec<SecretString> = own_keys.iter().cloned().chain(printed).collect();
                Some(Scrubber::new(scrub_rules, &keys).map_err(Error::usage)?)
            }
        };
        let common = Plan {
            // Each plan has its own.
            id: ConsultationId::from_unique(""),
            question: String::new(),
            seed: 0,
            panel: self.panel,
            debate: self.debate,
            models,
            prices,
            templates,
            control,
            fallbacks: self.fallbacks,
            material: self.material,
            learnt_output: experience.learnt_output(),
            retry: RetryRule::default(),
            in_flight,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            notices: self.notices,
            context: None,
            project: None,
            scrubbing: None,
            form: AnswerForm::Plain,
            rendered_contexts: RenderedContexts::default(),
        };
        Ok(PlanTemplate {
            home: home.clone(),
            common,
            templates_with_context,
            scrubber,
            addresses,
            providers,
            catalog,
            settings: settings.clone(),
        })
    }
}

/// Reads what earlier consultations say of these models. A start does not wait for an index that
/// has to be rebuilt: the end of the run rebuilds it.
fn experience(home: &Home, models: &BTreeSet<&ModelRef>) -> Experience {
    let index = Index::open_with(&home.index_file(), WaitLimit::Moment).ok();
    index
        .and_then(|index| Experience::read(index.connection(), models).ok())
        .unwrap_or_else(|| Experience::of_records(&home.logs_folder()))
}
