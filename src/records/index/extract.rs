//! Reads the rows of a consultation from its record.
//!
//! The live index and a rebuild both use this, so that they agree. A field of an unexpected type
//! counts as missing; only the id is required.

mod agents;
mod calls;
mod llm_conclave;
mod rounds;

use std::borrow::Cow;

use crate::consultation::event::Envelope;
use crate::consultation::transcript::Transcript;
use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::{Completion, RecordWriter};
use crate::domain::time::Timestamp;
use crate::records::stored::RecordReadError;

use super::lenient_json::{Number, Object};
use super::record_fields::{DebateValueFields, PerspectiveFields, RecordFields};
use super::rows::{ConsultationRow, DebateColumns, RoundRow, Rows, UNKNOWN, millionths};
use agents::agents;
use calls::calls;
use rounds::{later_rounds, money, rounds};

/// The reason why a file has no rows in the index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    #[error("it is not JSON")]
    NotJson,
    #[error("it is not a record of a consultation")]
    NotARecord,
    #[error("version `{0}` is newer than this program")]
    Newer(String),
}

/// Reads a record. `stem` is its file's name without the suffix; `written_at` is used where the
/// record does not state when the consultation began.
pub fn rows<'a>(
    record: &'a [u8],
    stem: &'a str,
    written_at: Timestamp,
) -> Result<Rows<'a>, ExtractError> {
    let fields = match serde_json::from_slice::<Object<RecordFields<'a>>>(record) {
        Ok(Object(fields)) => fields,
        Err(error) if error.is_data() => return Err(ExtractError::NotARecord),
        // The original writes cancelled runs as lines.
        Err(_) => return Ok(llm_conclave::rows(record, stem, written_at)?),
    };
    let Some(mut fields): Option<RecordFields<'a>> = fields.filter(is_ours) else {
        return Ok(llm_conclave::rows(record, stem, written_at)?);
    };
    if let Some(version) = fields
        .schema_version
        .0
        .as_deref()
        .filter(|version| is_newer(version))
    {
        return Err(ExtractError::Newer(version.to_owned()));
    }
    let id = fields
        .consultation_id
        .0
        .take()
        .ok_or(ExtractError::NotARecord)?;
    Ok(consultation(fields, id, stem, written_at))
}

/// Reads the rows of a consultation without a record from its journal.
pub fn rows_of_journal(
    events: &[Envelope],
    stem: &str,
    written_at: Timestamp,
) -> Result<Rows<'static>, ExtractError> {
    let transcript = Transcript::fold(events).ok_or(ExtractError::NotARecord)?;
    let record =
        serde_json::to_vec(&transcript.stored_record()).map_err(|_| ExtractError::NotJson)?;
    rows(&record, stem, written_at).map(Rows::into_owned)
}

/// Returns whether this program wrote the record.
fn is_ours(record: &RecordFields<'_>) -> bool {
    record.tool_version.0.is_some()
        || record.kind.0.as_deref() == Some("Report")
        || !record.responses.0.is_empty()
}

/// Returns whether a version has a greater major number than ours; false for text that is
/// not a version.
fn is_newer(version: &str) -> bool {
    let major = |version: &str| {
        version
            .split('.')
            .next()
            .and_then(|major| major.parse::<u64>().ok())
    };
    major(version) > major(SCHEMA_VERSION)
}

fn consultation<'a>(
    record: RecordFields<'a>,
    id: Cow<'a, str>,
    stem: &'a str,
    written_at: Timestamp,
) -> Rows<'a> {
    let created_at = record
        .timestamp
        .0
        .as_deref()
        .and_then(moment)
        .unwrap_or(written_at);
    let state = record.state.0.clone().unwrap_or(Cow::Borrowed(UNKNOWN));
    let rounds = rounds(&record);
    let early_termination = record.early_termination.0 == Some(true);
    let Object(spending) = &record.cost;
    let analysis = record.debate_value_analysis.0.as_ref();
    Rows {
        agents: agents(&record),
        calls: calls(&record),
        consultation: ConsultationRow {
            completion: Completion::from_state(&state),
            state,
            cost: spending
                .as_ref()
                .and_then(|spending| money(spending.micro_usd, spending.lower_bound)),
            total_tokens: spending
                .as_ref()
                .and_then(|spending| spending.tokens.0.as_ref()?.total.0),
            // Without an answer there is nothing to dissent from.
            dissent: record
                .recommendation
                .0
                .as_ref()
                .and(record.dissent.0.as_ref())
                .map(|dissent| dissent.len() as u64),
            saved_micro_usd: record
                .estimated_cost_saved
                .0
                .filter(|_| early_termination)
                .and_then(MicroUsd::from_usd)
                .map(|saved| saved.0),
            debate: debate(&record),
            verdict_changed: record
                .verdict_changed_after_round_2
                .0
                .or_else(|| analysis.and_then(|analysis| analysis.verdict_changed_after_round_2.0)),
            later_rounds: cost_of_later_rounds(analysis, &rounds),
            id,
            stem: Cow::Borrowed(stem),
            question: record.question.0.unwrap_or_default(),
            mode: record.mode.0.unwrap_or(Cow::Borrowed(UNKNOWN)),
            final_recommendation: record.recommendation.0,
            confidence: record.confidence.share(),
            duration_ms: record.duration_ms.0,
            created_at,
            schema_version: record.schema_version.0,
            status: record.status.0,
            abort_reason: record.abort_reason.0,
            writer: RecordWriter::Conclave,
            project_type: record
                .project_context
                .0
                .and_then(|context| context.project_type.0),
            agreement: record.agreement.share(),
            early_termination,
        },
        rounds,
    }
}

