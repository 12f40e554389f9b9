//! Everything a consultation needs before it begins: settings, prompts, panel, prices, and the providers to ask.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::clerk;
use crate::commands::config;
use crate::commands::control;
use crate::commands::index;
use crate::commands::local::{self, Found, LocalModels};
use crate::commands::models;
use crate::commands::panel::{self, Choices, Flags, Wanted};
use crate::commands::personas;
use crate::commands::personas::catalogue::Catalogue;
use crate::commands::reach::{self, Reach};
use crate::commands::servers::{Servers, Where};
use crate::commands::stand_ins::stand_ins;
use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::course::Course;
use crate::consultation::plan::{Material, ModelTerms, Plan};
use crate::consultation::policy::consent::Standing;
use crate::consultation::policy::retry::RetryRule;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::catalog::Catalog;
use crate::providers::http::{Http, Timeouts};
use crate::records::experience::Experience;
use crate::records::index::{Index, Patience};
use crate::terminal::printer::Printer;

use super::Args;
use super::course::course;

/// What the run works with.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) home: Home,
    pub(super) plan: Plan,
    /// Where each provider of the panel is reached.
    pub(super) addresses: BTreeMap<ProviderId, String>,
    /// None in a dry run, which gets no key and no model.
    pub(super) providers: Providers,
}

pub(super) fn prepare(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
    question: String,
    standing: Standing,
    now: Timestamp,
) -> Result<Setup, Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = config::load(&home, environment)?;
    let catalog = models::catalog(&home)?;
    let templates = personas::templates(&home)?;
    let catalogue = Catalogue::of(&templates, &settings)?;
    let reached = reach::all(&settings, environment);

    let personas = args.personas.as_deref();
    let flags = Flags { panel: args.panel.as_deref(), models: &args.model, judge: args.judge.as_deref(), personas };
    let wanted = Wanted::of(flags, &settings, &catalogue)?;
    let local_models = LocalModels::new(environment, &settings, &home, printer);
    let local = local_models.default_model()?;
    let servers = Servers::for_run(&wanted, &reached, Where::set(&settings, &reached)?)?;
    let choices = Choices { catalog: &catalog, personas: &catalogue, reached: &reached, local, servers: &servers, now };
    let mut chosen = panel::choose(&wanted, &choices)?;
    let local = if args.dry_run { None } else { obtain(&mut chosen.panel, &local_models, standing)? };

    let mut course = course(&args.debate, &settings)?;
    course.cast_from = std::mem::take(&mut chosen.cast_from);
    clerk::appoint(&mut course, &chosen.panel, &choices);

    let unique = ulid::Ulid::generate();
    let stand_ins = stand_ins(&chosen.panel, &wanted, &catalog, &reached, now);
    let used = models_of(&chosen.panel, &course, &stand_ins);
    let prices = catalog.prices_with(&used, now);
    let asked: BTreeSet<ProviderId> = used.iter().map(|model| model.provider.clone()).collect();
    let models = terms(&used, &catalog, &settings, &reached, &servers);
    let is_free = models.values().all(|terms| terms.free);
    if !is_free {
        chosen.notices.extend(catalog.age_warnings(now));
    }
    chosen.notices.splice(..0, servers.notice());
    let in_flight = in_flight(&asked, &settings, &reached);
    let timeouts = Timeouts { connect: settings.connect_timeout, idle: settings.idle_timeout };
    let (reached, catalog) = (servers.placed(reached), servers.known_to(catalog));
    let is_asked = |reach: &&Reach| asked.contains(&reach.id);
    let addresses = reached.iter().filter(is_asked).map(|reach| (reach.id.clone(), reach.base_url().to_owned())).collect();
    let mut providers = if args.dry_run {
        Providers::new()
    } else {
        reach::providers(&reached, &asked, &settings, &KeyCommands::default(), catalog, Http::new(timeouts))?
    };
    if let Some(found) = local {
        providers.insert(ProviderId::new(ProviderId::LOCAL), local::provider(found, &settings)?);
    }
    let logs = home.path().join("consult-logs");
    let experience = experience(&home, &models.keys().collect());
    let month = if is_free { None } else { control::month(&settings, &logs, now) };
    chosen.notices.extend(month.and_then(control::month_notice));
    let control = control::control(&args.control, &settings, standing, month, &experience)?;
    let plan = Plan {
        id: ConsultationId::from_unique(&unique.to_string()),
        question,
        panel: chosen.panel,
        course,
        models,
        prices,
        templates,
        seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
        control,
        stand_ins,
        material: if args.output.verbose { Material::Whole } else { Material::Filtered },
        learnt_output: experience.learnt_output(),
        retry: RetryRule::default(),
        in_flight,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        notices: chosen.notices,
    };
    Ok(Setup { home, plan, addresses, providers })
}

