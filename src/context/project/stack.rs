//! The framework and the stack of a project.
//!
//! The main framework is the one of the highest tier; of several, that of the manifest nearest to
//! the top; of several as near, that of the folder with the most source files; in one manifest, the
//! one that comes first in `technologies.toml`. Manifests of tests and examples count only if there
//! are no others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::files::{self, SizeLimit};

use super::locks::Locks;
use super::manifests::{Dependency, Ecosystem, Manifest, Manifests};
use super::technologies::{Framework, Technologies, Tier};
use super::tree::{Tree, name_of};

/// So many parts of one kind are named.
const PARTS: usize = 6;

/// Folders whose manifests are not the project's own.
const SECONDARY: [&str; 22] = [
    "test",
    "tests",
    "testdata",
    "__tests__",
    "spec",
    "e2e",
    "fixtures",
    "fixture",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "template",
    "templates",
    "docs",
    "website",
    "benchmarks",
    "benches",
    "bench",
    "fuzz",
];

/// Something that a project uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Technology {
    pub(super) id: String,
    pub(super) name: String,
    /// `14.2.3` from a lock file, `14` from the requirement `^14.0.0`.
    pub(super) version: Option<String>,
}

/// A framework, and the manifest that shows it.
#[derive(Debug)]
struct FrameworkUse<'a> {
    framework: &'a Framework,
    manifest: &'a Manifest,
    version: Option<String>,
}

/// The framework and the stack of a project.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub(super) framework: Option<Technology>,
    /// Other frameworks, each with the folder of its manifest.
    pub(super) others: Vec<(Technology, String)>,
    /// `app_router`, `workspace`, …
    pub(super) architecture: Option<&'static str>,
    /// Parts by kind.
    pub(super) parts: BTreeMap<String, Vec<Technology>>,
}

/// Everything that says something of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackSources<'a> {
    pub(super) root: &'a Path,
    pub(super) tree: &'a Tree,
    pub(super) manifests: &'a Manifests,
    pub(super) technologies: &'a Technologies,
}

impl Stack {
    pub(super) fn of(sources: StackSources<'_>, locks: &mut Locks) -> Self {
        let manifests = primary(&sources.manifests.own);
        let mut stack = Self::default();
        let mut uses = Vec::new();
        for manifest in &manifests {
            let dependencies = sources.manifests.dependencies(manifest);
            uses.extend(frameworks(sources, manifest, &dependencies, locks));
            stack.add_parts(sources, manifest, &dependencies, locks);
        }
        uses.sort_by_key(|framework_use| {
            let folder = folder_of(&framework_use.manifest.path);
            let depth = framework_use.manifest.path.matches('/').count();
            (
                framework_use.framework.tier,
                depth,
                Reverse(files_below(sources.tree, folder)),
            )
        });
        stack.add_files(sources);
        let main = uses.first();
        stack.architecture = architecture(sources, main, &manifests);
        let mut seen = BTreeSet::new();
        for framework_use in &uses {
            let technology = Technology {
                id: framework_use.framework.id.clone(),
                name: framework_use.framework.name.clone(),
                version: framework_use.version.clone(),
            };
            if !seen.insert(&framework_use.framework.id) {
                continue;
            }
            if stack.framework.is_none() {
                stack.framework = Some(technology);
            } else if framework_use.framework.tier != Tier::Tool && stack.others.len() < PARTS {
                let folder = folder_of(&framework_use.manifest.path);
                stack.others.push((technology, folder.to_owned()));
            }
        }
        stack
    }

    fn add_parts(
        &mut self,
        sources: StackSources<'_>,
        manifest: &Manifest,
        dependencies: &[Dependency],
        locks: &mut Locks,
    ) {
        let parts = sources.technologies.stack.get(&manifest.ecosystem);
        for part in parts.into_iter().flatten() {
            let Some(dependency) = dependencies.iter().find(|used| part.is_shown_by(used)) else {
                continue;
            };
            let version = if part.unversioned {
                None
            } else {
                version_of(manifest, dependency, locks)
            };
            self.add(&part.kind, &part.id, &part.name, version);
        }
    }

