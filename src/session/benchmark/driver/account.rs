//! What a case run has cost and how long it took, in this process and before.

use std::time::Duration;

use crate::benchmark::grading::ConsultationAnswer;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::CaseRunId;
use crate::benchmark::state::PendingCaseRun;
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::stored_record::spend::{ConsultationSpend, spend};

use super::RunInProgress;
use crate::session::load::spend_of;

impl RunInProgress<'_> {
    /// Returns the result of a case run; its spend is that of all its consultations and gradings.
    pub(super) fn result(
        &self,
        run: &CaseRunId,
        outcome: CaseOutcome,
        answer: Option<ConsultationAnswer>,
        grading: Option<ConsultationId>,
    ) -> CaseResult {
        let pending = self.state().pending(run);
        let account = self.accounts.get(run);
        let consultations = pending.map_or_else(Vec::new, |pending| pending.consultations.clone());
        let earlier_ms = pending.map_or(0, |pending| pending.duration_ms);
        let here = account.map_or(Duration::ZERO, |account| account.duration);
        let attempts = pending.map_or(1, |pending| pending.attempts.max(1));
        let answer = answer.unwrap_or_default();
        CaseResult {
            run: run.clone(),
            outcome,
            attempts,
            answer: answer.answer,
            confidence: answer.confidence,
            calibrated: answer.calibrated,
            agreement: answer.agreement,
            early_stop: answer.early_stop,
            saved: answer.saved,
            demonstration: answer.demonstration,
            stages: answer.stages,
            experts: answer.experts,
            spend: pending.map_or_else(ConsultationSpend::default, |pending| {
                self.spend_so_far(pending)
            }),
            duration_ms: earlier_ms.saturating_add(milliseconds(here)),
            consultations,
            grading,
            error: None,
        }
    }

    /// Returns what the attempts and gradings of a case run have cost, those of earlier processes
    /// included: each consultation once, however often it was resumed.
    pub(super) fn spend_so_far(&self, pending: &PendingCaseRun) -> ConsultationSpend {
        let account = self.accounts.get(&pending.run);
        let mut total = ConsultationSpend::default();
        for id in pending.consultations.iter().chain(&pending.gradings) {
            match account.and_then(|account| account.spends.get(id)) {
                Some(spend) => total.add(spend),
                None => total.add(&spend_of(self.home(), id)),
            }
        }
        total
    }

    pub(super) fn count_spend(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        record: &StoredRecord,
    ) {
        let account = self.accounts.entry(run.clone()).or_default();
        account.spends.insert(id.clone(), spend([record]));
    }

    /// Counts the time of an attempt whose process ended before its log had the result.
    pub(super) fn count_earlier_time(&mut self, run: &CaseRunId, record: &StoredRecord) {
        let duration = Duration::from_millis(record.duration_ms.unwrap_or_default());
        self.accounts.entry(run.clone()).or_default().duration += duration;
    }

    /// Counts the time since the attempt in flight started.
    pub(super) fn count_time(&mut self, run: &CaseRunId) {
        let mut in_flight = self.state().in_flight().iter();
        let started_at = in_flight
            .find(|started| started.pending.run == *run)
            .map(|started| started.started_at);
        if let Some(started_at) = started_at {
            let duration = self.now().since(started_at);
            self.accounts.entry(run.clone()).or_default().duration += duration;
        }
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
