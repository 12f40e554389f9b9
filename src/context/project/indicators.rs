//! The indicators of an existing project: source files, manifests, configuration, documentation and
//! history. Three of the five kinds make it one.

use std::collections::BTreeMap;

use super::tree::Tree;

/// So many kinds of indicators make a project an existing one.
const ENOUGH: usize = 3;
/// So many source files are an indicator.
const SOURCE_FILES: u64 = 10;
/// So many names are listed of each kind.
const NAMES: usize = 3;

/// The indicators of a project.
#[derive(Debug)]
pub(super) struct Indicators {
    /// The names to show, by kind: `package.json`, `src/`, `git`.
    pub(super) names: Vec<String>,
    pub(super) is_brownfield: bool,
}

impl Indicators {
    pub(super) fn of(tree: &Tree, has_history: bool) -> Self {
        let kinds = [
            first_names(&tree.manifests),
            first_names(&tree.configuration),
            first_names(&tree.documents),
            source_folder(tree).into_iter().collect(),
            has_history.then(|| "git".to_owned()).into_iter().collect(),
        ];
        Self {
            is_brownfield: kinds.iter().filter(|names| !names.is_empty()).count() >= ENOUGH,
            names: kinds.concat(),
        }
    }
}

fn first_names(paths: &[String]) -> Vec<String> {
    paths.iter().take(NAMES).cloned().collect()
}

/// Returns the folder at the top with the most source files, as `src/`; `./` if most are at the top
/// itself. None below [`SOURCE_FILES`].
fn source_folder(tree: &Tree) -> Option<String> {
    if tree.sources() < SOURCE_FILES {
        return None;
    }
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for (folder, files) in &tree.folders {
        let top = folder.split('/').next().unwrap_or_default();
        *folders.entry(top).or_default() += files;
    }
    let (folder, _) = folders.into_iter().max_by_key(|(_, files)| *files)?;
    Some(format!("{}/", if folder.is_empty() { "." } else { folder }))
}
