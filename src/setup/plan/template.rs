//! A template: everything that plans have in common. A plan adds its question, the context of it,
//! and what is drawn for it alone: its id and its seed.

use std::collections::BTreeMap;

use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::Plan;
use crate::consultation::prompt::Templates;
use crate::context::scrub::{Finding, Scrubber};
use crate::domain::context::ContextStorage;
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::driver::Providers;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::setup::context::assemble;
use crate::setup::context::outgoing::{self, MaskingOutcome};
use crate::setup::request::QuestionRequest;

use super::window::{self, PromptWindows};

/// A source of plans.
#[derive(Debug)]
pub(crate) struct PlanTemplate {
    pub(super) home: Home,
    /// The common part of every plan, before anything is masked in it. It has no question, and the
    /// prompts of a plan without context.
    pub(super) common: Plan,
    /// The prompts of a plan with context.
    pub(super) templates_with_context: Templates,
    /// `None` if nothing is masked.
    pub(super) scrubber: Option<Scrubber>,
    /// The address of each provider of the plans.
    pub(super) addresses: BTreeMap<ProviderId, String>,
    /// Empty in a dry run.
    pub(super) providers: Providers,
    pub(super) catalog: ModelCatalog,
    pub(super) settings: Settings,
}

/// A plan for one question.
#[derive(Debug)]
pub(crate) struct PreparedPlan {
    pub(crate) plan: Plan,
    /// The places of the secrets that were masked in it.
    pub(crate) findings: Vec<Finding>,
}

impl PlanTemplate {
    /// Returns a plan for a question.
    ///
    /// # Errors
    ///
    /// When the context does not fit the models, or a prompt cannot be rendered.
    pub(crate) fn plan(&self, request: QuestionRequest) -> Result<PreparedPlan, Error> {
        let unique = ulid::Ulid::generate();
        let mut plan = Plan {
            id: ConsultationId::from_unique(&unique.to_string()),
            seed: u64::try_from(unique.random() & u128::from(u64::MAX)).unwrap_or_default(),
            ..self.common.clone()
        };
        if request.has_context() {
            plan.templates = self.templates_with_context.clone();
        }
        let mut request = request;
        let masked = self.mask(&mut plan, &mut request);
        let mut context = assemble(&request.sources, &request.project);
        if let Some(context) = &mut context
            && !self.settings.log_context
        {
            context.storage = ContextStorage::Off;
        }
        plan.question = request.question;
        plan.context = context.map(Box::new);
        plan.project = request.project.context;
        plan.scrubbing = Some(Box::new(masked.report));
        window::check(
            &mut plan,
            &PromptWindows::new(&self.catalog, &self.settings),
        )?;
        Ok(PreparedPlan {
            plan,
            findings: masked.findings,
        })
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the common part of every plan: it has no question.
    pub(crate) fn common(&self) -> &Plan {
        &self.common
    }

    /// Returns the providers of the plans, which share their connections; none in a dry run.
    pub(crate) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Returns the address of each provider of the plans.
    pub(crate) fn addresses(&self) -> &BTreeMap<ProviderId, String> {
        &self.addresses
    }

    /// Masks the secrets in everything that goes out, unless the user wants none of it.
    fn mask(&self, plan: &mut Plan, request: &mut QuestionRequest) -> MaskingOutcome {
        let Some(scrubber) = &self.scrubber else {
            return MaskingOutcome::default();
        };
        outgoing::mask(scrubber, |edit| {
            edit("question", &mut request.question);
            outgoing::edit_project(&mut request.project, edit);
            for source in &mut request.sources {
                outgoing::edit_source(source, edit);
            }
            outgoing::edit_debate(&mut plan.debate, edit);
            outgoing::edit_panel(&mut plan.panel, edit);
            outgoing::edit_templates(&mut plan.templates, edit);
        })
    }
}
