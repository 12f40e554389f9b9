//! Who works on the document: a template of plans for the panel, and one for the model that
//! extracts claims and questions from a plain document.

use crate::consultation::plan::options::{DebateAnalysis, Rounds};
use crate::consultation::plan::{ControlRequest, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::{PromptError, Templates};
use crate::consultation::protocol::answer::AnswerForm;
use crate::context::sources::SourceText;
use crate::domain::context::SourceKind;
use crate::error::Error;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::document::SpecDocument;
use crate::refinement::request::{
    DocumentSource, document_source, extraction_question, question_form, question_text,
};
use crate::setup::context::sources::ProjectTerms;
use crate::setup::plan::Planner;
use crate::setup::plan::template::{PlanTemplate, PreparedPlan};
use crate::setup::request::{DebateRequest, PanelRequest, QuestionRequest, TemplateRequest};

use super::request::{LoopJob, RefinementRequest};

/// The round of a model that answers alone.
const ONE_ROUND: u8 = 1;

/// The templates of a loop.
#[derive(Debug)]
pub struct RefinementTemplates {
    /// The panel's consultations.
    pub panel: PlanTemplate,
    /// The model that extracts; `None` for a document that has sections.
    pub extraction: Option<PlanTemplate>,
    /// What goes out beside the document.
    sources: Vec<SourceText>,
    project: ProjectTerms,
    /// The name of the document in prompts.
    document: String,
    prompts: Templates,
    /// The limits of consultations that an earlier process began.
    pub resume_control: ControlRequest,
}

impl RefinementTemplates {
    /// Prepares the panel, and for a plain document the first of its judges, who extracts.
    ///
    /// # Errors
    ///
    /// When a model cannot be asked.
    pub async fn prepare(planner: &Planner<'_>, request: RefinementRequest) -> Result<Self, Error> {
        let panel = planner.template(request.template.clone()).await?;
        let extraction = if request.is_plain {
            Some(extraction(planner, &request.template, &panel.common).await?)
        } else {
            None
        };
        Ok(Self {
            panel,
            extraction,
            sources: request.sources,
            project: request.project,
            document: request.document,
            prompts: planner.sources.templates.clone(),
            resume_control: ControlRequest {
                consent_mode: ConsentMode::PreApproved,
                ..request.template.control
            },
        })
    }

    /// Returns the template of a consultation.
    ///
    /// # Errors
    ///
    /// When nothing was to be extracted.
    pub fn of(&self, job: &LoopJob) -> Result<&PlanTemplate, Error> {
        match job {
            LoopJob::Questions(_) => Ok(&self.panel),
            LoopJob::Extraction => self.extraction.as_ref().ok_or_else(|| {
                Error::failed("the document has lost its sections since the command began")
                    .hint("run the command again")
            }),
        }
    }

    pub fn templates(&self) -> impl Iterator<Item = &PlanTemplate> {
        std::iter::once(&self.panel).chain(&self.extraction)
    }

    /// Returns the plan of a consultation of the panel.
    ///
    /// # Errors
    ///
    /// When the document and its context do not fit the models, or a prompt cannot be rendered.
    pub fn plan_batch(
        &self,
        document: &SpecDocument,
        batch: &QuestionBatch,
    ) -> Result<PreparedPlan, Error> {
        let mut sources = vec![self.source_text(document)];
        sources.extend(self.sources.iter().cloned());
        let size = self.panel.common.expert_size();
        let mut prepared = self.panel.plan(QuestionRequest {
            question: question_text(&self.prompts, size, &self.document, batch)
                .map_err(unrendered)?,
            sources,
            project: self.project.clone(),
        })?;
        prepared.plan.form = question_form(size, batch);
        Ok(prepared)
    }

    /// Returns the plan of the extraction from a plain document.
    ///
    /// # Errors
    ///
    /// As [`Self::plan_batch`], and when nothing was to be extracted.
    pub fn plan_extraction(&self, document: &SpecDocument) -> Result<PreparedPlan, Error> {
        let extraction = self.of(&LoopJob::Extraction)?;
        let mut prepared = extraction.plan(QuestionRequest {
            question: extraction_question(
                &self.prompts,
                extraction.common.expert_size(),
                &self.document,
            )
            .map_err(unrendered)?,
            sources: vec![self.source_text(document)],
            project: ProjectTerms::default(),
        })?;
        prepared.plan.form = AnswerForm::Items;
        Ok(prepared)
    }

    pub fn document_source(&self, document: &SpecDocument) -> DocumentSource {
        document_source(&self.document, document)
    }

    fn source_text(&self, document: &SpecDocument) -> SourceText {
        let DocumentSource { name, text, .. } = self.document_source(document);
        SourceText {
            kind: SourceKind::File,
            name,
            text,
        }
    }
}

async fn extraction(
    planner: &Planner<'_>,
    request: &TemplateRequest,
    panel: &Plan,
) -> Result<PlanTemplate, Error> {
    let judge = panel.panel.judges.first().ok_or_else(|| {
        Error::usage("the panel has no judge that could read a plain document")
            .hint("name one with `--judge MODEL`")
    })?;
    let request = TemplateRequest {
        panel: PanelRequest::alone(&judge.to_string()),
        debate: DebateRequest {
            mode: None,
            rounds: Rounds::new(ONE_ROUND),
            judge_passes: None,
            analysis: Some(DebateAnalysis::Off),
        },
        ..request.clone()
    };
    planner.template(request).await
}

fn unrendered(error: PromptError) -> Error {
    Error::usage(error).hint("check the templates in the `prompts` folder of the home")
}
