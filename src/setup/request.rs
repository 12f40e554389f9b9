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
pub(crate) struct TemplateRequest {
    /// The earlier consultation that the questions follow up, as loaded for models.
    pub(crate) follows_up: Option<Box<StoredRecord>>,
    pub(crate) scrubbing: Scrubbing,
    pub(crate) panel: PanelRequest,
    pub(crate) fallbacks: FallbackRequest,
    pub(crate) debate: DebateRequest,
    pub(crate) control: ControlRequest,
    pub(crate) material: PromptMaterial,
    pub(crate) purpose: Purpose,
    /// Notes for the user, before those on the panel.
    pub(crate) notices: Vec<String>,
}

/// One question, with the texts that go out beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionRequest {
    pub(crate) question: String,
    /// The sources of the question's context, as read.
    pub(crate) sources: Vec<SourceText>,
    pub(crate) project: ProjectTerms,
}

impl QuestionRequest {
    /// Returns whether anything goes out beside the question.
    pub(crate) fn has_context(&self) -> bool {
        !self.sources.is_empty() || self.project.stance.is_some()
    }
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A run: keys are read, and the embedded model is downloaded if needed.
    #[default]
    Run,
    /// A dry run: no key is read, and no model is downloaded.
    Preview,
}

/// The seats and the judge.
#[derive(Clone, Debug, Default)]
pub(crate) struct PanelRequest {
    /// Seats as `persona=provider:model,…`, or the name of a panel in the settings.
    pub(crate) panel: Option<String>,
    /// Personas and `@sets`, separated by commas; or `auto`.
    pub(crate) personas: Option<String>,
    /// Models by seat; a single one plays every seat.
    pub(crate) models: Vec<String>,
    /// The judge and its fallbacks, separated by commas.
    pub(crate) judge: Option<String>,
}

impl PanelRequest {
    /// Returns the panel of one model that answers with one call, in one round. It is its own
    /// judge, who is never asked: no other vendor is needed.
    pub(crate) fn alone(model: &str) -> Self {
        Self {
            panel: None,
            personas: Some(PERSONA_ALONE.to_owned()),
            models: vec![model.to_owned()],
            judge: Some(model.to_owned()),
        }
    }

    /// Returns whether the settings decide on the seats.
    pub(crate) fn names_no_seats(&self) -> bool {
        self.panel.is_none() && self.personas.is_none() && self.models.is_empty()
    }
}

/// The models that take over a seat whose own model fails or is slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FallbackRequest {
    #[default]
    Usual,
    /// None: the answer comes from the model that was named, or there is no answer.
    Off,
}

/// The options of the debate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DebateRequest {
    pub(crate) mode: Option<Mode>,
    pub(crate) rounds: Option<Rounds>,
    pub(crate) judge_passes: Option<JudgePasses>,
    pub(crate) analysis: AnalysisRequest,
}

/// Whether a helper model may compare positions before and after the debate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AnalysisRequest {
    #[default]
    BySettings,
    Off,
}
