//! A template: everything that plans have in common: terms, prices, keys, limits and the masking of
//! secrets. A plan adds its question, the context of it, and what is drawn for it alone: its id and
//! its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use secrecy::SecretString;

use super::sources::PlanSources;
use super::terms::{self, ContextUse};
use super::{Planner, limits};
use crate::config::endpoints::is_secret;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::plan::{Plan, TraceParent};
use crate::consultation::prompt::Templates;
use crate::domain::context::ContextStorage;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::panel::{Panel, check_seats};
use crate::engine::ports::Providers;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::local::files::choice::ModelFile;
use crate::records::index::{Index, WaitLimit};
use crate::records::statistics::experience::Experience;
use crate::scrub::{Finding, Scrubber};
use crate::setup::context::assemble;
use crate::setup::context::outgoing::{self, MaskingOutcome};
use crate::setup::local_servers::LocalServerSet;
use crate::setup::provider_access::ProviderAccess;
use crate::setup::request::{QuestionRequest, TemplateRequest};

/// A source of plans.
#[derive(Debug)]
pub struct PlanTemplate {
    /// The common part of every plan, before anything is masked in it. It has no question, and the
    /// prompts of a plan without context.
    pub common: Plan,
    /// The prompts of a plan with context.
    templates_with_context: Templates,
    /// `None` if nothing is masked.
    scrubber: Option<Scrubber>,
    /// The address of each provider of the plans.
    pub addresses: BTreeMap<ProviderId, String>,
    /// Empty in a dry run.
    pub providers: Providers,
    catalog: ModelCatalog,
    settings: Settings,
}

/// A plan for one question.
#[derive(Debug)]
pub struct PreparedPlan {
    pub plan: Plan,
    /// The places of the secrets that were masked in it.
    pub findings: Vec<Finding>,
}

impl Planner<'_> {
    /// Adds the terms and prices of the models, reads their keys, sets the limits, and prepares the
    /// masking of secrets, those keys among them. `own_notices` come after those of the request;
    /// `embedded` is the embedded model's file, if the panel of a run has one.
    pub(super) async fn complete(
        &self,
        request: &TemplateRequest,
        (panel, debate, fallbacks): (Panel, DebateOptions, BTreeMap<SeatId, Vec<ModelRef>>),
        own_notices: Vec<String>,
        servers: &LocalServerSet,
        embedded: Option<ModelFile>,
    ) -> Result<PlanTemplate, Error> {
        let PlanSources {
            home,
            settings,
            catalog,
            access_list,
            now,
            ..
        } = &self.sources;
        check_seats(panel.seats.len()).map_err(Error::usage)?;
        let programs = &self.connections.programs;
        let used = terms::models(&panel, &debate, &fallbacks);
        let models = terms::terms(&used, catalog, settings, access_list, (servers, programs));
        let provider_ids: BTreeSet<ProviderId> =
            used.iter().map(|model| model.provider.clone()).collect();
        let is_free = models.values().all(|terms| !terms.billing.is_metered());
        let mut notices: Vec<String> = servers.notice().into_iter().collect();
        notices.extend(request.notices.iter().cloned().chain(own_notices));
        if !is_free {
            notices.extend(catalog.age_warnings(*now));
        }

        let asked = servers.place(&provider_ids, access_list);
        notices.extend(asked.iter().filter_map(ProviderAccess::unencrypted_key));
        let prices = catalog.prices_with(&used, *now);
        let catalog = servers.extend_catalog(catalog.clone());
        let (connections, consent) = (&self.connections, self.consent(request));
        let local = (&catalog, embedded);
        let connected = connections.connect(&provider_ids, &asked, consent, settings, local);
        let (providers, addresses) = connected.await?;
        let mut in_flight = terms::in_flight(&asked, settings);
        let seats = programs.of(&provider_ids).map(|seat| &seat.program);
        in_flight.extend(seats.map(|program| (program.id.clone(), program.max_parallel)));

        let month = if is_free {
            None
        } else {
            limits::month(settings, &home.logs_folder(), *now)
        };
        notices.extend(month.and_then(limits::month_notice));
        let needed_templates = |context| {
            let all = &self.sources.templates;
            terms::templates(all, &panel, &debate, context, &models)
        };
        // What earlier consultations say is read while the rules for secrets are compiled.
        let (experience, scrubber) = thread::scope(|scope| {
            let experience = scope.spawn(|| experience(home, &models.keys().collect()));
            let scrubber = (!request.unmasked).then(|| self.scrubber());
            (experience.join().unwrap_or_default(), scrubber)
        });
        let control = limits::control(&request.control, settings, month, &experience);
        Ok(PlanTemplate {
            templates_with_context: needed_templates(ContextUse::Sent),
            common: Plan {
                templates: needed_templates(ContextUse::None),
                in_flight,
                learnt_output: experience.learnt_output(),
                debate,
                models,
                prices,
                fallbacks,
                material: request.material,
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                notices,
                trace_parent: self
                    .environment
                    .text("TRACEPARENT")
                    .and_then(TraceParent::parse),
                // Each plan has an id, a question and a seed of its own.
                ..Plan::new(ConsultationId::from_unique(""), "", panel, control)
            },
            scrubber: scrubber.transpose()?,
            addresses,
            providers,
            catalog,
            settings: settings.clone(),
        })
    }

    fn scrubber(&self) -> Result<Scrubber, Error> {
        let printed = self.connections.printed_keys().into_iter();
        let own = self.sources.own_keys.iter().cloned();
        let keys: Vec<SecretString> = own.chain(printed.filter(is_secret)).collect();
        Scrubber::new(&self.sources.scrub_rules, &keys).map_err(Error::usage)
    }
}