    fn add_files(&mut self, sources: StackSources<'_>) {
        for rule in sources.technologies.file_rules() {
            let mut signs = sources.tree.signs.iter();
            if signs.any(|path| {
                !is_secondary(path) && rule.is_shown_by(path, &name_of(path).to_ascii_lowercase())
            }) {
                self.add(&rule.kind, &rule.id, &rule.name, None);
            }
        }
        for path in sources
            .tree
            .databases
            .iter()
            .filter(|path| !is_secondary(path))
        {
            let Ok(text) = files::read_text(&sources.root.join(path), SizeLimit::SMALL) else {
                continue;
            };
            for word in database_words(name_of(path), &text) {
                if let Some((id, name)) = sources.technologies.database(word) {
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

    /// Returns the record's `tech_stack`: one id by kind, or a list of them; always a list for
    /// tests and CI.
    pub(super) fn ids(&self) -> BTreeMap<String, Value> {
        let mut ids = BTreeMap::new();
        for (kind, parts) in &self.parts {
            let list: Vec<Value> = parts.iter().map(|part| part.id.clone().into()).collect();
            let value = match list.as_slice() {
                [single] if !["testing", "ci"].contains(&kind.as_str()) => single.clone(),
                _ => Value::Array(list),
            };
            ids.insert(kind.clone(), value);
        }
        ids
    }

    /// Returns the framework as people write it: `Next.js 14 App Router`.
    pub(super) fn framework_line(&self) -> Option<String> {
        let mut line = self.framework.as_ref()?.to_string();
        let router = match self.architecture {
            Some("app_router") => " App Router",
            Some("pages_router") => " Pages Router",
            Some("app_and_pages_router") => " App Router and Pages Router",
            _ => "",
        };
        line.push_str(router);
        Some(line)
    }

    /// Returns the stack in words, one line for each kind: `Testing: Vitest + Playwright`.
    pub(super) fn lines(&self, technologies: &Technologies) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let others = self.others.iter().map(|(technology, folder)| {
            if folder.is_empty() {
                technology.to_string()
            } else {
                format!("{technology} in {folder}/")
            }
        });
        let others: Vec<String> = others.collect();
        if !others.is_empty() {
            lines.push(("Also".to_owned(), others.join(", ")));
        }
        let orm = self.parts.get("orm");
        for (kind, label) in technologies.kinds() {
            let Some(parts) = self.parts.get(kind) else {
                continue;
            };
            let words = joined(parts);
            match (kind, orm) {
                ("database", Some(orm)) => {
                    lines.push((
                        label.to_owned(),
                        format!("{words} with {} ORM", joined(orm)),
                    ));
                }
                ("orm", _) if self.parts.contains_key("database") => {}
                _ => lines.push((label.to_owned(), words)),
            }
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

/// Returns the frameworks that a manifest shows.
fn frameworks<'a>(
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

/// Returns the manifests that are the project's own; all of them if there are no others.
fn primary(manifests: &[Manifest]) -> Vec<&Manifest> {
    let own: Vec<&Manifest> = manifests
        .iter()
        .filter(|manifest| !is_secondary(&manifest.path))
        .collect();
    if own.is_empty() {
        manifests.iter().collect()
    } else {
        own
    }
}

/// Returns whether a file belongs to tests, examples or the like.
pub(super) fn is_secondary(path: &str) -> bool {
    path.rsplit('/')
        .skip(1)
        .any(|folder| SECONDARY.contains(&folder) || folder.starts_with("template-"))
}

/// Returns the folder of a file, `""` at the top.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
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

/// Returns the version of a dependency: of the lock file, or what the requirement holds fixed.
fn version_of(manifest: &Manifest, dependency: &Dependency, locks: &mut Locks) -> Option<String> {
    locks
        .version(manifest, dependency)
        .or_else(|| fixed_version(dependency.requirement.as_deref()?))
}

/// Returns what a requirement holds fixed: `14` for `^14.2.0`, `14.2` for `~14.2.0`, `4.2.1` for
/// `==4.2.1`; a range as it is written.
fn fixed_version(requirement: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let requirement = requirement.trim();
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

/// Returns the words of a configuration file that may mean a database.
fn database_words<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let keys: &[&str] = match name {
        "schema.prisma" => &["provider"],
        "database.yml" => &["adapter"],
        _ if name.starts_with("drizzle") => &["dialect"],
        _ => &["image"],
    };
    let mut words = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let Some((key, value)) = line.split_once([':', '=']) else {
            continue;
        };
        if !keys.contains(&key.trim()) {
            continue;
        }
        let value = value.trim().trim_matches(['"', '\'', ',']);
        let image = value.strip_prefix("docker.io/").unwrap_or(value);
        let image = image.strip_prefix("library/").unwrap_or(image);
        let image = image.split('@').next().unwrap_or(image);
        // A colon before the last slash belongs to a port, one behind it to a tag.
        let image = match image.rsplit_once(':') {
            Some((image, tag)) if !tag.contains('/') => image,
            _ => image,
        };
        words.push(image);
    }
    words
}

/// Returns the pattern of a project's architecture.
fn architecture(
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

    #[test]
    fn configuration_names_its_database() {
        let prisma = "datasource db {\n  provider = \"postgresql\"\n}";
        assert_eq!(database_words("schema.prisma", prisma), ["postgresql"]);
        let compose = "services:\n  db:\n    image: docker.io/library/postgres:16-alpine\n  x:\n    \
                       image: registry:5000/acme/app\n";
        assert_eq!(
            database_words("compose.yml", compose),
            ["postgres", "registry:5000/acme/app"]
        );
    }
}
