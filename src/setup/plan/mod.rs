//! The line from a request to a [`Plan`].
//!
//! [`prepare`] reads top to bottom: home, settings, catalog, templates, personas, provider access,
//! panel, local servers, the embedded model, debate, helper, fallbacks; [`PlanDraft::complete`]
//! masks secrets, puts the context together, and adds terms, prices, keys and limits.
//!
//! A [`follow_up`] takes its panel and material for its prompts from a stored record. [`rejudge`]
//! takes its panel from one, and shares the beginning ([`Sources`]) and the end. [`resume`] has its
//! plan from a journal, and adds providers and new limits.

pub(crate) mod sources;
mod debate;
pub(crate) mod draft;
mod terms;
mod window;
mod limits;
mod connection;
pub(crate) mod rejudge;
pub(crate) mod follow_up;
pub(crate) mod resume_consent;
pub(crate) mod resume;

use std::collections::BTreeMap;

use super::context::OutgoingTexts;
use super::context::earlier::EarlierContext;
use super::embedded_model::EmbeddedModels;
use super::request::{ConsultationRequest, Purpose};
use super::{fallbacks, helper};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::plan::Plan;
use crate::context::scrub::Finding;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::terminal::output::printer::Printer;

use self::draft::{PlanDraft, Readiness};
use self::follow_up::{PanelChoice, choose_panel};
use self::sources::Sources;

/// A plan, and the providers that it needs.
#[derive(Debug)]
pub(crate) struct PreparedPlan {
    pub(crate) home: Home,
    pub(crate) plan: Plan,
    /// The places of the secrets that were masked in it.
    pub(crate) findings: Vec<Finding>,
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
    let embedded_models =
        EmbeddedModels::new(environment, &sources.settings, &sources.home, printer);
    let embedded = embedded_models.default_model();
    let earlier = request.follows_up.as_deref();
    let PanelChoice {
        spec,
        servers,
        mut selected,
    } = choose_panel(&request.panel, earlier, &sources, embedded.as_ref()).await?;
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
    debate.follows_up = earlier.and_then(follow_up::prior).map(Box::new);
    let context = sources.selection_context(embedded, &servers);
    helper::assign(&mut debate, &selected.panel, &context);
    let fallbacks = fallbacks::fallbacks(&selected.panel, &spec, &context);
    let EarlierContext {
        sources: texts,
        project,
    } = request
        .earlier_context
        .followed_by(request.sources, request.project);
    let mut notices = request.notices;
    notices.extend(selected.notices);
    let draft = PlanDraft {
        outgoing: OutgoingTexts {
            question: request.question,
            sources: texts,
            scrubbing: request.scrubbing,
            project,
        },
        panel: selected.panel,
        debate,
        fallbacks,
        material: request.material,
        notices,
    };
    draft.complete(sources, &servers, readiness, &request.control)
}

#[cfg(test)]
mod tests;
