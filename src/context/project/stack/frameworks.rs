//! The frameworks that manifests show.
//!
//! The main framework is the one of the highest tier; of several, that of the manifest nearest to
//! the top; of several as near, that of the folder with the most source files; in one manifest, the
//! one that comes first in `technologies.toml`.

use std::cmp::Reverse;

use super::StackSources;
use super::versions::version_of;
use crate::context::project::dependency::Dependency;
use crate::context::project::locks::Locks;
use crate::context::project::manifests::{Manifest, Manifests};
use crate::context::project::paths::folder_of;
use crate::context::project::technologies::Framework;
use crate::context::project::tree::Tree;

/// A framework, and the manifest that shows it.
#[derive(Debug)]
pub(super) struct FrameworkUse<'a> {
    pub(super) framework: &'a Framework,
    pub(super) manifest: &'a Manifest,
    pub(super) version: Option<String>,
}

/// Returns the frameworks that a manifest shows.
pub(super) fn frameworks<'a>(
    sources: StackSources<'a>,
    manifest: &'a Manifest,
    dependencies: &[Dependency],
    locks: &mut Locks,
) -> Vec<FrameworkUse<'a>> {
    let frameworks = sources.technologies.frameworks.get(&manifest.ecosystem);
    let mut uses = Vec::new();
    for framework in frameworks.into_iter().flatten() {
        if dependencies.iter().any(|used| framework.is_shown_by(used)) {
            uses.push(FrameworkUse {
                framework,
                manifest,
                version: framework_version(
                    sources.manifests,
                    framework,
                    manifest,
                    dependencies,
                    locks,
                ),
            });
        }
    }
    uses
}

/// Sorts frameworks, the main one first.
pub(super) fn main_first(uses: &mut [FrameworkUse<'_>], tree: &Tree) {
    uses.sort_by_key(|framework_use| {
        let path = &framework_use.manifest.path;
        (
            framework_use.framework.tier,
            path.matches('/').count(),
            Reverse(files_below(tree, folder_of(path))),
        )
    });
}

/// Returns the version of a framework: of one of its packages, or of one that the manifests above
/// have.
fn framework_version(
    manifests: &Manifests,
    framework: &Framework,
    manifest: &Manifest,
    dependencies: &[Dependency],
    locks: &mut Locks,
) -> Option<String> {
    let inherited = manifests.inherited(manifest);
    dependencies
        .iter()
        .chain(&inherited)
        .filter(|dependency| framework.has_version_of(dependency))
        .find_map(|dependency| version_of(manifest, dependency, locks))
}

/// Returns the number of source files below a folder.
fn files_below(tree: &Tree, folder: &str) -> u64 {
    let folders = tree.folders.iter().filter(|(other, _)| {
        folder.is_empty()
            || other
                .strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    folders.map(|(_, files)| files).sum()
}
