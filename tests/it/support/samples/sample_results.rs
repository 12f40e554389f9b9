//! Runs of benchmarks with made-up results, for tests of reports.

use conclave::benchmark::case::{CaseId, ErrorRate};
use conclave::benchmark::event::{BenchmarkEvent, BenchmarkEventKind, RunBegun};
use conclave::benchmark::report::BenchmarkReport;
use conclave::benchmark::result::{
    CaseOutcome, CaseResult, ExpertResult, GradedAnswer, StageResults,
};
use conclave::benchmark::run::{
    Arm, ArmTerms, CaseRef, CaseRunId, RunId, RunOptions, RunTerms, Selection, SuiteRef,
};
use conclave::benchmark::state::BenchmarkState;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{ConsultationId, SeatId};
use conclave::domain::record::log::Fold as _;
use conclave::domain::record::stored_record::spend::ConsultationSpend;
use conclave::domain::time::Timestamp;
use conclave::stopping::batch::conditions::StopConditions;

const SEATS: [(&str, &str); 3] = [
    ("security", "anthropic:claude-sonnet-5-5"),
    ("pragmatic", "openai:gpt-6.1-sol"),
    ("performance", "google:gemini-4-flash"),
];

/// The run's id in all samples.
pub(crate) fn run_id() -> RunId {
    RunId::from_unique("01K2ABCDEFGHJKMNPQRSTVWXYZ")
}

pub(crate) fn case_id(number: usize) -> CaseId {
    CaseId::parse(&format!("capital-{number:03}")).unwrap()
}

/// The terms of a run over this many cases. Every third case has no tag.
pub(crate) fn terms(cases: usize, arms: &[Arm]) -> RunTerms {
    let case = |number: usize| CaseRef {
        id: case_id(number),
        position: u64::try_from(number).unwrap(),
        tags: match number % 3 {
            1 => vec!["europe".to_owned()],
            2 => vec!["asia".to_owned(), "hard".to_owned()],
            _ => Vec::new(),
        },
        expected: format!("City {number}"),
        measure: None,
    };
    RunTerms {
        suite: SuiteRef {
            fields: std::collections::BTreeMap::new(),
            name: "capitals".to_owned(),
            path: "/suites/capitals.jsonl".to_owned(),
            sha256: "5e".repeat(32),
            cases: u64::try_from(cases).unwrap(),
        },
        cases: (1..=cases).map(case).collect(),
        selected: Selection {
            cases: u64::try_from(cases).unwrap(),
            sha256: "5e".repeat(32),
        },
        arms: arms.iter().copied().map(arm_terms).collect(),
        repetitions: 1,
        partition: None,
        attempts_per_case: 2,
        options: RunOptions::default(),
        tool_version: "0.1.0".to_owned(),
    }
}

fn arm_terms(arm: Arm) -> ArmTerms {
    match arm {
        Arm::Panel => ArmTerms {
            arm,
            seats: SEATS
                .map(|(seat, model)| format!("{seat}={model}"))
                .to_vec(),
            judge: Some("anthropic:claude-opus-5-5".to_owned()),
            rounds: 4,
        },
        Arm::Single => ArmTerms {
            arm,
            seats: vec!["pragmatic=openai:gpt-6.1-sol".to_owned()],
            judge: None,
            rounds: 1,
        },
    }
}

/// A result without experts, stages and confidence.
pub(crate) fn result(case: usize, arm: Arm, outcome: CaseOutcome) -> CaseResult {
    let text = match outcome {
        CaseOutcome::Approved => Some(format!("City {case}")),
        CaseOutcome::Rejected => Some(format!("Town {case}")),
        CaseOutcome::Failed => None,
    };
    let is_right = outcome == CaseOutcome::Approved;
    let factor = if arm == Arm::Panel { 8 } else { 1 };
    let number = u64::try_from(case).unwrap();
    CaseResult {
        run: CaseRunId {
            case: case_id(case),
            arm,
            repetition: 1,
        },
        outcome,
        attempts: 1,
        outages: 0,
        error: text.is_none().then(|| "the reply has no answer".to_owned()),
        answer: text.map(|text| GradedAnswer {
            text,
            is_right,
            error_rate: None,
        }),
        confidence: None,
        calibrated: None,
        agreement: None,
        early_stop: false,
        saved: None,
        demonstration: false,
        stages: StageResults {
            verdict: (outcome != CaseOutcome::Failed).then_some(is_right),
            ..StageResults::default()
        },
        experts: Vec::new(),
        spend: ConsultationSpend {
            cost: Cost::exactly(MicroUsd(1_250 * factor)),
            in_doubt: MicroUsd::ZERO,
            calls: factor,
            input_tokens: 900 * factor,
            output_tokens: 100 * factor,
            estimated: false,
        },
        duration_ms: (800 + number * 10) * factor,
        consultations: vec![ConsultationId::from_unique(&format!(
            "01K2{}{number:021}",
            arm.name().get(..1).unwrap()
        ))],
        grading: None,
    }
}

/// The results of a comparison with everything that a report shows: 8 of 12 right by the panel, 6
/// by the single model, one failed, early stops, and changes by the debate.
pub(crate) fn comparison(cases: usize) -> (RunTerms, Vec<CaseResult>) {
    let mut results = Vec::new();
    for case in 1..=cases {
        results.push(panel(case));
        results.push(single(case));
    }
    (terms(cases, &Arm::ALL), results)
}