/// What is known of these models. A start does not wait for an index to be made or mended: the end of this run does that.
fn experience(home: &Home, models: &BTreeSet<&ModelRef>) -> Experience {
    let index = Index::open_with(&index::path(home), Patience::Moment).ok();
    index.and_then(|index| Experience::read(index.connection(), models).ok()).unwrap_or_default()
}

/// Every model that the run may come to ask.
fn models_of(panel: &Panel, course: &Course, stand_ins: &BTreeMap<SeatId, Vec<ModelRef>>) -> BTreeSet<ModelRef> {
    panel
        .seats
        .iter()
        .map(|seat| &seat.model)
        .chain(&panel.judges)
        .chain(&course.clerk)
        .chain(stand_ins.values().flatten())
        .cloned()
        .collect()
}

/// How each model is asked: as much room as the settings say, within what the model can write.
fn terms(
    used: &BTreeSet<ModelRef>,
    catalog: &Catalog,
    settings: &Settings,
    reached: &[Reach],
    servers: &Servers,
) -> BTreeMap<ModelRef, ModelTerms> {
    let terms = |model: &ModelRef| {
        if model.provider.is_local() {
            return local::TERMS;
        }
        if let Some(terms) = servers.terms(model, settings) {
            return terms;
        }
        let most = catalog.find(model).and_then(|found| found.max_output).unwrap_or(settings.max_output_tokens.saturating_mul(2));
        let free = reached.iter().any(|reach| reach.id == model.provider && reach.is_free(&model.model));
        ModelTerms { room: settings.max_output_tokens.min(most), most, free, ..ModelTerms::default() }
    };
    used.iter().map(|model| (model.clone(), terms(model))).collect()
}

/// How many calls may be under way at each provider: as its own entry says, else as its kind can bear, else as the settings say.
fn in_flight(asked: &BTreeSet<ProviderId>, settings: &Settings, reached: &[Reach]) -> BTreeMap<ProviderId, u32> {
    let asked = reached.iter().filter(|reach| asked.contains(&reach.id));
    asked.map(|reach| (reach.id.clone(), reach.in_flight.unwrap_or(settings.max_in_flight))).collect()
}

/// Makes sure of the embedded model that the panel names, and puts the name of what there is in its place.
fn obtain(panel: &mut Panel, models: &LocalModels<'_>, standing: Standing) -> Result<Option<Found>, Error> {
    let mut places: Vec<&mut ModelRef> =
        panel.seats.iter_mut().map(|seat| &mut seat.model).chain(&mut panel.judges).filter(|model| model.provider.is_local()).collect();
    let names: BTreeSet<String> = places.iter().map(|model| model.model.clone()).collect();
    let name = match names.iter().collect::<Vec<_>>().as_slice() {
        [] => return Ok(None),
        [name] => (*name).clone(),
        [_, _, ..] => {
            return Err(
                Error::usage("a panel can have one local model, for all of its local seats").hint("see what there is: conclave model list")
            );
        }
    };
    let found = models.obtain(&name, standing)?;
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
        let settings = Settings::default().with_file(Path::new("config.json"), config).unwrap();
        let reached = reach::all(&settings, &Environment::default());
        let asked = ["anthropic", "work", "open", "ollama", "vllm"].map(ProviderId::new).into_iter().collect();
        let limits: Vec<_> = in_flight(&asked, &settings, &reached).into_iter().map(|(id, limit)| format!("{id} {limit}")).collect();
        assert_eq!(limits, ["anthropic 7", "ollama 1", "open 7", "vllm 7", "work 2"]);
    }
}
