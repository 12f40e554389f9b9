//! A plan and the providers that it needs, once panel and course are settled: models as they are
//! asked, prices, history, consent.

use std::collections::{BTreeMap, BTreeSet};

use super::embedded_model;
use super::embedded_model::{Found, LocalModels};
use super::limits;
use super::local_servers::Servers;
use super::provider_access;
use super::provider_access::Reach;
use crate::commands::config;
use crate::commands::models;
use crate::commands::personas;
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::plan::{ModelTerms, Plan};
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
use crate::session::index;

use crate::commands::consult::flags::ControlFlags;

/// What every consultation stands on.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) home: Home,
    pub(crate) settings: Settings,
    pub(crate) catalog: ModelCatalog,
    pub(crate) templates: Templates,
    /// All providers but the embedded model's.
    pub(crate) reached: Vec<Reach>,
    pub(crate) consent_mode: ConsentMode,
    pub(crate) now: Timestamp,
}

/// What is decided about one consultation.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) question: String,
    pub(crate) panel: Panel,
    pub(crate) debate: DebateOptions,
    pub(crate) fallbacks: BTreeMap<SeatId, Vec<ModelRef>>,
    pub(crate) material: PromptMaterial,
    pub(crate) notices: Vec<String>,
}

/// Whom the plan is for.
#[derive(Debug)]
pub(crate) enum Ready {
    /// Models that are to be asked; the embedded one, where it is among them.
    ToAsk(Option<Found>),
    /// A reader: no key is got, and no model.
    ToShow,
}

/// What the run works with.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) home: Home,
    pub(crate) plan: Plan,
    /// Where each provider of the panel is reached.
    pub(crate) addresses: BTreeMap<ProviderId, String>,
    /// None in a dry run, which gets no key and no model.
    pub(crate) providers: Providers,
}

impl Ground {
    pub(crate) fn find(
        environment: &Environment,
        consent_mode: ConsentMode,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let home = Home::find(environment).map_err(Error::usage)?;
        let settings = config::load(&home, environment)?;
        let (catalog, templates) = (models::catalog(&home)?, personas::templates(&home)?);
        let reached = provider_access::all(&settings, environment);
        Ok(Self {
            home,
            settings,
            catalog,
            templates,
            reached,
            consent_mode,
            now,
        })
    }

    /// Makes ready what the draft asks for.
    pub(crate) fn assemble(
        self,
        mut draft: Draft,
        servers: &Servers,
        ready: Ready,
        control: &ControlFlags,
    ) -> Result<Setup, Error> {
        let Self {
            home,
            settings,
            catalog,
            templates,
            reached,
            consent_mode,
            now,
        } = self;
        let unique = ulid::Ulid::generate();
        let used = models_of(&draft);
        let prices = catalog.prices_with(&used, now);
        let asked: BTreeSet<ProviderId> = used.iter().map(|model| model.provider.clone()).collect();
        let models = terms(&used, &catalog, &settings, &reached, servers);
        let is_free = models.values().all(|terms| terms.free);
        if !is_free {
            draft.notices.extend(catalog.age_warnings(now));
        }
        draft.notices.splice(..0, servers.notice());
        let in_flight = in_flight(&asked, &settings, &reached);
        let timeouts = Timeouts {
            connect: settings.connect_timeout,
            idle: settings.idle_timeout,
        };
        let (reached, catalog) = (servers.placed(reached), servers.known_to(catalog));
        let is_asked = |reach: &&Reach| asked.contains(&reach.id);
        let addresses = reached
            .iter()
            .filter(is_asked)
            .map(|reach| (reach.id.clone(), reach.base_url().to_owned()))
            .collect();
        let providers = match ready {
            Ready::ToShow => Providers::new(),
            Ready::ToAsk(found) => {
                let http = Http::new(timeouts);
                let mut providers = provider_access::providers(
                    &reached,
                    &asked,
                    &settings,
                    &KeyCommands::default(),
                    catalog,
                    http,
                )?;
                if let Some(found) = found {
                    providers.insert(
                        ProviderId::new(ProviderId::LOCAL),
                        embedded_model::provider(found, &settings)?,
                    );
                }
                providers
            }
        };
        let experience = experience(&home, &models.keys().collect());
        let month = if is_free {
            None
        } else {
            limits::month(&settings, &index::logs(&home), now)
        };
        draft.notices.extend(month.and_then(limits::month_notice));
        let control = limits::control(control, &settings, consent_mode, month, &experience)?;
        let sizes: BTreeSet<Size> = models.values().map(|terms| terms.size).collect();
        let templates = templates.only(|name, persona| is_needed(name, persona, &draft, &sizes));
        let plan = Plan {
            id: ConsultationId::from_unique(&unique.to_string()),
            question: draft.question,
            panel: draft.panel,
            debate: draft.debate,
            models,
            prices,
            templates,
            seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
            control,
            fallbacks: draft.fallbacks,
            material: draft.material,
            learnt_output: experience.learnt_output(),
            retry: RetryRule::default(),
            in_flight,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            notices: draft.notices,
        };
        Ok(Setup {
            home,
            plan,
            addresses,
            providers,
        })
    }
}

