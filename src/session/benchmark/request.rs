//! The request for a run as plain data, and the settings of a suite beneath it: flags come before
//! the manifest, and both before the defaults.

use std::collections::BTreeSet;

use crate::benchmark::case::CaseId;
use crate::benchmark::run::{
    Arm, ArmTerms, CaseRef, Partition, RunOptions, RunTerms, Selection, SuiteRef,
};
use crate::consultation::plan::options::Rounds;
use crate::domain::hash::sha256;
use crate::error::Error;
use crate::setup::request::PanelRequest;
use crate::stopping::batch::conditions::StopConditions;
use crate::suites::suite::{StopLimit, StopSettings, Suite, SuiteSettings};

/// Attempts for a case, unless the request or the suite says otherwise.
const DEFAULT_ATTEMPTS: u32 = 2;

/// The request for a new run. The suite and the settings decide everything that is absent.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkRequest {
    pub cases: CaseSelection,
    pub panel: PanelRequest,
    pub rounds: Option<Rounds>,
    /// The model of the single arm.
    pub single: Option<String>,
    /// Both arms answer the cases.
    pub compare: bool,
    pub repetitions: Option<u32>,
    pub attempts_per_case: Option<u32>,
    pub stop: StopSettings,
    pub options: RunOptions,
}

/// The part of a suite that is run.
#[derive(Clone, Debug, Default)]
pub struct CaseSelection {
    /// Cases with any of these tags; all if there is none.
    pub tags: Vec<String>,
    /// The first ones of those.
    pub limit: Option<u32>,
    pub partition: Option<Partition>,
}

impl BenchmarkRequest {
    /// Takes from the suite what the request leaves open.
    #[must_use]
    pub fn with_settings(mut self, suite: &SuiteSettings) -> Self {
        if self.panel.names_no_seats() {
            self.panel.panel.clone_from(&suite.panel);
            self.panel.personas.clone_from(&suite.personas);
            self.panel.models.clone_from(&suite.models);
        }
        self.panel.judge = self.panel.judge.or_else(|| suite.judge.clone());
        if self.compare {
            self.single = self.single.or_else(|| suite.single.clone());
        }
        self.rounds = self.rounds.or(suite.rounds.and_then(Rounds::new));
        self.attempts_per_case = self.attempts_per_case.or(suite.attempts_per_case);
        self.options.grader = self.options.grader.or_else(|| suite.grader.clone());
        self.options.mode = self.options.mode.or(suite.mode);
        let (flags, manifest) = (&mut self.stop, &suite.stop_conditions);
        flags.max_retry_rate = flags.max_retry_rate.or(manifest.max_retry_rate);
        flags.max_reject_rate = flags.max_reject_rate.or(manifest.max_reject_rate);
        flags.max_consecutive_fails = flags
            .max_consecutive_fails
            .or(manifest.max_consecutive_fails);
        flags.max_total_attempts = flags.max_total_attempts.or(manifest.max_total_attempts);
        flags.min_items = flags.min_items.or(manifest.min_items);
        flags.window = flags.window.or(manifest.window);
        self
    }

    pub fn arms(&self) -> Vec<Arm> {
        match (self.compare, &self.single) {
            (true, _) => Arm::ALL.to_vec(),
            (false, Some(_)) => vec![Arm::Single],
            (false, None) => vec![Arm::Panel],
        }
    }