fn panel(case: usize) -> CaseResult {
    let outcome = match case % 12 {
        3 | 7 | 10 => CaseOutcome::Rejected,
        11 => CaseOutcome::Failed,
        _ => CaseOutcome::Approved,
    };
    let mut result = result(case, Arm::Panel, outcome);
    let is_right = outcome == CaseOutcome::Approved;
    if outcome == CaseOutcome::Failed {
        result.attempts = 2;
        return result;
    }
    let before = match case % 12 {
        // The debate breaks one answer and repairs two.
        3 => true,
        5 | 8 => false,
        _ => is_right,
    };
    result.early_stop = case.is_multiple_of(4) && before == is_right;
    result.saved = result.early_stop.then_some(Cost::exactly(MicroUsd(4_000)));
    result.confidence = Some([0.95, 0.9, 0.85, 0.8, 0.65][case % 5]);
    result.calibrated = Some([0.88, 0.81, 0.74, 0.71][case % 4]);
    result.agreement = Some([1.0, 2.0 / 3.0][case % 2]);
    result.stages = StageResults {
        vote: Some(before),
        synthesis: Some(before),
        revised_vote: (!result.early_stop).then_some(is_right),
        verdict: Some(is_right),
    };
    result.experts = SEATS
        .iter()
        .enumerate()
        .map(|(seat, (id, model))| {
            let own = if case.is_multiple_of(seat + 3) {
                !before
            } else {
                before
            };
            ExpertResult {
                seat: SeatId::new(*id),
                model: model.parse().unwrap(),
                before: Some(own),
                after: (!result.early_stop).then_some(is_right || own),
                confidence: Some([0.9, 0.8, 0.75][seat]),
                cost: Some(Cost::exactly(MicroUsd([1_800, 1_250, 240][seat]))),
            }
        })
        .collect();
    result
}

fn single(case: usize) -> CaseResult {
    let outcome = match case % 12 {
        2 | 3 | 5 | 7 | 9 | 10 => CaseOutcome::Rejected,
        _ => CaseOutcome::Approved,
    };
    CaseResult {
        confidence: Some([0.99, 0.92, 0.8][case % 3]),
        ..result(case, Arm::Single, outcome)
    }
}

/// Transcriptions, one with the measure CER and one with WER in turn.
pub(crate) fn transcriptions(cases: usize) -> (RunTerms, Vec<CaseResult>) {
    let mut terms = terms(cases, &[Arm::Panel]);
    let mut results = Vec::new();
    for (at, case) in terms.cases.iter_mut().enumerate() {
        case.measure = Some([ErrorRate::Cer, ErrorRate::Wer][at % 2]);
        let mut result = result(at + 1, Arm::Panel, CaseOutcome::Approved);
        if let Some(answer) = &mut result.answer {
            answer.error_rate = Some([0.02, 0.1, 0.04, 0.3][at % 4]);
        }
        results.push(result);
    }
    (terms, results)
}

/// The log of a run whose case runs finish in this order.
pub(crate) fn log(terms: &RunTerms, results: &[CaseResult]) -> Vec<BenchmarkEventKind> {
    let mut events = vec![BenchmarkEventKind::Begun(Box::new(RunBegun {
        fleet: None,
        run: run_id(),
        terms: terms.clone(),
        conditions: StopConditions::default(),
    }))];
    for result in results {
        for (at, consultation) in result.consultations.iter().enumerate() {
            events.push(BenchmarkEventKind::CaseRunStarted {
                run: result.run.clone(),
                attempt: u32::try_from(at).unwrap() + 1,
                consultation: consultation.clone(),
            });
        }
        events.push(BenchmarkEventKind::CaseRunFinished {
            result: Box::new(result.clone()),
        });
    }
    events
}

/// The state after a log, one second an event.
pub(crate) fn state(events: &[BenchmarkEventKind]) -> BenchmarkState {
    let mut events = events.iter().enumerate().map(|(at, kind)| {
        let seconds = i64::try_from(at).unwrap();
        BenchmarkEvent::new(Timestamp(1_795_000_000_000 + seconds * 1_000), kind.clone())
    });
    let mut state = BenchmarkState::begin(&events.next().unwrap()).unwrap();
    for event in events {
        state.apply(&event).unwrap();
    }
    state
}

/// The report of a log; the run has ended if nothing remains.
pub(crate) fn report_of_log(mut events: Vec<BenchmarkEventKind>) -> BenchmarkReport {
    if state(&events).is_complete() {
        events.push(BenchmarkEventKind::Ended);
    }
    let state = state(&events);
    BenchmarkReport::of(&state, state.view(state.status()))
}

pub(crate) fn report(terms: &RunTerms, results: &[CaseResult]) -> BenchmarkReport {
    report_of_log(log(terms, results))
}

/// The report of [`comparison`].
pub(crate) fn comparison_report(cases: usize) -> BenchmarkReport {
    let (terms, results) = comparison(cases);
    report(&terms, &results)
}

/// The report of a comparison that a stop condition halted after these many case runs, all wrong.
pub(crate) fn halted_report(case_runs: usize) -> BenchmarkReport {
    let terms = terms(12, &Arm::ALL);
    let results: Vec<CaseResult> = (0..case_runs)
        .map(|at| result(at / 2 + 1, Arm::ALL[at % 2], CaseOutcome::Rejected))
        .collect();
    let mut events = log(&terms, &results);
    events.push(state(&events).due_event().expect("a halt"));
    events.push(BenchmarkEventKind::Ended);
    report_of_log(events)
}
