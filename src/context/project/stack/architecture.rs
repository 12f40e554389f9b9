//! The pattern of a project's architecture: the router of Next.js, workspaces and monorepos.

use std::collections::BTreeSet;

use super::StackSources;
use super::frameworks::FrameworkUse;
use crate::context::project::dependency::Ecosystem;
use crate::context::project::manifests::Manifest;
use crate::context::project::paths::folder_of;

/// Returns the pattern of a project's architecture.
pub(super) fn architecture(
    sources: StackSources<'_>,
    main: Option<&FrameworkUse<'_>>,
    manifests: &[&Manifest],
) -> Option<&'static str> {
    if let Some(main) = main.filter(|main| main.framework.id == "nextjs") {
        let folder = &main.manifest.folder;
        let has = |name: &str| folder.join(name).is_dir() || folder.join("src").join(name).is_dir();
        match (has("app"), has("pages")) {
            (true, false) => return Some("app_router"),
            (false, true) => return Some("pages_router"),
            (true, true) => return Some("app_and_pages_router"),
            (false, false) => {}
        }
    }
    let configuration = &sources.tree.configuration;
    let shows_workspace = |path: &String| {
        [
            "pnpm-workspace.yaml",
            "lerna.json",
            "go.work",
            "nx.json",
            "turbo.json",
        ]
        .contains(&path.as_str())
    };
    let is_workspace = manifests
        .iter()
        .any(|manifest| manifest.content.is_workspace && !manifest.path.contains('/'))
        || configuration.iter().any(shows_workspace);
    if is_workspace {
        return Some("workspace");
    }
    let mut packages = BTreeSet::new();
    for manifest in manifests {
        let is_package =
            !manifest.content.dependencies.is_empty() || manifest.content.name.is_some();
        if is_package && manifest.path.contains('/') && manifest.ecosystem != Ecosystem::Pypi {
            packages.insert(folder_of(&manifest.path));
        }
    }
    if packages.len() < 2 {
        return None;
    }
    let mut top = sources.tree.manifests.iter().chain(configuration);
    let is_listed = top.any(|path| {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        !path.contains('/')
            && (path.starts_with("settings.gradle") || ["sln", "slnx"].contains(&extension))
    });
    Some(if is_listed { "workspace" } else { "monorepo" })
}
