//! The framework and the stack of a project.
//!
//! Manifests of tests and examples count only if there are no others. The main framework is the one
//! of the highest tier. The manifest nearest to the top breaks a tie, then the folder with the most
//! source files, then the order in `technologies.toml`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::context::project::locks::Locks;
use crate::context::project::manifests::Manifest;
use crate::context::project::patterns::{Dependency, Ecosystem, depth_of, folder_of};
use crate::context::project::rules::{Framework, Rules, Tier};
use crate::context::project::structure::sums;
use crate::context::project::tree::Tree;
use crate::files::{SizeLimit, resolved};
use crate::text::pattern::Pattern;

/// So many parts of one kind are named.
const PARTS: usize = 6;

/// Something that a project uses.
#[derive(Debug)]
pub(super) struct Technology {
    pub(super) id: String,
    pub(super) name: String,
    /// `14` from the requirement `^14.0.0`; `14.2.3` from a lock file if there is none.
    pub(super) version: Option<String>,
}

/// The framework and the stack of a project.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub(super) framework: Option<Technology>,
    /// Other frameworks, each with the folder of its manifest.
    others: Vec<(Technology, String)>,
    /// `app_router`, `workspace`, …
    pub(super) architecture: Option<&'static str>,
    parts: BTreeMap<String, Vec<Technology>>,
}

impl Stack {
    pub(super) fn of(
        root: &Path,
        tree: &Tree,
        manifests: &[Manifest],
        rules: &Rules,
        mut locks: Locks,
    ) -> Self {
        let manifests = primary(manifests, rules);
        let mut stack = Self::default();
        let mut uses: Vec<(&Framework, &Manifest)> = Vec::new();
        for manifest in &manifests {
            let dependencies = &manifest.content.dependencies;
            let frameworks = rules.frameworks.get(&manifest.ecosystem);
            for framework in frameworks.into_iter().flatten() {
                if dependencies.iter().any(|used| framework.is_shown_by(used)) {
                    uses.push((framework, manifest));
                }
            }
            let parts = rules.stack.get(&manifest.ecosystem);
            for part in parts.into_iter().flatten() {
                if let Some(used) = dependencies.iter().find(|used| part.is_shown_by(used)) {
                    let version = (!part.unversioned)
                        .then(|| version_of(manifest, used, &mut locks))
                        .flatten();
                    stack.add(&part.kind, &part.id, &part.name, version);
                }
            }
        }
        stack.add_files(root, tree, rules);
        let sums = sums(tree);
        uses.sort_by_key(|(framework, manifest)| {
            let sources = sums.get(folder_of(&manifest.path)).copied();
            (framework.tier, depth_of(&manifest.path), Reverse(sources))
        });
        stack.architecture = architecture(tree, uses.first().copied(), &manifests);
        let mut seen = BTreeSet::new();
        for (framework, manifest) in uses {
            if !seen.insert(&framework.id) {
                continue;
            }
            let own = manifest.content.dependencies.iter();
            let mut versions = own
                .chain(&manifest.inherited)
                .filter(|dependency| framework.has_version_of(dependency));
            let technology = Technology {
                id: framework.id.clone(),
                name: framework.name.clone(),
                version: versions.find_map(|used| version_of(manifest, used, &mut locks)),
            };
            if stack.framework.is_none() {
                stack.framework = Some(technology);
            } else if framework.tier != Tier::Tool && stack.others.len() < PARTS {
                let folder = folder_of(&manifest.path).to_owned();
                stack.others.push((technology, folder));
            }
        }
        stack
    }

    fn add_files(&mut self, root: &Path, tree: &Tree, rules: &Rules) {
        // The provider of a Prisma schema, the adapter of Rails, the image of a container.
        static DATABASE: Pattern = Pattern::prepared("", |_| {
            let key = r"(?m)^\s*(?:provider|adapter|dialect|image)\s*[:=]\s*";
            let value = r#"["']?(?:docker\.io/)?(?:library/)?([^\s"',@:]+)"#;
            format!("{key}{value}")
        });
        for sign in rules.signs() {
            let mut files = tree.signs.iter();
            if files.any(|path| !rules.is_secondary(path) && sign.paths.matches(path)) {
                self.add(&sign.kind, &sign.id, &sign.name, None);
            }
        }
        for path in tree
            .databases
            .iter()
            .filter(|path| !rules.is_secondary(path))
        {
            let text = resolved::read_text(&root.join(path), SizeLimit::SMALL).unwrap_or_default();
            let words = DATABASE.all(&text);
            for word in words.filter_map(|captures| captures.get(1)) {
                if let Some((id, name)) = rules.database(word.as_str()) {
                    self.add("database", id, name, None);
                }
            }
        }
    }

    fn add(&mut self, kind: &str, id: &str, name: &str, version: Option<String>) {
        let parts = self.parts.entry(kind.to_owned()).or_default();
        let number = parts.len();
        match parts.iter_mut().find(|part| part.id == id) {
            Some(part) => part.version = part.version.take().or(version),
            None if number < PARTS => parts.push(Technology {
                id: id.to_owned(),
                name: name.to_owned(),
                version,
            }),
            None => {}
        }
    }

    /// One id by kind, or a list of them; always a list for tests and CI.
    pub(super) fn ids(&self) -> BTreeMap<String, Value> {
        let ids = self.parts.iter().map(|(kind, parts)| {
            let value = match parts.as_slice() {
                [single] if !["testing", "ci"].contains(&kind.as_str()) => single.id.clone().into(),
                parts => parts.iter().map(|part| part.id.clone()).collect(),
            };
            (kind.clone(), value)
        });
        ids.collect()
    }

