//! The line from a request to a [`Plan`].
//!
//! [`prepare`] reads top to bottom: home, settings, catalog, templates, personas, provider access,
//! panel, local servers, the embedded model, debate, helper, fallbacks; [`PlanDraft::complete`]
//! adds terms, prices, keys and limits. [`rejudge`] takes its panel from a stored record, and
//! shares the beginning ([`Sources`]) and the end. [`resume`] has its plan from a journal: it adds
//! providers and new limits.

pub(crate) mod sources;
mod debate;
pub(crate) mod draft;
mod terms;
mod connection;
pub(crate) mod rejudge;
pub(crate) mod resume_consent;
pub(crate) mod resume;

use std::collections::BTreeMap;

use super::embedded_model::EmbeddedModels;
use super::local_servers::LocalServerSet;
use super::local_servers::search::ServerSearch;
use super::panel::spec::PanelSpec;
use super::request::{ConsultationRequest, Purpose};
use super::{fallbacks, helper, panel};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::plan::Plan;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::terminal::output::printer::Printer;

use self::draft::{PlanDraft, Readiness};
use self::sources::Sources;

/// A plan, and the providers that it needs.
#[derive(Debug)]
pub(crate) struct PreparedPlan {
    pub(crate) home: Home,
    pub(crate) plan: Plan,
    /// The address of each provider of the plan.
    pub(crate) addresses: BTreeMap<ProviderId, String>,
    /// Empty in a dry run.
    pub(crate) providers: Providers,
}

/// Makes a plan of a request.
pub(crate) async fn prepare(
    request: ConsultationRequest,
    environment: &Environment,
    printer: &Printer,
    now: Timestamp,
) -> Result<PreparedPlan, Error> {
    let sources = Sources::load(environment, now)?;
    let spec = PanelSpec::new(&request.panel, &sources.settings, &sources.personas)?;
    let embedded_models =
        EmbeddedModels::new(environment, &sources.settings, &sources.home, printer);
    let search = ServerSearch::new(&sources.settings, &sources.access_list)?;
    let servers = LocalServerSet::for_panel(&spec, &sources.access_list, search).await;
    let context = sources.selection_context(embedded_models.default_model(), &servers);
    let mut selected = panel::select(&spec, &context)?;
    let consent_mode = request.control.consent_mode;
    let readiness = match request.purpose {
        Purpose::Preview => {
            embedded_models.check_panel(&selected.panel)?;
            Readiness::Preview
        }
        Purpose::Run => Readiness::Run(
            embedded_models
                .obtain_for_panel(&mut selected.panel, consent_mode)
                .await?,
        ),
    };
    let mut debate = debate::options(request.debate, &sources.settings)?;
    debate.selectable_personas = selected.selectable_personas;
    helper::assign(&mut debate, &selected.panel, &context);
    let fallbacks = fallbacks::fallbacks(&selected.panel, &spec, &context);
    let draft = PlanDraft {
        question: request.question,
        panel: selected.panel,
        debate,
        fallbacks,
        material: request.material,
        notices: selected.notices,
    };
    draft.complete(sources, &servers, readiness, &request.control)
}
