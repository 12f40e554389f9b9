//! The plan of a rejudgement: the judge's work on the answers of a stored record, in which no
//! expert is asked.

mod judges;
mod prior_answers;

pub(super) use judges::was_private;
pub(super) use prior_answers::seats;

use std::collections::BTreeMap;

use super::Planner;
use super::template::{PlanDraft, PlanTemplate, PreparedPlan};
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::prompt::prior_consultation::PriorConsultation;
use crate::domain::panel::Panel;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::context::request::Scrubbing;
use crate::setup::helper;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::request::{ControlRequest, Purpose, QuestionRequest};

/// The request for a rejudgement.
#[derive(Debug)]
pub(crate) struct RejudgeRequest<'a> {
    /// The judge and its fallbacks, separated by commas.
    pub(crate) judge: Option<&'a str>,
    /// The consultation that the question follows up, as the experts knew it.
    pub(crate) follows_up: Option<Box<PriorConsultation>>,
    /// The context of its question, as the experts knew it.
    pub(crate) context: EarlierContext,
    pub(crate) material: PromptMaterial,
    pub(crate) control: ControlRequest,
}

/// Makes a plan of a stored record, in which only the judge is asked.
pub(crate) async fn prepare(
    planner: &Planner<'_>,
    record: &StoredRecord,
    request: RejudgeRequest<'_>,
) -> Result<(PlanTemplate, PreparedPlan), Error> {
    let sources = &planner.sources;
    let seats = prior_answers::seats(record);
    let judge = judges::named(request.judge, record, &sources.settings);
    let embedded_models = planner.embedded_models();
    let embedded = embedded_models.default_model();
    let candidates = judges::candidates(judge, record, &seats, &sources.catalog);
    let search = ServerSearch::new(&sources.settings, &sources.access_list)?;
    let servers = LocalServerSet::for_models(candidates.iter(), search).await;
    let context = sources.selection_context(embedded, &servers);
    let mut judging = Panel {
        seats: Vec::new(),
        judges: judges::judges(judge, record, &seats, &context)?,
    };
    let file = embedded_models
        .obtain_for_panel(&mut judging, request.control.consent_mode)
        .await?;
    let mut debate = prior_answers::debate(record);
    debate.follows_up = request.follows_up;
    helper::assign(&mut debate, &judging, &context);
    if judges::was_private(record, &context) {
        // Only the judge that the user names sees the answers.
        debate.helper = debate.helper.and_then(|_| judging.judges.first().cloned());
    }
    let mut notices = vec![format!(
        "the answers of {} are judged again: no expert is asked, and their order changes",
        record.id
    )];
    let judge = judging.judges.first();
    notices.extend(judge.and_then(|judge| sources.catalog.notices(judge, sources.now)));
    let template = planner.complete(PlanDraft {
        scrubbing: Scrubbing::On,
        panel: Panel {
            seats,
            judges: judging.judges,
        },
        debate,
        fallbacks: BTreeMap::new(),
        material: request.material,
        notices,
        control: &request.control,
        servers: &servers,
        purpose: Purpose::Run,
        embedded: file,
    })?;
    let mut prepared = template.plan(QuestionRequest {
        question: record.question.clone(),
        sources: request.context.sources,
        project: request.context.project,
    })?;
    prior_answers::reorder(&mut prepared.plan, record);
    Ok((template, prepared))
}
