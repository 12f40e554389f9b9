//! One run of several: of the parts of a suite that ran on different machines.

use std::collections::BTreeMap;

use crate::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause, RunBegun};
use crate::benchmark::result::CaseResult;
use crate::benchmark::run::{CaseRef, CaseRunId, Partition, RunId, RunTerms};
use crate::benchmark::state::BenchmarkState;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::error::Error;
use crate::records::runs::StoredRun;
use crate::stopping::batch::conditions::StopConditions;
use crate::stopping::batch::state::StopRequest;

/// A run that has the results of others.
#[derive(Debug)]
pub struct MergedRun {
    pub begun: RunBegun,
    /// The events after its beginning.
    pub events: Vec<BenchmarkEventKind>,
    /// The parts of the suite that none of the runs is.
    pub missing: Vec<Partition>,
}

/// Puts runs together under a new id.
///
/// # Errors
///
/// When they are of different suites or different arms, or when two of them have the same case.
pub fn merge(id: RunId, parts: &[StoredRun]) -> Result<MergedRun, Error> {
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::usage("there is nothing to merge"));
    };
    for other in others {
        check(first, other)?;
    }
    let runs = parts
        .iter()
        .map(|part| part.state.begun.run.clone())
        .collect();
    let mut events = vec![BenchmarkEventKind::Merged { runs }];
    let mut owners: BTreeMap<CaseRunId, &RunId> = BTreeMap::new();
    let mut cases: Vec<CaseRef> = Vec::new();
    for part in parts {
        let state = &part.state;
        for case_run in state.begun.terms.case_runs() {
            if let Some(other) = owners.insert(case_run.clone(), &state.begun.run) {
                return Err(Error::usage(format!(
                    "case `{}` is part of {other} and of {}",
                    case_run.case, state.begun.run
                ))
                .hint("merge runs that have no case in common, such as those of `--partition`"));
            }
        }
        cases.extend(state.begun.terms.cases.iter().cloned());
        add_events(&mut events, state);
    }
    if parts.iter().any(|part| !part.state.is_complete()) {
        let request = StopRequest::UnfinishedParts;
        events.push(BenchmarkEventKind::StopRequested(request));
    }
    cases.sort_by_key(|case| case.position);
    let state = &first.state;
    Ok(MergedRun {
        begun: RunBegun {
            fleet: None,
            run: id,
            terms: RunTerms {
                cases,
                partition: None,
                ..state.begun.terms.clone()
            },
            // No stop condition may end a run whose results are all there.
            conditions: StopConditions::off(),
        },
        events,
        missing: missing(parts),
    })
}

fn add_events(events: &mut Vec<BenchmarkEventKind>, part: &BenchmarkState) {
    for result in &part.results {
        let attempts = usize::try_from(result.attempts).unwrap_or(usize::MAX);
        let outages = result.consultations.len().saturating_sub(attempts);
        add_attempts(events, &result.run, &result.consultations, outages);
        let result = Box::new(CaseResult::clone(result));
        events.push(BenchmarkEventKind::CaseRunFinished { result });
    }
    for run in part.remaining() {
        let Some(pending) = part.pending(run) else {
            continue;
        };
        if pending.consultations.is_empty() {
            continue;
        }
        let outages = usize::try_from(pending.outages).unwrap_or(usize::MAX);
        add_attempts(events, run, &pending.consultations, outages);
        events.push(deferred(run, DeferralCause::Stop, pending.spend));
    }
}

/// The first ones ended because of a provider: which ones did changes no figure.
fn add_attempts(
    events: &mut Vec<BenchmarkEventKind>,
    run: &CaseRunId,
    consultations: &[ConsultationId],
    outages: usize,
) {
    let attempts = std::iter::repeat_n(1, outages).chain(1..);
    for (place, (attempt, consultation)) in attempts.zip(consultations).enumerate() {
        events.push(BenchmarkEventKind::CaseRunStarted {
            run: run.clone(),
            attempt,
            consultation: consultation.clone(),
        });
        if place < outages {
            let spend = ConsultationSpend::default();
            events.push(deferred(run, DeferralCause::Infrastructure, spend));
        }
    }
}

fn deferred(run: &CaseRunId, cause: DeferralCause, spend: ConsultationSpend) -> BenchmarkEventKind {
    BenchmarkEventKind::CaseRunDeferred(Box::new(CaseRunDeferred {
        run: run.clone(),
        cause,
        spend,
        error: None,
    }))
}

fn missing(parts: &[StoredRun]) -> Vec<Partition> {
    let terms = || parts.iter().map(|part| &part.state.begun.terms);
    let known: Vec<Partition> = terms().filter_map(|terms| terms.partition).collect();
    let count = known.first().map_or(0, |part| part.count);
    // Later parts of a smaller suite have no cases.
    let cases = terms().map(|terms| terms.suite.cases).max().unwrap_or(0);
    (1..=count)
        .map(|index| Partition { index, count })
        .filter(|part| !known.contains(part) && u64::from(part.index) <= cases)
        .collect()
}

fn check(first: &StoredRun, other: &StoredRun) -> Result<(), Error> {
    let (one, two) = (&first.state.begun.terms, &other.state.begun.terms);
    let differs = |what: &str| {
        Error::usage(format!(
            "{} and {} have different {what}",
            first.state.begun.run, other.state.begun.run
        ))
    };
    if one.suite.sha256 != two.suite.sha256 {
        return Err(differs("suites").hint("merge runs of one suite that did not change"));
    }
    if one.arms != two.arms {
        return Err(differs("panels or models").hint("merge runs of the same arms"));
    }
    let is_of_other_parts = |(one, two): (Partition, Partition)| one.count != two.count;
    if one
        .partition
        .zip(two.partition)
        .is_some_and(is_of_other_parts)
    {
        return Err(differs("numbers of parts").hint("merge all parts of one `--partition`"));
    }
    if one.repetitions != two.repetitions {
        return Err(differs("numbers of repetitions").hint("merge runs with the same `--repeat`"));
    }
    Ok(())
}
