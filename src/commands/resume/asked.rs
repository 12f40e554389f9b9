//! The providers of a panel that was chosen earlier: no seat is filled anew, and who is still
//! needed must be there.

use std::collections::BTreeSet;

use crate::commands::models;
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::event::StateName;
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::vendors;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::http::{Http, Timeouts};
use crate::setup::embedded_model;
use crate::setup::embedded_model::LocalModels;
use crate::setup::local_servers::{Servers, Where};
use crate::setup::provider_access;
use crate::setup::provider_access::Reach;
use crate::terminal::output::printer::Printer;

/// Where providers come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<'a> {
    pub(super) home: &'a Home,
    pub(super) environment: &'a Environment,
    pub(super) settings: &'a Settings,
    pub(super) printer: &'a Printer,
    pub(super) consent_mode: ConsentMode,
}

impl Within<'_> {
    /// Everyone whom the plan may ask, as they are reached now.
    ///
    /// # Errors
    ///
    /// When somebody who is still to be asked cannot be. Who would only stand in for another may be
    /// missing.
    pub(super) fn providers(
        &self,
        plan: &Plan,
        transcript: &Transcript,
    ) -> Result<Providers, Error> {
        let Self {
            home,
            environment,
            settings,
            printer,
            consent_mode,
        } = *self;
        let reached = provider_access::all(settings, environment);
        let needed = needed(plan, transcript);
        let others = plan
            .panel
            .judges
            .iter()
            .chain(plan.fallbacks.values().flatten())
            .chain(&plan.debate.helper);
        let servers = Servers::for_models(
            needed.iter().map(|(_, model)| *model).chain(others.clone()),
            Where::set(settings, &reached)?,
        )?;
        for (who, model) in &needed {
            check(who, model, &reached, &servers)?;
        }
        let usable = |model: &&ModelRef| {
            reached
                .iter()
                .any(|reach| reach.id == model.provider && reach.is_usable())
        };
        let asked: BTreeSet<ProviderId> = needed
            .iter()
            .map(|(_, model)| *model)
            .chain(others.clone().filter(usable))
            .map(|model| model.provider.clone())
            .collect();

        let timeouts = Timeouts {
            connect: settings.connect_timeout,
            idle: settings.idle_timeout,
        };
        let catalog = servers.known_to(models::catalog(home)?);
        let placed = servers.placed(reached);
        let mut providers = provider_access::providers(
            &placed,
            &asked,
            settings,
            &KeyCommands::default(),
            catalog,
            Http::new(timeouts),
        )?;
        let needed = needed.iter().map(|(_, model)| *model);
        if let Some(model) = needed.chain(others).find(|model| model.provider.is_local()) {
            let found = LocalModels::new(environment, settings, home, printer)
                .obtain(&model.model, consent_mode)?;
            if found.name != model.model {
                let error = Error::usage(format!(
                    "the consultation was begun with the local model {}, and only {} is here",
                    model.model, found.name
                ));
                return Err(error.hint(format!("get it: conclave model pull {}", model.model)));
            }
            providers.insert(
                ProviderId::new(ProviderId::LOCAL),
                embedded_model::provider(found, settings)?,
            );
        }
        Ok(providers)
    }
}

/// Who is still to be asked, and who plays them: the judge to the end, an expert as long as a round
/// of experts is to come, unless it has failed in one that is over.
fn needed<'a>(plan: &'a Plan, transcript: &'a Transcript) -> Vec<(&'a str, &'a ModelRef)> {
    let over = transcript.completed_rounds();
    if transcript.state == StateName::Complete {
        return Vec::new();
    }
    let is_out = |seat: &crate::domain::panel::Seat| {
        transcript
            .failures
            .iter()
            .any(|failed| failed.agent_id == seat.id && over.contains(&failed.round_number))
    };
    let is_given = plan.debate.prior_answers.is_some();
    let seats = plan
        .panel
        .seats
        .iter()
        .filter(|seat| !is_given && !over.contains(&3) && !is_out(seat));
    let judge = plan.panel.judges.first().map(|judge| ("Judge", judge));
    seats
        .map(|seat| (seat.name(), transcript.player(seat)))
        .chain(judge)
        .collect()
}

fn check(who: &str, model: &ModelRef, reached: &[Reach], servers: &Servers) -> Result<(), Error> {
    let provider = &model.provider;
    if provider.is_local() {
        return Ok(());
    }
    let Some(reach) = reached.iter().find(|reach| reach.id == *provider) else {
        return Err(Error::usage(format!(
            "{who} is played by {model}, and no provider is called `{provider}` any more"
        ))
        .hint(format!(
            "give it its address again: conclave config set endpoints.{provider}.base_url URL"
        )));
    };
    match reach.missing_key() {
        None => servers.check(reach),
        Some(variable) => {
            let vendor = vendors::name(provider);
            Err(Error::usage(format!(
                "{who} is played by {model}, and there is no key for {vendor}"
            ))
            .hint(format!("set {variable}")))
        }
    }
}
