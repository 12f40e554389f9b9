//! A suite as it was read: its cases, their places, the settings of its manifest, and its
//! fingerprint.

use std::path::PathBuf;

use serde_json::json;

use crate::benchmark::case::Case;
use crate::consultation::policy::mode::Mode;
use crate::domain::answer::confidence::Confidence;
use crate::domain::hash::sha256;

use super::log::SuitePlace;
use super::shapes::FieldMap;

/// A suite that was checked whole.
#[derive(Clone, Debug)]
pub struct Suite {
    pub name: String,
    /// The absolute path of the file or folder that was named.
    pub path: PathBuf,
    /// At least one; their ids are unique.
    pub cases: Vec<SuiteCase>,
    pub settings: SuiteSettings,
    /// Fingerprint of all cases: what is asked, with what, and what is right. It depends neither on
    /// the format nor on the order, and not on tags or sources.
    pub sha256: String,
    /// The fields that flags map.
    pub fields: FieldMap,
    /// What the forms of its files were recognised as; empty for cases of this program's own form.
    pub shapes: Vec<String>,
    /// Remarks, such as columns that are not used.
    pub notes: Vec<String>,
}

/// A case and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteCase {
    /// The paths of its files are absolute.
    pub case: Case,
    pub place: SuitePlace,
    /// For each of its files the name and the SHA-256 of the content.
    pub(super) files: Vec<(String, String)>,
}

/// The settings of a manifest; flags come before them. Absent ones are decided by the settings of
/// the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteSettings {
    /// As `--panel` takes it.
    pub panel: Option<String>,
    /// As `--personas` takes it.
    pub personas: Option<String>,
    /// As `--model` takes them.
    pub models: Vec<String>,
    pub judge: Option<String>,
    /// The model of the single arm.
    pub single: Option<String>,
    /// The model that grades.
    pub grader: Option<String>,
    pub mode: Option<Mode>,
    /// 1 to 4.
    pub rounds: Option<u8>,
    /// From 1.
    pub attempts_per_case: Option<u32>,
    /// From 1.
    pub jobs: Option<u32>,
    pub stop_conditions: StopSettings,
}

/// The stop conditions of a manifest; `None` leaves the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StopSettings {
    pub max_retry_rate: Option<StopLimit<Confidence>>,
    pub max_reject_rate: Option<StopLimit<Confidence>>,
    /// From 1.
    pub max_consecutive_fails: Option<StopLimit<u64>>,
    /// From 1.
    pub max_total_attempts: Option<StopLimit<u64>>,
    /// From 1.
    pub min_items: Option<u32>,
    /// From 1.
    pub window: Option<u32>,
}

/// The limit of a stop condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopLimit<T> {
    /// The condition is switched off.
    Off,
    At(T),
}

pub(super) fn fingerprint(cases: &[SuiteCase]) -> String {
    let mut cases: Vec<&SuiteCase> = cases.iter().collect();
    cases.sort_by(|a, b| a.case.id.cmp(&b.case.id));
    // One case after another: as values, all of them would take many times the room of the suite.
    let canonical = cases.into_iter().map(|case| canonical(case).to_string());
    let canonical: Vec<String> = canonical.collect();
    sha256(&format!("[{}]", canonical.join(",")))
}

fn canonical(entry: &SuiteCase) -> serde_json::Value {
    let case = &entry.case;
    json!({
        "id": case.id,
        "question": case.question,
        "context": case.context,
        "files": entry.files,
        "expected": case.expected,
        "match": case.matcher,
    })
}
