//! The providers of an interrupted consultation: its panel stays as it was, and every model that is
//! still needed must be reachable.

use std::collections::BTreeSet;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::event::StateName;
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::Seat;
use crate::domain::vendors;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::setup::catalog;
use crate::setup::embedded_model::{EmbeddedModels, ModelFile};
use crate::setup::local_servers::{LocalServerSet, ServerSearch};
use crate::setup::plan::connect;
use crate::setup::provider_access::{self, ProviderAccess};
use crate::terminal::output::printer::Printer;

/// What providers are connected with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connector<'a> {
    pub(super) home: &'a Home,
    pub(super) environment: &'a Environment,
    pub(super) settings: &'a Settings,
    pub(super) printer: &'a Printer,
    pub(super) consent_mode: ConsentMode,
}

impl Connector<'_> {
    /// Connects the providers of every model that the plan may ask.
    ///
    /// # Errors
    ///
    /// When a model that is still needed cannot be asked. Fallbacks may be missing.
    pub(super) async fn providers(
        &self,
        plan: &Plan,
        transcript: &Transcript,
    ) -> Result<Providers, Error> {
        let access_list = provider_access::all(self.settings, self.environment);
        let needed = needed(plan, transcript);
        let needed_models = needed.iter().map(|(_, model)| *model);
        let fallbacks = plan
            .panel
            .judges
            .iter()
            .chain(plan.fallbacks.values().flatten())
            .chain(&plan.debate.helper);
        let search = ServerSearch::new(self.settings, &access_list)?;
        let models = needed_models.clone().chain(fallbacks.clone());
        let servers = LocalServerSet::for_models(models.clone(), search).await;
        for (agent, model) in &needed {
            check(agent, model, &access_list, &servers)?;
        }
        let is_configured = |model: &&ModelRef| {
            provider_access::find(&access_list, &model.provider)
                .is_some_and(ProviderAccess::is_configured)
        };
        let provider_ids: BTreeSet<ProviderId> = needed_models
            .chain(fallbacks.filter(is_configured))
            .map(|model| model.provider.clone())
            .collect();
        let catalog = servers.extend_catalog(catalog::load(self.home)?);
        let embedded = match models.into_iter().find(|model| model.provider.is_local()) {
            Some(model) => Some(self.embedded(model).await?),
            None => None,
        };
        let access_list = servers.with_addresses(access_list.clone());
        connect(
            &access_list,
            &provider_ids,
            self.settings,
            catalog,
            embedded,
        )
    }

    /// Obtains the file of the embedded model that the consultation began with.
    async fn embedded(&self, model: &ModelRef) -> Result<ModelFile, Error> {
        let models = EmbeddedModels::new(self.environment, self.settings, self.home, self.printer);
        let file = models.obtain(&model.model, self.consent_mode).await?;
        if file.name == model.model {
            return Ok(file);
        }
        let error = Error::usage(format!(
            "the consultation began with the local model {}, and only {} is here",
            model.model, file.name
        ));
        Err(error.hint(format!(
            "download it with `conclave model pull {}`",
            model.model
        )))
    }
}

/// Returns the agents that are still needed, with their models: the judge until the end, an expert
/// while a round of experts is left, unless it failed in a completed round.
fn needed<'a>(plan: &'a Plan, transcript: &'a Transcript) -> Vec<(&'a str, &'a ModelRef)> {
    let completed = transcript.completed_rounds();
    if transcript.state == StateName::Complete {
        return Vec::new();
    }
    let has_failed = |seat: &Seat| {
        transcript
            .failures
            .iter()
            .any(|failed| failed.agent_id == seat.id && completed.contains(&failed.round_number))
    };
    let has_prior_answers = plan.debate.prior_answers.is_some();
    let seats = plan
        .panel
        .seats
        .iter()
        .filter(|seat| !has_prior_answers && !completed.contains(&3) && !has_failed(seat));
    let judge = plan.panel.judges.first().map(|judge| ("Judge", judge));
    seats
        .map(|seat| (seat.name(), transcript.player(seat)))
        .chain(judge)
        .collect()
}

fn check(
    agent: &str,
    model: &ModelRef,
    access_list: &[ProviderAccess],
    servers: &LocalServerSet,
) -> Result<(), Error> {
    let provider = &model.provider;
    if provider.is_local() {
        return Ok(());
    }
    let Some(access) = provider_access::find(access_list, provider) else {
        return Err(Error::usage(format!(
            "{agent} uses {model}, and no provider is called `{provider}`"
        ))
        .hint(format!(
            "give its address with `conclave config set endpoints.{provider}.base_url URL`"
        )));
    };
    match access.missing_key() {
        None => servers.check(access),
        Some(variable) => {
            let vendor = vendors::name(provider);
            Err(Error::usage(format!(
                "{agent} uses {model}, and there is no key for {vendor}"
            ))
            .hint(format!("set {variable}")))
        }
    }
}
