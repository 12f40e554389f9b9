//! New limits and providers for an interrupted consultation: its panel stays as it was, and every
//! model that is still needed must be reachable.

use std::collections::BTreeSet;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::event::StateName;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::Seat;
use crate::domain::time::Timestamp;
use crate::domain::vendors;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::local::choice::ModelFile;
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::request::ControlRequest;
use crate::setup::{catalog, limits};
use crate::terminal::output::printer::Printer;

use super::connection::connect;

/// The sources of limits and providers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResumeSources<'a> {
    pub(crate) home: &'a Home,
    pub(crate) environment: &'a Environment,
    pub(crate) settings: &'a Settings,
    pub(crate) printer: &'a Printer,
}

impl ResumeSources<'_> {
    /// Lays a request over the limits of the last run, and connects the providers of every model
    /// that the plan may ask.
    ///
    /// # Errors
    ///
    /// When a model that is still needed cannot be asked. Fallbacks may be missing.
    pub(crate) async fn prepare(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        request: &ControlRequest,
        now: Timestamp,
    ) -> Result<(Control, Providers), Error> {
        let abort = transcript.abort.as_ref().map(|abort| abort.reason);
        let mut control = limits::resumed(plan.control.clone(), abort, request);
        // The budget is the month's and not the consultation's: that of today counts.
        control.consent.month = if plan.is_free() {
            None
        } else {
            limits::month(self.settings, &self.home.logs_folder(), now)
        };
        let providers = self
            .providers(plan, transcript, request.consent_mode)
            .await?;
        Ok((control, providers))
    }

    async fn providers(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        consent_mode: ConsentMode,
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
            Some(model) => Some(self.embedded(model, consent_mode).await?),
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
    async fn embedded(
        &self,
        model: &ModelRef,
        consent_mode: ConsentMode,
    ) -> Result<ModelFile, Error> {
        let models = EmbeddedModels::new(self.environment, self.settings, self.home, self.printer);
        let file = models.obtain(&model.model, consent_mode).await?;
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
