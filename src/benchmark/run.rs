//! A run of a suite: its terms, and the case runs that it consists of.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::consultation::plan::ControlRequest;
use crate::consultation::policy::mode::Mode;
use crate::text::clean::shortened_unmasked;

use super::case::{Case, CaseId, ErrorRate, Matcher};

/// Identifies a run: `bench-` and a sortable, unique part in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = "^bench-[0-9a-z]+$")))]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    pub const PREFIX: &str = "bench-";

    /// `None` for a text that cannot name a file, or does not begin with `bench-`.
    pub fn parse(text: &str) -> Option<Self> {
        let unique = text.strip_prefix(Self::PREFIX)?;
        let is_unique = (1..=64).contains(&unique.len())
            && unique
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        is_unique.then(|| Self(text.to_owned()))
    }

    /// Creates an id from its unique part, which must sort by time (a ULID does).
    pub fn from_unique(unique: &str) -> Self {
        Self(format!("{}{}", Self::PREFIX, unique.to_ascii_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who answers: the panel, or one model as the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    Panel,
    Single,
}

impl Arm {
    pub const ALL: [Self; 2] = [Self::Panel, Self::Single];

    pub fn name(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Single => "single",
        }
    }
}

/// One case, answered once by one arm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseRunId {
    pub case: CaseId,
    pub arm: Arm,
    /// From 1; above 1 only with `--repeat`.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub repetition: u32,
}

impl CaseRunId {
    /// `case`, with its arm and repetition.
    pub fn describe(&self) -> String {
        format!("{} ({}, {})", self.case, self.arm.name(), self.repetition)
    }
}

/// A part of a suite, for one of several machines: part `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Partition {
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub index: u32,
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub count: u32,
}

/// The terms of a run, decided before it begins. A resumed run keeps them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunTerms {
    pub suite: SuiteRef,
    /// The cases of this run, in the order of the suite.
    pub cases: Vec<CaseRef>,
    /// What tags and limit leave of the suite.
    pub selected: Selection,
    pub arms: Vec<ArmTerms>,
    /// How often each arm answers each case.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub repetitions: u32,
    pub partition: Option<Partition>,
    /// Most attempts for one case run.
    pub attempts_per_case: u32,
    pub options: RunOptions,
    pub tool_version: String,
}

/// The options that all consultations of a run share. The settings decide everything that is
/// absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RunOptions {
    /// The model that grades answers, as `--model` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How often the judge decides: 1 or 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1, max = 2)))]
    pub judge_passes: Option<u8>,
    /// Without `on_failure`, a failure ends a consultation: another model's answer would not be the
    /// panel's. Without `hedge_after`, none is asked beside a slow one.
    #[serde(flatten)]
    pub control: ControlRequest,
    /// Secrets in the cases are sent as they are.
    pub unmasked: bool,
    /// A model selects the panel's personas for each question.
    pub selects_personas: bool,
}

/// The suite of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SuiteRef {
    pub name: String,
    /// The absolute path of the file or folder.
    pub path: String,
    /// Fingerprint of all its cases, whatever the partition and the format.
    pub sha256: String,
    /// The number of cases in the whole suite.
    pub cases: u64,
    /// The fields of its rows, by the names that cases have for them, where flags map them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// The cases that all parts have together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Selection {
    pub cases: u64,
    /// Fingerprint of their ids, in any order.
    pub sha256: String,
}

/// A case as a run knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseRef {
    pub id: CaseId,
    /// Its place in the whole suite, from 1, so that merged parts keep the suite's order.
    #[serde(default)]
    pub position: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The first of its right answers, for reports; a long one is cut.
    #[serde(default)]
    pub expected: String,
    /// The error rate that its answers have; `None` unless it is a transcription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<ErrorRate>,
}

impl CaseRef {
    /// Characters of the longest expected answer.
    const LONGEST_EXPECTED: usize = 200;

    /// `position` counts from 1.
    pub fn at(position: u64, case: &Case) -> Self {
        let expected = case.expected.first().map_or("", String::as_str);
        Self {
            id: case.id.clone(),
            position,
            tags: case.tags.clone(),
            expected: shortened_unmasked(expected, Self::LONGEST_EXPECTED),
            measure: match case.matcher {
                Matcher::Similarity { measure, .. } => Some(measure),
                _ => None,
            },
        }
    }
}

/// An arm, and who answers for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmTerms {
    pub arm: Arm,
    /// `persona=provider:model` for each seat, as `--panel` takes them.
    pub seats: Vec<String>,
    /// `None` if no judge is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    pub rounds: u8,
}

impl RunTerms {
    /// The whole suite, then its next repetition; the arms of a case next to each other.
    pub fn case_runs(&self) -> Vec<CaseRunId> {
        let cases = || self.cases.iter().map(|case| &case.id);
        let all = (1..=self.repetitions).flat_map(|repetition| {
            let arms = |case| self.arms.iter().map(move |arm| (case, arm.arm));
            cases().flat_map(arms).map(move |(case, arm)| CaseRunId {
                case: CaseId::clone(case),
                arm,
                repetition,
            })
        });
        all.collect()
    }

    pub fn is_comparison(&self) -> bool {
        self.arms.len() > 1
    }
}
