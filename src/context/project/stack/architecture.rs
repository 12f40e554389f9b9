//! The pattern of a project's architecture: the router of Next.js, workspaces and monorepos.

use std::collections::BTreeSet;

use crate::context::project::manifests::Manifest;
use crate::context::project::patterns::Ecosystem;
use crate::context::project::patterns::folder_of;
use crate::context::project::rules::Framework;
use crate::context::project::tree::Tree;

/// Files of tools for workspaces.
const WORKSPACE_FILES: [&str; 5] = [
    "pnpm-workspace.yaml",
    "lerna.json",
    "go.work",
    "nx.json",
    "turbo.json",
];

/// Returns the pattern of a project's architecture.
pub(super) fn architecture(
    tree: &Tree,
    main: Option<(&Framework, &Manifest)>,
    manifests: &[&Manifest],
) -> Option<&'static str> {
    if let Some((_, manifest)) = main.filter(|(framework, _)| framework.id == "nextjs") {
        let folder = &manifest.folder;
        let has = |name: &str| folder.join(name).is_dir() || folder.join("src").join(name).is_dir();
        match (has("app"), has("pages")) {
            (true, false) => return Some("app_router"),
            (false, true) => return Some("pages_router"),
            (true, true) => return Some("app_and_pages_router"),
            (false, false) => {}
        }
    }
    let mut tops = manifests
        .iter()
        .filter(|manifest| !manifest.path.contains('/'));
    let mut configuration = tree.configuration.iter();
    if tops.any(|manifest| manifest.content.is_workspace)
        || configuration.any(|path| WORKSPACE_FILES.contains(&path.as_str()))
    {
        return Some("workspace");
    }
    let is_package = |manifest: &&&Manifest| {
        let content = &manifest.content;
        manifest.path.contains('/')
            && manifest.ecosystem != Ecosystem::Pypi
            && (!content.dependencies.is_empty() || content.name.is_some())
    };
    let packages = manifests.iter().filter(is_package);
    let folders: BTreeSet<&str> = packages.map(|manifest| folder_of(&manifest.path)).collect();
    if folders.len() < 2 {
        return None;
    }
    let mut files = tree.manifests.iter().chain(&tree.configuration);
    let is_listed = files.any(|path| {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        !path.contains('/')
            && (path.starts_with("settings.gradle") || ["sln", "slnx"].contains(&extension))
    });
    Some(if is_listed { "workspace" } else { "monorepo" })
}