    /// `Next.js 14 App Router`.
    pub(super) fn framework_line(&self) -> Option<String> {
        let router = match self.architecture {
            Some("app_router") => " App Router",
            Some("pages_router") => " Pages Router",
            Some("app_and_pages_router") => " App Router and Pages Router",
            _ => "",
        };
        let framework = self.framework.as_ref()?;
        Some(format!("{framework}{router}"))
    }

    /// `Testing: Vitest + Playwright`.
    pub(super) fn lines(&self, rules: &Rules) -> Vec<String> {
        let mut lines = Vec::new();
        let others = self.others.iter();
        let others: Vec<String> = others
            .map(|(technology, folder)| match folder.as_str() {
                "" => technology.to_string(),
                folder => format!("{technology} in {folder}/"),
            })
            .collect();
        if !others.is_empty() {
            lines.push(format!("Also: {}", others.join(", ")));
        }
        let orm = self.parts.get("orm");
        for (kind, label) in rules.kinds() {
            let Some(parts) = self.parts.get(kind) else {
                continue;
            };
            let words = match (kind.as_str(), orm) {
                ("database", Some(orm)) => format!("{} with {} ORM", joined(parts), joined(orm)),
                ("orm", _) if self.parts.contains_key("database") => continue,
                _ => joined(parts),
            };
            lines.push(format!("{label}: {words}"));
        }
        lines
    }
}

impl std::fmt::Display for Technology {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        match &self.version {
            Some(version) => write!(f, " {version}"),
            None => Ok(()),
        }
    }
}

fn joined(parts: &[Technology]) -> String {
    let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    names.join(" + ")
}

/// All of them if there are no others.
fn primary<'a>(manifests: &'a [Manifest], rules: &Rules) -> Vec<&'a Manifest> {
    let is_own = |manifest: &&Manifest| !rules.is_secondary(&manifest.path);
    match manifests.iter().filter(is_own).collect::<Vec<_>>() {
        own if own.is_empty() => manifests.iter().collect(),
        own => own,
    }
}

/// If it names none, that of a lock file.
pub(super) fn version_of(
    manifest: &Manifest,
    dependency: &Dependency,
    locks: &mut Locks,
) -> Option<String> {
    let requirement = dependency.requirement.as_deref();
    requirement
        .and_then(fixed_version)
        .or_else(|| locks.version(manifest, &dependency.name))
}

fn major(requirement: &str) -> Option<u64> {
    let mut numbers = requirement.split(|c: char| !c.is_ascii_digit());
    numbers.find(|digits| !digits.is_empty())?.parse().ok()
}

/// `14` for `^14.2.0`, `14.2` for `~14.2.0`, `4.2.1` for `==4.2.1`; of alternatives the highest,
/// `18` for `^17.0.0 || ^18.0.0`; a range as it is written.
fn fixed_version(requirement: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let alternatives = requirement.split("||");
    let requirement = alternatives.max_by_key(|range| major(range))?.trim();
    let digits = requirement.find(|c: char| c.is_ascii_digit())?;
    let (operator, version) = requirement.split_at(digits);
    let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let is_single = version.chars().all(is_version);
    if !is_single || requirement.len() > LONGEST {
        let is_plain = |c: char| is_version(c) || " <>=~^!|,*()[]".contains(c);
        let is_short = requirement.len() <= LONGEST && requirement.chars().all(is_plain);
        return is_short.then(|| requirement.to_owned());
    }
    let parts: Vec<&str> = version.split('.').collect();
    let fixed = match operator.trim() {
        "^" if parts.first() == Some(&"0") => 2,
        "^" => 1,
        "~" => 2,
        "~>" | "~=" => parts.len().saturating_sub(1).clamp(1, 2),
        "" | "=" | "==" | "===" | "v" => parts.len(),
        _ => return Some(requirement.to_owned()),
    };
    let fixed = parts.get(..fixed.min(parts.len()))?;
    Some(fixed.join("."))
}

/// Files of tools for workspaces.
const WORKSPACE_FILES: [&str; 5] = [
    "pnpm-workspace.yaml",
    "lerna.json",
    "go.work",
    "nx.json",
    "turbo.json",
];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_show_what_they_hold_fixed() {
        for (requirement, fixed) in [
            ("^14.2.0", Some("14")),
            ("^0.3.1", Some("0.3")),
            ("~14.2.0", Some("14.2")),
            ("~> 7.1", Some("7")),
            ("~> 7.1.2", Some("7.1")),
            ("~=4.2.1", Some("4.2")),
            ("==4.2.1", Some("4.2.1")),
            ("0.8", Some("0.8")),
            ("v1.9.1", Some("1.9.1")),
            (">=4.2,<5", Some(">=4.2,<5")),
            ("14.x", Some("14.x")),
            ("^17.0.0 || ^18.0.0", Some("18")),
            ("^18.2.0||^9.1.0", Some("18")),
            ("^16 || >=17", Some(">=17")),
            ("latest", None),
            ("*", None),
            ("1.0 <script>alert(\"x\")</script>", None),
        ] {
            assert_eq!(
                fixed_version(requirement).as_deref(),
                fixed,
                "{requirement}"
            );
        }
    }
}
