//! The names of files in promptfoo's configurations, with wildcards.

use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::files::{SizeLimit, resolved};
use crate::suites::case_file::{path_inside, unusable};
use crate::suites::log::FileLog;

/// The deepest folder, and the most files of a pattern.
const DEEPEST: usize = 8;
const MAX_FILES: usize = 1000;

pub(super) fn is_program(name: &str) -> bool {
    const ENDINGS: &str = "js cjs mjs ts cts mts py rb go sh";
    let (_, ending) = name.rsplit_once('.').unwrap_or_default();
    // `prompt.py:function` is a part of one.
    let ending = ending.split(':').next();
    ENDINGS.split(' ').any(|known| ending == Some(known))
}

/// Returns the text of a file.
///
/// # Errors
///
/// Why there is none, as the end of a sentence.
pub(super) fn read(name: &str, log: &FileLog) -> Result<String, String> {
    if is_program(name) {
        return Err("is a program, which is not run".to_owned());
    }
    let path = path_inside(Path::new(name), &log.file.folder);
    let text = path.and_then(|path| resolved::read_text(&path, SizeLimit::SUITE));
    text.map_err(|error| unusable(&error))
}

/// Returns the files of a folder that a name stands for; a name without wildcards, or for none, is
/// itself.
pub(super) fn expanded(pattern: &str, folder: &Path) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./");
    let overrides = OverrideBuilder::new(folder)
        .add(&format!("/{pattern}"))
        .and_then(|builder| builder.build());
    let is_pattern = pattern.contains(['*', '?', '{', '[']);
    let Some(overrides) = overrides.ok().filter(|_| is_pattern) else {
        return vec![pattern.to_owned()];
    };
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .hidden(true)
        .overrides(overrides)
        .max_depth(Some(DEEPEST))
        .build();
    let files = walk.flatten().filter(|entry| entry.path().is_file());
    let names = files
        .filter_map(|entry| Some(entry.path().strip_prefix(folder).ok()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.take(MAX_FILES).collect();
    names.sort();
    if names.is_empty() {
        names.push(pattern.to_owned());
    }
    names
}
