//! Finds the run that a user names.

use std::fs;
use std::io;
use std::path::Path;

use crate::benchmark::run::RunId;
use crate::records::lookup::{self, LookupError};

const PREFIX: &str = "bench-";

/// Returns the runs by the names of their folders; none without a folder of runs.
pub(super) fn newest_first(folder: &Path) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        runs.extend(name.to_str().and_then(RunId::parse));
    }
    runs.sort_unstable_by(|one, other| other.cmp(one));
    Ok(runs)
}

/// Returns the one run that a name fits.
pub(super) fn among(newest_first: Vec<RunId>, name: &str) -> Result<RunId, LookupError<RunId>> {
    let path = Path::new(name);
    let inside = ["log.jsonl", "state.json"];
    let is_file = path
        .file_name()
        .is_some_and(|file| inside.iter().any(|inside| file == *inside));
    let folder = if is_file { path.parent() } else { Some(path) };
    let name = folder
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    lookup::among(newest_first, PREFIX, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(names: &[&str]) -> Vec<RunId> {
        names.iter().map(|name| RunId::from_unique(name)).collect()
    }

    fn named(stored: &[&str], name: &str) -> Result<String, LookupError<RunId>> {
        among(runs(stored), name).map(|run| run.to_string())
    }

    #[test]
    fn ids_prefixes_folders_and_last_name_a_run() {
        let stored = ["01kb2", "01kb1", "01ka1"];
        for name in [
            "bench-01ka1",
            "01ka1",
            "01KA",
            "bench-01ka",
            "runs/bench-01ka1",
            "/x/runs/bench-01ka1/",
            "/x/runs/bench-01ka1/log.jsonl",
            "bench-01ka1/state.json",
        ] {
            assert_eq!(named(&stored, name).unwrap(), "bench-01ka1", "{name}");
        }
        assert_eq!(named(&stored, "last").unwrap(), "bench-01kb2");
    }

    #[test]
    fn a_prefix_of_several_runs_lists_them() {
        assert_eq!(
            named(&["01kb2", "01kb1", "01ka1"], "01kb"),
            Err(LookupError::Ambiguous(runs(&["01kb2", "01kb1"])))
        );
        assert_eq!(named(&["01kb2", "01kb"], "01kb").unwrap(), "bench-01kb");
    }

    #[test]
    fn names_of_no_run_are_not_found() {
        for name in ["02", "", "bench-", "/", "..", "last2"] {
            assert_eq!(
                named(&["01kb2"], name),
                Err(LookupError::NotFound),
                "{name}"
            );
        }
        assert_eq!(named(&[], "last"), Err(LookupError::NotFound));
    }
}
