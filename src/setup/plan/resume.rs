//! New limits, prices and providers for an interrupted consultation: its panel stays as it was, and
//! every model that is still needed must be reachable. Addresses and keys are those of the
//! settings; a journal has none.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::event::StateName;
use crate::consultation::plan::{ControlRequest, ModelTerms, Plan};
use crate::consultation::plan::{Pricing, ResumeTerms};
use crate::consultation::policy::consent::{ConsentMode, Gate};
use crate::consultation::policy::estimate::{CallEstimate, Consent, Estimate};
use crate::consultation::prompt::PromptError;
use crate::consultation::transcript::Transcript;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::Seat;
use crate::domain::time::Timestamp;
use crate::engine::ports::{Face, Providers};
use crate::error::Error;
use crate::providers::local::files::choice::ModelFile;
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::settings;

use super::sources::Connections;
use super::{limits, terms};

/// The sources of limits and providers.
#[derive(Clone, Copy, Debug)]
pub struct ResumeSources<'a> {
    pub home: &'a Home,
    pub environment: &'a Environment,
    pub settings: &'a Settings,
    pub face: &'a dyn Face,
    pub connections: &'a Connections,
    /// No key is read, and no model is downloaded.
    pub dry_run: bool,
}

/// The terms and providers of a resumed run, and the consent that it needs.
#[derive(Debug)]
pub struct PreparedResume {
    pub terms: ResumeTerms,
    /// Empty in a dry run.
    pub providers: Providers,
    pub addresses: BTreeMap<ProviderId, String>,
    /// `None` for a complete consultation.
    pub consent: Option<ResumeConsent>,
}

impl ResumeSources<'_> {
    /// Lays a request over the limits of the last run, connects the providers of every model that
    /// the plan may ask, and decides on the cost of what remains.
    ///
    /// # Errors
    ///
    /// When a model that is still needed cannot be asked. Fallbacks may be missing.
    pub async fn prepare(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        request: &ControlRequest,
        now: Timestamp,
    ) -> Result<PreparedResume, Error> {
        let abort = transcript.abort.as_ref().map(|abort| abort.reason);
        let control = limits::resumed(plan.control.clone(), abort, request, self.settings);
        let (providers, addresses, pricing) = self
            .providers(plan, transcript, request.consent_mode, now)
            .await?;
        let mut terms = ResumeTerms {
            pricing: Some(pricing),
            ..ResumeTerms::from(control)
        };
        let mut today = plan.clone();
        today.apply(&terms);
        // The budget is the month's and not the consultation's: that of today counts.
        terms.control.consent.month = if today.is_free() {
            None
        } else {
            limits::month(self.settings, &self.home.logs_folder(), now)
        };
        // The first cost was agreed to before the first call.
        terms.control.consent.asks_first_cost &= transcript.consent.is_none();
        today.control = terms.control.clone();
        let consent = if transcript.state == StateName::Complete {
            None
        } else {
            Some(ResumeConsent::new(&today, transcript)?)
        };
        Ok(PreparedResume {
            terms,
            providers,
            addresses,
            consent,
        })
    }

    async fn providers(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        consent_mode: ConsentMode,
        now: Timestamp,
    ) -> Result<(Providers, BTreeMap<ProviderId, String>, Pricing), Error> {
        let access_list = provider_access::all(self.settings, self.environment);
        let programs = &self.connections.programs;
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
        for (agent, model) in needed
            .iter()
            .filter(|(_, model)| !model.provider.is_local())
        {
            let (id, program) = (&model.provider, programs.check(&model.provider));
            let known = program.is_some() || provider_access::find(&access_list, id).is_some();
            let checked = program.unwrap_or_else(|| servers.check_provider(id, &access_list));
            checked.map_err(|error| {
                let named = Error::usage(format!("{agent} uses {model}, and {error}"));
                let setting = format!("conclave config set endpoints.{id}.base_url URL");
                let address = (!known).then(|| format!("give it an address with `{setting}`"));
                let hints = error.hints.into_iter();
                hints.chain(address).fold(named, Error::hint)
            })?;
        }
        let is_configured = |model: &&ModelRef| {
            let program = programs.check(&model.provider);
            let access = provider_access::find(&access_list, &model.provider);
            program.is_some_and(|it| it.is_ok())
                || access.is_some_and(ProviderAccess::is_configured)
        };
        let provider_ids: BTreeSet<ProviderId> = needed_models
            .chain(fallbacks.filter(is_configured))
            .map(|model| model.provider.clone())
            .collect();
        let catalog = settings::catalog(self.home)?;
        let used = terms::models(&plan.panel, &plan.debate, &plan.fallbacks);
        let local = (&servers, programs);
        let today = terms::terms(&used, &catalog, self.settings, &access_list, local);
        let billing = |(model, terms): (ModelRef, ModelTerms)| {
            (!terms.billing.is_metered()).then_some((model, terms.billing))
        };
        let pricing = Pricing {
            prices: catalog.prices_with(&used, now),
            billing: today.into_iter().filter_map(billing).collect(),
        };
        let catalog = servers.extend_catalog(catalog);
        let asked = servers.place(&provider_ids, &access_list);
        let mut embedded = None;
        if !self.dry_run {
            if let Some(model) = models.into_iter().find(|model| model.provider.is_local()) {
                embedded = Some(self.embedded(model, consent_mode).await?);
            }
            for warning in asked.iter().filter_map(ProviderAccess::unencrypted_key) {
                self.face.warning(&format!("Warning: {warning}"));
            }
        }
        let (connections, local) = (self.connections, (&catalog, embedded));
        let consent = connections.consent(self.face, consent_mode, self.dry_run);
        let connected = connections.connect(&provider_ids, &asked, consent, self.settings, local);
        let (providers, addresses) = connected.await?;
        Ok((providers, addresses, pricing))
    }

    async fn embedded(
        &self,
        model: &ModelRef,
        consent_mode: ConsentMode,
    ) -> Result<ModelFile, Error> {
        let models = EmbeddedModels::new(self.environment, self.settings, self.home, self.face);
        let file = models.obtain(&model.model, consent_mode).await?;
        if file.name == model.model {
            return Ok(file);
        }
        let error = Error::usage(format!(
            "the consultation began with the local model {}, but only {} is installed",
            model.model, file.name
        ));
        Err(error.hint(format!(
            "download it with `conclave models pull {}`",
            model.model
        )))
    }
}

