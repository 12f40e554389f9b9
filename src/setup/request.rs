//! The request for consultations, as plain data: no flags, no settings and no defaults.

use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::options::{DebateAnalysis, JudgePasses, Rounds};
use crate::consultation::policy::mode::Mode;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::context::sources::SourceText;
use crate::domain::record::stored_record::StoredRecord;
use crate::setup::context::sources::ProjectTerms;

/// The persona of a model that answers alone, which is no persona's business: the most general one.
const PERSONA_ALONE: &str = "pragmatic";

/// What any number of consultations have in common. The settings decide everything that is absent.
#[derive(Clone, Debug, Default)]
pub struct TemplateRequest {
    /// The earlier consultation that the questions follow up, as loaded for models.
    pub follows_up: Option<Box<StoredRecord>>,
    /// Secrets go out as they are.
    pub unmasked: bool,
    pub panel: PanelRequest,
    /// No other model takes over a seat: the answer comes from the model that was named, or there is
    /// none.
    pub no_fallbacks: bool,
    pub debate: DebateRequest,
    pub control: ControlRequest,
    pub material: PromptMaterial,
    /// No key is read, and no model is downloaded.
    pub dry_run: bool,
    /// Notes for the user, before those on the panel.
    pub notices: Vec<String>,
}

/// One question, with the texts that go out beside it.
#[derive(Clone, Debug, Default)]
pub struct QuestionRequest {
    pub question: String,
    /// The sources of the question's context, as read.
    pub sources: Vec<SourceText>,
    pub project: ProjectTerms,
}

impl QuestionRequest {
    pub fn has_context(&self) -> bool {
        !self.sources.is_empty() || self.project.stance.is_some()
    }
}

/// The seats and the judge.
#[derive(Clone, Debug, Default)]
pub struct PanelRequest {
    /// Seats as `persona=provider:model,…`, or the name of a panel in the settings.
    pub panel: Option<String>,
    /// Personas and `@sets`, separated by commas; or `auto`.
    pub personas: Option<String>,
    /// Models by seat; a single one plays every seat.
    pub models: Vec<String>,
    /// The judge and its fallbacks, separated by commas.
    pub judge: Option<String>,
}

impl PanelRequest {
    /// The model is its own judge, which is never asked: no other vendor is needed.
    pub fn alone(model: &str) -> Self {
        Self {
            panel: None,
            personas: Some(PERSONA_ALONE.to_owned()),
            models: vec![model.to_owned()],
            judge: Some(model.to_owned()),
        }
    }

    pub fn names_no_seats(&self) -> bool {
        self.panel.is_none() && self.personas.is_none() && self.models.is_empty()
    }
}

/// The options of the debate.
#[derive(Clone, Copy, Debug, Default)]
pub struct DebateRequest {
    pub mode: Option<Mode>,
    pub rounds: Option<Rounds>,
    pub judge_passes: Option<JudgePasses>,
    pub analysis: Option<DebateAnalysis>,
}
