//! Small runs, and a driver that plays them: what each attempt brings is drawn or given.

use conclave::domain::record::log::Fold as _;
use std::collections::BTreeMap;

use conclave::benchmark::event::{
    BenchmarkEvent, BenchmarkEventKind, CaseRunDeferred, DeferralCause, RunBegun,
};
use conclave::benchmark::result::{CaseOutcome, CaseResult};
use conclave::benchmark::run::{Arm, CaseRunId, RunId, RunTerms};
use conclave::benchmark::state::{AfterFailedAttempt, BenchmarkState};
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::ConsultationId;
use conclave::domain::random::SplitMix64;
use conclave::domain::record::stored_record::spend::ConsultationSpend;
use conclave::domain::time::Timestamp;
use conclave::stopping::batch::conditions::StopConditions;
use serde_json::json;

/// What an attempt brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Right,
    Wrong,
    NoAnswer,
    Outage,
}

/// Returns the terms of a run of `case-1` to `case-N`.
pub(super) fn terms(cases: u32, arms: &[Arm]) -> RunTerms {
    let cases: Vec<_> = (1..=cases)
        .map(|number| json!({"id": format!("case-{number}"), "tags": ["geo"], "expected": "Paris"}))
        .collect();
    let arms: Vec<_> = arms
        .iter()
        .map(|arm| {
            json!({
                "arm": arm.name(),
                "seats": ["pragmatic=openai:gpt-6"],
                "judge": "anthropic:claude-opus-5",
                "rounds": 4
            })
        })
        .collect();
    serde_json::from_value(json!({
        "suite": {
            "name": "capitals",
            "path": "/suites/capitals.jsonl",
            "sha256": "5e884898da28047151d0e56f8dc6292773603d0d6aabbd0e3c2d5d3f1f0a4f3b",
            "cases": cases.len()
        },
        "cases": cases,
        "selected": {"cases": cases.len(), "sha256": "a selection"},
        "arms": arms,
        "repetitions": 1,
        "partition": null,
        "attempts_per_case": 2,
        "options": {},
        "tool_version": "0.1.0"
    }))
    .unwrap()
}

pub(super) fn begun(terms: RunTerms, conditions: StopConditions) -> RunBegun {
    RunBegun {
        fleet: None,
        run: RunId::from_unique("01kb5x0000000000000000000a"),
        terms,
        conditions,
    }
}

pub(super) fn spend(micro: u64) -> ConsultationSpend {
    ConsultationSpend {
        cost: Cost::exactly(MicroUsd(micro)),
        in_doubt: MicroUsd::ZERO,
        calls: 9,
        input_tokens: 900,
        output_tokens: 90,
        estimated: false,
    }
}

pub(super) fn consultation(run: &CaseRunId, attempt: u32) -> ConsultationId {
    let unique = format!(
        "{}-{}-{}-{attempt}",
        run.case,
        run.arm.name(),
        run.repetition
    );
    ConsultationId::from_unique(&unique)
}

pub(super) fn started(run: &CaseRunId, attempt: u32) -> BenchmarkEventKind {
    BenchmarkEventKind::CaseRunStarted {
        run: run.clone(),
        attempt,
        consultation: consultation(run, attempt),
    }
}

pub(super) fn finished(run: &CaseRunId, outcome: CaseOutcome, attempts: u32) -> BenchmarkEventKind {
    let is_right = outcome == CaseOutcome::Approved;
    let answer = match outcome {
        CaseOutcome::Approved => json!({"text": "Paris", "is_right": true}),
        CaseOutcome::Rejected => json!({"text": "Lyon", "is_right": false}),
        CaseOutcome::Failed => json!(null),
    };
    let consultations: Vec<_> = (1..=attempts)
        .map(|attempt| consultation(run, attempt))
        .collect();
    let result: CaseResult = serde_json::from_value(json!({
        "case": run.case,
        "arm": run.arm,
        "repetition": run.repetition,
        "outcome": outcome,
        "attempts": attempts,
        "outages": 0,
        "answer": answer,
        "confidence": 0.85,
        "calibrated": 0.82,
        "agreement": 1.0,
        "early_stop": false,
        "stages": {"vote": is_right, "synthesis": null, "revised_vote": null, "verdict": is_right},
        "experts": [{
            "seat": "pragmatic",
            "model": "openai:gpt-6",
            "before": is_right,
            "after": null,
            "confidence": 0.9
        }],
        "spend": spend(10_000),
        "duration_ms": 1_500,
        "consultations": consultations,
    }))
    .unwrap();
    BenchmarkEventKind::CaseRunFinished {
        result: Box::new(result),
    }
}