/// The judge until the end, an expert while a round of experts is left, unless it failed in a
/// completed round.
fn needed<'a>(plan: &'a Plan, transcript: &'a Transcript) -> Vec<(&'a str, &'a ModelRef)> {
    let completed = transcript.completed_rounds();
    if transcript.state == StateName::Complete {
        return Vec::new();
    }
    let has_failed = |seat: &Seat| {
        let mut failures = transcript.failures.iter();
        failures
            .any(|failed| failed.agent_id == seat.id && completed.contains(&failed.round_number))
    };
    let asks_experts = plan.debate.prior_answers.is_none() && !completed.contains(&3);
    let seats = plan.panel.seats.iter();
    let seats = seats.filter(|seat| asks_experts && !has_failed(seat));
    let judge = plan.panel.judges.first().map(|judge| ("Judge", judge));
    let experts = seats.map(|seat| (seat.name(), transcript.player(seat)));
    experts.chain(judge).collect()
}

/// The cost of what remains, and the decision on it.
#[derive(Debug)]
pub struct ResumeConsent {
    pub remaining: Estimate,
    /// What counts as spent.
    pub counted: MicroUsd,
    /// `None` if the earlier consent covers them, or the machine itself asks.
    pub gate: Option<Gate>,
    /// What was spent and what remains, if that is more than was agreed to.
    estimate: Option<Estimate>,
    /// The rest would exceed the monthly budget.
    exceeds_month: bool,
}

impl ResumeConsent {
    /// Decides on the rest of a consultation under a plan with today's prices and limits.
    ///
    /// # Errors
    ///
    /// When a prompt cannot be rendered.
    pub(super) fn new(plan: &Plan, transcript: &Transcript) -> Result<Self, PromptError> {
        let whole = plan.estimate()?;
        let Some((_, how)) = transcript.consent else {
            // The machine asks, as it would have done.
            return Ok(Self {
                gate: None,
                // The one that was shown is another.
                estimate: (transcript.estimate.is_some()
                    && transcript.estimate.as_ref() != Some(&whole))
                .then(|| whole.clone()),
                exceeds_month: false,
                counted: MicroUsd::ZERO,
                remaining: whole,
            });
        };
        let remaining = remaining(whole, transcript);
        let spent = Cost::exactly(transcript.total().cost.known);
        let total = Estimate {
            cost: spent + remaining.cost,
            low: spent + remaining.low,
            high: spent + remaining.high,
            ..remaining.clone()
        };
        let is_within = transcript.estimate.as_ref().is_some_and(|agreed| {
            total.cost.known <= agreed.high.known
                && (agreed.high.lower_bound || !total.cost.lower_bound)
        });
        let by_person = matches!(how, Consent::Flag | Consent::Asked);
        let control = &plan.control;
        let month = control.consent.month;
        let exceeds_month = month.is_some_and(|month| month.is_exceeded_by(remaining.cost));
        let counted = spent.known + transcript.in_doubt();
        let left = |ceiling: MicroUsd| MicroUsd(ceiling.0.saturating_sub(counted.0));
        let gate = if is_within && by_person && !exceeds_month {
            None
        } else {
            let left = control.max_cost.map(left);
            Some(control.consent.decide(&remaining, left))
        };
        // Where no call fits, the machine stops at the ceiling.
        let has_gate = gate
            .as_ref()
            .is_some_and(|gate| *gate != Gate::AboveCeiling);
        Ok(Self {
            estimate: Some(total).filter(|_| !is_within && has_gate),
            remaining,
            counted,
            gate,
            exceeds_month,
        })
    }

    /// Returns the consent that is given without a person, if the rest needs any.
    ///
    /// # Errors
    ///
    /// When a person has to be asked.
    pub fn unasked(&self, needed: impl FnOnce() -> Error) -> Result<Option<Consent>, Error> {
        match self.gate {
            None | Some(Gate::AboveCeiling) => Ok(None),
            Some(Gate::Pass(how)) => Ok(Some(how)),
            Some(Gate::Ask(_) | Gate::Refuse(_)) => Err(needed()),
        }
    }

    pub fn give(self, how: Option<Consent>, terms: &mut ResumeTerms) {
        terms.beyond_month = self.exceeds_month && how.is_some();
        // Approval by the same threshold as before is no news.
        terms.consent = how.filter(|how| *how != Consent::AutoApproved || self.estimate.is_some());
        terms.estimate = self.estimate;
    }
}

fn remaining(whole: Estimate, transcript: &Transcript) -> Estimate {
    let completed = transcript.completed_rounds();
    let is_open = |call: &CallEstimate| {
        let is_answered = transcript.calls.iter().any(|done| {
            done.error.is_none() && done.agent_id == call.agent_id && done.answer == call.answer
        });
        !is_answered && !completed.contains(&call.round_number)
    };
    let mut rest = Estimate {
        context_tokens: whole.context_tokens,
        ..Estimate::default()
    };
    let open = whole.calls.into_iter().filter(is_open);
    open.for_each(|call| rest.add(call));
    rest
}