/// Whether a template may come to be filled: those of the other mode, of sizes of models that
/// nobody has, and of personas that have no seat are no part of this consultation.
fn is_needed(name: &str, persona: Option<&str>, draft: &Draft, sizes: &BTreeSet<Size>) -> bool {
    let Draft { debate, panel, .. } = draft;
    if let Some(persona) = persona {
        return !debate.selectable_personas.is_empty()
            || panel.seats.iter().any(|seat| seat.persona.id == persona);
    }
    let Some((folder, file)) = name.split_once('/') else {
        return true;
    };
    let size = if folder == "small" || file.starts_with("small/") {
        Size::Small
    } else {
        Size::Full
    };
    let is_wanted = match folder {
        "small" => true,
        "clerk" => debate.helper.is_some(),
        mode => mode == debate.mode.strategy().name,
    };
    is_wanted && sizes.contains(&size)
}

/// What is known of these models. A start does not wait for an index to be made or mended: the end
/// of this run does that.
fn experience(home: &Home, models: &BTreeSet<&ModelRef>) -> Experience {
    let index = Index::open_with(&index::path(home), WaitLimit::Moment).ok();
    index
        .and_then(|index| Experience::read(index.connection(), models).ok())
        .unwrap_or_default()
}

/// Every model that the run may come to ask.
fn models_of(draft: &Draft) -> BTreeSet<ModelRef> {
    let Draft {
        panel,
        debate,
        fallbacks,
        ..
    } = draft;
    // Who has answered in an earlier consultation is not asked in this one.
    let seats = panel
        .seats
        .iter()
        .filter(|_| debate.prior_answers.is_none())
        .map(|seat| &seat.model);
    seats
        .chain(&panel.judges)
        .chain(&debate.helper)
        .chain(fallbacks.values().flatten())
        .cloned()
        .collect()
}

/// How each model is asked: as much room as the settings say, within what the model can write.
fn terms(
    used: &BTreeSet<ModelRef>,
    catalog: &ModelCatalog,
    settings: &Settings,
    reached: &[Reach],
    servers: &Servers,
) -> BTreeMap<ModelRef, ModelTerms> {
    let terms = |model: &ModelRef| {
        if model.provider.is_local() {
            return embedded_model::TERMS;
        }
        if let Some(terms) = servers.terms(model, settings) {
            return terms;
        }
        let most = catalog
            .find(model)
            .and_then(|found| found.max_output)
            .unwrap_or(settings.max_output_tokens.saturating_mul(2));
        let free = reached
            .iter()
            .any(|reach| reach.id == model.provider && reach.is_free(&model.model));
        ModelTerms {
            room: settings.max_output_tokens.min(most),
            most,
            free,
            ..ModelTerms::default()
        }
    };
    used.iter()
        .map(|model| (model.clone(), terms(model)))
        .collect()
}

/// How many calls may be under way at each provider: as its own entry says, else as its kind can
/// bear, else as the settings say.
fn in_flight(
    asked: &BTreeSet<ProviderId>,
    settings: &Settings,
    reached: &[Reach],
) -> BTreeMap<ProviderId, u32> {
    let asked = reached.iter().filter(|reach| asked.contains(&reach.id));
    asked
        .map(|reach| {
            (
                reach.id.clone(),
                reach.in_flight.unwrap_or(settings.max_in_flight),
            )
        })
        .collect()
}

/// Makes sure of the embedded model that the panel names, and puts the name of what there is in its
/// place.
pub(crate) fn obtain(
    panel: &mut Panel,
    models: &LocalModels<'_>,
    consent_mode: ConsentMode,
) -> Result<Option<Found>, Error> {
    let mut places: Vec<&mut ModelRef> = panel
        .seats
        .iter_mut()
        .map(|seat| &mut seat.model)
        .chain(&mut panel.judges)
        .filter(|model| model.provider.is_local())
        .collect();
    let names: BTreeSet<String> = places.iter().map(|model| model.model.clone()).collect();
    let name = match names.iter().collect::<Vec<_>>().as_slice() {
        [] => return Ok(None),
        [name] => (*name).clone(),
        [_, _, ..] => {
            return Err(Error::usage(
                "a panel can have one local model, for all of its local seats",
            )
            .hint("see what there is: conclave model list"));
        }
    };
    let found = models.obtain(&name, consent_mode)?;
    for model in &mut places {
        model.model.clone_from(&found.name);
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_providers_own_limit_of_calls_comes_before_the_one_for_all() {
        let config = r#"{"max_in_flight": 7, "endpoints": {"work": {"base_url": "h", "max_in_flight": 2}, "open": {"base_url": "h"}}}"#;
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap();
        let reached = provider_access::all(&settings, &Environment::default());
        let asked = ["anthropic", "work", "open", "ollama", "vllm"]
            .map(ProviderId::new)
            .into_iter()
            .collect();
        let limits: Vec<_> = in_flight(&asked, &settings, &reached)
            .into_iter()
            .map(|(id, limit)| format!("{id} {limit}"))
            .collect();
        assert_eq!(
            limits,
            ["anthropic 7", "ollama 1", "open 7", "vllm 7", "work 2"]
        );
    }
}