impl PlanTemplate {
    /// Returns a plan for a question.
    ///
    /// # Errors
    ///
    /// When the context does not fit the models, or a prompt cannot be rendered.
    pub fn plan(&self, mut request: QuestionRequest) -> Result<PreparedPlan, Error> {
        let unique = ulid::Ulid::generate();
        let mut plan = Plan {
            id: ConsultationId::from_unique(&unique.to_string()),
            seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
            ..self.common.clone()
        };
        if request.has_context() {
            plan.templates = self.templates_with_context.clone();
        }
        let masked = self.mask(&mut plan, &mut request);
        let mut context = assemble(&request.sources, &request.project);
        if let Some(context) = &mut context
            && !self.settings.log_context
        {
            context.storage = ContextStorage::Off;
        }
        plan.question = request.question;
        plan.context = context.map(Box::new);
        plan.project = request.project.context;
        plan.scrubbing = Some(Box::new(masked.report));
        terms::check_windows(&mut plan, &self.catalog, &self.settings)?;
        Ok(PreparedPlan {
            plan,
            findings: masked.findings,
        })
    }

    /// Masks the secrets in everything that goes out, unless the user wants none of it.
    fn mask(&self, plan: &mut Plan, request: &mut QuestionRequest) -> MaskingOutcome {
        let Some(scrubber) = &self.scrubber else {
            return MaskingOutcome::default();
        };
        outgoing::mask(scrubber, |edit| {
            edit("question", &mut request.question);
            outgoing::edit_project(&mut request.project, edit);
            for source in &mut request.sources {
                outgoing::edit_source(source, edit);
            }
            outgoing::edit_debate(&mut plan.debate, edit);
            outgoing::edit_panel(&mut plan.panel, edit);
            let templates = &mut plan.templates;
            templates.edit_own(&mut |name, text| edit(&format!("prompt {name}"), text));
        })
    }
}

/// A start does not wait for an index that has to be rebuilt: the end of the run rebuilds it.
fn experience(home: &Home, models: &BTreeSet<&ModelRef>) -> Experience {
    let index = Index::open_with(&home.index_file(), WaitLimit::Moment).ok();
    index
        .and_then(|index| Experience::read(&index.connection, models).ok())
        .unwrap_or_else(|| Experience::of_records(&home.logs_folder()))
}
