//! Reads the rows of a consultation from its record.
//!
//! Live and when the index is made anew, this is the one way from a record to its rows: so both say
//! the same. A field that is not as expected is as if it were missing; of a record only the id must
//! be there.

mod agents;
mod calls;
mod llm_conclave;
mod rounds;

use std::borrow::Cow;

use crate::consultation::event::Envelope;
use crate::consultation::transcript::Transcript;
use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::{Completion, Writer};
use crate::domain::time::Timestamp;
use crate::records::record::record;

use super::lenient_json::{Number, Object};
use super::record_fields::{DebateValue, Perspective, Record};
use super::rows::{ConsultationRow, Debate, RoundRow, Rows};
use agents::agents;
use calls::calls;
use rounds::{later_rounds, money, rounds};

/// What stands where a name must be and the record tells none.
pub(super) const UNKNOWN: &str = "unknown";

/// Why a file has no rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotIndexable {
    #[error("it is not JSON")]
    NotJson,
    #[error("it is no record of a consultation")]
    NotARecord,
    #[error("version `{0}` is newer than this program")]
    Newer(String),
}

/// Reads a record. `stem` is its file's name without the ending; `written_at` stands in where the
/// record does not tell when it began.
pub fn rows<'a>(
    record: &'a [u8],
    stem: &'a str,
    written_at: Timestamp,
) -> Result<Rows<'a>, NotIndexable> {
    let read = match serde_json::from_slice::<Object<Record<'a>>>(record) {
        Ok(Object(read)) => read,
        Err(error) if error.is_data() => return Err(NotIndexable::NotARecord),
        // The original writes cancelled runs as lines.
        Err(_) => return llm_conclave::rows(record, stem, written_at),
    };
    let Some(mut read): Option<Record<'a>> = read.filter(is_ours) else {
        return llm_conclave::rows(record, stem, written_at);
    };
    if let Some(version) = read
        .schema_version
        .0
        .as_deref()
        .filter(|version| is_newer(version))
    {
        return Err(NotIndexable::Newer(version.to_owned()));
    }
    let id = read
        .consultation_id
        .0
        .take()
        .ok_or(NotIndexable::NotARecord)?;
    Ok(consultation(read, id, stem, written_at))
}

/// Reads the rows of a consultation that has no record, from what its journal tells.
pub fn rows_of_journal(
    events: &[Envelope],
    stem: &str,
    written_at: Timestamp,
) -> Result<Rows<'static>, NotIndexable> {
    let transcript = Transcript::fold(events).ok_or(NotIndexable::NotARecord)?;
    let record = serde_json::to_vec(&record(&transcript)).map_err(|_| NotIndexable::NotJson)?;
    rows(&record, stem, written_at).map(Rows::into_owned)
}

/// A record of this program, by any of its marks.
fn is_ours(record: &Record<'_>) -> bool {
    record.tool_version.0.is_some()
        || record.kind.0.as_deref() == Some("Report")
        || !record.responses.0.is_empty()
}

/// A version whose first number is greater than ours. What is no version is none that is newer.
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
    record: Record<'a>,
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
            ended: Completion::from_state(&state),
            state,
            cost: spending
                .as_ref()
                .and_then(|spending| money(spending.micro_usd, spending.lower_bound)),
            total_tokens: spending
                .as_ref()
                .and_then(|spending| spending.tokens.0.as_ref()?.total.0),
            // A consultation without an answer has nobody who could dissent from it.
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
            writer: Writer::Conclave,
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

/// Reads RFC 3339.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>()
        .ok()
        .map(|moment| Timestamp(moment.as_millisecond()))
}

/// What the experts held at the end against the beginning: as they were compared; in a record that
/// knows of no comparison, as they said themselves, and where they did not, as a later analysis
/// says of them.
///
/// What was to be compared and was not is not known: then nobody's own word stands in for it.
fn debate(record: &Record<'_>) -> Debate {
    let said = said_of_themselves(record);
    let Object(Some(analysis)) = &record.debate_value_analysis else {
        return said;
    };
    match analysis.status.0.as_deref() {
        Some("compared") => {
            let heard = analysis.agents_compared.0.unwrap_or_default();
            Debate {
                heard,
                changed: analysis
                    .agents_changed_position
                    .0
                    .unwrap_or_default()
                    .min(heard),
                ..said
            }
        }
        Some(_) => Debate {
            heard: 0,
            changed: 0,
            ..said
        },
        None if said.heard > 0 => said,
        None => said_of_them(analysis),
    }
}

fn said_of_themselves(record: &Record<'_>) -> Debate {
    let mut debate = Debate::default();
    for Perspective {
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

fn said_of_them(analysis: &DebateValue<'_>) -> Debate {
    let heard = analysis.total_agents.0.unwrap_or_default();
    let rise = analysis.avg_confidence_increase;
    let rise_of = if rise.rise().is_some() { heard } else { 0 };
    Debate {
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

/// What Rounds 3 and 4 cost: as the record says, which leaves the comparison out, else all that was
/// spent in them.
fn cost_of_later_rounds(analysis: Option<&DebateValue<'_>>, rounds: &[RoundRow]) -> Option<Cost> {
    let told = analysis
        .and_then(|analysis| analysis.rounds_3_4_cost.0.as_ref())
        .and_then(|cost| money(cost.micro_usd, cost.lower_bound));
    told.or_else(|| later_rounds(rounds))
}

impl Number {
    /// The number, where it can be the difference of two confidences.
    fn rise(self) -> Option<f64> {
        self.0.filter(|rise| (-1.0..=1.0).contains(rise))
    }
}

/// A number from -1 to 1 in whole millionths.
#[expect(clippy::cast_possible_truncation, reason = "a million at most")]
pub(super) fn millionths(share: f64) -> i64 {
    (share * 1e6).round() as i64
}
