//! The line from a request to a [`Plan`](crate::consultation::plan::Plan), in two steps: what
//! consultations have in common is prepared once, as a [`PlanTemplate`]; each question then has its
//! plan from [`PlanTemplate::plan`].
//!
//! [`Planner::template`] reads top to bottom: panel, local servers, the embedded model, debate,
//! helper, fallbacks; `complete` adds terms, prices, keys, limits and the scrubber.
//! The planner reads the home and the environment ([`PlanSources`]) once, and its templates share
//! their [`Connections`].
//!
//! Follow-ups and rejudgements take panels and answers [`from_record`]s. [`resume`] has its plan
//! from a journal, and adds providers and new limits.

pub mod sources;
pub mod template;
mod terms;
mod limits;
pub mod from_record;
pub mod resume;

use std::collections::BTreeMap;

use super::embedded_model::EmbeddedModels;
use super::local_servers::LocalServerSet;
use super::panel::context::SelectionContext;
use super::programs::consent::ProgramConsent;
use super::request::TemplateRequest;
use super::{fallbacks, helper};
use crate::config::env::Environment;
use crate::config::settings::Repository;
#[cfg(feature = "fleet")]
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::PromptError;
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::engine::ports::Face;
#[cfg(feature = "fleet")]
use crate::engine::ports::Providers;
use crate::error::Error;
use crate::providers::local::files::choice::ModelFile;

use self::from_record::PanelChoice;
use self::resume::ResumeSources;
use self::sources::{Connections, PlanSources};
use self::template::PlanTemplate;

/// Prepares templates from one home and environment, which are read once.
#[derive(Debug)]
pub struct Planner<'a> {
    environment: &'a Environment,
    pub face: &'a dyn Face,
    pub sources: PlanSources,
    connections: Connections,
}

impl<'a> Planner<'a> {
    pub fn new(
        environment: &'a Environment,
        face: &'a dyn Face,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let sources = PlanSources::load(environment, now)?;
        if let Some(Repository { file, .. }) = &sources.settings.repository {
            let file = file.shown();
            face.note(&format!("Settings of this repository: {}", file.display()));
        }
        for file in sources.home.unread_personas() {
            face.warning(&format!(
                "Warning: {file} is not read; personas are in `prompts/personas`"
            ));
        }
        let connections = Connections::new(&sources.settings, environment, &sources.home);
        Ok(Self {
            environment,
            face,
            sources,
            connections,
        })
    }

    /// Prepares what consultations have in common: finds the local servers, obtains the embedded
    /// model, and connects the providers.
    pub async fn template(&self, request: TemplateRequest) -> Result<PlanTemplate, Error> {
        let sources = &self.sources;
        let PanelChoice {
            spec,
            servers,
            mut selected,
        } = self.choose(&request).await?;
        let embedded_file = self.embedded_file(&mut selected.panel, &request).await?;
        let mut debate = limits::options(request.debate, &sources.settings)?;
        debate.selectable_personas = selected.selectable_personas;
        let earlier = request.follows_up.as_deref();
        debate.follows_up = earlier.and_then(from_record::prior).map(Box::new);
        let context = self.selection_context(&servers);
        helper::assign(&mut debate, &selected.panel, &context);
        let mut fallbacks = BTreeMap::new();
        if !request.no_fallbacks {
            fallbacks = fallbacks::fallbacks(&selected.panel, &spec, &context);
        } else if request.panel.judge.is_none() {
            // Judges that the person named are meant; others only take over.
            selected.panel.judges.truncate(1);
        }
        let asked = (selected.panel, debate, fallbacks);
        self.complete(&request, asked, selected.notices, &servers, embedded_file)
            .await
    }

    /// Connects the providers that can be asked over the network without a person, for plans that
    /// come from elsewhere; warns of those whose key cannot be had.
    #[cfg(feature = "fleet")]
    pub async fn remote_providers(&self) -> Providers {
        let PlanSources {
            settings, catalog, ..
        } = &self.sources;
        let (mut providers, no_programs) = (Providers::new(), [].into());
        for access in &self.sources.access_list {
            let is_used = access.is_selectable() || access.has_configured_address;
            if is_used && access.is_configured() {
                let access = std::slice::from_ref(access);
                let consent =
                    (self.connections).consent(self.face, ConsentMode::NonInteractive, false);
                let models = (catalog, None);
                let connected =
                    self.connections
                        .connect(&no_programs, access, consent, settings, models);
                match connected.await {
                    Ok((connected, _)) => providers.extend(connected),
                    Err(error) => self.face.warning(&format!("Warning: {error}")),
                }
            }
        }
        providers
    }

    pub fn resume_sources(&self) -> ResumeSources<'_> {
        ResumeSources {
            home: &self.sources.home,
            environment: self.environment,
            settings: &self.sources.settings,
            face: self.face,
            connections: &self.connections,
            dry_run: false,
        }
    }

    fn consent(&self, request: &TemplateRequest) -> ProgramConsent<'_> {
        let mode = request.control.consent_mode;
        self.connections.consent(self.face, mode, request.dry_run)
    }

    fn selection_context<'b>(&'b self, servers: &'b LocalServerSet) -> SelectionContext<'b> {
        let embedded = self.embedded_models().default_model();
        let programs = &self.connections.programs;
        self.sources.selection_context(embedded, servers, programs)
    }

    async fn embedded_file(
        &self,
        panel: &mut Panel,
        request: &TemplateRequest,
    ) -> Result<Option<ModelFile>, Error> {
        let models = self.embedded_models();
        if request.dry_run {
            return models.check_panel(panel).map(|()| None);
        }
        let consent_mode = request.control.consent_mode;
        models.obtain_for_panel(panel, consent_mode).await
    }

    fn embedded_models(&self) -> EmbeddedModels<'a> {
        let PlanSources { settings, home, .. } = &self.sources;
        EmbeddedModels::new(self.environment, settings, home, self.face)
    }
}

impl From<PromptError> for Error {
    fn from(error: PromptError) -> Self {
        Self::usage(error).hint("check the templates in the `prompts` folder of the home")
    }
}

#[cfg(test)]
mod tests;
