//! Everything a consultation needs before it begins: settings, prompts, panel, prices, and the providers to ask.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::commands::panel::{self, Choices, Wanted};
use crate::config::env::Environment;
use crate::config::paths::{Home, read_optional};
use crate::config::secrets;
use crate::config::settings::Settings;
use crate::consultation::plan::{ModelTerms, Plan};
use crate::consultation::policy::consent::{ConsentRule, Standing};
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::prompt::Templates;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId};
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::engine::driver::Providers;
use crate::engine::ports::Provider;
use crate::error::Error;
use crate::providers::catalog::Catalog;
use crate::providers::cloud::{Cloud, Vendor};
use crate::providers::http::{Http, Timeouts};
use crate::providers::wire::{Account, Endpoint};
use crate::terminal::printer::Printer;

use super::Args;

/// What the run works with.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) home: Home,
    pub(super) plan: Plan,
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
    let settings = Settings::load(&home.config_file()).map_err(Error::usage)?;
    let catalog = catalog(&home)?;
    let templates = templates(&home)?;
    let endpoints: BTreeMap<Vendor, Endpoint> = secrets::endpoints(environment)
        .into_iter()
        .filter_map(|endpoint| {
            let account = Account { key: endpoint.key, variable: endpoint.variable.to_owned() };
            Some((Vendor::of(&endpoint.provider)?, Endpoint { base_url: endpoint.base_url, account }))
        })
        .collect();

    let wanted = Wanted {
        panel: args.panel.clone().or_else(|| settings.panel.clone().filter(|_| args.model.is_empty())),
        models: args.model.clone(),
        judge: args.judge.clone().or_else(|| settings.judge.clone()),
    };
    let local = super::super::local::default_model(environment, &settings)?;
    let choices = Choices { catalog: &catalog, templates: &templates, keyed: endpoints.keys().copied().collect(), local, now };
    let chosen = panel::choose(&wanted, &choices)?;

    let unique = ulid::Ulid::new();
    let prices = catalog.prices(now);
    let models = terms(&chosen.panel, &catalog, &settings);
    let timeouts = Timeouts { connect: settings.connect_timeout, idle: settings.idle_timeout };
    let providers = providers(&chosen.panel, endpoints, catalog, timeouts, environment, &settings, &home, printer, standing)?;
    let plan = Plan {
        id: ConsultationId::from_unique(&unique.to_string()),
        question,
        panel: chosen.panel,
        models,
        prices,
        templates,
        seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
        consent: ConsentRule { always_allow_under: settings.always_allow_under, standing },
        retry: RetryRule::default(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        notices: chosen.notices,
    };
    Ok(Setup { home, plan, providers })
}

fn catalog(home: &Home) -> Result<Catalog, Error> {
    let file = home.models_file();
    match read_optional(&file).map_err(|error| Error::usage(error).hint(format!("check {}", file.display())))? {
        None => Ok(Catalog::builtin()),
        Some(json) => Catalog::builtin().merge(&json).map_err(|error| Error::usage(error).hint(format!("mend or remove {}", file.display()))),
    }
}

fn templates(home: &Home) -> Result<Templates, Error> {
    let mut templates = Templates::builtin();
    for (name, text) in home.prompt_overrides().map_err(Error::usage)? {
        let file = home.path().join("prompts").join(format!("{name}.md"));
        templates.override_with(&name, &text).map_err(|error| Error::usage(error).hint(format!("mend or remove {}", file.display())))?;
    }
    Ok(templates)
}

/// How each model of the panel is asked: as much room as the settings say, within what the model can write.
fn terms(panel: &Panel, catalog: &Catalog, settings: &Settings) -> BTreeMap<ModelRef, ModelTerms> {
    let models = panel.seats.iter().map(|seat| &seat.model).chain(&panel.judges);
    let terms = |model: &ModelRef| {
        if model.provider.is_local() {
            return super::super::local::TERMS;
        }
        let most = catalog.find(model).and_then(|found| found.max_output).unwrap_or(settings.max_output_tokens.saturating_mul(2));
        ModelTerms { room: settings.max_output_tokens.min(most), most, ..ModelTerms::default() }
    };
    models.map(|model| (model.clone(), terms(model))).collect()
}

#[expect(clippy::too_many_arguments, reason = "each provider is made from parts that only this function brings together")]
fn providers(
    panel: &Panel,
    endpoints: BTreeMap<Vendor, Endpoint>,
    catalog: Catalog,
    timeouts: Timeouts,
    environment: &Environment,
    settings: &Settings,
    home: &Home,
    printer: &Printer,
    standing: Standing,
) -> Result<Providers, Error> {
    let (catalog, http) = (Arc::new(catalog), Arc::new(Http::new(timeouts)));
    let mut providers: Providers = endpoints
        .into_iter()
        .map(|(vendor, endpoint)| {
            let cloud: Arc<dyn Provider> = Arc::new(Cloud::new(vendor, endpoint, Arc::clone(&catalog), Arc::clone(&http)));
            (ProviderId::new(vendor.id()), cloud)
        })
        .collect();
    let local: Vec<&ModelRef> = panel.seats.iter().map(|seat| &seat.model).chain(&panel.judges).filter(|model| model.provider.is_local()).collect();
    if !local.is_empty() {
        let provider = super::super::local::provider(&local, environment, settings, home, printer, standing)?;
        providers.insert(ProviderId::new(ProviderId::LOCAL), provider);
    }
    Ok(providers)
}
