//! One run of several: of the parts of a suite that ran on different machines.

use std::collections::BTreeMap;

use crate::benchmark::case::CaseId;
use crate::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause, RunBegun};
use crate::benchmark::run::{CaseRef, CaseRunId, Partition, RunId, RunOptions, RunTerms};
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
    /// The cases that none of the runs has, by their parts if these are known: `these parts: 2/3`.
    pub missing: Option<String>,
}

/// Puts runs together under a new id, with their results in the order of the suite, in which one
/// run of all cases has them.
///
/// # Errors
///
/// When they are of different suites, arms or options, or when two of them have the same case.
pub fn merge(id: RunId, parts: &[StoredRun]) -> Result<MergedRun, Error> {
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::usage("there is nothing to merge"));
    };
    for other in others {
        check(first, other)?;
    }
    let states = || parts.iter().map(|part| &part.state);
    let mut owners: BTreeMap<CaseRunId, &RunId> = BTreeMap::new();
    for begun in states().map(|state| &state.begun) {
        for case_run in begun.terms.case_runs() {
            let case = case_run.case.clone();
            if let Some(other) = owners.insert(case_run, &begun.run) {
                return Err(has_twice(&case, other, &begun.run));
            }
        }
    }
    let terms = || states().map(|state| &state.begun.terms);
    let mut cases: Vec<CaseRef> = terms().flat_map(|terms| terms.cases.clone()).collect();
    cases.sort_by_key(|case| case.position);
    let selected = terms().map(|terms| terms.selected.cases);
    let mut terms = RunTerms {
        cases,
        partition: None,
        ..first.state.begun.terms.clone()
    };
    terms.selected.cases = selected.fold(terms.cases.len() as u64, u64::max);
    let runs = states().map(|state| state.begun.run.clone()).collect();
    let mut events = vec![BenchmarkEventKind::Merged { runs }];
    add_events(&mut events, &terms, parts);
    if states().any(|state| !state.is_complete()) {
        let request = StopRequest::UnfinishedParts;
        events.push(BenchmarkEventKind::StopRequested(request));
    }
    Ok(MergedRun {
        missing: missing(parts, &terms),
        begun: RunBegun {
            fleet: None,
            run: id,
            terms,
            // No stop condition may end a run whose results are all there.
            conditions: StopConditions::off(),
        },
        events,
    })
}

fn has_twice(case: &CaseId, one: &RunId, two: &RunId) -> Error {
    if one == two {
        return Error::usage(format!("{one} is named twice"));
    }
    Error::usage(format!("case `{case}` is part of {one} and of {two}"))
        .hint("merge runs that share no case, such as those of `--partition`")
}

/// Which of the consultations of a case run were attempts changes no figure.
fn add_events(events: &mut Vec<BenchmarkEventKind>, terms: &RunTerms, parts: &[StoredRun]) {
    let results = parts.iter().flat_map(|part| &part.state.results);
    let results: BTreeMap<_, _> = results.map(|result| (&result.run, result)).collect();
    let open = parts.iter().flat_map(|part| part.state.without_result());
    let open: BTreeMap<_, _> = open.map(|pending| (&pending.run, pending)).collect();
    for run in &terms.case_runs() {
        let (ids, attempts, outages, end) = match (results.get(run), open.get(run)) {
            (Some(&result), _) => {
                let (ids, boxed) = (&result.consultations, Box::new(result.clone()));
                let end = BenchmarkEventKind::CaseRunFinished { result: boxed };
                (ids, result.attempts, result.outages, end)
            }
            (None, Some(pending)) if !pending.consultations.is_empty() => {
                let end = deferred(run, DeferralCause::Stop, pending.spend);
                (
                    &pending.consultations,
                    pending.attempts,
                    pending.outages,
                    end,
                )
            }
            (None, _) => continue,
        };
        // One that begins again after an outage counts, as does each other one.
        let outages = (0..outages).filter_map(|_| Some((0, ids.last()?)));
        let attempts = (1..=attempts).zip(ids.iter().rev());
        for (attempt, id) in outages.chain(attempts) {
            events.push(BenchmarkEventKind::CaseRunStarted {
                run: run.clone(),
                attempt: attempt.max(1),
                consultation: id.clone(),
            });
            let (cause, spend) = (DeferralCause::Infrastructure, ConsultationSpend::default());
            events.extend((attempt == 0).then(|| deferred(run, cause, spend)));
        }
        events.push(end);
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

fn missing(parts: &[StoredRun], terms: &RunTerms) -> Option<String> {
    let lacking = terms.selected.cases - terms.cases.len() as u64;
    let known = parts.iter().map(|part| part.state.begun.terms.partition);
    let Some(known) = known.collect::<Option<Vec<Partition>>>() else {
        return (lacking > 0)
            .then(|| format!("the parts with {lacking} of {} cases", terms.selected.cases));
    };
    let count = known.first().map_or(0, |part| part.count);
    // Later parts of a smaller suite have no cases.
    let others = (1..=count).filter(|index| u64::from(*index) <= terms.selected.cases);
    let others = others.map(|index| Partition { index, count });
    let others = others.filter(|part| !known.contains(part));
    let others: Vec<String> = others.map(|part| part.to_string()).collect();
    (lacking > 0).then(|| format!("these parts: {}", others.join(", ")))
}

fn check(first: &StoredRun, other: &StoredRun) -> Result<(), Error> {
    let (one, two) = (&first.state.begun.terms, &other.state.begun.terms);
    let parts = one.partition.zip(two.partition);
    let differ = [
        one.suite.sha256 != two.suite.sha256,
        one.arms != two.arms,
        answering(one) != answering(two),
        parts.is_some_and(|(one, two)| one.count != two.count),
        one.repetitions != two.repetitions,
        parts.is_some() && one.selected != two.selected,
    ];
    let mut different = DIFFERENCES.iter().zip(differ).filter(|(_, differ)| *differ);
    let Some(((what, hint), _)) = different.next() else {
        return Ok(());
    };
    let (one, two) = (&first.state.begun.run, &other.state.begun.run);
    Err(Error::usage(format!("{one} and {two} have different {what}")).hint(*hint))
}

/// What runs have different, and what to do.
const DIFFERENCES: [(&str, &str); 6] = [
    ("suites", "merge runs of one suite that did not change"),
    ("panels or models", "merge runs of the same arms"),
    ("options", "merge runs with the same flags"),
    ("numbers of parts", "merge all parts of one `--partition`"),
    ("numbers of repetitions", "merge runs with one `--repeat`"),
    ("selections", "merge parts of one `--tag` and `--limit`"),
];

/// The options that change answers.
fn answering(terms: &RunTerms) -> RunOptions {
    let mut options = terms.options.clone();
    (options.control.max_cost, options.control.max_calls) = (None, None);
    options
}
