//! The request for consultations, as plain data: no flags, no settings and no defaults.

use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::options::{JudgePasses, Rounds};
use crate::consultation::policy::mode::Mode;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::context::sources::SourceText;
use crate::domain::stored_record::StoredRecord;
use crate::setup::context::project::ProjectTerms;
use crate::setup::context::request::Scrubbing;

/// The persona of a model that answers alone, which is no persona's business: the most general one.
const PERSONA_ALONE: &str = "pragmatic";

/// What any number of consultations have in common. The settings decide everything that is absent.
#[derive(Clone, Debug, Default)]
pub struct TemplateRequest {
    /// The earlier consultation that the questions follow up, as loaded for models.
    pub follows_up: Option<Box<StoredRecord>>,
    pub scrubbing: Scrubbing,
    pub panel: PanelRequest,
    pub fallbacks: FallbackRequest,
    pub debate: DebateRequest,
    pub control: ControlRequest,
    pub material: PromptMaterial,
    pub purpose: Purpose,
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
    /// Returns whether anything goes out beside the question.
    pub fn has_context(&self) -> bool {
        !self.sources.is_empty() || self.project.stance.is_some()
    }
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// A run: keys are read, and the embedded model is downloaded if needed.
    #[default]
    Run,
    /// A dry run: no key is read, and no model is downloaded.
    Preview,
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
    /// Returns the panel of one model that answers with one call, in one round. It is its own
    /// judge, who is never asked: no other vendor is needed.
    pub fn alone(model: &str) -> Self {
        Self {
            panel: None,
            personas: Some(PERSONA_ALONE.to_owned()),
            models: vec![model.to_owned()],
            judge: Some(model.to_owned()),
        }
    }

    /// Returns whether the settings decide on the seats.
    pub fn names_no_seats(&self) -> bool {
        self.panel.is_none() && self.personas.is_none() && self.models.is_empty()
    }
}

/// The models that take over a seat whose own model fails or is slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FallbackRequest {
    #[default]
    Usual,
    /// None: the answer comes from the model that was named, or there is no answer.
    Off,
}

/// The options of the debate.
#[derive(Clone, Copy, Debug, Default)]
pub struct DebateRequest {
    pub mode: Option<Mode>,
    pub rounds: Option<Rounds>,
    pub judge_passes: Option<JudgePasses>,
    pub analysis: AnalysisRequest,
}

/// Whether a helper model may compare positions before and after the debate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnalysisRequest {
    #[default]
    BySettings,
    Off,
}