pub(super) fn deferred(run: &CaseRunId, cause: DeferralCause) -> BenchmarkEventKind {
    BenchmarkEventKind::CaseRunDeferred(Box::new(CaseRunDeferred {
        run: run.clone(),
        cause,
        spend: spend(1_000),
        error: Some("503: overloaded".to_owned()),
    }))
}

/// A run that is played without files.
#[derive(Clone, Debug)]
pub(super) struct PlayedRun {
    pub(super) state: BenchmarkState,
    pub(super) log: Vec<BenchmarkEvent>,
    jobs: usize,
    random: SplitMix64,
    /// How often each case run was started.
    pub(super) starts: BTreeMap<CaseRunId, u32>,
}

impl PlayedRun {
    pub(super) fn new(begun: RunBegun, jobs: usize, seed: u64) -> Self {
        let event = BenchmarkEvent::new(Timestamp(0), BenchmarkEventKind::Begun(Box::new(begun)));
        Self {
            state: BenchmarkState::begin(&event).unwrap(),
            log: vec![event],
            jobs,
            random: SplitMix64::new(seed),
            starts: BTreeMap::new(),
        }
    }

    /// Records an event, and what follows from it.
    pub(super) fn record(&mut self, kind: BenchmarkEventKind) {
        self.add(kind);
        while let Some(due) = self.state.due_event() {
            self.add(due);
        }
    }

    fn add(&mut self, kind: BenchmarkEventKind) {
        if let BenchmarkEventKind::CaseRunStarted { run, .. } = &kind {
            *self.starts.entry(run.clone()).or_default() += 1;
        }
        let time = Timestamp(1_000 * i64::try_from(self.log.len()).unwrap());
        let event = BenchmarkEvent::new(time, kind);
        self.state.apply(&event).unwrap();
        self.log.push(event);
    }

    pub(super) fn resume(&mut self) {
        let conditions = self.state.batch.conditions;
        self.record(BenchmarkEventKind::Resumed { conditions });
    }

    /// Starts what may start now.
    pub(super) fn start_all(&mut self) {
        while self.state.in_flight().len() < self.jobs {
            let Some(next) = self.state.next_start() else {
                return;
            };
            let run = next.run.clone();
            let start = u32::try_from(next.consultations.len()).unwrap() + 1;
            self.record(started(&run, start));
        }
    }

    /// Plays until the run has ended. Attempts end in random order.
    pub(super) fn play(&mut self, mut fate: impl FnMut(&CaseRunId, u32) -> Fate) {
        let most = 4 * self.state.begun.terms.case_runs().len() + 4;
        for _ in 0..most {
            self.start_all();
            if self.state.has_ended() {
                return;
            }
            let in_flight = self.state.in_flight();
            assert!(!in_flight.is_empty(), "the run waits for nothing");
            let chosen = self.random.below(in_flight.len() as u64);
            let pending = in_flight[usize::try_from(chosen).unwrap()].clone();
            let start = u32::try_from(pending.consultations.len()).unwrap();
            let fate = fate(&pending.run, start);
            let kind = self.end_of(&pending.run, start, pending.attempts, fate);
            self.record(kind);
        }
        panic!("the run does not end");
    }

    /// Returns the event that follows from the fate of a start.
    fn end_of(&self, run: &CaseRunId, start: u32, attempts: u32, fate: Fate) -> BenchmarkEventKind {
        match fate {
            Fate::Right => finished(run, CaseOutcome::Approved, attempts),
            Fate::Wrong => finished(run, CaseOutcome::Rejected, attempts),
            Fate::Outage => deferred(run, DeferralCause::Infrastructure),
            Fate::NoAnswer => match self.state.after_failed_attempt(run) {
                AfterFailedAttempt::Retry => started(run, start + 1),
                AfterFailedAttempt::Defer => deferred(run, DeferralCause::Stop),
                AfterFailedAttempt::Fail => finished(run, CaseOutcome::Failed, attempts),
            },
        }
    }
}

/// Plays a run to its end, whatever stops it.
pub(super) fn played(
    cases: u32,
    conditions: StopConditions,
    fate: impl FnMut(&CaseRunId, u32) -> Fate,
) -> PlayedRun {
    let mut run = PlayedRun::new(begun(terms(cases, &[Arm::Panel]), conditions), 1, 1);
    run.play(fate);
    run
}

/// Returns the number of a case.
pub(super) fn number(run: &CaseRunId) -> u32 {
    let number = run.case.as_str().strip_prefix("case-").unwrap();
    number.parse().unwrap()
}