/// Parses RFC 3339.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>()
        .ok()
        .map(|moment| Timestamp(moment.as_millisecond()))
}

/// Returns the changes of position: as the helper model compared them; in a record of a version
/// without comparison, as the experts stated them, else as an analysis in the record states them.
///
/// A comparison that was planned and failed leaves them unknown: the experts' own statements do not
/// replace it.
fn debate(record: &RecordFields<'_>) -> DebateColumns {
    let stated = stated_by_experts(record);
    let Object(Some(analysis)) = &record.debate_value_analysis else {
        return stated;
    };
    match analysis.status.0.as_deref() {
        Some("compared") => {
            let heard = analysis.agents_compared.0.unwrap_or_default();
            DebateColumns {
                heard,
                changed: analysis
                    .agents_changed_position
                    .0
                    .unwrap_or_default()
                    .min(heard),
                ..stated
            }
        }
        Some(_) => DebateColumns {
            heard: 0,
            changed: 0,
            ..stated
        },
        None if stated.heard > 0 => stated,
        None => stated_by_analysis(analysis),
    }
}

fn stated_by_experts(record: &RecordFields<'_>) -> DebateColumns {
    let mut debate = DebateColumns::default();
    for PerspectiveFields {
        confidence,
        revised_confidence,
        changed,
        ..
    } in record
        .perspectives
        .all()
        .iter()
        .filter_map(|held| held.0.as_ref())
    {
        let Some(changed) = changed.0 else { continue };
        debate.heard += 1;
        debate.changed += u64::from(changed);
        if let (Some(stated), Some(revised)) = (confidence.share(), revised_confidence.share()) {
            debate.rise += millionths(revised) - millionths(stated);
            debate.rise_of += 1;
        }
    }
    debate
}

fn stated_by_analysis(analysis: &DebateValueFields<'_>) -> DebateColumns {
    let heard = analysis.total_agents.0.unwrap_or_default();
    let rise = analysis.avg_confidence_increase;
    let rise_of = if rise.rise().is_some() { heard } else { 0 };
    DebateColumns {
        heard,
        changed: analysis
            .agents_changed_position
            .0
            .unwrap_or_default()
            .min(heard),
        rise: rise
            .rise()
            .map(millionths)
            .unwrap_or_default()
            .saturating_mul(i64::try_from(rise_of).unwrap_or_default()),
        rise_of,
    }
}

/// Returns the cost of Rounds 3 and 4: as the record states it, without the comparison, else all
/// that was spent in them.
fn cost_of_later_rounds(
    analysis: Option<&DebateValueFields<'_>>,
    rounds: &[RoundRow],
) -> Option<Cost> {
    let stated = analysis
        .and_then(|analysis| analysis.rounds_3_4_cost.0.as_ref())
        .and_then(|cost| money(cost.micro_usd, cost.lower_bound));
    stated.or_else(|| later_rounds(rounds))
}

impl Number {
    /// Returns the number where it can be the difference of two confidences.
    fn rise(self) -> Option<f64> {
        self.0.filter(|rise| (-1.0..=1.0).contains(rise))
    }
}

impl From<RecordReadError> for ExtractError {
    fn from(error: RecordReadError) -> Self {
        match error {
            RecordReadError::NotJson(_) => Self::NotJson,
            RecordReadError::Newer(version) => Self::Newer(version),
            RecordReadError::Io { .. }
            | RecordReadError::TooLarge
            | RecordReadError::NotARecord => Self::NotARecord,
        }
    }
}
