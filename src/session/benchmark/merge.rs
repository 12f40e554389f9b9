//! One run of several: of the parts of a suite that ran on different machines.

use std::collections::BTreeMap;

use crate::benchmark::event::RunBegun;
use crate::benchmark::result::CaseResult;
use crate::benchmark::run::{CaseRef, CaseRunId, RunId, RunTerms};
use crate::error::Error;
use crate::records::runs::StoredRun;
use crate::stopping::batch::conditions::StopConditions;

/// A run that has the results of others.
#[derive(Debug)]
pub(crate) struct MergedRun {
    pub(crate) begun: RunBegun,
    pub(crate) runs: Vec<RunId>,
    pub(crate) results: Vec<CaseResult>,
}

/// Puts runs together under a new id.
///
/// # Errors
///
/// When they are of different suites or different arms, or when two of them have the same case.
pub(crate) fn merge(id: RunId, parts: &[StoredRun]) -> Result<MergedRun, Error> {
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::usage("there is nothing to merge"));
    };
    for other in others {
        check(first, other)?;
    }
    let mut results = Vec::new();
    let mut owners: BTreeMap<CaseRunId, &RunId> = BTreeMap::new();
    let mut cases: Vec<CaseRef> = Vec::new();
    for part in parts {
        let state = &part.state;
        for case_run in state.terms().case_runs() {
            if let Some(other) = owners.insert(case_run.clone(), state.run()) {
                return Err(Error::usage(format!(
                    "case `{}` is part of {other} and of {}",
                    case_run.case,
                    state.run()
                ))
                .hint("merge runs that have no case in common, such as those of `--partition`"));
            }
        }
        cases.extend(state.terms().cases.iter().cloned());
        results.extend(state.results().iter().cloned());
    }
    cases.sort_by_key(|case| case.position);
    let state = &first.state;
    Ok(MergedRun {
        begun: RunBegun {
            run: id,
            terms: RunTerms {
                cases,
                partition: None,
                ..state.terms().clone()
            },
            // No stop condition may end a run whose results are all there.
            conditions: StopConditions::off(),
        },
        runs: parts.iter().map(|part| part.state.run().clone()).collect(),
        results,
    })
}

fn check(first: &StoredRun, other: &StoredRun) -> Result<(), Error> {
    let (one, two) = (first.state.terms(), other.state.terms());
    let differs = |what: &str| {
        Error::usage(format!(
            "{} and {} have different {what}",
            first.state.run(),
            other.state.run()
        ))
    };
    if one.suite.sha256 != two.suite.sha256 {
        return Err(differs("suites").hint("merge runs of one suite that did not change"));
    }
    if one.arms != two.arms {
        return Err(differs("panels or models").hint("merge runs of the same arms"));
    }
    if one.repetitions != two.repetitions {
        return Err(differs("numbers of repetitions").hint("merge runs with the same `--repeat`"));
    }
    Ok(())
}
