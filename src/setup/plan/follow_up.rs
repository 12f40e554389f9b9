//! What a follow-up takes over from the consultation before it: material for the prompts and,
//! unless the request names another, the panel and its judge.
//!
//! The settings do not replace that panel, which knows the conversation. What ran wholly on the
//! user's own servers stays there, unless the user names another panel.

use std::collections::BTreeSet;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::prompt::prior_consultation::{PriorConsultation, PriorPosition};
use crate::domain::artifact::{Independent, Verdict};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::stored_record::{StoredAgent, StoredModel, StoredRecord};
use crate::error::{Error, whole};
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::panel::context::SelectionContext;
use crate::setup::panel::spec::PanelSpec;
use crate::setup::panel::{self, SelectedPanel};
use crate::setup::request::PanelRequest;

use super::rejudge;
use super::sources::Sources;

/// Returns the material of a record for models; `None` if it has neither an answer nor a position.
pub(crate) fn prior(record: &StoredRecord) -> Option<PriorConsultation> {
    let seats = rejudge::seats(record);
    let revisions = record.positions_of_round_3();
    let position = |first: &Independent| {
        let mut last = revisions
            .iter()
            .filter(|held| held.agent_id == first.agent_id);
        let last = last
            .next()
            .filter(|held| !held.revised_position.trim().is_empty());
        PriorPosition {
            agent_id: first.agent_id.clone(),
            position: last
                .map_or(&first.position, |held| &held.revised_position)
                .clone(),
            confidence: last
                .and_then(|held| held.revised_confidence)
                .or(first.confidence),
        }
    };
    let positions: Vec<PriorPosition> = record.independents().map(position).collect();
    let verdict = record.verdict().map(|verdict| Verdict {
        evidence: Vec::new(),
        summary: String::new(),
        ..verdict.clone()
    });
    let is_empty = positions.is_empty() && verdict.is_none();
    (!is_empty).then(|| PriorConsultation {
        id: record
            .consultation_id()
            .unwrap_or_else(|| ConsultationId::from_unique(&record.id)),
        question: record.question.clone(),
        // A record without labels names its experts.
        labels: Labels::in_order(&record.expert_order, &seats)
            .unwrap_or_else(|| Labels::draw(&seats, 0)),
        positions,
        verdict,
    })
}

/// A panel, what it was selected by, and the servers that it needs.
#[derive(Debug)]
pub(super) struct PanelChoice {
    pub(super) spec: PanelSpec,
    pub(super) servers: LocalServerSet,
    pub(super) selected: SelectedPanel,
}

/// Selects the panel: that of the earlier consultation if there is one and the request names no
/// other, else that of request and settings.
pub(super) async fn choose_panel(
    request: &PanelRequest,
    earlier: Option<&StoredRecord>,
    sources: &Sources,
    embedded: Option<&ModelRef>,
) -> Result<PanelChoice, Error> {
    let usual = || PanelSpec::new(request, &sources.settings, &sources.personas);
    let earlier = earlier
        .filter(|_| request.names_no_seats())
        .and_then(|record| Some((record, spec_of(record, request)?)));
    let Some((record, spec)) = earlier else {
        return select(usual()?, sources, embedded).await;
    };
    match select(spec, sources, embedded).await {
        Ok(mut choice) => {
            if request.judge.is_none() {
                let context = sources.selection_context(embedded.cloned(), &choice.servers);
                lead_with_judge(&mut choice.selected, record, &context);
            }
            Ok(choice)
        }
        Err(error) => {
            let none = LocalServerSet::none();
            let context = sources.selection_context(embedded.cloned(), &none);
            if rejudge::was_private(record, &context) {
                return Err(error.hint(format!(
                    "{} ran on your own servers: to show it to others, name them with `--panel`",
                    record.id
                )));
            }
            let mut choice = select(usual()?, sources, embedded).await?;
            let (id, cause) = (&record.id, whole(error.source()));
            let notice = format!(
                "the panel of {id} cannot be asked; the usual panel answers instead: {cause}"
            );
            choice.selected.notices.insert(0, notice);
            Ok(choice)
        }
    }
}

async fn select(
    spec: PanelSpec,
    sources: &Sources,
    embedded: Option<&ModelRef>,
) -> Result<PanelChoice, Error> {
    let search = ServerSearch::new(&sources.settings, &sources.access_list)?;
    let servers = spec.find_servers(&sources.access_list, search).await;
    let context = sources.selection_context(embedded.cloned(), &servers);
    let selected = panel::select(&spec, &context)?;
    Ok(PanelChoice {
        spec,
        servers,
        selected,
    })
}

/// Returns the panel of a record as one that the user names; `None` if it does not have all of it.
fn spec_of(record: &StoredRecord, request: &PanelRequest) -> Option<PanelSpec> {
    let seat = |agent: &StoredAgent| {
        let (persona, model) = (agent.persona.as_deref()?, agent.chosen_model()?);
        Some(format!("{persona}={model}"))
    };
    let seats: Option<Vec<String>> = record.agents.iter().map(seat).collect();
    Some(PanelSpec {
        panel: Some(seats.filter(|seats| !seats.is_empty())?.join(",")),
        judge: request.judge.clone(),
        ..PanelSpec::default()
    })
}

/// Puts the earlier judge before the usual ones, if it can be asked.
fn lead_with_judge(
    selected: &mut SelectedPanel,
    record: &StoredRecord,
    context: &SelectionContext<'_>,
) {
    let planned = record.panel.judges.first().and_then(StoredModel::model_ref);
    let Some(judge) = planned.or_else(|| record.judge()) else {
        return;
    };
    if context.check_provider(&judge.provider).is_err() {
        let notice = format!("{judge}, the judge of {}, cannot be asked now", record.id);
        selected.notices.insert(0, notice);
        return;
    }
    let judges = &mut selected.panel.judges;
    judges.insert(0, judge);
    let mut met = BTreeSet::new();
    judges.retain(|judge| met.insert(judge.clone()));
}
