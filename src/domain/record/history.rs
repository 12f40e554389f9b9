//! The list of past consultations: plain data, which is also its JSON.

use serde::Serialize;

use super::outcome::AnswerOutcome;
use super::stored_record::{Amount, Completion};
#[cfg(test)]
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;

/// Past consultations, newest first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// The number of all consultations that match; the newest of them are listed.
    pub total: u64,
    /// Those that made no call, which are not listed and not in the total.
    pub left_out: u64,
    /// Newest first.
    pub consultations: Vec<HistoryRow>,
}

/// One consultation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRow {
    pub consultation_id: ConsultationId,
    /// The shortest prefix that commands accept now; a later consultation can make it ambiguous.
    pub short_id: String,
    /// The time at which it began.
    pub timestamp: Timestamp,
    pub question: String,
    pub mode: Option<String>,
    #[serde(rename = "standing")]
    pub run_status: Completion,
    /// As recorded; `None` as long as there is no record.
    pub state: Option<String>,
    /// `complete`, `degraded`, `aborted`, `declined`, `incomplete`, or a status of another version.
    pub status: Option<String>,
    /// True if `conclave resume` accepts it.
    pub resumable: bool,
    pub recommendation: Option<String>,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub confidence: Option<f64>,
    #[cfg_attr(test, schemars(with = "Option<KnownAmount>"))]
    pub cost: Option<Amount>,
    pub total_tokens: Option<u64>,
    pub duration_ms: Option<u64>,
    pub abort_reason: Option<String>,
    pub outcome: Option<EntryOutcome>,
    /// True if the embedded model, whose answers are of demonstration quality, played a seat or the
    /// judge.
    pub demonstration: bool,
    /// The consultation that the question follows up.
    pub follow_up_of: Option<String>,
    /// The consultation whose answers were judged again.
    pub rejudged_from: Option<String>,
    /// The consultations that follow this one up, the first first.
    pub follow_ups: Vec<String>,
}

/// An amount of money.
// An [`Amount`] whose cost is known, as it always is here.
#[cfg(test)]
#[derive(Debug, schemars::JsonSchema)]
pub struct KnownAmount {
    /// Dollars.
    #[schemars(range(min = 0))]
    pub usd: f64,
    /// The same in micro-dollars, exact.
    pub micro_usd: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    pub lower_bound: bool,
}

/// The user's grade of its answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntryOutcome {
    pub outcome: AnswerOutcome,
    pub note: Option<String>,
}

impl HistoryRow {
    pub fn started(
        consultation_id: ConsultationId,
        timestamp: Timestamp,
        question: String,
        mode: Option<String>,
        run_status: Completion,
    ) -> Self {
        Self {
            short_id: consultation_id.to_string(),
            consultation_id,
            timestamp,
            question,
            mode,
            run_status,
            state: None,
            status: None,
            resumable: run_status == Completion::Unfinished,
            recommendation: None,
            confidence: None,
            cost: None,
            total_tokens: None,
            duration_ms: None,
            abort_reason: None,
            outcome: None,
            demonstration: false,
            follow_up_of: None,
            rejudged_from: None,
            follow_ups: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "Past consultations, as `conclave history list --json` prints them";
        crate::schema::check::<History>("history", title);
    }
}
