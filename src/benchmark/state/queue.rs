//! The case runs without a result: those that wait, those in flight, and those whose
//! providers failed too often.

use std::collections::VecDeque;

use crate::domain::ids::ConsultationId;
use crate::stopping::batch::state::Workload;

use super::super::event::{CaseRunDeferred, DeferralCause};
use super::super::run::CaseRunId;
use super::BenchmarkStateError;
use crate::domain::record::stored_record::spend::ConsultationSpend;

/// A case run without a result, and its attempts so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCaseRun {
    pub run: CaseRunId,
    /// Its place in the order of all case runs.
    pub(super) position: usize,
    /// All attempts that were started, without those that ended because of a provider.
    pub attempts: u32,
    /// Whether its last consultation is one of these.
    is_attempt: bool,
    /// Those since the run began or was resumed.
    recent_attempts: u32,
    /// How often its providers failed.
    pub outages: u32,
    recent_outages: u32,
    /// The consultations of all attempts; while it is in flight, the last one is.
    pub consultations: Vec<ConsultationId>,
    /// The consultations in which a model began to grade an answer.
    pub gradings: Vec<ConsultationId>,
    /// What attempts and gradings had cost when it was last deferred.
    pub spend: ConsultationSpend,
    /// The consultation that was in flight when an earlier process ended.
    pub unfinished: Option<ConsultationId>,
}

impl PendingCaseRun {
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns whether a consultation begins an attempt. Another one that does the work of a killed
    /// process does not; one whose answer is graded after an outage of the grader does again.
    pub fn begins_attempt(&self, consultation: &ConsultationId) -> bool {
        let continues = self.unfinished.is_some() || self.consultations.contains(consultation);
        !(continues && self.is_attempt)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CaseRunQueue {
    attempts_per_case: u32,
    pub(super) waiting: VecDeque<PendingCaseRun>,
    pub(super) in_flight: VecDeque<PendingCaseRun>,
    /// Their providers failed too often; a resume tries them again.
    exhausted: VecDeque<PendingCaseRun>,
}

impl CaseRunQueue {
    pub(super) fn new(runs: Vec<CaseRunId>, attempts_per_case: u32) -> Self {
        let pending = |(position, run)| PendingCaseRun {
            run,
            position,
            attempts: 0,
            is_attempt: false,
            recent_attempts: 0,
            outages: 0,
            recent_outages: 0,
            consultations: Vec::new(),
            gradings: Vec::new(),
            spend: ConsultationSpend::default(),
            unfinished: None,
        };
        Self {
            attempts_per_case,
            waiting: runs.into_iter().enumerate().map(pending).collect(),
            in_flight: VecDeque::new(),
            exhausted: VecDeque::new(),
        }
    }

    /// Starts an attempt of a case run that waits or is in flight. Returns whether it is a new
    /// attempt, and not the continuation of one.
    pub(super) fn start(
        &mut self,
        run: &CaseRunId,
        consultation: &ConsultationId,
    ) -> Result<bool, BenchmarkStateError> {
        let mut pending = self.take(run)?;
        let is_new = pending.begins_attempt(consultation);
        pending.consultations.retain(|other| other != consultation);
        pending.consultations.push(consultation.clone());
        pending.attempts = pending.attempts.saturating_add(is_new.into());
        pending.recent_attempts = pending.recent_attempts.saturating_add(1);
        pending.unfinished = None;
        pending.is_attempt = true;
        self.in_flight.push_back(pending);
        Ok(is_new)
    }

    pub(super) fn grade(
        &mut self,
        run: &CaseRunId,
        consultation: &ConsultationId,
    ) -> Result<(), BenchmarkStateError> {
        let mut in_flight = self.in_flight.iter_mut();
        let pending = in_flight.find(|pending| pending.run == *run);
        let pending = pending.ok_or_else(|| BenchmarkStateError::UnknownCaseRun(run.clone()))?;
        // One that continues counts once.
        if !pending.gradings.contains(consultation) {
            pending.gradings.push(consultation.clone());
        }
        Ok(())
    }

    /// At the end for a failure of its providers, else first. Such a failure is no attempt, but as
    /// many of them as there may be attempts are enough.
    pub(super) fn defer(&mut self, deferred: &CaseRunDeferred) -> Result<(), BenchmarkStateError> {
        let mut pending = self.take(&deferred.run)?;
        pending.spend = deferred.spend;
        if deferred.cause == DeferralCause::Stop {
            self.waiting.push_front(pending);
            return Ok(());
        }
        pending.is_attempt = false;
        pending.attempts = pending.attempts.saturating_sub(1);
        pending.recent_attempts = pending.recent_attempts.saturating_sub(1);
        pending.outages = pending.outages.saturating_add(1);
        pending.recent_outages = pending.recent_outages.saturating_add(1);
        let list = if pending.recent_outages < self.attempts_per_case {
            &mut self.waiting
        } else {
            &mut self.exhausted
        };
        list.push_back(pending);
        Ok(())
    }

    /// Puts everything without a result back in its original order. What an earlier process had in
    /// flight comes first. The case runs whose providers failed come last, the most failures at the
    /// end: one that fails again and again must not be the probe of every resume.
    pub(super) fn resume(&mut self) {
        let left_over = self.in_flight.drain(..).map(|pending| PendingCaseRun {
            unfinished: pending.consultations.last().cloned(),
            ..pending
        });
        let mut all: Vec<PendingCaseRun> = left_over
            .chain(self.waiting.drain(..))
            .chain(self.exhausted.drain(..))
            .collect();
        all.sort_by_key(|pending| {
            let is_new = pending.unfinished.is_none();
            (is_new, pending.outages, pending.position)
        });
        for pending in &mut all {
            pending.recent_attempts = 0;
            pending.recent_outages = 0;
        }
        self.waiting = all.into();
    }

    pub(super) fn has_attempts_left(&self, run: &CaseRunId) -> bool {
        let mut pending = self.pending().filter(|pending| pending.run == *run);
        pending.any(|pending| pending.recent_attempts < self.attempts_per_case)
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = &PendingCaseRun> {
        let waiting = self.waiting.iter();
        waiting.chain(&self.in_flight).chain(&self.exhausted)
    }

    pub(super) fn workload(&self) -> Workload {
        let waiting = self.waiting.len() as u64;
        let in_flight = self.in_flight.len() as u64;
        Workload {
            remaining: waiting + in_flight + self.exhausted.len() as u64,
            waiting,
            in_flight,
        }
    }

    pub(super) fn take(&mut self, run: &CaseRunId) -> Result<PendingCaseRun, BenchmarkStateError> {
        for list in [&mut self.in_flight, &mut self.waiting, &mut self.exhausted] {
            let at = list.iter().position(|pending| pending.run == *run);
            if let Some(pending) = at.and_then(|at| list.remove(at)) {
                return Ok(pending);
            }
        }
        Err(BenchmarkStateError::UnknownCaseRun(run.clone()))
    }
}
