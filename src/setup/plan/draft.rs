//! The draft of a plan, and the end of the line that every plan takes: terms, prices, keys, limits
//! and the masking of secrets.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::SecretString;

use crate::config::key_commands::KeyCommands;
use crate::config::own_keys::is_secret;

use super::limits;
use crate::config::paths::Home;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::prompt::RenderedContexts;
use crate::consultation::prompt::Templates;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::context::scrub::Scrubber;
use crate::context::scrub::rules::UserRules;
use crate::domain::context::ContextStorage;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::panel::Panel;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::local::choice::ModelFile;
use crate::records::experience::Experience;
use crate::records::index::{Index, WaitLimit};
use crate::setup::context::outgoing::{self, MaskingOutcome};
use crate::setup::context::request::Scrubbing;
use crate::setup::context::{OutgoingTexts, assemble};
use crate::setup::local_servers::LocalServerSet;
use crate::setup::provider_access::ProviderAccess;
use crate::setup::request::ControlRequest;

use super::PreparedPlan;
use super::connection::connect;
use super::sources::Sources;
use super::terms;
use super::window::{self, PromptWindows};

/// The decisions about one consultation before its models are looked up.
#[derive(Debug)]
pub(crate) struct PlanDraft {
    pub(crate) outgoing: OutgoingTexts,
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
    /// Adds the terms and prices of the models, reads their keys, sets the limits, and masks
    /// secrets, those keys among them.
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
            scrub_rules,
            mut own_keys,
            now,
        } = sources;
        let used = terms::models(&self.panel, &self.debate, &self.fallbacks);
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
        let commands = KeyCommands::default();
        let catalog = servers.extend_catalog(catalog);
        let providers = match readiness {
            Readiness::Preview => Providers::new(),
            Readiness::Run(file) => connect(
                &access_list,
                &provider_ids,
                &settings,
                catalog.clone(),
                file,
                &commands,
            )?,
        };

        let experience = experience(&home, &models.keys().collect());
        let month = if is_free {
            None
        } else {
            limits::month(&settings, &home.logs_folder(), now)
        };
        self.notices.extend(month.and_then(limits::month_notice));
        let control = limits::control(request, &settings, month, &experience);

        own_keys.extend(commands.printed_keys().into_iter().filter(is_secret));
        let mut templates = terms::templates(
            templates,
            &self.panel,
            &self.debate,
            &self.outgoing,
            &models,
        );
        let masked = self.mask(&mut templates, &scrub_rules, &own_keys)?;
        let mut context = assemble(&self.outgoing.sources, &self.outgoing.project);
        if let Some(context) = &mut context
            && !settings.log_context
        {
            context.storage = ContextStorage::Off;
        }
        let unique = ulid::Ulid::generate();
        let mut plan = Plan {
            id: ConsultationId::from_unique(&unique.to_string()),
            question: self.outgoing.question,
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
            context: context.map(Box::new),
            project: self.outgoing.project.context,
            scrubbing: Some(Box::new(masked.report)),
            rendered_contexts: RenderedContexts::default(),
        };
        window::check(&mut plan, &PromptWindows::new(&catalog, &settings))?;
        Ok(PreparedPlan {
            home,
            plan,
            findings: masked.findings,
            addresses,
            providers,
        })
    }

    /// Masks the secrets in everything that goes out, unless the user wants none of it.
    fn mask(
        &mut self,
        templates: &mut Templates,
        rules: &UserRules,
        own_keys: &[SecretString],
    ) -> Result<MaskingOutcome, Error> {
        if self.outgoing.scrubbing == Scrubbing::Off {
            return Ok(MaskingOutcome::default());
        }
        let scrubber = Scrubber::new(rules, own_keys).map_err(Error::usage)?;
        Ok(outgoing::mask(&scrubber, |edit| {
            edit("question", &mut self.outgoing.question);
            outgoing::edit_project(&mut self.outgoing.project, edit);
            for source in &mut self.outgoing.sources {
                outgoing::edit_source(source, edit);
            }
            outgoing::edit_debate(&mut self.debate, edit);
            outgoing::edit_panel(&mut self.panel, edit);
            outgoing::edit_templates(templates, edit);
        }))
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