    /// Returns the terms of a run of this suite.
    ///
    /// # Errors
    ///
    /// When the selection leaves no case.
    pub fn terms(&self, suite: &Suite, arms: Vec<ArmTerms>) -> Result<RunTerms, Error> {
        let (cases, selected) = self.cases.of(suite)?;
        Ok(RunTerms {
            suite: suite_ref(suite),
            cases,
            selected,
            arms,
            repetitions: self.repetitions.unwrap_or(1),
            partition: self.cases.partition,
            attempts_per_case: self.attempts_per_case.unwrap_or(DEFAULT_ATTEMPTS),
            options: self.options.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

/// Returns the stop conditions, with the given ones over others.
///
/// # Errors
///
/// When they can never be reached or contradict each other.
pub fn conditions(over: StopConditions, given: &StopSettings) -> Result<StopConditions, Error> {
    let conditions = StopConditions {
        max_attempts: laid(over.max_attempts, given.max_total_attempts),
        max_consecutive_fails: laid(over.max_consecutive_fails, given.max_consecutive_fails),
        max_reject_rate: laid(over.max_reject_rate, given.max_reject_rate),
        max_retry_rate: laid(over.max_retry_rate, given.max_retry_rate),
        min_items: given.min_items.map_or(over.min_items, u64::from),
        window: given.window.map_or(over.window, u64::from),
        ..over
    };
    conditions.validate().map_err(Error::usage)?;
    Ok(conditions)
}

/// A budget that was not chosen must suffice for the case runs.
pub fn check_budget(
    conditions: &StopConditions,
    given: &StopSettings,
    case_runs: usize,
) -> Result<(), Error> {
    if given.max_total_attempts.is_some() {
        return Ok(());
    }
    let case_runs = u64::try_from(case_runs).unwrap_or(u64::MAX);
    conditions.check_budget(case_runs).map_err(|error| {
        // A tenth may need a second attempt.
        let enough = case_runs.saturating_add(case_runs.div_ceil(10));
        Error::usage(error).hint(format!(
            "allow more with `--max-attempts {enough}`, or run fewer cases with `--limit`"
        ))
    })
}

fn laid<T>(over: Option<T>, given: Option<StopLimit<T>>) -> Option<T> {
    match given {
        Some(StopLimit::Off) => None,
        Some(StopLimit::At(limit)) => Some(limit),
        None => over,
    }
}

impl CaseSelection {
    /// In the order of the suite, and what all parts have.
    fn of(&self, suite: &Suite) -> Result<(Vec<CaseRef>, Selection), Error> {
        let cases = || suite.cases.iter().map(|entry| &entry.case);
        for tag in &self.tags {
            if !cases().any(|case| case.tags.contains(tag)) {
                let mut known: Vec<&str> = cases()
                    .flat_map(|case| case.tags.iter().map(String::as_str))
                    .collect();
                known.sort_unstable();
                known.dedup();
                let missing = format!("no case of the suite has the tag `{tag}`");
                return Err(match known.as_slice() {
                    [] => Error::usage(format!("{missing}: none has a tag")),
                    known => Error::usage(missing).hint(format!("one of: {}", known.join(", "))),
                });
            }
        }
        let has_tag = |tags: &[String]| {
            self.tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag))
        };
        let limit = self.limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        // Parts are taken of what the limit leaves, so that together they are one run with it.
        let chosen = || {
            let tagged = (1..).zip(cases()).filter(|(_, case)| has_tag(&case.tags));
            tagged.take(limit)
        };
        let ids = || chosen().map(|(_, case)| &case.id);
        let part = self.partition.map(|partition| partition.of(ids()));
        let is_in_part = |id| part.as_ref().is_none_or(|part| part.contains(id));
        let selected: Vec<CaseRef> = chosen()
            .filter(|(_, case)| is_in_part(&case.id))
            .map(|(position, case)| CaseRef::at(position, case))
            .collect();
        match (selected.is_empty(), self.partition) {
            (false, _) => {
                let all: BTreeSet<&str> = ids().map(CaseId::as_str).collect();
                let sha256 = sha256(&Vec::from_iter(all).join("\n"));
                let cases = chosen().count() as u64;
                Ok((selected, Selection { cases, sha256 }))
            }
            (true, Some(partition)) => Err(Error::usage(format!(
                "part {partition} of the suite has no cases"
            ))
            .hint("use fewer parts: the other parts have all cases")),
            (true, None) => Err(Error::usage("no case is selected")),
        }
    }
}

fn suite_ref(suite: &Suite) -> SuiteRef {
    SuiteRef {
        name: suite.name.clone(),
        path: suite.path.to_string_lossy().into_owned(),
        sha256: suite.sha256.clone(),
        cases: u64::try_from(suite.cases.len()).unwrap_or(u64::MAX),
        fields: suite.fields.clone(),
    }
}
